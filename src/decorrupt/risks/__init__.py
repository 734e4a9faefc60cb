"""Smooth functions of the scores: corrected, count, proportion, set, forward; label posteriors."""

from decorrupt.risks.bag_effect import (
    ESTIMATE,
    bag_effect_of_scores,
    check_bag_effect,
    effect_covariance,
    estimate_bag_effect,
    with_bag_effect,
)
from decorrupt.risks.corrected import (
    KINK_WIDTH,
    RISK_CORRECTIONS,
    CorrectedRisk,
    corrected_sum,
    logistic_risk,
)
from decorrupt.risks.count import CountRisk, count_log_likelihood, count_risk
from decorrupt.risks.forward import ForwardRisk, bag_shares_by_class, noisy_label_risk
from decorrupt.risks.label_posterior import LabelLikelihood, LabelPosterior, label_posterior
from decorrupt.risks.normal_counts import CountMoments, NormalBags, count_precision
from decorrupt.risks.proportion import ProportionRisk
from decorrupt.risks.score_risk import Operator, ScoreRisk
from decorrupt.risks.segments import Segments

__all__ = [
    "ESTIMATE",
    "KINK_WIDTH",
    "RISK_CORRECTIONS",
    "CorrectedRisk",
    "CountMoments",
    "CountRisk",
    "ForwardRisk",
    "LabelLikelihood",
    "LabelPosterior",
    "NormalBags",
    "Operator",
    "ProportionRisk",
    "ScoreRisk",
    "Segments",
    "bag_effect_of_scores",
    "bag_shares_by_class",
    "check_bag_effect",
    "corrected_sum",
    "count_log_likelihood",
    "count_precision",
    "count_risk",
    "effect_covariance",
    "estimate_bag_effect",
    "label_posterior",
    "logistic_risk",
    "noisy_label_risk",
    "with_bag_effect",
]
