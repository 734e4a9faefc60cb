"""Estimates of the balanced accuracy with intervals, by what the bags satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.corruption.class_means import class_shares, sums_by_bag
from decorrupt.estimators.priors import chosen_classes
from decorrupt.model_selection.calibration import fit_calibration
from decorrupt.model_selection.criteria import bag_means, bag_strata, balanced_coefficients

N_RESAMPLES = 500
# A bag that determines the line alone has leverage 1 and no residual.
MOST_LEVERAGE = 0.99
# Probabilities are clipped to this distance from 0 and 1, so that their log-odds are finite.
SUREST = 1e-9


@dataclass(frozen=True)
class AccuracyEstimate:
    """The balanced accuracy of a model, in [0, 1], with an interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and its interval.
    basis : {"corrected", "model"}
        "corrected": from the proportions of held-out bags, if class distributions are common.
        "model": from the model's own calibrated probabilities; as right as they are.
    level : float
        The nominal coverage of the interval. With basis "model" it is that of resampled bags only:
        errors of the probabilities are not included, so the true coverage is lower.
    """

    value: float
    low: float
    high: float
    basis: str
    level: float

    def __str__(self) -> str:
        source = {
            "corrected": "from the proportions of held-out bags",
            "model": "from the model's own calibrated probabilities, if these are right",
        }[self.basis]
        interval = f"{self.level:.0%} interval {self.low:.3f} to {self.high:.3f}"
        if self.basis == "model":
            interval = f"{self.low:.3f} to {self.high:.3f} in {self.level:.0%} of resampled bags"
        return f"{self.value:.3f} ({interval}), {source}"


def estimate_accuracy(
    y: ArrayLike,
    decisions: ArrayLike,
    probabilities: ArrayLike,
    *,
    bags: Any,
    common_classes: bool = True,
    level: float = 0.95,
    random_state: Any = None,
) -> AccuracyEstimate:
    """Return the balanced accuracy of predictions for held-out bags, without labels.

    With common class distributions: :func:`corrected_accuracy` ± t·standard error, limited to
    [0, 1]. The standard error is the larger of two: that of independent rows within bags, and that
    of the bags' deviations from the line through their proportions (HC3), which includes
    differences between the models of the folds. Otherwise, or if that interval is outside [0, 1],
    so that the data contradict the assumption: Σ_j p_jc·1{ŷ_j=c}/Σ_j p_jc, averaged over classes,
    where p are the model's probabilities; of two classes their log-odds are calibrated by a slope
    and a shift that maximise the likelihood of the counts. The interval is from resampled bags and
    does not include errors of P(y|x).

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The proportion of each row's bag, or its class shares.
    decisions : array-like of shape (n_rows,) or (n_rows, n_classes)
        Decision values for rows that were held out.
    probabilities : array-like of shape (n_rows,) or (n_rows, n_classes)
        P(Y=1|x), or P(Y=c|x), in the population of the rows.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    common_classes : bool, default=True
        Whether class distributions are common to all bags; see
        :func:`decorrupt.check_assumptions`.
    level : float in (0, 1), default=0.95
        Nominal coverage.
    random_state : int, RandomState or None
        Seed of the resampled bags.
    """
    strata = bag_strata(y, bags)
    if common_classes and np.ptp(strata.proportions, axis=0).max() > 0:
        chosen = chosen_classes(np.asarray(decisions))
        value, std_error = _corrected(strata, np.eye(strata.n_classes or 2)[chosen])
        half = t.ppf((1 + level) / 2, max(len(strata.ids) - 2, 1)) * std_error
        if value - half <= 1 and value + half >= 0:
            low, value, high = np.clip([value - half, value, value + half], 0, 1).tolist()
            return AccuracyEstimate(value, low, high, "corrected", level)
    chosen = chosen_classes(np.asarray(decisions))
    rng = check_random_state(random_state)
    return _from_model(chosen, np.asarray(probabilities, dtype=float), strata, level, rng)


def _corrected(strata: Strata, hits: FloatArray) -> tuple[float, float]:
    """Return the corrected accuracy and its standard error; `hits` is one-hot per predicted class.

    Two errors are computed for Σ_k Σ_c a_kc·m_kc, where m_kc is the share of predictions c in bag
    k: √Σ_k v_k/(n_k − 1) from the rows, v_k the variance of Σ_c a_kc·1{ŷ=c} in bag k, and
    √Σ_k (Σ_c a_kc·r_kc/(1 − h_k))², where r and h are residual and leverage of the least squares of
    m on the proportions.
    """
    coef, sizes = balanced_coefficients(strata), strata.sizes
    rows = np.sum(coef[strata.row_stratum] * hits, axis=1)
    means = bag_means(rows, strata)
    spread = np.maximum(bag_means(rows**2, strata) - means**2, 0)
    by_rows = np.sum(spread / np.maximum(sizes - 1, 1))
    design = np.sqrt(sizes)[:, None] * class_shares(strata)
    basis = np.linalg.qr(design)[0]
    leverage = np.minimum(np.sum(basis**2, axis=1), MOST_LEVERAGE)
    shares = np.sqrt(sizes)[:, None] * bag_means(hits, strata)
    residuals = (shares - basis @ (basis.T @ shares)) / np.sqrt(sizes)[:, None]
    by_bags = np.sum((np.sum(coef * residuals, axis=1) / (1 - leverage)) ** 2)
    return float(means.sum()), float(np.sqrt(max(by_rows, by_bags)))


def _from_model(
    chosen: Any,
    probabilities: FloatArray,
    strata: Strata,
    level: float,
    rng: np.random.RandomState,
) -> AccuracyEstimate:
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1 - probabilities, probabilities])
    if probabilities.shape[1] == 2:
        probabilities = _calibrated(probabilities[:, 1], strata)
    hits = probabilities * np.eye(probabilities.shape[1])[chosen]
    n_bags = len(strata.ids)
    totals = sums_by_bag(np.hstack([hits, probabilities]), strata.row_stratum, n_bags)
    weights = rng.multinomial(n_bags, np.full(n_bags, 1 / n_bags), size=N_RESAMPLES)
    drawn = _recall(weights @ totals)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    return AccuracyEstimate(float(_recall(totals.sum(axis=0)[None])[0]), low, high, "model", level)


def _calibrated(probabilities: FloatArray, strata: Strata) -> FloatArray:
    """Return probabilities of two classes after a slope and a shift of their log-odds."""
    scores = logit(np.clip(probabilities, SUREST, 1 - SUREST))
    positive = Strata(strata.ids, strata.row_stratum, class_shares(strata)[:, 1])
    slope, shift = fit_calibration(scores, positive)
    calibrated = expit(slope * scores + shift)
    return np.column_stack([1 - calibrated, calibrated])


def _recall(totals: FloatArray) -> FloatArray:
    """Return the mean over classes of expected hits over expected rows."""
    hits, rows = np.split(totals, 2, axis=1)
    return np.asarray(np.mean(hits / np.maximum(rows, np.finfo(float).tiny), axis=1))
