"""Methods as scikit-learn estimators, their base classes, and checks of parameters."""

from decorrupt.estimators.bag_assumptions import common_classes_notices, needs_common_classes
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.corrected_loss import CorrectedLossClassifier
from decorrupt.estimators.corrected_risk import CorrectedRiskClassifier
from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.count_likelihood import CountLikelihoodClassifier
from decorrupt.estimators.decisions import DECISIONS, decision_threshold
from decorrupt.estimators.diagnostics import Diagnostics
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.estimators.kernel_classifier import KernelClassifier, PathFit
from decorrupt.estimators.mean_map import MeanMapClassifier
from decorrupt.estimators.parameters import (
    check_choice,
    check_count,
    check_not_negative,
    check_parameters,
    check_positive,
    check_two_or_more,
)
from decorrupt.estimators.proportion_matching import ProportionMatchingClassifier
from decorrupt.estimators.score_classifier import FLOATS, ScoreClassifier
from decorrupt.estimators.set_classifier import SetClassifier
from decorrupt.estimators.source_classifier import SourceClassifier
from decorrupt.estimators.weighted_sources import WeightedSourcesClassifier

__all__ = [
    "DECISIONS",
    "FLOATS",
    "BagClassifier",
    "CorrectedLossClassifier",
    "CorrectedRiskClassifier",
    "CorruptedSourcesClassifier",
    "CountLikelihoodClassifier",
    "Diagnostics",
    "ForwardSourcesClassifier",
    "KernelClassifier",
    "MeanMapClassifier",
    "PathFit",
    "ProportionMatchingClassifier",
    "ScoreClassifier",
    "SetClassifier",
    "SourceClassifier",
    "WeightedSourcesClassifier",
    "check_choice",
    "check_count",
    "check_not_negative",
    "check_parameters",
    "check_positive",
    "check_two_or_more",
    "common_classes_notices",
    "decision_threshold",
    "needs_common_classes",
]
