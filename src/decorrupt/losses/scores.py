"""Scores, probabilities and priors: the one place where two and several classes differ.

Scores of two classes are one column, the log-odds f = log P(Y=1|x)/P(Y=0|x), of shape (n_rows,).
Scores of several classes have one column per class, P(Y=c|x) = softmax(f)_c. Everything else has
one column per class: probabilities, class priors, coefficients.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit, logit, logsumexp, softmax

from decorrupt._typing import FloatArray

# Mean probabilities equal the class shares to this precision.
SHIFT_TOL = 1e-9
# Curvature below this share of the largest is rounding.
FLAT = 1e-10


def score_shape(n_classes: int) -> tuple[int, ...]:
    """Return the shape of one row's score: () for two classes, (n_classes,) for several."""
    return () if n_classes == 2 else (n_classes,)


def log_probabilities(scores: FloatArray) -> FloatArray:
    """Return log P(Y=c|x) in double precision, shape (n_rows, n_classes)."""
    scores = scores.astype(float, copy=False)
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def probabilities(scores: FloatArray) -> FloatArray:
    """Return P(Y=c|x) in the precision of the scores, shape (n_rows, n_classes)."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))


def scores_of(log_prob: FloatArray) -> FloatArray:
    """Return the scores from log P(Y=c|x), or from anything that differs by a term per row."""
    if log_prob.shape[-1] == 2:
        return np.asarray(log_prob[..., 1] - log_prob[..., 0])
    return log_prob


def scores_of_probabilities(prob: ArrayLike, margin: float | None = None) -> FloatArray:
    """Return finite scores from P(Y=c|x); probabilities are at least `margin`.

    Parameters
    ----------
    prob : array-like of shape (n_rows, n_classes)
        Probabilities; rows sum to 1.
    margin : float, optional
        By default the precision of their type.
    """
    prob = np.asarray(prob)
    prob = prob if prob.dtype.kind == "f" else prob.astype(float)
    least = np.finfo(prob.dtype).eps if margin is None else margin
    if prob.shape[-1] == 2:
        return np.asarray(logit(np.clip(prob[..., 1], least, 1 - least)))
    clipped = np.maximum(prob, least)
    return np.asarray(np.log(clipped / clipped.sum(axis=-1, keepdims=True)))


def unclipped_scores(prob: FloatArray) -> FloatArray:
    """Return scores from P(Y=c|x), limited only by the smallest number above zero."""
    return scores_of(np.log(np.maximum(prob, np.finfo(float).tiny)))


def relative_scores(scores: FloatArray) -> FloatArray:
    """Return the scores minus that of the first class, which is left out: one column for two."""
    return scores[:, None] if scores.ndim == 1 else scores[:, 1:] - scores[:, :1]


def prior_scores(class_prior: FloatArray) -> Any:
    """Return the score of a row with P(Y=c|x) = class_prior: a number, or one per class."""
    if len(class_prior) == 2:
        return float(logit(class_prior[1]))
    return np.log(class_prior)


def same_constant(score: Any, like: Any) -> Any:
    """Return the score of a row plus the constant with which its mean is that of `like`.

    A constant added to the scores of several classes changes no probability; the log-odds of two
    classes are returned as they are.
    """
    return score + np.mean(like - score) if np.ndim(score) else score


def shift_prior(scores: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return the scores in a population with the class shares `after` instead of `before`."""
    shift = prior_scores(after) - prior_scores(before)
    return np.asarray(scores + np.asarray(shift, dtype=scores.dtype))


def balanced_scores(scores: FloatArray, before: FloatArray) -> FloatArray:
    """Return the scores in a population with equal classes, whose `prior_scores` are 0 or equal."""
    return np.asarray(scores - np.asarray(prior_scores(before), dtype=scores.dtype))


def chosen_classes(decisions: FloatArray) -> NDArray[np.intp]:
    """Return the class number of each row: f > 0 for two classes, the largest f for several."""
    if decisions.ndim == 1:
        return (decisions > 0).astype(np.intp)
    return np.asarray(decisions.argmax(axis=1))


def slope_in_scores(slope: FloatArray, prob: FloatArray) -> FloatArray:
    """Return the slope in the scores, from the slope in the log-probabilities.

    Both arguments have one column per class.
    """
    if prob.shape[1] == 2:
        return np.asarray(slope[:, 1] * prob[:, 0] - slope[:, 0] * prob[:, 1])
    return np.asarray(slope - prob * slope.sum(axis=1, keepdims=True))


def likelihood_and_slope(
    scores: FloatArray, log_given: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return log Σ_c P(observation|c)·P(c|x) of every row, and its slope in the scores.

    The slope is P(c|x, observation) − P(c|x).

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        f.
    log_given : ndarray of shape (n_rows, n_classes)
        log P(observation|c); −∞ excludes a class.
    """
    if scores.ndim == 1:
        log_neg, log_pos = log_given.T
        evidence = log_pos - log_neg
        value = np.logaddexp(log_pos + log_expit(scores), log_neg + log_expit(-scores))
        return np.asarray(value), np.asarray(expit(scores + evidence) - expit(scores))
    log_prob = log_probabilities(scores)
    joint = log_prob + log_given
    value = logsumexp(joint, axis=1)
    return np.asarray(value), np.exp(joint - value[:, None]) - np.exp(log_prob)


def likelihood_curvature(scores: FloatArray, log_given: FloatArray) -> FloatArray:
    """Return minus the second derivative of the log-likelihood of every row, for two classes.

    It is Var(Y|x) − Var(Y|x, observation) of 0–1 labels.
    """
    refuse_curvature(scores)
    after = scores + log_given[:, 1] - log_given[:, 0]
    return np.asarray(expit(scores) * expit(-scores) - expit(after) * expit(-after))


def refuse_curvature(scores: FloatArray) -> None:
    """Raise ValueError for several classes, whose curvature is not implemented."""
    if scores.ndim > 1:
        raise ValueError(
            f"a risk of {scores.shape[1]} classes is not compatible with solver='newton', which "
            "needs its curvature; use solver='lbfgs' or 'auto'"
        )


def prior_shift(scores: FloatArray, class_prior: FloatArray, weights: Any = None) -> Any:
    """Return what to add to the scores so that mean P(Y=c|x) is the class prior.

    `weights` are how many rows each row represents.
    """
    scores = scores.astype(float)
    mean = partial(np.average, axis=0, weights=weights)
    if scores.ndim == 1:
        # Every σ(f + s) is below the prior at the lower end and above it at the upper end.
        share, middle = class_prior[1], logit(class_prior[1])
        ends = middle - scores.max() - 1, middle - scores.min() + 1
        return float(brentq(lambda shift: mean(expit(scores + shift)) - share, *ends))

    # The gradient of the convex mean log Σ_c exp(f_c + s_c) − ⟨prior, s⟩ is 0 there.
    def value_and_slope(shift: FloatArray) -> tuple[float, FloatArray]:
        shifted = scores + shift
        value = mean(logsumexp(shifted, axis=1)) - class_prior @ shift
        return value, mean(softmax(shifted, axis=1)) - class_prior

    start = np.zeros(len(class_prior))
    found = minimize(value_and_slope, start, jac=True, options={"gtol": SHIFT_TOL}).x
    # One Newton step: the slope is then a rounding error. A constant added to all scores changes
    # nothing, so the Hessian has an eigenvalue of 0, which rounding makes a small number.
    prob = softmax(scores + found, axis=1)
    hessian = np.diag(mean(prob)) - np.einsum("jc,jd->cd", prob, _shares(prob, weights) * prob)
    inverse = np.linalg.pinv(hessian, rcond=FLAT, hermitian=True)
    return np.asarray(found - inverse @ value_and_slope(found)[1])


def _shares(rows: FloatArray, weights: Any) -> FloatArray:
    """Return the weight of each row divided by the sum of all, as a column."""
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights)
    return np.asarray(weights / weights.sum())[:, None]


def mix_scores(scores: ArrayLike, weights: FloatArray) -> FloatArray:
    """Return the scores of Σ_k weight_k·P_k(Y=c|x), one member k per entry of `scores`."""
    members = [
        log_probabilities(np.asarray(own)) + log_weight
        for own, log_weight in zip(scores, np.log(weights), strict=True)  # type: ignore[arg-type]
    ]
    return scores_of(np.asarray(logsumexp(members, axis=0)))


def only_two_classes(n_classes: int, what: str, instead: str) -> None:
    """Raise ValueError if there are more than two classes, for what is defined for two only."""
    if n_classes > 2:
        raise ValueError(
            f"Only binary classification is supported by {what}, and y has {n_classes} classes: "
            f"{instead}"
        )


def label_likelihood_and_slope(
    scores: FloatArray, labels: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Return log P(Y=label|x) of every row, and its slope in the scores."""
    if scores.ndim == 1:
        sign = np.where(labels > 0, 1.0, -1.0)
        margin = sign * scores
        return np.asarray(log_expit(margin)), np.asarray(sign * expit(-margin))
    log_prob, rows = log_probabilities(scores), np.arange(len(labels))
    slope = -np.exp(log_prob)
    slope[rows, labels] += 1.0
    return np.asarray(log_prob[rows, labels]), slope


def with_padding(scores: FloatArray) -> FloatArray:
    """Return double-precision scores and, for two classes, a last row that is never positive.

    Bags of two classes are padded with this row, number −1, to a common size.
    """
    scores = scores.astype(float, copy=False)
    return np.append(scores, -np.inf) if scores.ndim == 1 else scores


def posterior_of_slope(scores: FloatArray, slope: FloatArray) -> FloatArray:
    """Return P(Y=c|x, observation): P(Y=c|x) plus the slope of the log-likelihood in the scores."""
    prob = probabilities(scores.astype(float, copy=False))
    by_class = np.column_stack([-slope, slope]) if slope.ndim == 1 else slope
    return np.clip(prob + by_class, 0.0, 1.0)


def score_columns(by_class: FloatArray) -> FloatArray:
    """Return the part of one column per class that belongs to the scores: of two, the second."""
    return by_class[:, 1] if by_class.shape[1] == 2 else by_class
