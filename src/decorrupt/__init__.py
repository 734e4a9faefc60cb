"""Train classifiers from labels nobody trusts: corrupted sources and label proportions."""

from decorrupt.corruption import (
    BagPairs,
    NoiseRates,
    bag_targets,
    combine_strata,
    corrected_loss,
    corrupt_labels,
    pair_bags,
    signal_to_noise,
    source_weights,
)
from decorrupt.estimators import (
    CorruptedSourcesClassifier,
    Diagnostics,
    LabelProportionsClassifier,
)
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning, NonConvexRiskWarning
from decorrupt.losses import LOSSES, get_loss

__version__ = "0.1.0"

__all__ = [
    "LOSSES",
    "BagPairs",
    "CorruptedSourcesClassifier",
    "Diagnostics",
    "DroppedBagsWarning",
    "LabelProportionsClassifier",
    "NegativeRiskWarning",
    "NoiseRates",
    "NonConvexRiskWarning",
    "bag_targets",
    "combine_strata",
    "corrected_loss",
    "corrupt_labels",
    "get_loss",
    "pair_bags",
    "signal_to_noise",
    "source_weights",
]
