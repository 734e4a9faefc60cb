"""The paper's theory: bounds, information and convexity."""

from decorrupt.theory.bounds import bound_bags, bound_label_proportions
from decorrupt.theory.convexity import (
    aggregate_condition,
    convexity_floor,
    is_bounded_below,
    is_convex,
)
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

__all__ = [
    "Information",
    "RequiredRows",
    "WeightsComparison",
    "aggregate_condition",
    "bound_bags",
    "bound_common_source",
    "bound_label_proportions",
    "bound_master",
    "bound_transitions",
    "bound_varying_priors",
    "combined_sample_size",
    "convexity_floor",
    "corrected_lipschitz",
    "information",
    "is_bounded_below",
    "is_convex",
    "replacement_change",
    "required_rows",
    "weights_comparison",
]
