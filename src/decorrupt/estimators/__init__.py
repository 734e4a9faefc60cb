"""scikit-learn estimators."""

from decorrupt.estimators.alternating_psvm import AlternatingPSVMClassifier
from decorrupt.estimators.convex_psvm import ConvexPSVMClassifier
from decorrupt.estimators.corrected_loss import CorrectedLossClassifier
from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.count_likelihood import CountLikelihoodClassifier
from decorrupt.estimators.diagnostics import Diagnostics
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.estimators.invcal import InvCalClassifier
from decorrupt.estimators.mean_map import MeanMapClassifier
from decorrupt.estimators.proportion_matching import ProportionMatchingClassifier
from decorrupt.estimators.set_classifier import SetClassifier
from decorrupt.estimators.weighted_sources import WeightedSourcesClassifier

__all__ = [
    "AlternatingPSVMClassifier",
    "ConvexPSVMClassifier",
    "CorrectedLossClassifier",
    "CorruptedSourcesClassifier",
    "CountLikelihoodClassifier",
    "Diagnostics",
    "ForwardSourcesClassifier",
    "InvCalClassifier",
    "MeanMapClassifier",
    "ProportionMatchingClassifier",
    "SetClassifier",
    "WeightedSourcesClassifier",
]
