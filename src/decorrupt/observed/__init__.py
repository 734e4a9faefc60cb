"""What is known about the labels of the rows: bags, counts, ranges, noise, sources, labels.

Checks and helpers for arrays of shares, ids and weights are in `shares`.
"""

from decorrupt.observed.count_noise import (
    CountNoise,
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    noise_covariance,
)
from decorrupt.observed.counts import ClassCounts, describe_impossible
from decorrupt.observed.observed import Observed, as_observed
from decorrupt.observed.rates import (
    NoiseRates,
    matrix_of_rates,
    rates_of_matrix,
    transition_matrix,
)
from decorrupt.observed.read import bag_targets, check_bags, read_labels, shares_by_bag
from decorrupt.observed.shares import (
    as_targets,
    class_columns,
    factorize,
    read_weights,
    resolve_class_prior,
)
from decorrupt.observed.sources import Sources, rate_notices, read_sources

__all__ = [
    "ClassCounts",
    "CountNoise",
    "GaussianNoise",
    "GeometricNoise",
    "LaplaceNoise",
    "NoiseRates",
    "Observed",
    "Sources",
    "as_observed",
    "as_targets",
    "bag_targets",
    "check_bags",
    "class_columns",
    "describe_impossible",
    "factorize",
    "matrix_of_rates",
    "noise_covariance",
    "rate_notices",
    "rates_of_matrix",
    "read_labels",
    "read_sources",
    "read_weights",
    "resolve_class_prior",
    "shares_by_bag",
    "transition_matrix",
]
