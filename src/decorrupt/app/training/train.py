"""Training on bags: choice of the method, final fit, held-out results and model card."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, cast

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from decorrupt._typing import FloatArray
from decorrupt.app.training.assumptions import (
    accuracy_in_words,
    baseline_warnings,
    expect_accuracy,
    in_words,
    named,
    only_possible,
    with_names,
)
from decorrupt.app.training.columns import Features, column_cards
from decorrupt.app.training.held_out import held_out_results
from decorrupt.app.training.limits import not_to_be_used
from decorrupt.app.training.methods import (
    BAG_METHODS,
    PRESETS,
    bag_candidates,
    check_several_classes,
    method_name,
)
from decorrupt.app.training.model_card import DiagnosticsCard, MethodCard, ModelCard
from decorrupt.app.training.preprocess import folded_levels, make_preprocessor, prepare
from decorrupt.app.training.results import HeldOutResults, now, plain
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.summary import summarize_bags, warn_of_bag_columns
from decorrupt.app.training.vague_counts import check_method
from decorrupt.estimators import Diagnostics, decision_threshold
from decorrupt.exceptions import DroppedBagsWarning, NonConvexRiskWarning, SkippedFoldWarning
from decorrupt.losses import probabilities
from decorrupt.model_selection import (
    BAG_EVIDENCE,
    DEFAULT_FOLDS,
    DEFAULT_KERNELS,
    FEWEST_BAGS_TO_LEAVE_OUT,
    AutoLabelProportionsClassifier,
    FoldedData,
    ForestRoundClassifier,
    Predictions,
    observed_folds,
    observed_importance,
    out_of_fold,
)
from decorrupt.observed import Observed

WHOLE_BAGS, ROWS_OF_BAGS = "whole bags", "rows of every bag"
CLASSIFIER = "classifier"
# The card reports these in other words, with numbers of bags instead of names.
REPORTED_ELSEWHERE = (DroppedBagsWarning, NonConvexRiskWarning, SkippedFoldWarning)
FEW_CLEAN_ROWS = 30


@dataclass(frozen=True)
class Settings:
    """Settings of the training.

    Attributes
    ----------
    method : str
        A name of :mod:`decorrupt.app.training.methods`.
    decision : {"balanced", "accuracy"}
        The measure that predictions maximise: balanced accuracy or accuracy.
    n_folds : int
        Number of folds for the choice of the method and for the held-out results.
    seed : int
        For folds, kernel pivots and shuffled columns.
    n_jobs : int or None
        Number of parallel fits.
    kernels, kernel_gammas, reg_strengths : tuple or None
        The values to try; a single value fixes the parameter. None: the default search.
    class_names : tuple of str
        The names of the negative and the positive class, for bags whose classes have no names.
    candidates : tuple of str or None
        The methods that `method` "auto" compares; None for all.
    ensemble : {"average", "best"}
        Whether bags give the average of the best configurations, or one of them.
    time_budget : float or None
        Seconds for the comparison of configurations on bags; None: no limit.
    """

    method: str = "auto"
    decision: str = "balanced"
    n_folds: int = DEFAULT_FOLDS
    seed: int = 0
    n_jobs: int | None = None
    kernels: tuple[str, ...] | None = None
    kernel_gammas: tuple[float | str, ...] | None = None
    reg_strengths: tuple[float, ...] | None = None
    class_names: tuple[str, str] = ("0", "1")
    candidates: tuple[str, ...] | None = None
    ensemble: str = "average"
    time_budget: float | None = None


@dataclass(frozen=True)
class TrainedModel:
    """A pipeline from prepared columns to classes, its card, and its held-out results.

    `prepared`, `observed` and `fold_models` are for `importance`; the last returns the model of
    each fold and its held-out rows, fitted when they are needed.
    """

    model: Pipeline
    card: ModelCard
    held_out: HeldOutResults
    prepared: pd.DataFrame
    observed: Observed
    fold_models: Callable[[], list[tuple[Any, Any]]]
    counts: bool

    def importance(self, seed: int) -> HeldOutResults:
        """Return the held-out results with the importance of every column."""
        criterion = "count_log_likelihood" if self.counts else "corrected_accuracy"
        found = observed_importance(
            self.fold_models(), self.prepared, self.observed, scoring=criterion, random_state=seed
        )
        results = self.held_out.copy()
        results["importance"] = [plain(one._asdict()) for one in found]
        results["importance_criterion"] = criterion
        return results


def train_bags(rows: BagRows, features: Features, settings: Settings) -> TrainedModel:
    """Train on bags: choose a method on held-out bags, refit it, evaluate it out of fold.

    Parameters
    ----------
    rows : BagRows
        From :func:`decorrupt.app.training.roles.read_bags`.
    features : Features
        The columns to use.
    settings : Settings
        Settings of the training.

    Raises
    ------
    ValueError
        If a setting is unknown, or the bags cannot be compared in any fold.
    """
    name = method_name(settings.method, BAG_METHODS)
    observed = rows.observed
    if not rows.are_named:
        observed = replace(observed, classes=np.array(settings.class_names))
    if observed.n_classes > 2:
        check_several_classes(name)
    if observed.is_inexact:
        check_method(name, "ranges or noise of counts")
    prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
    folds = observed_folds(observed, n_splits=settings.n_folds, random_state=settings.seed)
    held_out = WHOLE_BAGS if observed.n_bags >= FEWEST_BAGS_TO_LEAVE_OUT else ROWS_OF_BAGS
    search = AutoLabelProportionsClassifier(
        candidates=settings.candidates or bag_candidates(name, settings.kernels),
        cv=folds,
        kernels=settings.kernels or DEFAULT_KERNELS,
        kernel_gammas=settings.kernel_gammas,
        reg_strengths=settings.reg_strengths,
        decision=settings.decision,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
        ensemble=settings.ensemble,
        # A method that was asked for by name stays that method.
        refine="forest" if name in PRESETS else None,
        time_budget=settings.time_budget,
        count_noise=observed.counts.noise[0] if observed.is_inexact else None,
    )
    preprocessor = make_preprocessor(features.columns, len(prepared))
    said: list[str] = list(rows.warnings)
    said += warn_of_bag_columns(rows.table.frame, features.names, observed)
    if settings.n_folds > observed.n_bags and held_out == WHOLE_BAGS:
        said.append(
            f"--folds {settings.n_folds} is more than the number of bags: {len(folds)} folds are "
            "used"
        )
    with collected_warnings(said):
        matrix = preprocessor.fit_transform(prepared)
        # Bags by number: a saved model must not contain their names.
        y, by_number = observed.fit_arguments()
        search.fit(matrix, y, **by_number)
    search.set_params(cv=settings.n_folds)  # folds are row numbers, useless in a saved model
    model = Pipeline([("preprocess", preprocessor), (CLASSIFIER, search)])
    prior = search.class_prior_
    # A forest on top is not refitted on every fold: its columns are those of the average.
    judged = search.best_estimator_
    if isinstance(judged, ForestRoundClassifier):
        judged = judged.start_
    judged = clone(Pipeline([("preprocess", preprocessor), (CLASSIFIER, judged)]))
    held_out_scores = search.__dict__.pop("held_out_scores_")  # rows are not saved in a model
    decisions = held_out_scores - decision_threshold(settings.decision, prior)
    report = search.assumptions_
    if report is not None:
        report = named(report, preprocessor)
        said[:] = [with_names(message, report) for message in said]
    predictions = (decisions, probabilities(held_out_scores))
    expected = expect_accuracy(
        observed,
        *predictions,
        report,
        method=search.best_method_,
        seed=settings.seed,
        fitted=Predictions(search.decision_function(matrix), search.predict_proba(matrix)),
    )
    results = only_possible(held_out_results(observed, *predictions, counts=True), expected)
    estimator = inner_estimator(search.estimators_[0])
    card = ModelCard(
        created=now(),
        versions=versions(),
        columns=column_cards(features, folded_levels(preprocessor)),
        left_out=dict(features.left_out),
        situation="bags",
        class_shares=class_shares(observed.classes, prior),
        bags=summarize_bags(observed),
        method=MethodCard(
            asked=name,
            chosen=search.best_method_,
            parameters=plain(search.best_params_),
            n_models=len(search.estimators_),
            has_forest=isinstance(search.best_estimator_, ForestRoundClassifier),
            decision=settings.decision,
            n_folds=len(folds),
            held_out=held_out,
            estimator=type(estimator).__name__,
            n_landmarks=n_landmarks(estimator),
            std_error_includes="",
        ),
        leaderboard=plain(search.leaderboard_.rows),
        scoring=search.scoring,
        gain_in_nats=search.gain_in_nats_,
        criteria=results["criteria"],
        diagnostics=diagnostics_of(estimator),
        assumptions=[
            f"Evidence: {BAG_EVIDENCE.describe(search.gain_in_nats_)}.",
            *([] if report is None else in_words(report)),
            *accuracy_in_words(expected, report, observed.n_classes),
        ],
        expected=expected,
        baselines=[plain(one) for one in search.leaderboard_.baselines if "score" in one],
        warnings=said,
        not_for=[],
        configuration={},
        configuration_from={},
    )
    card["warnings"] += bag_warnings(card, held_out)
    card["not_for"] = not_to_be_used(card)

    def fold_models() -> list[tuple[Any, Any]]:
        data = FoldedData(prepared, observed, folds)
        return out_of_fold(judged, data, class_prior=prior, n_jobs=settings.n_jobs).models

    return TrainedModel(model, card, results, prepared, observed, fold_models, counts=True)


def class_shares(classes: Any, class_prior: FloatArray) -> dict[str, float]:
    """Return {name: share among the training rows}."""
    return dict(zip(map(str, classes), plain(class_prior), strict=True))


@contextmanager
def collected_warnings(said: list[str]) -> Iterator[None]:
    """Append the warnings raised inside the block to `said`, each message once.

    Advice to change reg_strength also names the option of the command line.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        message = " ".join(str(one.message).split())
        message = message.replace("reg_strength", "reg_strength (--reg-strength)", 1)
        is_ours = not issubclass(one.category, DeprecationWarning | FutureWarning)
        if is_ours and not issubclass(one.category, REPORTED_ELSEWHERE) and message not in said:
            said.append(message)


def n_landmarks(estimator: Any) -> int:
    """Return the number of training rows whose features are saved in a model."""
    return len(getattr(estimator, "landmarks_", ()))


def inner_estimator(estimator: Any) -> Any:
    """Return the estimator inside a calibrated one, or the estimator itself."""
    return getattr(estimator, "estimator_", estimator)


def diagnostics_of(estimator: Any) -> DiagnosticsCard | None:
    """Return the scalars of a model's diagnostics, without the names of bags."""
    found = getattr(estimator, "diagnostics_", None)
    if not isinstance(found, Diagnostics):
        return None
    by_bag = ("bag_ids", "bag_sizes", "bag_proportions", "bag_information")
    scalars = {name: value for name, value in vars(found).items() if name not in by_bag}
    scalars["dropped"] = {reason: len(ids) for reason, ids in found.dropped.items()}
    for name in (
        "n_bags_used",
        "is_risk_negative",
        "is_overfitted",
        "is_bound_vacuous",
        "is_convex_at_reg_strength",
    ):
        scalars[name] = getattr(found, name)
    return cast(DiagnosticsCard, plain(scalars))


def versions() -> dict[str, str]:
    """Return the versions a model was made with."""
    packages = ("decorrupt", "scikit-learn", "numpy", "scipy", "pandas", "skops")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def bag_warnings(card: ModelCard, held_out: str) -> list[str]:
    """Return warnings for users of this model."""
    bags, said = card["bags"], []
    # For several classes it describes the mean map only; count likelihoods need far fewer rows.
    if len(card["class_shares"]) == 2 and bags["effective_sample_size"] < FEW_CLEAN_ROWS:
        said.append(
            f"the bags are worth about {bags['effective_sample_size']:.0f} labelled "
            "rows: expect a low accuracy"
        )
    if held_out != WHOLE_BAGS:
        said.append(
            f"only {bags['n_bags']} bags: rows of every bag were held out instead of whole bags, "
            "so the held-out results are less valid for new bags"
        )
    said += baseline_warnings(card["expected"], len(card["class_shares"]))
    diagnostics = card["diagnostics"]
    if diagnostics and not diagnostics["is_convex_at_reg_strength"]:
        said.append("the objective may have several minima: another seed may give another model")
    return said


def chance_warning(value: float | None, std_error: float | None, n_classes: int = 2) -> list[str]:
    """Return a warning if the held-out accuracy is not clearly better than chance."""
    if value is None or std_error is None or not np.isfinite(value):
        problem = "are all equal" if n_classes == 2 else "do not distinguish the classes"
        return [f"held-out rows could not be evaluated: their proportions {problem}"]
    measure = "balanced accuracy" if n_classes == 2 else "mean recall"
    if not -2 * std_error <= value <= 1 + 2 * std_error:
        return [
            f"held-out {measure} was estimated at {value:.3f}, outside the possible range: "
            "there are too few rows to estimate it"
        ]
    if value - 2 * std_error < 1 / n_classes:
        return [
            f"held-out {measure} {value:.3f} ± {std_error:.3f} (standard error): not "
            "clearly better than chance"
        ]
    return []
