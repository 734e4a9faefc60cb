"""Names and labels of all methods and measures; docs/understand/glossary.md says what they mean.

Every name is the library's; on the command line it is written with hyphens.
"""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    """A criterion or metric: its label, and which direction is better."""

    label: str
    better: str


BAG_METHODS = {
    "mean_map": "mean map",
    "corrected_loss": "corrected loss",
    "corrected_loss_pairs": "corrected loss, pairs of bags",
    "count_likelihood": "count likelihood",
    "proportion_matching": "proportion matching",
    "invcal": "InvCal",
    "em": "EM with a forest",
    "alternating_psvm": "∝SVM",
}
SOURCE_METHODS = {
    "corrected": "corrected loss",
    "forward": "forward likelihood",
}
# Methods for two classes only.
FOR_TWO_CLASSES = (
    "corrected_loss_pairs",
    "invcal",
    "alternating_psvm",
)
# What a search over several methods is called; the library's name is that of its candidates.
BAG_SEARCHES = {
    "auto": "automatic choice",
}
SOURCE_SEARCHES = {
    "auto": "automatic choice",
}

HIGHER, LOWER = "higher is better", "lower is better"
# Measures that need no labels.
CRITERIA = {
    "corrected_accuracy": Measure("estimated balanced accuracy", HIGHER),
    "corrected_risk": Measure("estimated balanced sigmoid risk", LOWER),
    "proportion_risk": Measure("error of the classified share", LOWER),
    "count_log_likelihood": Measure("log-likelihood of counts per row", HIGHER),
    "noisy_label_log_likelihood": Measure("log-likelihood of noisy labels per row", HIGHER),
}
# The same for several classes.
CLASS_CRITERIA = CRITERIA | {
    "corrected_accuracy": Measure("estimated mean recall", HIGHER),
    "corrected_risk": Measure("estimated mean error probability", LOWER),
    "proportion_risk": Measure("error of the classified shares", LOWER),
}
# Measures that need true labels.
METRICS = {
    "accuracy": Measure("accuracy", HIGHER),
    "balanced_accuracy": Measure("balanced accuracy", HIGHER),
    "macro_recall": Measure("mean recall", HIGHER),
    "roc_auc": Measure("area under the ROC curve", HIGHER),
    "brier": Measure("Brier score", LOWER),
    "brier_classes": Measure("Brier score", LOWER),
    "log_loss": Measure("log loss", LOWER),
}


def method_label(name: str) -> str:
    """Return the label of a method in sentences, or the name if it is not in the glossary."""
    return (BAG_METHODS | SOURCE_METHODS).get(name, name)
