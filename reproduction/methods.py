"""The methods of the experiments, with their grids and selection criteria."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    BagKFold,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    EMClassifier,
)
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.observed import Observed
from reproduction.convex_psvm import ConvexPSVMClassifier
from reproduction.published_grid import search_published_grid

# The grids of Scott & Zhang (2019), Sec. 5.2.
PAPER_GAMMAS = [0.001, 0.1, 1.0]
REG_STRENGTHS = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Multiples of 1/(n_columns·variance of X).
GAMMA_FACTORS = (0.03, 0.3, 1.0)
INVCAL_GRID = {"C_p": [0.1, 1.0, 10.0], "epsilon": [0.0, 0.01, 0.1], "kernel_gamma": PAPER_GAMMAS}
PSVM_GRID = {"C": [0.1, 1.0, 10.0], "C_p": [1.0, 10.0, 100.0], "kernel_gamma": PAPER_GAMMAS}
# Small, because a fit is expensive: C = 1, and labels agree with the proportions exactly.
CONVEX_PSVM_GRID = {"kernel_gamma": PAPER_GAMMAS}
SELECTION_PLANES, FINAL_PLANES = 3, 10
SELECTION_STARTS, FINAL_STARTS = 1, 10


@dataclass(frozen=True)
class Fitted:
    """A trained model, its selected parameters, and the value of the selection criterion."""

    model: Any
    params: dict[str, Any]
    criterion: float


@dataclass(frozen=True)
class Task:
    """Training data of a cell: proportions and bags, or labels without bags if supervised."""

    X: Any
    y: ArrayLike
    bags: Any
    n_folds: int
    seed: int


def _auto(task: Task, **options: Any) -> Fitted:
    model = AutoLabelProportionsClassifier(
        cv=_folds(task),
        random_state=task.seed,
        check_assumptions=False,  # the bags are drawn at random
        **options,
    )
    model.fit(task.X, task.y, bags=task.bags)
    params = model.best_params_
    if model.ensemble == "average":
        params = (
            {"method": model.best_method_}
            | params
            | {
                "n_models": len(model.estimators_),
                "gain_in_nats": round(model.held_out_gain_, 2),
            }
        )
    return Fitted(model, params, max(row.score for row in model.leaderboard_))


def _mean_map(task: Task) -> Fitted:
    return _auto(task, candidates=["mean_map"], kernels=["rbf"], **_one_model(task))


def _corrected_loss(task: Task) -> Fitted:
    template = CorrectedLossClassifier(fit_intercept=True)
    candidate = ("corrected_loss", template)
    return _auto(task, candidates=[candidate], scoring="corrected_accuracy", **_one_model(task))


def _count_likelihood(task: Task) -> Fitted:
    return _auto(task, candidates=[CountLikelihoodClassifier()], **_one_model(task))


def _one_model(task: Task) -> dict[str, Any]:
    """Return the options of a search for the best λ and kernel γ of one method."""
    return {
        "ensemble": "best",
        "kernel_gammas": _gammas(task),
        "reg_strengths": REG_STRENGTHS,
    }


def _invcal(task: Task) -> Fitted:
    search = BagGridSearchCV(
        InvCalClassifier(), INVCAL_GRID, scoring="proportion_risk", cv=_folds(task)
    )
    search.fit(task.X, task.y, bags=task.bags)
    return Fitted(search, search.best_params_, search.best_score_)


def _alternating_psvm(task: Task) -> Fitted:
    template = AlternatingPSVMClassifier(n_starts=SELECTION_STARTS, random_state=task.seed)
    return _selected(template, PSVM_GRID, task, n_starts=FINAL_STARTS)


def _convex_psvm(task: Task) -> Fitted:
    template = ConvexPSVMClassifier(max_planes=SELECTION_PLANES)
    return _selected(template, CONVEX_PSVM_GRID, task, max_planes=FINAL_PLANES)


def _selected(template: Any, grid: dict[str, list[float]], task: Task, **final: Any) -> Fitted:
    """Select by the proportion risk, then train with the more expensive `final` parameters."""
    search = BagGridSearchCV(
        template, grid, scoring="proportion_risk", cv=_folds(task), refit=False
    )
    search.fit(task.X, task.y, bags=task.bags)
    model = template.set_params(**final, **search.best_params_)
    model.fit(task.X, task.y, bags=task.bags)
    return Fitted(model, search.best_params_, search.best_score_)


def _corrected_loss_published(task: Task) -> Fitted:
    observed = Observed.from_bags(task.y, task.bags)
    folds = [
        fold
        for fold in _folds(task).split(task.X, task.y, bags=task.bags)
        if all(np.ptp(observed.take(rows).proportions[:, 1]) > 0 for rows in fold)
    ]
    choice = search_published_grid(task.X, observed, folds)
    return Fitted(choice.model, asdict(choice.setting), -choice.criterion)


def _gammas(task: Task) -> list[float]:
    """Return the kernel γ grid: multiples of 1/(n_columns·variance of X)."""
    scale = 1.0 / (task.X.shape[1] * float(np.var(task.X)))
    return [factor * scale for factor in GAMMA_FACTORS]


def _folds(task: Task) -> BagKFold:
    rows_or_bags = task.y if task.bags is None else task.bags
    n_bags = len(np.asarray(task.y)) if task.bags is None else len(np.unique(rows_or_bags))
    return BagKFold(min(task.n_folds, n_bags), shuffle=True, random_state=task.seed % 2**31)


def _em_forest(task: Task) -> Fitted:
    model = EMClassifier(cv=_n_folds(task), random_state=task.seed % 2**31)
    model.fit(task.X, task.y, bags=task.bags)
    return Fitted(model, {}, model.held_out_log_likelihood_ / len(np.asarray(task.y)))


def _supervised_forest(task: Task) -> Fitted:
    model = EMClassifier(random_state=task.seed % 2**31)
    model.fit(task.X, task.y)
    return Fitted(model, {}, np.nan)


def _n_folds(task: Task) -> int:
    return int(_folds(task).n_splits)


@dataclass(frozen=True)
class Method:
    """A training function, and whether it gets the true labels (the supervised ceiling)."""

    train: Callable[[Task], Fitted]
    sees_labels: bool = False


METHODS = {
    "supervised": Method(_count_likelihood, sees_labels=True),
    "mean_map": Method(_mean_map),
    "corrected_loss": Method(_corrected_loss),
    "count_likelihood": Method(_count_likelihood),
    "auto": Method(_auto),
    "invcal": Method(_invcal),
    "corrected_loss_published": Method(_corrected_loss_published),
    "alternating_psvm": Method(_alternating_psvm),
    "convex_psvm": Method(_convex_psvm),
    "em_forest": Method(_em_forest),
    "supervised_forest": Method(_supervised_forest, sees_labels=True),
}
