"""From corrupted labels to risk coefficients: combinations, pairing, source weights, correction."""

from decorrupt.corruption.combine import (
    COMBINATION_METHODS,
    bag_information,
    combine_bags,
    row_coefficients,
)
from decorrupt.corruption.common_classes import (
    LEVEL,
    ClassMeansTest,
    check_class_means,
    quick_violation,
    sums_by_bag,
)
from decorrupt.corruption.noise import (
    WEIGHT_SCHEMES,
    CorrectedLoss,
    backward_coefficients,
    corrupt_labels,
    label_costs,
    signal_to_noise,
    source_weights,
)
from decorrupt.corruption.pairing import pair_bags

__all__ = [
    "COMBINATION_METHODS",
    "LEVEL",
    "WEIGHT_SCHEMES",
    "ClassMeansTest",
    "CorrectedLoss",
    "backward_coefficients",
    "bag_information",
    "check_class_means",
    "combine_bags",
    "corrupt_labels",
    "label_costs",
    "pair_bags",
    "quick_violation",
    "row_coefficients",
    "signal_to_noise",
    "source_weights",
    "sums_by_bag",
]
