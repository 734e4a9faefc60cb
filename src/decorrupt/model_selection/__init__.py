"""Choosing without labels: bag-aware folds, label-free criteria, searches, the automatic choice."""

from decorrupt.model_selection.auto import AutoLabelProportionsClassifier
from decorrupt.model_selection.calibration import CalibratedBagClassifier
from decorrupt.model_selection.candidates import CANDIDATES, Candidate
from decorrupt.model_selection.criteria import (
    Estimate,
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)
from decorrupt.model_selection.leaderboard import Leaderboard
from decorrupt.model_selection.path_cv import (
    CorrectedLossClassifierCV,
    CountLikelihoodClassifierCV,
)
from decorrupt.model_selection.scorers import BAG_SCORERS, BagScorer
from decorrupt.model_selection.search import BagGridSearchCV, BagRandomizedSearchCV
from decorrupt.model_selection.splitters import BagKFold, WithinBagKFold

__all__ = [
    "BAG_SCORERS",
    "CANDIDATES",
    "AutoLabelProportionsClassifier",
    "BagGridSearchCV",
    "BagKFold",
    "BagRandomizedSearchCV",
    "BagScorer",
    "CalibratedBagClassifier",
    "Candidate",
    "CorrectedLossClassifierCV",
    "CountLikelihoodClassifierCV",
    "Estimate",
    "Leaderboard",
    "WithinBagKFold",
    "corrected_accuracy",
    "corrected_risk",
    "count_score",
    "proportion_risk",
]
