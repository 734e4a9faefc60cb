"""From corrupted labels to risk coefficients: combinations, pairing, source weights, correction."""

from decorrupt.corruption.combine import (
    COMBINATION_METHODS,
    bag_information,
    combine_bags,
    pooled_proportion,
    row_coefficients,
)
from decorrupt.corruption.common_classes import (
    LEVEL,
    ClassMeansTest,
    check_class_means,
    quick_violation,
    sums_by_bag,
)
from decorrupt.corruption.noise import CorrectedLoss, corrected_loss, corrupt_labels
from decorrupt.corruption.pairing import pair_bags
from decorrupt.corruption.source_mixture import SourceMixture
from decorrupt.corruption.weights import (
    WEIGHT_SCHEMES,
    backward_coefficients,
    label_costs,
    noise_scales,
    noisy_share,
    read_transitions,
    signal_to_noise,
    source_weights,
)

__all__ = [
    "COMBINATION_METHODS",
    "LEVEL",
    "WEIGHT_SCHEMES",
    "ClassMeansTest",
    "CorrectedLoss",
    "SourceMixture",
    "backward_coefficients",
    "bag_information",
    "check_class_means",
    "combine_bags",
    "corrected_loss",
    "corrupt_labels",
    "label_costs",
    "noise_scales",
    "noisy_share",
    "pair_bags",
    "pooled_proportion",
    "quick_violation",
    "read_transitions",
    "row_coefficients",
    "signal_to_noise",
    "source_weights",
    "sums_by_bag",
]
