"""Calibration without labels: Platt scaling on bag counts, and calibration curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags
from decorrupt.estimators import ScoreClassifier
from decorrupt.losses import balanced_scores
from decorrupt.model_selection.results import is_missing
from decorrupt.observed import Observed, as_observed, resolve_class_prior
from decorrupt.risks import count_risk
from decorrupt.solvers import fit_slope_and_shift
from decorrupt.splitters import Fold


def needs_calibration(estimator: Any, *, by_counts: bool = True) -> bool:
    """Return whether a search calibrates the scores: all but the log-odds of λ paths.

    Decisions of paths stay as they are if decisions are compared instead of counts.
    """
    is_path = getattr(estimator, "has_path", False)
    return not (is_path and (estimator.has_log_odds or not by_counts))


def fit_calibration(scores: FloatArray, observed: Observed) -> tuple[float, Any]:
    """Return (slope, shift) that maximise Σ_k log P(counts of bag k | slope·s + shift)."""
    prior, weights = observed.inner_prior, observed.weights
    return fit_slope_and_shift(scores, count_risk(observed), prior, weights)


def cross_calibrate(scores: FloatArray, observed: Observed, folds: Sequence[Fold]) -> FloatArray:
    """Return scores in a balanced population; each fold is calibrated on the other folds."""
    found = np.full(scores.shape, np.nan)
    seen = ~is_missing(scores)
    for _, test in folds:
        others = np.flatnonzero(seen & ~np.isin(np.arange(len(scores)), test))
        rest = observed.take(others)
        slope, shift = fit_calibration(scores[others], rest)
        found[test] = balanced_scores(slope * scores[test] + shift, rest.inner_prior)
    return found


class CalibrationBin(NamedTuple):
    """Rows with similar predicted probabilities, and their estimated share of positives.

    The estimate is unbiased and can therefore be below 0 or above 1.
    """

    low: float
    high: float
    n_rows: int
    predicted: float
    share: float
    std_error: float


def quantile_bins(
    probabilities: FloatArray, n_bins: int
) -> tuple[FloatArray, list[NDArray[np.bool_]]]:
    """Return the edges of bins with about equal numbers of rows, and the rows in each bin."""
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, n_bins + 1)))
    if len(edges) == 1:  # all probabilities are equal
        edges = np.repeat(edges, 2)
    row_bin = np.clip(np.searchsorted(edges, probabilities, "right") - 1, 0, len(edges) - 2)
    return edges, [row_bin == k for k in range(len(edges) - 1)]


def calibration_curve_from_proportions(
    y: Any, probabilities: Any, *, bags: Any = None, n_bins: int = 5
) -> list[CalibrationBin]:
    """Return predicted against estimated shares of positives, without labels.

    P(Y=1 | bin) is estimated for bins of the predicted probability.

    With (a, b) the least-squares combination of the bags, Σ_k 2a_k·P̂_k(bin) is an unbiased
    estimate of P(bin | Y=1). Then P(Y=1 | bin) = γ̄·P(bin | Y=1)/P(bin), where γ̄ is the share of
    positives among all rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,), or Observed
        The proportion of each row's bag; of several classes, the share of one of them. Of an
        Observed, which contains the bags, the second class.
    probabilities : array-like of shape (n_rows,)
        P(Y=1|x) of held-out rows, in the population of these rows; of several classes, P(Y=c|x).
    bags : array-like of shape (n_rows,)
        The bag of each row.
    n_bins : int, default=5
        Number of bins; they have about equal numbers of rows.

    Raises
    ------
    ValueError
        If all bags have the same proportion: then nothing can be estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.model_selection import calibration_curve_from_proportions
    >>> rng = np.random.default_rng(0)
    >>> bags = np.repeat(np.arange(50), 100)
    >>> labels = rng.random(5000) < rng.random(50)[bags]       # not used in training
    >>> y = np.bincount(bags, labels)[bags] / 100
    >>> probabilities = np.where(labels, 0.9, 0.4) + rng.uniform(-0.1, 0.1, 5000)
    >>> lowest, *_, highest = calibration_curve_from_proportions(y, probabilities, bags=bags)
    >>> bool(abs(lowest.share) < 3 * lowest.std_error)         # and not about 0.4
    True
    >>> bool(abs(highest.share - 1) < 3 * highest.std_error)
    True
    """
    observed = as_observed(y, bags=bags, check=False)
    probabilities = np.asarray(probabilities, dtype=float)
    sizes, prior = observed.sizes, float(observed.inner_prior[1])
    lever = 2 * combine_bags(sizes, observed.proportions, method="least_squares")[:, 1]
    edges, bins = quantile_bins(probabilities, n_bins)
    found = []
    for low, high, inside in zip(edges[:-1], edges[1:], bins, strict=True):
        if not inside.any():
            continue
        by_bag = observed.sum_by_bag(inside.astype(float)) / sizes
        scale = prior / float(observed.mean(inside))
        spread = np.sqrt(np.sum(lever**2 * by_bag * (1 - by_bag) / sizes))
        found.append(
            CalibrationBin(
                low=float(low),
                high=float(high),
                n_rows=int(inside.sum()),
                predicted=float(observed.mean(probabilities * inside) / observed.mean(inside)),
                share=float(scale * lever @ by_bag),
                std_error=float(scale * spread),
            )
        )
    return found


class CalibratedBagClassifier(MetaEstimatorMixin, ScoreClassifier):
    """Probabilities for a classifier whose scores are not log-odds.

    log-odds = slope·f(x) + shift.

    Parameters
    ----------
    estimator : classifier
        The classifier; `fit` fits a clone of it.
    slope, shift : float
        From :func:`fit_calibration` on held-out scores.
    class_prior : float or ndarray of shape (n_classes,)
        The share of positives, or the class shares, in the population of these log-odds.
    decision : {"balanced", "accuracy"}
        Which error `predict` minimises: the balanced error, or the error in that population.

    Attributes
    ----------
    estimator_, classes_
        The fitted classifier and its classes.
    class_prior_ : ndarray of shape (n_classes,)
        `class_prior` with one entry per class.
    """

    __metadata_request__fit = {"bags": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any,
        *,
        slope: float = 1.0,
        shift: Any = 0.0,
        class_prior: Any = 0.5,
        decision: str = "balanced",
    ) -> None:
        self.estimator = estimator
        self.slope = slope
        self.shift = shift
        self.class_prior = class_prior
        self.decision = decision

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the classifier; slope and shift stay as given. `fit_params` are its own."""
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        self.classes_ = self.estimator_.classes_
        balanced = np.full(len(self.classes_), 1 / len(self.classes_))
        self.set_class_prior(resolve_class_prior(self.class_prior, balanced))
        return self

    def _read_rows(self, X: Any, *, reset: bool) -> Any:  # noqa: ARG002 — its classifier does
        return X

    def _score(self, X: Any) -> FloatArray:
        return np.asarray(self.slope * self.estimator_.decision_function(X) + self.shift)
