"""The paper's theory: bounds, information, convexity, consistency and simulations."""

from decorrupt.theory.bounds import bound_bags, bound_label_proportions
from decorrupt.theory.consistency import (
    ConsistencyResult,
    consistent_reg_strength,
    simulate_consistency,
)
from decorrupt.theory.convexity import (
    aggregate_condition,
    convexity_floor,
    is_bounded_below,
    is_convex,
)
from decorrupt.theory.coverage import Coverage, simulate_bound_coverage
from decorrupt.theory.gaussian import GaussianClasses
from decorrupt.theory.information import (
    Information,
    WeightsComparison,
    combined_sample_size,
    information,
    weights_comparison,
)
from decorrupt.theory.master import bound_master, replacement_change
from decorrupt.theory.required import RequiredRows, required_rows
from decorrupt.theory.source_bounds import (
    bound_common_source,
    bound_transitions,
    bound_varying_priors,
    corrected_lipschitz,
)
from decorrupt.theory.variance import VarianceResult, simulate_variance

__all__ = [
    "ConsistencyResult",
    "Coverage",
    "GaussianClasses",
    "Information",
    "RequiredRows",
    "VarianceResult",
    "WeightsComparison",
    "aggregate_condition",
    "bound_bags",
    "bound_common_source",
    "bound_label_proportions",
    "bound_master",
    "bound_transitions",
    "bound_varying_priors",
    "combined_sample_size",
    "consistent_reg_strength",
    "convexity_floor",
    "corrected_lipschitz",
    "information",
    "is_bounded_below",
    "is_convex",
    "replacement_change",
    "required_rows",
    "simulate_bound_coverage",
    "simulate_consistency",
    "simulate_variance",
    "weights_comparison",
]
