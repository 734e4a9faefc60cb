"""The public names, and where each of them is defined."""

from .bag_classifiers import (
    DaskCorrectedLossClassifier,
    DaskCountLikelihoodClassifier,
    DaskMeanMapClassifier,
)
from .engine import (
    connect,
    import_dask,
)
from .partition import (
    Chunk,
    Partition,
    ScoreModel,
    partition_value_and_gradient,
)
from .sample import share_by_bag
from .source_classifier import DaskCorruptedSourcesClassifier

__all__ = [
    "Chunk",
    "DaskCorrectedLossClassifier",
    "DaskCorruptedSourcesClassifier",
    "DaskCountLikelihoodClassifier",
    "DaskMeanMapClassifier",
    "Partition",
    "ScoreModel",
    "connect",
    "import_dask",
    "partition_value_and_gradient",
    "share_by_bag",
]
