"""Base class of the risks of several classes: softmax, and no curvature."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from decorrupt._typing import FloatArray


class SoftmaxRisk:
    """A smooth function of scores of shape (n_rows, n_classes), P(Y=c|x) = softmax(f)_c."""

    def curvature(self, scores: FloatArray) -> NoReturn:
        """Raise a ValueError: the curvature is not implemented, and L-BFGS does not need it."""
        raise ValueError(
            f"a risk of {scores.shape[1]} classes is not compatible with solver='newton', which "
            "needs its curvature; use solver='lbfgs' or 'auto'"
        )


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return f_c − log Σ_c exp(f_c) of every row, in double precision."""
    shifted = scores - scores.max(axis=1, keepdims=True).astype(float)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def slope_in_scores(slope: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return the slope in the scores, from the slope in the log-probabilities of softmax."""
    return np.asarray(slope - probabilities * slope.sum(axis=1, keepdims=True))
