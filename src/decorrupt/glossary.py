"""Names, labels and one-sentence descriptions of all methods and measures.

Every name is the library's; on the command line it is written with hyphens.
"""

from __future__ import annotations

from typing import NamedTuple


class Method(NamedTuple):
    """A method: its label in sentences and what it does."""

    label: str
    meaning: str


class Measure(NamedTuple):
    """A criterion or metric: its label, what it means and which direction is better."""

    label: str
    meaning: str
    better: str


BAG_METHODS = {
    "mean_map": Method(
        "mean map",
        "Estimates the means of the classes from the means of the bags, and fits a logistic "
        "regression to them. Fast and convex.",
    ),
    "corrected_loss": Method(
        "corrected loss",
        "Treats bags as samples with known rates of wrong labels, and corrects the loss so that it "
        "is unbiased.",
    ),
    "corrected_loss_pairs": Method(
        "corrected loss, pairs of bags",
        "The corrected loss as first published: each bag of many positives is paired with one of "
        "few.",
    ),
    "count_likelihood": Method(
        "count likelihood",
        "Maximises the likelihood of the number of positives in each bag, or of the numbers of "
        "several classes.",
    ),
    "set_classification": Method(
        "set classification", "Learns to predict which bag a row comes from."
    ),
    "proportion_matching": Method(
        "proportion matching",
        "Minimises the cross-entropy between the known and the predicted proportion of each bag.",
    ),
    "invcal": Method("InvCal", "Support vector regression on the means of the bags (Rüping 2010)."),
    "em": Method(
        "EM with a forest",
        "Fits a random forest to the probabilities of the labels given the bags' counts, which a "
        "kernel model and the forest itself estimate on held-out bags.",
    ),
    "alternating_psvm": Method(
        "∝SVM",
        "Alternates between training a support vector machine and choosing labels that agree with "
        "the bags (Yu et al. 2013).",
    ),
    "convex_psvm": Method(
        "conv-∝SVM",
        "Trains a support vector machine on a weighted mean of label vectors that agree with the "
        "bags, a convex relaxation (Yu et al. 2013).",
    ),
}
SOURCE_METHODS = {
    "corrected": Method(
        "corrected loss",
        "Corrects the loss for the noise rates of each source so that it is unbiased, and gives "
        "better sources more weight.",
    ),
    "forward": Method("forward likelihood", "Maximises the likelihood of the noisy labels."),
    "cost_weighted": Method(
        "label-dependent costs",
        "Weights the noisy labels so that a model of them decides as one of the true labels "
        "(Natarajan et al. 2013).",
    ),
    "plain": Method(
        "labels at face value",
        "Learns the noisy labels, and converts their probabilities with the noise rates.",
    ),
}
# Methods for two classes only.
FOR_TWO_CLASSES = (
    "corrected_loss_pairs",
    "invcal",
    "alternating_psvm",
    "convex_psvm",
    "cost_weighted",
)
# What a search over several methods is called; the library's name is that of its candidates.
BAG_SEARCHES = {
    "auto": Method(
        "automatic choice",
        "Averages count likelihood and mean map over kernels and penalties, weighted by how well "
        "each explains the counts of held-out bags.",
    ),
    "thorough": Method(
        "thorough choice",
        "The same average over all methods except pairs of bags, convex ∝SVM and EM.",
    ),
}
SOURCE_SEARCHES = {
    "auto": Method(
        "automatic choice",
        "Averages the methods for sources by the likelihood of held-out labels.",
    ),
}

HIGHER, LOWER = "higher is better", "lower is better"
# Measures that need no labels.
CRITERIA = {
    "corrected_accuracy": Measure(
        "estimated balanced accuracy",
        "The mean of two rates: the share of positives that are recognised and the share of "
        "negatives that are recognised. Guessing gives 0.5, perfection 1. Estimated from known "
        "proportions without labels; with few rows the estimate can be below 0 or above 1.",
        HIGHER,
    ),
    "corrected_risk": Measure(
        "estimated balanced sigmoid risk",
        "The corresponding error rate, in which uncertain decisions count in part. Guessing gives "
        "0.5.",
        LOWER,
    ),
    "proportion_risk": Measure(
        "error of the classified share",
        "The mean absolute difference between the share of rows classified as positive and the "
        "known proportion.",
        LOWER,
    ),
    "count_log_likelihood": Measure(
        "log-likelihood of counts per row",
        "How well the predicted probabilities explain the number of positives in each bag. Only "
        "differences between models have a meaning.",
        HIGHER,
    ),
    "noisy_label_log_likelihood": Measure(
        "log-likelihood of noisy labels per row",
        "How well the predicted probabilities and the noise rates explain the noisy labels. Only "
        "differences between models have a meaning.",
        HIGHER,
    ),
}
# The same for several classes.
CLASS_CRITERIA = CRITERIA | {
    "corrected_accuracy": Measure(
        "estimated mean recall",
        "The mean over the classes of the share of their rows that are recognised. Guessing gives "
        "1 / number of classes, perfection 1. Estimated from known proportions without labels; "
        "with few rows the estimate can be below 0 or above 1.",
        HIGHER,
    ),
    "corrected_risk": Measure(
        "estimated mean error probability",
        "The mean over the classes of the probability that the model gives to other classes.",
        LOWER,
    ),
    "proportion_risk": Measure(
        "error of the classified shares",
        "Half the sum over the classes of the absolute difference between the share of rows "
        "classified as the class and its known proportion: the share of rows that would have to "
        "be classified differently.",
        LOWER,
    ),
    "count_log_likelihood": Measure(
        "log-likelihood of counts per row",
        "How well the predicted probabilities explain the number of rows of each class in each "
        "bag. Only differences between models have a meaning.",
        HIGHER,
    ),
}
# Measures that need true labels.
METRICS = {
    "accuracy": Measure("accuracy", "The share of rows that are classified correctly.", HIGHER),
    "balanced_accuracy": Measure(
        "balanced accuracy",
        "The mean of two rates: the share of positives that are recognised and the share of "
        "negatives that are recognised. Guessing gives 0.5, perfection 1.",
        HIGHER,
    ),
    "macro_recall": Measure(
        "mean recall",
        "The mean over the classes of the share of their rows that are recognised. Guessing gives "
        "1 / number of classes, perfection 1.",
        HIGHER,
    ),
    "roc_auc": Measure(
        "area under the ROC curve",
        "How often a positive row has a higher probability than a negative row. Guessing gives "
        "0.5, perfection 1.",
        HIGHER,
    ),
    "brier": Measure(
        "Brier score",
        "The mean squared difference between probability and label; 0 is perfect.",
        LOWER,
    ),
    "brier_classes": Measure(
        "Brier score",
        "The mean over the rows of the squared differences between probabilities and true class, "
        "summed over the classes; 0 is perfect.",
        LOWER,
    ),
    "log_loss": Measure(
        "log loss",
        "The mean negative log-probability of the true class; confident errors are expensive. 0 is "
        "perfect.",
        LOWER,
    ),
}


def method_label(name: str) -> str:
    """Return the label of a method in sentences, or the name if it is not in the glossary."""
    known = BAG_METHODS | SOURCE_METHODS
    return known[name].label if name in known else name
