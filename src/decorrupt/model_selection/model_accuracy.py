"""Balanced accuracy from a model's own probabilities, with a range from resampled bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from decorrupt._typing import FloatArray
from decorrupt.losses import chosen_classes
from decorrupt.observed import Observed, class_columns
from decorrupt.progress import track
from decorrupt.risks import count_risk
from decorrupt.solvers import SLOPE_PENALTY

# Resamples of the bags: as many as need about so many rows, between two limits.
RESAMPLED_ROWS = 2_000_000
FEWEST_RESAMPLES, MOST_RESAMPLES = 20, 100
# Probabilities are clipped to this distance from 0 and 1, so that their log-odds are finite.
SUREST = 1e-9


class Predictions(NamedTuple):
    """Decision values and probabilities of all rows; the latter have one column per class."""

    decisions: FloatArray
    probabilities: FloatArray


def accuracy_of_model(
    predictions: Sequence[Predictions], observed: Observed, level: float, rng: np.random.RandomState
) -> tuple[float, float, float]:
    """Return Σ_j p_jc·1{ŷ_j=c}/Σ_j p_jc, averaged over classes, and the ends of a range.

    The probabilities p of two classes are calibrated on the counts, see :func:`calibrate`. Bags are
    drawn with replacement and p is calibrated again on every draw; the range contains the share
    `level` of the draws.

    Parameters
    ----------
    predictions : sequence of Predictions
        The value is the mean of theirs; the range contains those of all.
    observed : Observed
        The bags.
    level : float
        The share of the draws in each range.
    rng : RandomState
        Source of the draws.
    """
    n_bags, n_rows = observed.n_bags, observed.n_rows
    n_draws = int(np.clip(RESAMPLED_ROWS // n_rows, FEWEST_RESAMPLES, MOST_RESAMPLES))
    drawn_bags = [rng.randint(n_bags, size=n_bags) for _ in range(n_draws)]
    tail = (1 - level) / 2
    pairs = [(one, bags) for one in predictions for bags in drawn_bags]
    tracked = track(pairs, "resampling bags for the accuracy", len(pairs))
    draws = np.array([_recall(one, *_draw(observed, bags)) for one, bags in tracked])
    ranges = np.quantile(draws.reshape(-1, n_draws), [tail, 1 - tail], axis=1)
    value = float(np.mean([_recall(one, observed, np.arange(n_rows)) for one in predictions]))
    low, high = np.min(ranges), np.max(ranges)
    return value, float(min(low, value)), float(max(high, value))


def _draw(observed: Observed, bags: NDArray[np.intp]) -> tuple[Observed, NDArray[np.intp]]:
    """Return bags drawn with replacement as different bags, and their rows."""
    by_bag = np.argsort(observed.row_bag, kind="stable")
    members = np.split(by_bag, np.cumsum(observed.sizes)[:-1])
    row_bag = np.repeat(np.arange(len(bags)), observed.sizes[bags])
    rows = np.concatenate([members[bag] for bag in bags])
    shares, known = observed.proportions[bags], observed.reported
    reported = None if known is None else known.take(bags)
    drawn = Observed(observed.classes, np.arange(len(bags)), row_bag, shares, reported)
    return drawn, rows


def _recall(predictions: Predictions, observed: Observed, rows: NDArray[np.intp]) -> float:
    """Return the mean over classes of expected hits over expected rows.

    The probabilities of two classes are calibrated on the counts of the bags first.
    """
    probabilities = predictions.probabilities[rows]
    if probabilities.shape[1] == 2:
        probabilities = class_columns(calibrate(probabilities[:, 1], observed))
    chosen = chosen_classes(predictions.decisions[rows])
    hits = np.sum(probabilities * np.eye(probabilities.shape[1])[chosen], axis=0)
    expected = np.maximum(probabilities.sum(axis=0), np.finfo(float).tiny)
    return float(np.mean(hits / expected))


def calibrate(probabilities: FloatArray, observed: Observed) -> FloatArray:
    """Return σ(a·m_k + c·(s_j − m_k) + b) that maximises the likelihood of the counts.

    s_j are the log-odds and m_k their mean in bag k. The counts of bags that differ in m_k
    determine the slope a between bags well, and the slope c within bags hardly: only through the
    variance of the counts, which is the same for −c. One slope for both would look more certain
    than it is. Slopes are at least 0.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows,)
        P(Y=1|x).
    observed : Observed
        The bags and their shares of positives.
    """
    scores = logit(np.clip(probabilities, SUREST, 1 - SUREST))
    scores = scores / (np.std(scores) or 1.0)
    means = (np.bincount(observed.row_bag, scores) / observed.sizes)[observed.row_bag]
    columns = np.column_stack([means, scores - means, np.ones(len(scores))])
    penalty = SLOPE_PENALTY * np.array([1.0, 1.0, 0.0])
    risk: Any = count_risk(observed)

    def value_and_slope(coef: FloatArray) -> tuple[float, FloatArray]:
        value, slope = risk.value_and_slope(columns @ coef)
        return value + float(penalty @ coef**2), columns.T @ slope + 2 * penalty * coef

    start = np.array([1.0, 1.0, logit(observed.inner_prior[1])])
    found = minimize(
        value_and_slope,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None), (0, None), (None, None)],
    )
    return np.asarray(expit(columns @ found.x))
