"""Margin losses φ(y·t): values, derivatives and constants."""

from decorrupt.losses.margin import (
    HuberLoss,
    LogisticLoss,
    MarginLoss,
    SigmoidLoss,
    SquaredLoss,
    UnhingedLoss,
)
from decorrupt.losses.registry import LOSSES, get_loss

__all__ = [
    "LOSSES",
    "HuberLoss",
    "LogisticLoss",
    "MarginLoss",
    "SigmoidLoss",
    "SquaredLoss",
    "UnhingedLoss",
    "get_loss",
]
