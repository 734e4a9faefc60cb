"""Evaluation of a model on held-out rows without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from decorrupt._typing import FloatArray
from decorrupt.app.training.results import (
    BagClassPrediction,
    BagPrediction,
    CalibrationBin,
    HeldOutResults,
    Histogram,
    Measured,
    plain,
)
from decorrupt.corruption import Strata
from decorrupt.estimators.priors import chosen_classes
from decorrupt.model_selection import (
    Estimate,
    calibration_curve_from_proportions,
    corrected_accuracy,
    corrected_risk,
    proportion_risk,
)
from decorrupt.model_selection.calibration import fit_calibration
from decorrupt.model_selection.criteria import count_score_by_bag, weighted_mean
from decorrupt.noise_rates.rate_error import NO_RATE_ERROR, RateError

HISTOGRAM_BINS = 20
# Log-odds stay finite.
SMALLEST_PROBABILITY = 1e-9


def criteria(
    strata: Strata,
    decisions: FloatArray,
    probabilities: FloatArray,
    *,
    counts: bool,
    rate_error: RateError = NO_RATE_ERROR,
) -> dict[str, Measured]:
    """Return the label-free criteria with standard errors; None if one cannot be computed.

    `counts`: whether the proportions are exact counts over sizes, as in bags, so that the count
    likelihood applies. `rate_error`: the uncertainty that estimated noise rates add.
    """
    found: dict[str, Measured] = {}
    for name, function in (
        ("corrected_accuracy", corrected_accuracy),
        ("corrected_risk", corrected_risk),
        ("proportion_risk", proportion_risk),
    ):
        try:
            measured = rate_error.added_to(_on_strata(function, decisions), strata)
            found[name] = _measured(*measured)
        except ValueError:  # all proportions are equal
            found[name] = Measured(value=None, std_error=None)
    if counts:
        likelihood = weighted_mean(count_score_by_bag(probabilities, strata), strata.sizes)
        found["count_log_likelihood"] = _measured(*likelihood)
    return found


def _on_strata(
    criterion: Callable[..., Estimate], decisions: FloatArray
) -> Callable[[Strata], Estimate]:
    return lambda strata: criterion(strata.row_proportions, decisions, bags=strata.row_stratum)


def _measured(value: float, std_error: float) -> Measured:
    return Measured(value=plain(value), std_error=plain(std_error))


def held_out_results(
    strata: Strata,
    decisions: FloatArray,
    probabilities: FloatArray,
    *,
    counts: bool,
    rate_error: RateError = NO_RATE_ERROR,
    classes: Sequence[str] = (),
) -> HeldOutResults:
    """Return all held-out results of a page except the importance of columns.

    The parameters are those of :func:`criteria`; rows that were never held out are NaN. `classes`
    are the names of several classes.
    """
    seen = seen_rows(decisions)
    strata, decisions, probabilities = strata.take(seen), decisions[seen], probabilities[seen]
    found = criteria(strata, decisions, probabilities, counts=counts, rate_error=rate_error)
    if strata.n_classes is not None:
        return HeldOutResults(
            criteria=found,
            per_bag=[],
            classes=list(classes),
            per_bag_classes=per_bag_classes(strata, decisions, probabilities),
            histogram=histogram(probabilities.max(axis=1)),
            calibration=[],
            calibration_from="proportions",
            importance=None,
            importance_criterion=None,
        )
    results = HeldOutResults(
        criteria=found,
        per_bag=per_bag(strata, decisions, probabilities),
        histogram=histogram(probabilities),
        calibration=calibration_from_proportions(strata, probabilities),
        calibration_from="proportions",
        importance=None,
        importance_criterion=None,
    )
    if counts:
        results["calibration_slope"] = calibration_slope(strata, probabilities)
    return results


def calibration_slope(strata: Strata, probabilities: FloatArray) -> float:
    """Return the factor for the log-odds at which the counts of the bags are most likely."""
    certain = np.clip(probabilities, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
    return fit_calibration(logit(certain), strata)[0]


def seen_rows(decisions: FloatArray) -> NDArray[np.intp]:
    """Return the rows that were held out: those whose decisions are not NaN."""
    return np.flatnonzero(~np.isnan(decisions.reshape(len(decisions), -1)).any(axis=1))


def per_bag_classes(
    strata: Strata, decisions: FloatArray, probabilities: FloatArray
) -> list[BagClassPrediction]:
    """Return the known and predicted shares of several classes in every bag."""
    sizes = strata.sizes
    classified = np.eye(probabilities.shape[1])[chosen_classes(decisions)]
    predicted, chosen = np.zeros((2, *strata.proportions.shape))
    np.add.at(predicted, strata.row_stratum, probabilities)
    np.add.at(chosen, strata.row_stratum, classified)
    shares = (strata.proportions, predicted / sizes[:, None], chosen / sizes[:, None])
    columns = (strata.ids, sizes, *shares)
    return [
        BagClassPrediction(bag=plain(bag), size=size, known=known, predicted=mean, classified=share)
        for bag, size, known, mean, share in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def per_bag(
    strata: Strata, decisions: FloatArray, probabilities: FloatArray
) -> list[BagPrediction]:
    """Return the known and predicted proportion of every bag."""
    sizes = strata.sizes
    predicted = np.bincount(strata.row_stratum, probabilities, len(sizes)) / sizes
    positive = np.bincount(strata.row_stratum, decisions > 0, len(sizes)) / sizes
    columns = (strata.ids, sizes, strata.proportions, predicted, positive)
    return [
        BagPrediction(
            bag=plain(bag), size=size, known=known, predicted=mean, predicted_positive=share
        )
        for bag, size, known, mean, share in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def histogram(probabilities: FloatArray, is_pos: Any = None) -> Histogram:
    """Return a histogram of the probabilities; with labels, also of the positive rows."""
    edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    found = {"edges": edges, "counts": np.histogram(probabilities, edges)[0]}
    if is_pos is not None:
        found["counts_positive"] = np.histogram(probabilities[is_pos], edges)[0]
    return cast(Histogram, plain(found))


def calibration_from_proportions(strata: Strata, probabilities: FloatArray) -> list[CalibrationBin]:
    """Return the label-free calibration curve; no bins if all proportions are equal."""
    try:
        bins = calibration_curve_from_proportions(
            strata.row_proportions, probabilities, bags=strata.row_stratum
        )
    except ValueError:
        return []
    return [plain(one._asdict()) for one in bins]
