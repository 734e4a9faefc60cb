"""scikit-learn estimators."""

from decorrupt.estimators.corrected_loss import CorrectedLossClassifier
from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.count_likelihood import CountLikelihoodClassifier
from decorrupt.estimators.diagnostics import Diagnostics
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.estimators.mean_map import MeanMapClassifier
from decorrupt.estimators.proportion_matching import ProportionMatchingClassifier
from decorrupt.estimators.set_classifier import SetClassifier
from decorrupt.estimators.weighted_sources import WeightedSourcesClassifier

__all__ = [
    "CorrectedLossClassifier",
    "CorruptedSourcesClassifier",
    "CountLikelihoodClassifier",
    "Diagnostics",
    "ForwardSourcesClassifier",
    "MeanMapClassifier",
    "ProportionMatchingClassifier",
    "SetClassifier",
    "WeightedSourcesClassifier",
]
