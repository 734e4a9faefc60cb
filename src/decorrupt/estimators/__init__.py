"""scikit-learn estimators."""

from decorrupt.estimators.corrupted_sources import CorruptedSourcesClassifier
from decorrupt.estimators.diagnostics import Diagnostics
from decorrupt.estimators.label_proportions import LabelProportionsClassifier

__all__ = ["CorruptedSourcesClassifier", "Diagnostics", "LabelProportionsClassifier"]
