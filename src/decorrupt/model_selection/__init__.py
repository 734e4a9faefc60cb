"""Model selection without labels: folds of bags, criteria, searches, automatic choice."""

from decorrupt.model_selection.accuracy import AccuracyEstimate, estimate_accuracy
from decorrupt.model_selection.auto import AutoLabelProportionsClassifier
from decorrupt.model_selection.auto_sources import AutoSourcesClassifier
from decorrupt.model_selection.averaged import AveragedClassifier
from decorrupt.model_selection.baselines import group_rate_accuracy
from decorrupt.model_selection.calibration import (
    CalibratedBagClassifier,
    CalibrationBin,
    calibration_curve_from_proportions,
)
from decorrupt.model_selection.candidates import CANDIDATES, Candidate
from decorrupt.model_selection.criteria import (
    Estimate,
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)
from decorrupt.model_selection.folds import bag_folds, usable_folds
from decorrupt.model_selection.forest_round import ForestRoundClassifier
from decorrupt.model_selection.grids import DEFAULT_GAMMA_FACTORS, DEFAULT_REG_STRENGTHS
from decorrupt.model_selection.importance import ColumnImportance, bag_permutation_importance
from decorrupt.model_selection.leaderboard import Leaderboard, LeaderboardRow
from decorrupt.model_selection.scorers import BAG_SCORERS, BagScorer
from decorrupt.model_selection.search import BagGridSearchCV, BagRandomizedSearchCV
from decorrupt.splitters import BagKFold, WithinBagKFold

__all__ = [
    "BAG_SCORERS",
    "CANDIDATES",
    "DEFAULT_GAMMA_FACTORS",
    "DEFAULT_REG_STRENGTHS",
    "AccuracyEstimate",
    "AutoLabelProportionsClassifier",
    "AutoSourcesClassifier",
    "AveragedClassifier",
    "BagGridSearchCV",
    "BagKFold",
    "BagRandomizedSearchCV",
    "BagScorer",
    "CalibratedBagClassifier",
    "CalibrationBin",
    "Candidate",
    "ColumnImportance",
    "Estimate",
    "ForestRoundClassifier",
    "Leaderboard",
    "LeaderboardRow",
    "WithinBagKFold",
    "bag_folds",
    "bag_permutation_importance",
    "calibration_curve_from_proportions",
    "corrected_accuracy",
    "corrected_risk",
    "count_score",
    "estimate_accuracy",
    "group_rate_accuracy",
    "proportion_risk",
    "usable_folds",
]
