"""From corrupted labels to risk coefficients: noise rates, strata, pairing, combination."""

from decorrupt.corruption.class_combination import (
    ClassCombination,
    check_class_strata,
    combine_classes,
    resolve_class_prior,
)
from decorrupt.corruption.class_weights import class_source_weights
from decorrupt.corruption.combine import (
    COMBINATION_METHODS,
    PAIRINGS,
    Combination,
    check_strata,
    combine_strata,
    pooled_proportion,
    resolve_target_prior,
    stratum_information,
)
from decorrupt.corruption.noise import (
    CorrectedLoss,
    NoiseRates,
    check_rate_rows,
    corrected_loss,
    correction_coefficients,
    corrupt_labels,
    is_two_class_matrix,
)
from decorrupt.corruption.pairing import BagPairs, pair_bags
from decorrupt.corruption.source_mixture import SourceMixture
from decorrupt.corruption.strata import (
    Strata,
    bag_targets,
    factorize,
    is_missing_id,
    strata_from_bags,
    strata_from_labels,
    two_classes,
)
from decorrupt.corruption.terms import RiskTerms
from decorrupt.corruption.transitions import (
    backward_coefficients,
    check_transition_rows,
    check_transitions,
    noise_scales,
)
from decorrupt.corruption.weights import (
    WEIGHT_SCHEMES,
    label_costs,
    noisy_share,
    signal_to_noise,
    source_weights,
)

__all__ = [
    "COMBINATION_METHODS",
    "PAIRINGS",
    "WEIGHT_SCHEMES",
    "BagPairs",
    "ClassCombination",
    "Combination",
    "CorrectedLoss",
    "NoiseRates",
    "RiskTerms",
    "SourceMixture",
    "Strata",
    "backward_coefficients",
    "bag_targets",
    "check_class_strata",
    "check_rate_rows",
    "check_strata",
    "check_transition_rows",
    "check_transitions",
    "class_source_weights",
    "combine_classes",
    "combine_strata",
    "corrected_loss",
    "correction_coefficients",
    "corrupt_labels",
    "factorize",
    "is_missing_id",
    "is_two_class_matrix",
    "label_costs",
    "noise_scales",
    "noisy_share",
    "pair_bags",
    "pooled_proportion",
    "resolve_class_prior",
    "resolve_target_prior",
    "signal_to_noise",
    "source_weights",
    "strata_from_bags",
    "strata_from_labels",
    "stratum_information",
    "two_classes",
]
