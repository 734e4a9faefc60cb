"""Pointwise losses and scores: values, slopes, and what differs between two and several classes."""

from decorrupt.losses.margin import (
    HuberLoss,
    LogisticLoss,
    MarginLoss,
    SigmoidLoss,
    SquaredLoss,
    UnhingedLoss,
)
from decorrupt.losses.registry import LOSSES, class_loss, get_loss
from decorrupt.losses.scores import (
    balanced_scores,
    chosen_classes,
    likelihood_and_slope,
    likelihood_curvature,
    log_probabilities,
    mix_scores,
    only_two_classes,
    prior_scores,
    prior_shift,
    probabilities,
    refuse_curvature,
    score_shape,
    scores_of,
    scores_of_probabilities,
    shift_prior,
    slope_in_scores,
)
from decorrupt.losses.softmax import SoftmaxLoss

__all__ = [
    "LOSSES",
    "HuberLoss",
    "LogisticLoss",
    "MarginLoss",
    "SigmoidLoss",
    "SoftmaxLoss",
    "SquaredLoss",
    "UnhingedLoss",
    "balanced_scores",
    "chosen_classes",
    "class_loss",
    "get_loss",
    "likelihood_and_slope",
    "likelihood_curvature",
    "log_probabilities",
    "mix_scores",
    "only_two_classes",
    "prior_scores",
    "prior_shift",
    "probabilities",
    "refuse_curvature",
    "score_shape",
    "scores_of",
    "scores_of_probabilities",
    "shift_prior",
    "slope_in_scores",
]
