"""Smooth functions of the scores: corrected, count, proportion, set and forward risks."""

from decorrupt.risks.corrected import KINK_WIDTH, RISK_CORRECTIONS, CorrectedRisk
from decorrupt.risks.score_risk import Operator, ScoreRisk

__all__ = [
    "KINK_WIDTH",
    "RISK_CORRECTIONS",
    "CorrectedRisk",
    "Operator",
    "ScoreRisk",
]
