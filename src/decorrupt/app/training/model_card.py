"""The model card: a typed record inside a model file, and how to read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, NotRequired, TypedDict, cast

from decorrupt.app.tables import TableError
from decorrupt.app.training.results import (
    AssumptionChecks,
    BagSummary,
    ColumnCard,
    ExpectedAccuracy,
    Measured,
    SourceSummary,
    Verdict,
)

Value = str | int | float | bool | list[str] | None


class MethodCard(TypedDict):
    """The requested and the chosen method."""

    asked: str  # the --method
    chosen: str
    parameters: dict[str, Value]  # of the model with the largest weight
    n_models: int  # how many models are averaged
    decision: str  # "balanced" or "accuracy"
    n_folds: int
    n_configurations: int
    held_out: str  # "whole bags", "rows of every bag" or "rows"
    estimator: str  # class name
    n_landmarks: int  # training rows whose features are saved in the model


class LeaderboardEntry(TypedDict):
    """A method with its best parameters."""

    method: str
    params: dict[str, Value]
    score: float | None
    std_error: float | None
    seconds: float
    chosen: bool
    weight: NotRequired[float]  # in the average


class LeaderboardBaseline(TypedDict):
    """A prediction without columns: the same for all rows."""

    method: str
    score: float | None
    std_error: float | None


class DiagnosticsCard(TypedDict):
    """What is shown of :class:`decorrupt.Diagnostics`; a file contains all of it."""

    is_convex: bool
    convexity_floor: float
    training_risk: float
    is_overfitted: bool


class ModelCard(TypedDict):
    """The metadata of a model file; it contains no rows and no names of bags."""

    created: str  # ISO 8601, UTC
    versions: dict[str, str]
    columns: list[ColumnCard]
    left_out: dict[str, str]  # {column: why it was not used}
    situation: str  # "bags" or "sources"
    class_shares: dict[str, float]  # among the training rows, by name; of two the positive last
    bags: NotRequired[BagSummary]
    sources: NotRequired[SourceSummary]
    method: MethodCard
    leaderboard: list[LeaderboardEntry]  # the best first
    scoring: str  # the criterion of the leaderboard
    expected: ExpectedAccuracy  # of the model on new rows like those of the training
    criteria: dict[str, Measured]  # on held-out rows, without labels
    diagnostics: DiagnosticsCard | None  # of corrected-loss models
    verdict: Verdict
    assumptions: NotRequired[AssumptionChecks]
    bag_column: NotRequired[str]
    noise_rates: NotRequired[str]  # of sources: "given" or "estimated"
    baselines: NotRequired[list[LeaderboardBaseline]]  # on the held-out data of the leaderboard
    warnings: list[str]
    not_for: list[str]  # completes the sentence "Do not use it …"
    configuration: dict[str, Value]  # every option of the command as resolved


def has_card(metadata: dict[str, Any]) -> bool:
    """Whether the metadata of a model file are a card, as this version of `fit` writes it."""
    return {"class_shares", "columns", "method", "verdict", "versions"} <= set(metadata)


def class_names(card: ModelCard) -> list[str]:
    """Return the classes in the model's order; of two, the negative class first."""
    return list(card["class_shares"])


def share_of_positives(card: ModelCard) -> float:
    """Return the share of the last class among the training rows: of two, the positive one."""
    return list(card["class_shares"].values())[-1]


def read_card(metadata: dict[str, Any], name: str) -> ModelCard:
    """Return the card of a model file.

    Raises
    ------
    TableError
        If there is no card: the model was not made by `decorrupt fit`.
    """
    if not has_card(metadata):
        raise TableError(
            f"{name}: the model has no complete description, so it was not made by this version of "
            "'decorrupt fit'; train it again, or use it from Python: decorrupt.load"
        )
    return cast(ModelCard, metadata)


def other_version(card: ModelCard) -> list[str]:
    """Return a warning if the model was made with another version of scikit-learn."""
    package = "scikit-learn"
    made_with, installed = card["versions"].get(package), version(package)
    if made_with in (None, installed):
        return []
    return [
        f"the model was made with {package} {made_with}, and this is {installed}: its predictions "
        "may differ; train it again, or install that version"
    ]


def need_model_columns(
    known: Sequence[str], columns: Iterable[tuple[str, str]], table: str
) -> None:
    """Raise TableError naming all (name, kind) of `columns` whose names are not in `known`."""
    missing = ", ".join(f"{name!r} ({kind})" for name, kind in columns if name not in known)
    if missing:
        raise TableError(f"{table}: the model needs columns that are missing: {missing}")
