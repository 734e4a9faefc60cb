"""Scores, class shares of a population, and decisions: for two classes and for several.

Two classes have one score per row, the log-odds f of the second class; the share of positives is
one number. K classes have K scores per row, with P(Y=c|x) = softmax(f)_c; the class shares are a
vector. In both cases a change of the population adds the change of `log_prior` to the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, softmax

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_shares import SHARE_TOL, is_share_row
from decorrupt.estimators.parameters import check_share

DECISIONS = ("balanced", "accuracy")
BALANCED = 0.5  # the share of positives in a balanced population; its `log_prior` is 0


def log_prior(prior: ArrayLike) -> Any:
    """Return what the class shares add to the scores: logit of a share, log of a vector."""
    return np.log(prior) if np.ndim(prior) else float(logit(prior))


def decision_threshold(
    decision: str, prior: Any, score_at: Callable[[float], float] = logit
) -> Any:
    """Return what `predict` subtracts from the scores, for a population with the shares `prior`.

    The class densities are equal where P(Y=c|x) equals the prior for all classes. "balanced"
    therefore subtracts the scores of these probabilities; "accuracy" subtracts 0.

    Parameters
    ----------
    decision : {"balanced", "accuracy"}
        Which error `predict` minimises.
    prior : float or ndarray of shape (n_classes,)
        The class shares.
    score_at : callable
        For two classes, the score of a probability; by default scores are log-odds.
    """
    if decision not in DECISIONS:
        raise ValueError(f"unknown decision {decision!r}: choose one of {', '.join(DECISIONS)}")
    if np.ndim(prior):
        return log_prior(prior) if decision == "balanced" else np.zeros(len(prior))
    if decision == "accuracy" or prior == BALANCED:
        return 0.0
    try:
        return float(score_at(prior))
    except ValueError as error:
        raise ValueError(
            f"{error}: decision='balanced' needs it. Set decision='accuracy' or target_prior=0.5"
        ) from None


def shift_prior(scores: FloatArray, score_prior: Any, class_prior: Any) -> FloatArray:
    """Return scores + log_prior(class_prior) − log_prior(score_prior).

    These are the scores in a population with the class shares `class_prior`, from those in a
    population with the shares `score_prior` and the same P(x | Y).

    Raises
    ------
    ValueError
        If class_prior is not a share strictly between 0 and 1, or for several classes not one
        positive share per class.
    """
    if not np.ndim(score_prior):
        check_share("class_prior", class_prior)
    elif np.ndim(class_prior) or class_prior != BALANCED:
        check_class_shares("class_prior", class_prior, len(score_prior))
    shift = log_prior(class_prior) - log_prior(score_prior)
    return np.asarray(scores + np.asarray(shift, dtype=scores.dtype))


def check_class_shares(name: str, value: Any, n_classes: int) -> None:
    """Raise ValueError unless `value` contains one positive share per class, with the sum 1."""
    shares = np.asarray(value, dtype=float)
    if shares.shape != (n_classes,) or not is_share_row(shares) or not (shares > 0).all():
        raise ValueError(
            f"{name}={value!r} must contain {n_classes} positive shares, one per class, that sum "
            f"to 1 (within {SHARE_TOL:g})"
        )


def score_probabilities(scores: FloatArray) -> FloatArray:
    """Return σ(f) of scores of shape (n_rows,), the softmax of scores (n_rows, n_classes)."""
    return np.asarray(expit(scores) if scores.ndim == 1 else softmax(scores, axis=1))


def class_probabilities(scores: FloatArray, score_prior: Any, class_prior: Any) -> FloatArray:
    """Return P(Y=c|x), one column per class, at `class_prior` or, if None, at `score_prior`."""
    if class_prior is not None:
        scores = shift_prior(scores, score_prior, class_prior)
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return score_probabilities(scores)


def chosen_classes(decisions: FloatArray) -> NDArray[np.intp]:
    """Return the class number of each row: f > 0 for two classes, the largest f for several."""
    if decisions.ndim == 1:
        return (decisions > 0).astype(np.intp)
    return np.asarray(decisions.argmax(axis=1))
