"""From the class prior to the decision threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import prior_scores, score_shape

DECISIONS = ("balanced", "accuracy")


def decision_threshold(
    decision: str, class_prior: FloatArray, score_at: Callable[[float], float] | None = None
) -> Any:
    """Return what `predict` subtracts from the scores.

    Parameters
    ----------
    decision : {"balanced", "accuracy"}
        "accuracy" chooses the most probable class. "balanced" chooses the class that would be most
        probable if all classes were equally frequent, which maximises the mean of their recalls.
    class_prior : ndarray of shape (n_classes,)
        The class shares in the population that the scores describe.
    score_at : callable, optional
        From P(Y=1|x) to the score, for a loss of two classes whose scores are not log-odds.

    Returns
    -------
    float, or ndarray of shape (n_classes,) for several classes
    """
    if decision not in DECISIONS:
        raise ValueError(f"unknown decision {decision!r}: choose one of {', '.join(DECISIONS)}")
    if decision == "accuracy" or np.ptp(class_prior) == 0:
        return np.zeros(score_shape(len(class_prior)))[()]
    if score_at is None:
        return prior_scores(class_prior)
    try:
        return float(score_at(class_prior[1]))
    except ValueError as error:
        raise ValueError(
            f"{error}: decision='balanced' needs it. Set decision='accuracy' or class_prior=0.5"
        ) from None
