"""Any learner on bags and noisy sources: EM, boosted trees, label-dependent costs."""

from decorrupt.meta.boosted import BoostedCountClassifier
from decorrupt.meta.cost_weighted import CostWeightedSourcesClassifier
from decorrupt.meta.em import EMClassifier
from decorrupt.meta.objective import count_objective

__all__ = [
    "BoostedCountClassifier",
    "CostWeightedSourcesClassifier",
    "EMClassifier",
    "count_objective",
]
