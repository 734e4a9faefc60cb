"""Estimates of the balanced accuracy with intervals, by what the bags satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags
from decorrupt.losses import chosen_classes
from decorrupt.model_selection.criteria import bag_means
from decorrupt.model_selection.model_accuracy import Predictions, accuracy_of_model
from decorrupt.observed import Observed, class_columns, read_bags

# A bag that determines the line alone has leverage 1 and no residual.
MOST_LEVERAGE = 0.99


@dataclass(frozen=True)
class AccuracyEstimate:
    """The balanced accuracy of a model, in [0, 1], with an interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and its interval.
    basis : {"corrected", "model"}
        "corrected": from the proportions of held-out bags, if class distributions are common.
        "model": from the model's own calibrated probabilities, a rough guide.
    level : float
        The nominal coverage of the interval. With basis "model" it is the share of resampled bags
        in the range, and the true coverage is lower, see docs/assumptions.md.
    """

    value: float
    low: float
    high: float
    basis: str
    level: float

    def __str__(self) -> str:
        source = {
            "corrected": "from the proportions of held-out bags",
            "model": "a rough guide from the model's own calibrated probabilities",
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
    fitted: tuple[ArrayLike, ArrayLike] | None = None,
    level: float = 0.95,
    random_state: Any = None,
) -> AccuracyEstimate:
    """Return the balanced accuracy of predictions for held-out bags, without labels.

    With common class distributions: :func:`corrected_accuracy` ± t·standard error, limited to
    [0, 1]. The standard error is the larger of two: that of independent rows within bags, and that
    of the bags' deviations from the line through their proportions (HC3), which includes
    differences between the models of the folds. Otherwise, or if that interval is outside [0, 1],
    so that the data contradict the assumption: Σ_j p_jc·1{ŷ_j=c}/Σ_j p_jc, averaged over classes,
    where p are the model's probabilities; of two classes their log-odds are calibrated by slopes
    between and within bags and a shift, which maximise the likelihood of the counts. The range is
    from resampled bags, with p calibrated again on each draw. It does not include all errors of
    P(y|x): a rough guide.

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
    fitted : (decisions, probabilities), optional
        Predictions for the same rows of the model fitted to all bags; used only for an estimate
        from the model's probabilities. The value is then the mean of both estimates, and the range
        contains both: held-out bags formed by a column contain values that the model has not seen,
        so they alone would be too pessimistic for new rows of the same bags, and a model is too
        certain about the rows it was trained on.
    level : float in (0, 1), default=0.95
        Nominal coverage.
    random_state : int, RandomState or None
        Seed of the resampled bags.
    """
    held_out = Predictions(np.asarray(decisions), class_columns(probabilities))
    known = None if fitted is None else Predictions(np.asarray(fitted[0]), class_columns(fitted[1]))
    return estimate_observed_accuracy(
        read_bags(y, bags),
        held_out,
        common_classes=common_classes,
        fitted=known,
        level=level,
        random_state=random_state,
    )


def estimate_observed_accuracy(
    observed: Observed,
    held_out: Predictions,
    *,
    common_classes: bool = True,
    fitted: Predictions | None = None,
    level: float = 0.95,
    random_state: Any = None,
) -> AccuracyEstimate:
    """Return what :func:`estimate_accuracy` returns, from bags that are read already."""
    if common_classes and np.ptp(observed.proportions, axis=0).max() > 0:
        chosen = chosen_classes(held_out.decisions)
        value, std_error = _corrected(observed, np.eye(observed.n_classes)[chosen])
        half = t.ppf((1 + level) / 2, max(observed.n_bags - 2, 1)) * std_error
        if value - half <= 1 and value + half >= 0:
            low, value, high = np.clip([value - half, value, value + half], 0, 1).tolist()
            return AccuracyEstimate(value, low, high, "corrected", level)
    known = [held_out] if fitted is None else [fitted, held_out]
    rng = check_random_state(random_state)
    value, low, high = accuracy_of_model(known, observed, level, rng)
    return AccuracyEstimate(value, low, high, "model", level)


def _corrected(observed: Observed, hits: FloatArray) -> tuple[float, float]:
    """Return the corrected accuracy and its standard error; `hits` is one-hot per predicted class.

    Two errors are computed for Σ_k Σ_c a_kc·m_kc, where m_kc is the share of predictions c in bag
    k: √Σ_k v_k/(n_k − 1) from the rows, v_k the variance of Σ_c a_kc·1{ŷ=c} in bag k, and
    √Σ_k (Σ_c a_kc·r_kc/(1 − h_k))², where r and h are residual and leverage of the least squares of
    m on the proportions.
    """
    sizes, shares = observed.sizes, observed.proportions
    coef = combine_bags(sizes, shares)
    rows = np.sum(coef[observed.row_bag] * hits, axis=1)
    means = bag_means(rows, observed)
    spread = np.maximum(bag_means(rows**2, observed) - means**2, 0)
    by_rows = np.sum(spread / np.maximum(sizes - 1, 1))
    root = np.sqrt(sizes)[:, None]
    basis = np.linalg.qr(root * shares)[0]
    leverage = np.minimum(np.sum(basis**2, axis=1), MOST_LEVERAGE)
    found = root * bag_means(hits, observed)
    residuals = (found - basis @ (basis.T @ found)) / root
    by_bags = np.sum((np.sum(coef * residuals, axis=1) / (1 - leverage)) ** 2)
    return float(means.sum()), float(np.sqrt(max(by_rows, by_bags)))
