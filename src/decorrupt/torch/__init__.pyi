"""The public names, and where each of them is defined."""

from .classifier import TorchBagClassifier
from .losses import (
    corrected_loss,
    count_loss,
    forward_loss,
    proportion_loss,
)
from .training import MLP, BagBatchSampler

__all__ = [
    "MLP",
    "BagBatchSampler",
    "TorchBagClassifier",
    "corrected_loss",
    "count_loss",
    "forward_loss",
    "proportion_loss",
]
