"""Methods as scikit-learn estimators, one file per method, and their base classes."""

from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.bags import BagFitMixin, needs_common_classes, warn_of_assumption
from decorrupt.estimators.corrected_loss import (
    CorrectedLossClassifier,
    CorrectedRiskClassifier,
    Diagnostics,
    warn_if_overfitted,
    within_std_error,
)
from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.count_likelihood import CountLikelihoodClassifier, rows_worth
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.estimators.kernel_classifier import (
    KernelClassifier,
    KernelModel,
    PathFit,
)
from decorrupt.estimators.mean_map import MeanMapClassifier
from decorrupt.estimators.parameters import (
    AUTO,
    check_choice,
    check_parameters,
    check_value,
)
from decorrupt.estimators.proportion_matching import ProportionMatchingClassifier
from decorrupt.estimators.score_classifier import (
    DECISIONS,
    FLOATS,
    LabelAccuracyMixin,
    ScoreClassifier,
    decision_threshold,
    validated_rows,
)
from decorrupt.estimators.sources import SourceFitMixin, warn_of_rates

__all__ = [
    "AUTO",
    "DECISIONS",
    "FLOATS",
    "BagFitMixin",
    "CorrectedLossClassifier",
    "CorrectedRiskClassifier",
    "CorruptedSourcesClassifier",
    "CountLikelihoodClassifier",
    "Diagnostics",
    "ForwardSourcesClassifier",
    "KernelClassifier",
    "KernelModel",
    "LabelAccuracyMixin",
    "MeanMapClassifier",
    "PathFit",
    "ProportionMatchingClassifier",
    "ScoreClassifier",
    "SourceFitMixin",
    "check_choice",
    "check_parameters",
    "check_value",
    "decision_threshold",
    "estimator",
    "needs_common_classes",
    "rows_worth",
    "validated_rows",
    "warn_if_overfitted",
    "warn_of_assumption",
    "warn_of_rates",
    "within_std_error",
]
