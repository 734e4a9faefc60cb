"""Risks of several classes: smooth functions of scores of shape (n_rows, n_classes)."""

from decorrupt.risks.multiclass.corrected import ClassCorrectedRisk
from decorrupt.risks.multiclass.count import (
    ClassCountRisk,
    class_count_log_likelihood,
    class_count_risk,
    class_log_probabilities,
    describe_rounded_classes,
    whole_counts,
)
from decorrupt.risks.multiclass.forward import (
    ClassForwardRisk,
    class_bag_shares,
    class_noisy_label_risk,
    class_set_risk,
)
from decorrupt.risks.multiclass.posterior import class_posterior
from decorrupt.risks.multiclass.proportion import ClassProportionRisk

__all__ = [
    "ClassCorrectedRisk",
    "ClassCountRisk",
    "ClassForwardRisk",
    "ClassProportionRisk",
    "class_bag_shares",
    "class_count_log_likelihood",
    "class_count_risk",
    "class_log_probabilities",
    "class_noisy_label_risk",
    "class_posterior",
    "class_set_risk",
    "describe_rounded_classes",
    "whole_counts",
]
