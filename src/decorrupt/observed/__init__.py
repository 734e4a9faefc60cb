"""What is known about the labels of the rows: bags, counts, ranges, noise, sources, labels."""

from decorrupt.observed.bags import (
    bag_classes,
    check_bags,
    counts_of_sum,
    observe_counts,
    read_bags,
    shares_by_bag,
    with_count_noise,
)
from decorrupt.observed.count_noise import (
    CountNoise,
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    by_noise,
    noise_variances,
    read_count_noise,
)
from decorrupt.observed.counts import (
    ClassCounts,
    counts_of_shares,
    describe_impossible,
    effect_variance,
    noise_covariance,
    nothing_known,
)
from decorrupt.observed.ids import factorize, is_missing_id
from decorrupt.observed.labels import has_class_columns, labels_as_bags, read_labels
from decorrupt.observed.observed import Observed
from decorrupt.observed.rate_check import rate_notices
from decorrupt.observed.rates import (
    FLIPS,
    NoiseRates,
    check_transition,
    check_transition_rows,
    check_transitions,
    intervals_of_matrix,
    is_for_all_rows,
    matrix_of_rates,
    rates_of_matrix,
)
from decorrupt.observed.read import read_observed
from decorrupt.observed.shares import (
    BALANCED,
    RANK_TOL,
    SHARE_TOL,
    as_targets,
    class_columns,
    inseparable_classes,
    inside,
    is_share_row,
    resolve_class_prior,
)
from decorrupt.observed.sources import NoisySources, read_sources
from decorrupt.observed.targets import bag_targets

__all__ = [
    "BALANCED",
    "FLIPS",
    "RANK_TOL",
    "SHARE_TOL",
    "ClassCounts",
    "CountNoise",
    "GaussianNoise",
    "GeometricNoise",
    "LaplaceNoise",
    "NoiseRates",
    "NoisySources",
    "Observed",
    "as_targets",
    "bag_classes",
    "bag_targets",
    "by_noise",
    "check_bags",
    "check_transition",
    "check_transition_rows",
    "check_transitions",
    "class_columns",
    "counts_of_shares",
    "counts_of_sum",
    "describe_impossible",
    "effect_variance",
    "factorize",
    "has_class_columns",
    "inseparable_classes",
    "inside",
    "intervals_of_matrix",
    "is_for_all_rows",
    "is_missing_id",
    "is_share_row",
    "labels_as_bags",
    "matrix_of_rates",
    "noise_covariance",
    "noise_variances",
    "nothing_known",
    "observe_counts",
    "rate_notices",
    "rates_of_matrix",
    "read_bags",
    "read_count_noise",
    "read_labels",
    "read_observed",
    "read_sources",
    "resolve_class_prior",
    "shares_by_bag",
    "with_count_noise",
]
