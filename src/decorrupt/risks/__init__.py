"""Smooth functions of the scores: corrected, count, proportion, set, forward; label posteriors."""

from decorrupt.risks.corrected import KINK_WIDTH, RISK_CORRECTIONS, CorrectedRisk
from decorrupt.risks.count_noise import GaussianNoise, GeometricNoise, LaplaceNoise
from decorrupt.risks.label_posterior import LabelPosterior, label_posterior
from decorrupt.risks.score_risk import Operator, ScoreRisk

__all__ = [
    "KINK_WIDTH",
    "RISK_CORRECTIONS",
    "CorrectedRisk",
    "GaussianNoise",
    "GeometricNoise",
    "LabelPosterior",
    "LaplaceNoise",
    "Operator",
    "ScoreRisk",
    "label_posterior",
]
