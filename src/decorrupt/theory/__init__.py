"""The paper's theory: bounds, information, convexity, consistency and simulations."""

from decorrupt.theory.bounds import (
    bound_common_source,
    bound_label_proportions,
    bound_bags,
    bound_varying_priors,
)
from decorrupt.theory.class_bounds import bound_class_sources, corrected_class_lipschitz
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
    information,
    combined_sample_size,
    weights_comparison,
)
from decorrupt.theory.master import bound_master, replacement_change
from decorrupt.theory.required import RequiredRows, required_rows
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
    "bound_class_sources",
    "bound_common_source",
    "bound_label_proportions",
    "bound_master",
    "bound_bags",
    "bound_varying_priors",
    "consistent_reg_strength",
    "convexity_floor",
    "corrected_class_lipschitz",
    "information",
    "is_bounded_below",
    "is_convex",
    "replacement_change",
    "required_rows",
    "simulate_bound_coverage",
    "simulate_consistency",
    "simulate_variance",
    "combined_sample_size",
    "weights_comparison",
]
