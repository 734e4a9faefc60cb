"""Methods as scikit-learn estimators, one file per method, and their base classes."""

from decorrupt.estimators.bag_classifier import (
    BagClassifier,
    common_classes_notices,
    needs_common_classes,
)
from decorrupt.estimators.corrected_loss import CorrectedLossClassifier
from decorrupt.estimators.corrected_risk import CorrectedRiskClassifier
from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.count_likelihood import CountLikelihoodClassifier, rows_worth
from decorrupt.estimators.diagnostics import Diagnostics
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.estimators.kernel_classifier import Fit, KernelClassifier, PathFit
from decorrupt.estimators.mean_map import MeanMapClassifier
from decorrupt.estimators.parameters import (
    check_choice,
    check_count,
    check_not_negative,
    check_parameters,
    check_positive,
    check_share,
    check_two_or_more,
)
from decorrupt.estimators.proportion_matching import ProportionMatchingClassifier
from decorrupt.estimators.rows import FLOATS, validated_rows
from decorrupt.estimators.score_classifier import (
    DECISIONS,
    LabelAccuracyMixin,
    ReferenceLinkMixin,
    ScoreClassifier,
    decision_threshold,
)
from decorrupt.estimators.source_classifier import SourceClassifier

__all__ = [
    "DECISIONS",
    "FLOATS",
    "BagClassifier",
    "CorrectedLossClassifier",
    "CorrectedRiskClassifier",
    "CorruptedSourcesClassifier",
    "CountLikelihoodClassifier",
    "Diagnostics",
    "Fit",
    "ForwardSourcesClassifier",
    "KernelClassifier",
    "LabelAccuracyMixin",
    "MeanMapClassifier",
    "PathFit",
    "ProportionMatchingClassifier",
    "ReferenceLinkMixin",
    "ScoreClassifier",
    "SourceClassifier",
    "check_choice",
    "check_count",
    "check_not_negative",
    "check_parameters",
    "check_positive",
    "check_share",
    "check_two_or_more",
    "common_classes_notices",
    "decision_threshold",
    "needs_common_classes",
    "rows_worth",
    "validated_rows",
]
