"""The corrected risk written out row by row, and the bags that make it bend downwards."""

import math

import numpy as np

from decorrupt.losses import get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import Objective

VALUES = {
    "logistic": lambda m: math.log(1 + math.exp(-m)),
    "squared": lambda m: (1 - m) ** 2,
    "huber": lambda m: -4 * m if m < -1 else max(1 - m, 0) ** 2,
    "sigmoid": lambda m: 1 / (1 + math.exp(m)),
}
SLOPES = {
    "logistic": lambda m: -1 / (1 + math.exp(m)),
    "squared": lambda m: -2 * (1 - m),
    "huber": lambda m: -4 if m < -1 else -2 * max(1 - m, 0),
    "sigmoid": lambda m: -math.exp(m) / (1 + math.exp(m)) ** 2,
}
CURVATURES = {
    "logistic": lambda m: math.exp(m) / (1 + math.exp(m)) ** 2,
    "squared": lambda _: 2,
    "huber": lambda m: 2 if -1 < m < 1 else 0,
    "sigmoid": lambda m: math.exp(m) * (math.exp(m) - 1) / (1 + math.exp(m)) ** 3,
}
LOSS_NAMES = tuple(VALUES)


def class_sums(name, coef_pos, coef_neg, scores):
    """Return Σ coef_pos·φ(t) and Σ coef_neg·φ(−t)."""
    phi = VALUES[name]
    total_pos = sum(a * phi(t) for a, t in zip(coef_pos, scores, strict=True))
    total_neg = sum(b * phi(-t) for b, t in zip(coef_neg, scores, strict=True))
    return total_pos, total_neg


def row_slopes(name, coef_pos, coef_neg, scores):
    """Return a·φ'(t) − b·φ'(−t), row by row."""
    phi = SLOPES[name]
    rows = zip(coef_pos, coef_neg, scores, strict=True)
    return np.array([a * phi(t) - b * phi(-t) for a, b, t in rows])


def row_curvatures(name, coef_pos, coef_neg, scores):
    """Return a·φ''(t) + b·φ''(−t), row by row."""
    phi = CURVATURES[name]
    rows = zip(coef_pos, coef_neg, scores, strict=True)
    return np.array([a * phi(t) + b * phi(-t) for a, b, t in rows])


def make_objective(
    features, coef_pos, coef_neg, loss="logistic", reg_strength=0.1, *, correction=None, **options
):
    """Return risk(Zθ) + λ‖θ‖² as the library has it."""
    coef = np.column_stack([coef_neg, coef_pos]).astype(float)
    risk = CorrectedRisk(coef, get_loss(loss), correction)
    return Objective(features, risk, reg_strength, **options)


def clean_coefs(labels):
    """Return the coefficients of the mean loss over rows of known label ±1."""
    share = 1 / len(labels)
    return np.where(labels > 0, share, 0.0), np.where(labels > 0, 0.0, share)


def pair_coefs(n_pos, n_neg, proportion_pos=0.9, proportion_neg=0.6):
    """Return the coefficients of one pair of bags (the LLP reduction), the first bag's rows first.

    With proportions .9 and .6 the first bag's rows have a negative sum: they bend downwards.
    """
    gap = proportion_pos - proportion_neg
    coef_pos = np.r_[
        np.full(n_pos, (1 - proportion_neg) / n_pos), np.full(n_neg, -(1 - proportion_pos) / n_neg)
    ]
    coef_neg = np.r_[
        np.full(n_pos, -proportion_neg / n_pos), np.full(n_neg, proportion_pos / n_neg)
    ]
    return coef_pos / (2 * gap), coef_neg / (2 * gap)


def mirrored_bags(n_coef, *, n_axes=4, wide=3.0, narrow=0.3):
    """Return features of two bags, each symmetric about the origin, the first one much wider.

    Both bags have mean zero, so the odd part of the risk vanishes: J(θ) = J(−θ), the gradient at
    zero is zero, and with the coefficients of `pair_coefs` the wide bag bends J downwards there.
    """
    axes = np.zeros((n_axes, n_coef))
    axes[np.arange(n_axes), np.arange(n_axes)] = 1.0
    others = np.random.default_rng(5).normal(size=(n_axes, n_coef)) / np.sqrt(n_coef)
    return np.vstack([wide * axes, -wide * axes, narrow * others, -narrow * others])


def central_differences(function, at, step=1e-5):
    """Return the derivative of a scalar or vector function, one coordinate in a row or a column."""
    moves = step * np.eye(len(at))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).T


def never_rises(history):
    """Tell whether every value is at most the one before it, but for rounding."""
    return (np.diff(history) <= 1e-13 * max(1.0, np.abs(history).max())).all()
