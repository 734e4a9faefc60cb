"""The public names, and where each of them is defined."""

from .bag_classifiers import (
    DaskCorrectedLossClassifier,
    DaskCountLikelihoodClassifier,
    DaskMeanMapClassifier,
)
from .partition import (
    Chunk,
    Partition,
    ScoreModel,
    partition_value_and_gradient,
)
from .source_classifier import DaskCorruptedSourcesClassifier

__all__ = [
    "Chunk",
    "DaskCorrectedLossClassifier",
    "DaskCorruptedSourcesClassifier",
    "DaskCountLikelihoodClassifier",
    "DaskMeanMapClassifier",
    "Partition",
    "ScoreModel",
    "partition_value_and_gradient",
]
