"""Typed records of results, for model files, for `--json` and for pages.

All values are JSON values: numbers, strings, booleans, None, and lists and dicts of these. A number
that could not be computed is None, and `warnings` contain the reason.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NotRequired, TypedDict

import numpy as np


class Measured(TypedDict):
    """A criterion with its standard error."""

    value: float | None
    std_error: float | None


class ExpectedAccuracy(TypedDict):
    """The balanced accuracy to expect, see :class:`decorrupt.AccuracyEstimate`.

    For several classes it is the mean recall.
    """

    value: float
    low: float
    high: float
    level: float  # nominal coverage of the interval
    evidence: str  # "strong", "moderate", "weak" or "none"
    guessing: float  # the same answer for all rows
    group_rate: NotRequired[float]  # guessing each row by the share of its bag
    better_than_group_rate: NotRequired[float]  # in this share of the posterior draws


class Verdict(TypedDict):
    """Whether a model or data can be used."""

    word: str  # "usable", "check it with labels" or "do not use"
    why: str
    n_labels: int  # how many labelled rows give the accuracy to ±0.03; 0 if it is known


class AssumptionChecks(TypedDict):
    """Tests of the assumptions about bags; None where these bags cannot be tested.

    (A) the rows of a class have the same distribution in every bag; (B) rows with equal columns
    have equal chances in every bag.
    """

    classes_p_value: float | None
    classes_differ: bool | None  # whether (A) is rejected
    columns: list[str]  # in which the bags differ most
    chances_p_value: float | None
    chances_differ: bool | None  # whether (B) is rejected
    bag_effect: float  # standard deviation of the shares beyond what rows explain


class Spread(TypedDict):
    """The five numbers of a box plot."""

    min: float
    lower_quartile: float
    median: float
    upper_quartile: float
    max: float


class ClassSummary(TypedDict):
    """A class in bags."""

    name: str
    pooled_proportion: float
    proportions: Spread
    effective_rows: float  # rows of this class that would give its mean as precisely


class BagSummary(TypedDict):
    """The information in bags: V = Σ n_k(γ_k−γ̄)²; 4V is the effective number of clean rows.

    For several classes the effective number of rows is the sum over the classes.
    """

    n_rows: int
    n_bags: int
    sizes: Spread
    classes: list[ClassSummary]  # of two, the positive class last
    hardest_classes: list[str]  # those hardest to distinguish
    condition_number: float | None  # of ΓᵀNΓ
    information: float
    effective_sample_size: float
    efficiency: float  # effective_sample_size / n_rows


class SourceRow(TypedDict):
    """One source; the intervals [low, high] are present if the rates were estimated."""

    source: str
    n_rows: int
    n_labelled_positive: int
    flip_pos: float
    flip_neg: float
    weight: float | None  # None for the forward likelihood
    flip_pos_interval: NotRequired[list[float]]
    flip_neg_interval: NotRequired[list[float]]


class SourceSummary(TypedDict):
    """The information in noisy labels."""

    n_rows: int
    class_prior: float
    effective_sample_size: float
    sources: list[SourceRow]
    left_out: str  # why the intervals are upper bounds only; empty if rates are given


class ColumnCard(TypedDict):
    """A column of the table; `n_folded` rare levels of a category share one feature."""

    name: str
    kind: str  # number, boolean or category
    n_missing: int
    n_distinct: int
    n_folded: int
    heavy_tailed: bool  # whether it was compressed, see TailScaler


class BagPrediction(TypedDict):
    """Known and predicted class shares of a bag, or of a source's rows with one label."""

    bag: str
    size: int
    known: list[float]
    predicted: list[float]  # mean probabilities
    classified: list[float]  # shares of rows classified as each class


class Histogram(TypedDict):
    """Number of rows by predicted probability; n+1 edges, n counts.

    For several classes it is the probability of the predicted class.
    """

    edges: list[float]
    counts: list[int]
    counts_positive: NotRequired[list[int]]  # with labels; of several classes, correct rows


class CalibrationBin(TypedDict):
    """Rows of similar probability: mean probability and share of positives."""

    low: float
    high: float
    n_rows: int
    predicted: float
    share: float
    std_error: float


class ColumnImportance(TypedDict):
    """By how much the criterion drops when the column is shuffled."""

    column: str
    drop: float | None
    std_error: float | None


class HeldOutResults(TypedDict):
    """Results on held-out rows without labels; shown on a page, never saved in the model file.

    The shares in `calibration` are unbiased estimates from proportions; they can be outside [0, 1].
    """

    criteria: dict[str, Measured]
    classes: list[str]
    per_bag: list[BagPrediction]
    histogram: Histogram
    calibration: list[CalibrationBin]  # of two classes
    calibration_from: str  # "proportions"
    calibration_slope: NotRequired[float]  # of bags of two classes
    importance: list[ColumnImportance] | None  # the most important first
    importance_criterion: str | None


class ClassResult(TypedDict):
    """A class measured with true labels."""

    name: str
    n_rows: int
    n_predicted: int
    recall: Measured  # share of its rows that are recognised
    precision: Measured  # share of the rows predicted as it that belong to it


class LabelResults(TypedDict):
    """A model measured with true labels; `metrics` by the names of the glossary.

    The calibration is that of the positive class; of several classes that of the predicted one: its
    probability, and the share of correct rows.
    """

    n_rows: int
    class_shares: dict[str, float]  # that the probabilities assume
    metrics: dict[str, Measured]
    classes: list[ClassResult]
    confusion: list[list[int]]  # rows: true classes; columns: predicted classes
    histogram: Histogram
    calibration: list[CalibrationBin]
    calibration_from: str  # "labels"


class Evaluation(TypedDict):
    """A model measured on rows: `labels` if they have labels, `bags` if they have proportions."""

    model: str
    rows: str
    created: str
    n_rows: int
    warnings: list[str]
    labels: NotRequired[LabelResults]
    combined: NotRequired[Measured]  # from labels and training data, if both can be believed
    bags: NotRequired[HeldOutResults]
    bag_summary: NotRequired[BagSummary]
    verdict: NotRequired[Verdict]  # from the labels, or without them from the bags
    assumptions: NotRequired[AssumptionChecks]
    expected: NotRequired[ExpectedAccuracy]


class Comparison(TypedDict):
    """Models measured on the same test rows: {what the model was trained on: metrics}."""

    n_rows: int
    models: dict[str, dict[str, Measured]]


class BagShare(TypedDict):
    """The share of V that one bag contributes."""

    bag: str
    size: int
    proportion: float
    share: float


class Convexity(TypedDict):
    """Whether the corrected loss is convex on these bags."""

    superbag: bool  # this combination is convex
    floor: float  # it is convex from this regularisation strength upwards


class BagDetails(TypedDict):
    """Bags one by one, those that contribute most first."""

    shares: list[BagShare]
    n_informative: int  # bags that contribute 90 % of V
    too_small: list[str]  # bags that contribute next to nothing because of their size
    average: list[str]  # the same because their share is that of all rows
    convexity: Convexity


class Inspection(TypedDict):
    """The data before any training: `bags` and `bag_details`, or `sources`."""

    rows: str
    situation: str
    created: str
    columns: list[ColumnCard]
    left_out: dict[str, str]
    verdict: Verdict
    warnings: list[str]
    bags: NotRequired[BagSummary]
    bag_details: NotRequired[BagDetails]
    sources: NotRequired[SourceSummary]
    assumptions: NotRequired[AssumptionChecks]


def plain(value: Any) -> Any:
    """Return `value` with numpy's numbers and arrays as Python's, NaN and ±∞ as None."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def spread(values: Any) -> Spread:
    """Return the five numbers of a box plot."""
    low, lower, median, upper, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Spread(min=low, lower_quartile=lower, median=median, upper_quartile=upper, max=high)


def now() -> str:
    """Return the time as ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
