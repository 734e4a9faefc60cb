"""Sampling models of the four bounds, on discrete cells of the feature space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from decorrupt.corruption import (
    combine_bags,
    pair_bags,
    source_weights,
)
from decorrupt.observed import matrix_of_rates
from decorrupt.theory import (
    bound_bags,
    bound_common_source,
    bound_label_proportions,
    bound_varying_priors,
)
from reproduction import FloatArray

SIZES = np.array([60, 90, 40])
FLIP_POS, FLIP_NEG = np.array([0.1, 0.3, 0.0]), np.array([0.2, 0.1, 0.4])
RATES = np.column_stack([FLIP_POS, FLIP_NEG])
CLASS_PRIOR = 0.4
CLASS_PRIORS = np.array([0.5, 0.3, 0.6])
BAG_SIZE = 40
PROPORTIONS = np.array([0.95, 0.9, 0.8, 0.75, 0.5, 0.3])


class Sample(NamedTuple):
    """Independent observations of a cell and a group, and their coefficients in the risk.

    `joint` contains the probabilities, shape (n_groups, n_cells); `coef_pos` and `coef_neg` contain
    the coefficients of φ(f) and φ(−f) per observation of each group.
    """

    size: int
    joint: FloatArray
    coef_pos: FloatArray
    coef_neg: FloatArray


class Model(NamedTuple):
    """The samples to draw, the class prior of the target risk, and the two bounds."""

    samples: list[Sample]
    class_prior: float
    bound: float
    printed_bound: float


def _labelled(
    masses: FloatArray, size: int, rates: Sequence[float], prior: float, costs: FloatArray
) -> Sample:
    """Return rows with noisy labels; `costs` are already multiplied by the source's weight."""
    flip_pos, flip_neg = rates
    flips = np.array([[1 - flip_pos, flip_neg], [flip_pos, 1 - flip_neg]])
    joint = flips @ (np.array([[prior], [1 - prior]]) * masses)
    coef_neg, coef_pos = np.linalg.inv(matrix_of_rates(flip_pos, flip_neg))[::-1].T
    return Sample(size, joint, costs[0] * coef_pos / size, costs[1] * coef_neg / size)


def _common_source(masses: FloatArray, options: dict[str, Any]) -> Model:
    weights = source_weights(SIZES, RATES)
    samples = [
        _labelled(masses, size, rates, CLASS_PRIOR, np.array([weight, weight]))
        for size, *rates, weight in zip(SIZES, FLIP_POS, FLIP_NEG, weights, strict=True)
    ]
    bounds = _both(bound_common_source, SIZES, FLIP_POS, FLIP_NEG, **options)
    return Model(samples, CLASS_PRIOR, *bounds)


def _varying_priors(masses: FloatArray, options: dict[str, Any]) -> Model:
    weights = source_weights(SIZES, RATES, source_priors=CLASS_PRIORS)
    samples = [
        _labelled(masses, size, rates, prior, weight / np.array([2 * prior, 2 * (1 - prior)]))
        for size, *rates, prior, weight in zip(
            SIZES, FLIP_POS, FLIP_NEG, CLASS_PRIORS, weights, strict=True
        )
    ]
    bounds = _both(bound_varying_priors, SIZES, FLIP_POS, FLIP_NEG, CLASS_PRIORS, **options)
    return Model(samples, 0.5, *bounds)


def _label_proportions(masses: FloatArray, options: dict[str, Any]) -> Model:
    """Treat a pair of bags as a noisy source, with the prior, costs and rates of Theorem 4."""
    pos, neg, weights = pair_bags(PROPORTIONS)
    sizes = np.full(len(pos), 2 * BAG_SIZE)
    upper, lower = PROPORTIONS[pos], PROPORTIONS[neg]
    samples = [
        _labelled(
            masses,
            size,
            (low / (low + up), (1 - up) / (2 - low - up)),
            (low + up) / 2,
            weight / np.array([low + up, 2 - low - up]),
        )
        for size, up, low, weight in zip(sizes, upper, lower, weights, strict=True)
    ]
    return Model(samples, 0.5, *_both(bound_label_proportions, upper, lower, sizes, **options))


def _strata(masses: FloatArray, options: dict[str, Any]) -> Model:
    sizes = np.full(len(PROPORTIONS), BAG_SIZE)
    combination = combine_bags(sizes, PROPORTIONS)
    samples = [
        Sample(size, np.array([share, 1 - share])[None] @ masses, pos / size, neg / size)
        for size, share, pos, neg in zip(
            sizes, PROPORTIONS, combination[:, [1]], combination[:, [0]], strict=True
        )
    ]
    bound = bound_bags(sizes, combination, **options)
    return Model(samples, 0.5, bound, bound)


def _both(bound: Callable[..., float], *data: FloatArray, **options: Any) -> tuple[float, float]:
    return bound(*data, **options), bound(*data, **options, as_printed=True)


MODELS: dict[str, Callable[[FloatArray, dict[str, Any]], Model]] = {
    "common_source": _common_source,
    "varying_priors": _varying_priors,
    "label_proportions": _label_proportions,
    "strata": _strata,
}
