"""Training in five steps: read, search, judge, describe, package."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline

from decorrupt.app.training.bag_training import BagTraining
from decorrupt.app.training.columns import Features, column_cards
from decorrupt.app.training.held_out import Judged
from decorrupt.app.training.model_card import DiagnosticsCard, MethodCard, ModelCard
from decorrupt.app.training.preprocess import (
    folded_levels,
    heavy_tailed,
    make_preprocessor,
    prepare,
)
from decorrupt.app.training.results import HeldOutResults, now, plain
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.settings import Settings
from decorrupt.app.training.source_roles import SourceRows
from decorrupt.app.training.source_training import SourceTraining
from decorrupt.app.training.verdict import judge_model
from decorrupt.app.training.words import limits_of_use
from decorrupt.estimators import Diagnostics
from decorrupt.exceptions import (
    BagAssumptionWarning,
    DroppedBagsWarning,
    NonConvexRiskWarning,
    SkippedFoldWarning,
    WeakEvidenceWarning,
)
from decorrupt.model_selection import bag_permutation_importance, fold_models

CLASSIFIER = "classifier"
PACKAGES = ("decorrupt", "scikit-learn", "numpy", "scipy", "pandas", "skops")
# The card reports these in other words, without the names of bags.
REPORTED_ELSEWHERE = (
    BagAssumptionWarning,
    DroppedBagsWarning,
    NonConvexRiskWarning,
    SkippedFoldWarning,
    WeakEvidenceWarning,
)


@dataclass(frozen=True)
class Prepared:
    """The columns to learn from: converted, the fitted preprocessor, and its output."""

    frame: pd.DataFrame
    preprocessor: ColumnTransformer
    matrix: NDArray[Any]


@dataclass(frozen=True)
class TrainedModel:
    """A pipeline from prepared columns to classes, its card, and its held-out results.

    Attributes
    ----------
    model : Pipeline
        What is saved.
    card : ModelCard
        Its description, saved with it.
    held_out : HeldOutResults
        For the page; never saved.
    prepared : Prepared
        The training rows.
    task : BagTraining or SourceTraining
        What the rows were trained on.
    """

    model: Pipeline
    card: ModelCard
    held_out: HeldOutResults
    prepared: Prepared
    task: BagTraining | SourceTraining

    def fold_models(self) -> list[tuple[Any, Any]]:
        """Return the heaviest member refitted on each fold, from columns to classes.

        With each the rows that it has not seen.
        """
        preprocessor, search = self.model
        observed, folds = self.task.training_folds()
        found = fold_models(search.estimators_[0], self.prepared.matrix, observed, folds)
        return [(make_pipeline(preprocessor, model), rows) for model, rows in found]

    def importance(self, seed: int) -> HeldOutResults:
        """Return the held-out results with the importance of every column."""
        criterion, observed = self.task.importance_criterion, self.task.judged_on
        found = bag_permutation_importance(
            self.fold_models(), self.prepared.frame, observed, scoring=criterion, random_state=seed
        )
        results = self.held_out.copy()
        results["importance"] = [plain(one._asdict()) for one in found]
        results["importance_criterion"] = criterion
        return results


def train(rows: BagRows | SourceRows, features: Features, settings: Settings) -> TrainedModel:
    """Train a model on bags with known proportions or on noisy labels of sources.

    Parameters
    ----------
    rows : BagRows or SourceRows
        The rows with what is known about their labels.
    features : Features
        The columns to use.
    settings : Settings
        Settings of the training.

    Raises
    ------
    ValueError
        If a setting is unknown, or the bags cannot be compared in any fold.
    """
    made_with = versions()
    task = _task(rows, settings)
    messages = [*rows.warnings, *task.early_warnings(features.names)]
    with collected_warnings(messages):
        prepared = read(rows, features)
        search = run_search(task, prepared)
    judged = task.judge(search, prepared.preprocessor)
    card = describe(task, search, judged, made_with)
    fitted = prepared.preprocessor
    card["columns"] = column_cards(features, folded_levels(fitted), heavy_tailed(fitted))
    card["left_out"] = dict(features.left_out)
    return package(task, search, judged, card, prepared, messages)


def _task(rows: BagRows | SourceRows, settings: Settings) -> BagTraining | SourceTraining:
    if isinstance(rows, BagRows):
        return BagTraining(rows, settings)
    return SourceTraining(rows, settings)


def read(rows: BagRows | SourceRows, features: Features) -> Prepared:
    """Return the columns to learn from as numbers."""
    frame = prepare(rows.table.frame, features.columns, table=rows.table.name)
    preprocessor = make_preprocessor(features.columns, len(frame))
    return Prepared(frame, preprocessor, preprocessor.fit_transform(frame))


def run_search(task: BagTraining | SourceTraining, prepared: Prepared) -> Any:
    """Return the fitted automatic choice."""
    y, arguments = task.targets()
    search = task.estimator().fit(prepared.matrix, y, **arguments)
    search.set_params(cv=task.settings.n_folds)  # folds are row numbers, useless in a saved model
    return search


def describe(
    task: BagTraining | SourceTraining, search: Any, judged: Judged, made_with: dict[str, str]
) -> ModelCard:
    """Return the card, without columns, warnings and verdict."""
    estimator = search.estimators_[0]
    estimator = getattr(estimator, "estimator_", estimator)  # inside a calibrated one
    card: dict[str, Any] = {
        "created": now(),
        "versions": made_with,
        "situation": task.situation,
        "class_shares": dict(zip(task.class_names, plain(search.class_prior_), strict=True)),
        "method": MethodCard(
            asked=task.method,
            chosen=search.best_method_,
            parameters=plain(search.best_params_),
            n_models=len(search.estimators_),
            decision=task.settings.decision,
            n_folds=task.n_folds,
            n_configurations=search.n_configurations_,
            held_out=task.held_out,
            estimator=type(estimator).__name__,
            n_landmarks=len(getattr(estimator, "landmarks_", ())),
        ),
        "leaderboard": plain(search.leaderboard_.rows),
        "expected": judged.expected,
        "criteria": judged.results["criteria"],
        "diagnostics": diagnostics_of(estimator),
        "configuration": {},
    }
    return cast(ModelCard, card | task.card_fields(search, judged))


def package(
    task: BagTraining | SourceTraining,
    search: Any,
    judged: Judged,
    card: ModelCard,
    prepared: Prepared,
    messages: Sequence[str],
) -> TrainedModel:
    """Return the model with warnings, limits of use and the verdict on its card."""
    search.__dict__.pop("held_out_scores_")  # rows are not saved in a model
    card["warnings"] = [*task.warnings(card), *messages]
    card["verdict"] = judge_model(card)
    card["not_for"] = limits_of_use(card)
    card = cast(ModelCard, plain(card))
    model = Pipeline([("preprocess", prepared.preprocessor), (CLASSIFIER, search)])
    return TrainedModel(model, card, judged.results, prepared, task)


@contextmanager
def collected_warnings(messages: list[str]) -> Iterator[None]:
    """Append the warnings raised inside the block to `messages`, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        message = " ".join(str(one.message).split())
        is_ours = not issubclass(one.category, DeprecationWarning | FutureWarning)
        if is_ours and not issubclass(one.category, REPORTED_ELSEWHERE) and message not in messages:
            messages.append(message)


def diagnostics_of(estimator: Any) -> DiagnosticsCard | None:
    """Return a model's diagnostics."""
    found = getattr(estimator, "diagnostics_", None)
    if not isinstance(found, Diagnostics):
        return None
    return cast(DiagnosticsCard, plain(asdict(found) | {"is_overfitted": found.is_overfitted}))


def versions() -> dict[str, str]:
    """Return the versions a model is made with."""
    return {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a vendored copy has no metadata
        return "unknown"
