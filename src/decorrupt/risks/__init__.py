"""Smooth functions of the scores: corrected, count and proportion risks; label posteriors."""

from decorrupt.risks.bag_effect import (
    bag_effect_of_scores,
    effect_covariance,
    estimate_bag_effect,
    with_bag_effect,
)
from decorrupt.risks.class_counts import count_precision
from decorrupt.risks.counts import (
    CountRisk,
    LabelPosterior,
    count_log_likelihood,
    count_risk,
    label_posterior,
    noisy_label_risk,
    normal_count_risk,
)
from decorrupt.risks.proportion import ProportionRisk
from decorrupt.risks.risk import (
    CorrectedRisk,
    Operator,
    ScoreRisk,
    corrected_sum,
    logistic_risk,
)

__all__ = [
    "CorrectedRisk",
    "CountRisk",
    "LabelPosterior",
    "Operator",
    "ProportionRisk",
    "ScoreRisk",
    "bag_effect_of_scores",
    "corrected_sum",
    "count_log_likelihood",
    "count_precision",
    "count_risk",
    "effect_covariance",
    "estimate_bag_effect",
    "label_posterior",
    "logistic_risk",
    "noisy_label_risk",
    "normal_count_risk",
    "with_bag_effect",
]
