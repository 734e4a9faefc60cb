"""Model selection without labels: folds of bags, criteria, searches, automatic choice."""

from decorrupt.model_selection.accuracy import AccuracyEstimate, estimate_accuracy
from decorrupt.model_selection.auto import AutoLabelProportionsClassifier
from decorrupt.model_selection.auto_sources import AutoSourcesClassifier
from decorrupt.model_selection.averaged import AveragedClassifier
from decorrupt.model_selection.baselines import group_rate_accuracy
from decorrupt.model_selection.calibration import (
    CalibrationBin,
    calibration_curve_from_proportions,
    fit_calibration,
    quantile_bins,
)
from decorrupt.model_selection.criteria import (
    Estimate,
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)
from decorrupt.model_selection.displays import BagCalibrationDisplay, LeaderboardDisplay
from decorrupt.model_selection.folds import bag_folds
from decorrupt.model_selection.importance import bag_permutation_importance, fold_models
from decorrupt.model_selection.leaderboard import Leaderboard
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.model_selection.search import BagGridSearchCV
from decorrupt.splitters import BagKFold, WithinBagKFold

__all__ = [
    "AccuracyEstimate",
    "AutoLabelProportionsClassifier",
    "AutoSourcesClassifier",
    "AveragedClassifier",
    "BagCalibrationDisplay",
    "BagGridSearchCV",
    "BagKFold",
    "BagScorer",
    "CalibrationBin",
    "Estimate",
    "Leaderboard",
    "LeaderboardDisplay",
    "WithinBagKFold",
    "bag_folds",
    "bag_permutation_importance",
    "calibration_curve_from_proportions",
    "corrected_accuracy",
    "corrected_risk",
    "count_score",
    "estimate_accuracy",
    "fit_calibration",
    "fold_models",
    "group_rate_accuracy",
    "proportion_risk",
    "quantile_bins",
]
