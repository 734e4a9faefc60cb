"""The plain dicts this package makes, for files, for `--json` and for pages.

All values are numbers, strings, booleans, None, and lists and dicts of these: what JSON can hold.
A number that could not be computed is None, and `warnings` say why.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypedDict

import numpy as np


class Measured(TypedDict):
    """A criterion with its standard error."""

    value: float | None
    std_error: float | None


class Spread(TypedDict):
    """Least, quarters and greatest of some numbers."""

    min: float
    lower_quartile: float
    median: float
    upper_quartile: float
    max: float


class BagSummary(TypedDict):
    """What bags can tell: V = Σ n_k(γ_k−γ̄)², worth 4V clean labelled rows."""

    n_rows: int
    n_bags: int
    sizes: Spread
    proportions: Spread
    pooled_proportion: float
    information: float
    effective_sample_size: float
    efficiency: float  # effective_sample_size / n_rows


class SourceSummary(TypedDict):
    """What noisy labels can tell."""

    n_rows: int
    class_prior: float
    effective_sample_size: float
    sources: list[dict[str, Any]]
    """One dict a source: source, n_rows, n_labelled_positive, flip_pos, flip_neg, weight (None for
    forward), and flip_pos_interval, flip_neg_interval ([low, high]) where rates were estimated."""
    left_out: str  # the error that these intervals do not contain; empty where there is none


class ColumnCard(TypedDict):
    """A column the model was trained on; `n_folded` rare levels of a category share a column."""

    name: str
    kind: str  # number, boolean or category
    n_missing: int
    n_distinct: int
    n_folded: int


class ModelCard(TypedDict, total=False):
    """What is saved inside a model file beside the model: no row, no bag by name."""

    title: str
    created: str  # ISO 8601, UTC
    versions: dict[str, str]
    situation: str  # "bags" or "sources"
    classes: dict[str, str]  # {"negative": …, "positive": …}
    columns: list[ColumnCard]
    left_out: dict[str, str]  # {column: why it was not used}
    bags: BagSummary  # if situation == "bags"
    sources: SourceSummary  # if situation == "sources"
    training_prior: float  # share of positives among the training rows
    method: dict[str, Any]
    """asked (the --method), chosen, description, parameters, decision, n_folds, held_out ("whole
    bags" or "rows of every bag", "rows"), estimator (class name), n_landmarks (training rows whose
    features stand in the model), std_error_includes (where rates were estimated)."""
    leaderboard: list[dict[str, Any]]
    """The methods tried, the best first: method, params, score, std_error, seconds, chosen."""
    scoring: str  # the criterion of the leaderboard
    criteria: dict[str, Measured]
    """On held-out rows, no label used: corrected_accuracy (estimates the balanced accuracy),
    corrected_risk, proportion_risk, and for bags count_log_likelihood."""
    diagnostics: dict[str, Any] | None
    """Scalars of `decorrupt.Diagnostics` (see there) for corrected-loss models, else None."""
    warnings: list[str]
    not_for: list[str]  # what it must not be used for, to be read after "not to be used"
    configuration: dict[str, Any]  # every option of the command as resolved
    configuration_from: dict[str, str]  # "command line", "environment", "config file", "default"


class HeldOutResults(TypedDict):
    """What a page shows of held-out rows; never saved in the model file.

    `per_bag`: bag (or "source labelled +/−"), size, known, predicted (mean probability),
    predicted_positive (share of rows classified positive).
    `histogram`: edges (n+1 probabilities), counts (n), and with labels counts_positive.
    `calibration`: a list of bins, each with low, high, n_rows, predicted (mean probability), share
    (of positives) and std_error; `calibration_from` is "labels", or "proportions" where the share
    is an unbiased estimate made of the bags' proportions, which can leave [0, 1].
    `importance`: one dict a column, the most important first: column, drop (how much the criterion
    falls when the column is shuffled), std_error; `importance_criterion` names it.
    """

    criteria: dict[str, Measured]
    per_bag: list[dict[str, Any]]
    histogram: dict[str, Any]
    calibration: list[dict[str, Any]]
    calibration_from: str
    importance: list[dict[str, Any]] | None
    importance_criterion: str | None


class Evaluation(TypedDict, total=False):
    """A model measured on rows: `labels` if they had labels, `bags` if they had proportions.

    `labels`: n_rows, n_positive, class_prior, metrics ({accuracy, balanced_accuracy, roc_auc,
    brier, log_loss: Measured}), confusion ({true_positive, false_positive, true_negative,
    false_negative}), histogram, calibration, calibration_from.
    """

    model: str
    rows: str
    created: str
    n_rows: int
    labels: dict[str, Any]
    bags: HeldOutResults
    bag_summary: BagSummary
    warnings: list[str]


class Inspection(TypedDict, total=False):
    """What is in the data before any training.

    `columns`: ColumnCard without n_folded. `bag_shares`: bag, size, proportion, share (of V), the
    greatest first. `matter`: how many bags hold 90 % of V. `useless`: bags that tell next to
    nothing. `convex`: exists (a convex objective for the balanced risk is possible), superbag
    (this combination has it), floor (λ that makes it convex anyway). `advice`: method, reason.
    `hope`: what accuracy can be hoped for: effective_sample_size, resolution (standard error at
    best with which these bags tell an accuracy), words, and with --quick-fit quick_fit, a Measured.
    """

    rows: str
    situation: str
    created: str
    bags: BagSummary
    sources: SourceSummary
    columns: list[dict[str, Any]]
    left_out: dict[str, str]
    bag_shares: list[dict[str, Any]]
    matter: int
    useless: list[str]
    convex: dict[str, Any]
    advice: dict[str, str]
    hope: dict[str, Any]
    warnings: list[str]


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
