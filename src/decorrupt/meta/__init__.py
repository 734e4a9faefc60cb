"""Any learner on bags and noisy sources: EM, boosting, label-dependent costs."""

from decorrupt.meta.cost_weighted import CostWeightedSourcesClassifier
from decorrupt.meta.em import EMClassifier
from decorrupt.meta.objective import count_objective
from decorrupt.meta.observed_classifier import ObservedClassifier, bag_folds, seed
from decorrupt.meta.start import check_numbers, make_columns

__all__ = [
    "CostWeightedSourcesClassifier",
    "EMClassifier",
    "ObservedClassifier",
    "bag_folds",
    "check_numbers",
    "count_objective",
    "make_columns",
    "seed",
]
