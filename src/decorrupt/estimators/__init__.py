"""Methods as scikit-learn estimators, one file per method, and their base classes."""

from decorrupt.estimators.bag_assumptions import common_classes_notices, needs_common_classes
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.corrected_loss import CorrectedLossClassifier
from decorrupt.estimators.corrected_risk import CorrectedRiskClassifier
from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.count_likelihood import (
    CountLikelihoodClassifier,
    estimated_prior,
    rows_worth,
)
from decorrupt.estimators.decisions import DECISIONS, decision_threshold
from decorrupt.estimators.default_strength import (
    AUTO,
    COUNT_PRIOR_VARIANCE,
    NOISY_PRIOR_VARIANCE,
    resolve_reg_strength,
)
from decorrupt.estimators.diagnostics import (
    Diagnostics,
    describe_overfitting,
    dropped_bags,
    is_overfitted,
    within_std_error,
)
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.estimators.kernel_classifier import Fit, KernelClassifier, PathFit
from decorrupt.estimators.label_accuracy import LabelAccuracyMixin
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
from decorrupt.estimators.reference_link import ReferenceLinkMixin
from decorrupt.estimators.rows import FLOATS, validated_rows
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.estimators.set_classifier import SetClassifier
from decorrupt.estimators.source_classifier import SourceClassifier
from decorrupt.estimators.weighted_sources import (
    COSTS,
    WeightedSourcesClassifier,
    label_weights,
    noisy_mixture,
    true_class_scores,
)

__all__ = [
    "AUTO",
    "COSTS",
    "COUNT_PRIOR_VARIANCE",
    "DECISIONS",
    "FLOATS",
    "NOISY_PRIOR_VARIANCE",
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
    "SetClassifier",
    "SourceClassifier",
    "WeightedSourcesClassifier",
    "check_choice",
    "check_count",
    "check_not_negative",
    "check_parameters",
    "check_positive",
    "check_share",
    "check_two_or_more",
    "common_classes_notices",
    "decision_threshold",
    "describe_overfitting",
    "dropped_bags",
    "estimated_prior",
    "is_overfitted",
    "label_weights",
    "needs_common_classes",
    "noisy_mixture",
    "resolve_reg_strength",
    "rows_worth",
    "true_class_scores",
    "validated_rows",
    "within_std_error",
]
