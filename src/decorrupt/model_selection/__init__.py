"""Model selection without labels: folds of bags, criteria, searches, automatic choice."""

from decorrupt.model_selection.accuracy import (
    AccuracyEstimate,
    estimate_accuracy,
    estimate_observed_accuracy,
)
from decorrupt.model_selection.auto import DEFAULT_KERNELS, AutoLabelProportionsClassifier
from decorrupt.model_selection.auto_sources import SOURCE_KERNELS, AutoSourcesClassifier
from decorrupt.model_selection.averaged import AveragedClassifier
from decorrupt.model_selection.baselines import group_rate_accuracy, observed_rate_accuracy
from decorrupt.model_selection.calibration import (
    CalibratedBagClassifier,
    CalibrationBin,
    calibration_curve_from_proportions,
    fit_calibration,
    observed_calibration_curve,
    quantile_bins,
)
from decorrupt.model_selection.candidates import CANDIDATES, Candidate
from decorrupt.model_selection.criteria import (
    Estimate,
    bag_means,
    corrected_accuracy,
    corrected_risk,
    count_score,
    observed_accuracy,
    observed_count_score,
    observed_proportion_risk,
    observed_risk,
    proportion_risk,
)
from decorrupt.model_selection.displays import (
    BagCalibrationDisplay,
    BagProportionsDisplay,
    LeaderboardDisplay,
)
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import (
    DEFAULT_FOLDS,
    FEWEST_BAGS_TO_LEAVE_OUT,
    bag_folds,
    observed_folds,
    source_folds,
    usable_folds,
)
from decorrupt.model_selection.grids import DEFAULT_GAMMA_FACTORS, DEFAULT_REG_STRENGTHS
from decorrupt.model_selection.importance import (
    ColumnImportance,
    bag_permutation_importance,
    observed_importance,
)
from decorrupt.model_selection.leaderboard import Leaderboard, LeaderboardRow, describe_params
from decorrupt.model_selection.out_of_fold import OutOfFold, out_of_fold
from decorrupt.model_selection.scorers import BAG_SCORERS, NOISY_LABELS, BagScorer
from decorrupt.model_selection.search import BagGridSearchCV, BagRandomizedSearchCV
from decorrupt.splitters import BagKFold, WithinBagKFold

__all__ = [
    "BAG_SCORERS",
    "CANDIDATES",
    "DEFAULT_FOLDS",
    "DEFAULT_GAMMA_FACTORS",
    "DEFAULT_KERNELS",
    "DEFAULT_REG_STRENGTHS",
    "FEWEST_BAGS_TO_LEAVE_OUT",
    "NOISY_LABELS",
    "SOURCE_KERNELS",
    "AccuracyEstimate",
    "AutoLabelProportionsClassifier",
    "AutoSourcesClassifier",
    "AveragedClassifier",
    "BagCalibrationDisplay",
    "BagGridSearchCV",
    "BagKFold",
    "BagProportionsDisplay",
    "BagRandomizedSearchCV",
    "BagScorer",
    "CalibratedBagClassifier",
    "CalibrationBin",
    "Candidate",
    "ColumnImportance",
    "Estimate",
    "FoldedData",
    "Leaderboard",
    "LeaderboardDisplay",
    "LeaderboardRow",
    "OutOfFold",
    "WithinBagKFold",
    "bag_folds",
    "bag_means",
    "bag_permutation_importance",
    "calibration_curve_from_proportions",
    "corrected_accuracy",
    "corrected_risk",
    "count_score",
    "describe_params",
    "estimate_accuracy",
    "estimate_observed_accuracy",
    "fit_calibration",
    "group_rate_accuracy",
    "observed_accuracy",
    "observed_calibration_curve",
    "observed_count_score",
    "observed_folds",
    "observed_importance",
    "observed_proportion_risk",
    "observed_rate_accuracy",
    "observed_risk",
    "out_of_fold",
    "proportion_risk",
    "quantile_bins",
    "source_folds",
    "usable_folds",
]
