"""The corrected risk of several classes, with softmax cross-entropy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.risks.multiclass.softmax import SoftmaxRisk, log_softmax, slope_in_scores

# Coefficients that cancel in exact arithmetic leave a rounding error of this relative size.
RESIDUE = 64 * np.finfo(float).eps


@dataclass(frozen=True)
class ClassCorrectedRisk(SoftmaxRisk):
    """Σ_j Σ_c coef[j, c]·(log Σ_c' exp(f_jc') − f_jc), as a function of the scores.

    Parameters
    ----------
    coef : ndarray of shape (n_rows, n_classes)
        From :class:`ClassCombination` or :func:`backward_coefficients`; some may be negative.
    """

    coef: FloatArray

    @property
    def effective_sample_size(self) -> float:
        """1/Σ_j row_noise[j]: the number of clean labelled rows whose mean loss is as noisy."""
        return float(1 / self.row_noise.sum())

    @property
    def row_noise(self) -> FloatArray:
        """4·mean_c coef[j, c]² of each row.

        For two classes with opposite coefficients that is (|coef_pos|+|coef_neg|)², see
        :class:`decorrupt.corruption.RiskTerms`.
        """
        return np.asarray(4 * np.square(self.coef, dtype=float).mean(axis=1))

    @cached_property
    def is_convex(self) -> bool:
        """Whether the coefficients of every row have a sum of at least 0."""
        residue = RESIDUE * np.abs(self.coef).sum(axis=1)
        return bool((self.coef.sum(axis=1) >= -residue).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob = log_softmax(scores)
        slope = slope_in_scores(-self.coef, np.exp(log_prob))
        return -float(np.vdot(self.coef, log_prob)), slope

    def row_values(self, scores: FloatArray) -> FloatArray:
        """Return the term of each row."""
        return -np.asarray(np.sum(self.coef * log_softmax(scores), axis=1))

    @property
    def is_bounded_below(self) -> bool:
        """Whether no coefficient is negative."""
        return bool((self.coef >= 0).all())
