"""Label noise with known rates: label corruption and the corrected loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.observed import (
    NoiseRates,
    check_transition,
    check_transition_rows,
    is_for_all_rows,
    matrix_of_rates,
)


def corrupt_labels(
    y: ArrayLike,
    noise_rates: NoiseRates | ArrayLike,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[Any]:
    """Flip labels at random, at given rates.

    Positives are flipped with probability ρ₊, negatives with probability ρ₋.

    For several classes, draw Ỹ from the row T[Y, ·] of a matrix.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels; of two values the larger in sorted order is the positive class.
    noise_rates : NoiseRates, pair of floats, or array of shape (n_rows, 2)
        One pair for all rows, or one per row (noise that depends on the features). For several
        classes, one matrix T[y, ỹ] = P(Ỹ=ỹ | Y=y), classes in sorted order, or one per row, shape
        (n_rows, n_classes, n_classes).
    random_state : int, RandomState or None
        Source of randomness for the flips.

    Returns
    -------
    ndarray of shape (n_rows,)
        Labels of the same values and dtype.

    Examples
    --------
    >>> from decorrupt.corruption import corrupt_labels
    >>> corrupt_labels(["no", "yes", "yes"], (0.999, 0.0), random_state=0).tolist()
    ['no', 'no', 'no']
    >>> swap = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    >>> corrupt_labels(["a", "b", "c"], swap, random_state=0).tolist()
    ['b', 'a', 'c']
    """
    labels = column_or_1d(y)
    values, codes = np.unique(labels, return_inverse=True)
    n_classes = len(values)
    if n_classes < 2:
        raise ValueError(
            f"y has only the value {values.tolist()}: the other class is unknown, so labels cannot "
            "be flipped; y must have two classes"
        )
    if n_classes > 2 and (isinstance(noise_rates, NoiseRates) or np.ndim(noise_rates) < 2):
        raise ValueError(
            f"y has {n_classes} classes, {values[:5].tolist()}: give a matrix of shape "
            f"({n_classes}, {n_classes}), row y with P(noisy label | true class y); a pair of "
            "rates is for two classes"
        )
    if is_for_all_rows(noise_rates, n_classes):
        matrices = check_transition("all rows", noise_rates, n_classes)[None]
        rows = matrices[0, codes]
    else:
        matrices = check_transition_rows(np.asarray(noise_rates), len(codes), n_classes)
        rows = matrices[np.arange(len(codes)), codes]
    is_own = np.arange(n_classes) == codes[:, None]
    ends = np.cumsum(np.where(is_own, 0.0, rows), axis=1)  # a label that reaches none is kept
    drawn = check_random_state(random_state).uniform(size=(len(codes), 1))
    found = (drawn >= ends).sum(axis=1)
    found = np.where(found == n_classes, codes, found)
    return np.asarray(values[found], dtype=labels.dtype)


@dataclass(frozen=True)
class CorrectedLoss:
    """ℓ^ρ(t, ỹ), the loss whose expectation over the noisy label is the loss of the true label.

    With costs the correction is applied to the cost-sensitive loss ℓ_α (costs first):
    ℓ^ρ(t,1) = [(1−ρ₋)α₊ℓ(t,1) − ρ₊α₋ℓ(t,−1)] / (1−ρ₋−ρ₊), ℓ^ρ(t,−1) likewise.
    """

    loss: MarginLoss
    noise_rates: NoiseRates
    cost_pos: float = 1.0
    cost_neg: float = 1.0

    def coefficients(self, noisy_label: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return (c₊, c₋) with ℓ^ρ(t, ỹ) = c₊·ℓ(t, 1) + c₋·ℓ(t, −1)."""
        labels = np.asarray(noisy_label)
        if not np.isin(labels, (-1, 1)).all():
            raise ValueError("noisy_label must be −1 or +1")
        matrix = matrix_of_rates(*self.noise_rates)
        coef_neg, coef_pos = np.linalg.inv(matrix)[(labels > 0).astype(int)].T
        return self.cost_pos * coef_pos.T, self.cost_neg * coef_neg.T

    def value(self, score: ArrayLike, noisy_label: ArrayLike) -> FloatArray:
        """Return ℓ^ρ(t, ỹ), elementwise; it may be negative."""
        coef_pos, coef_neg = self.coefficients(noisy_label)
        score = np.asarray(score, dtype=float)
        return coef_pos * self.loss.value(score) + coef_neg * self.loss.value(-score)

    def slope(self, score: ArrayLike, noisy_label: ArrayLike) -> FloatArray:
        """Return dℓ^ρ(t, ỹ)/dt, elementwise."""
        coef_pos, coef_neg = self.coefficients(noisy_label)
        score = np.asarray(score, dtype=float)
        return coef_pos * self.loss.slope(score) - coef_neg * self.loss.slope(-score)

    @property
    def lipschitz(self) -> float:
        """max_ỹ (|c₊| + |c₋|)·|ℓ|, the larger Lipschitz bound of the two labels."""
        pos, neg = self.coefficients([-1, 1])
        return float(np.max(np.abs(pos) + np.abs(neg)) * self.loss.lipschitz)

    @property
    def at_zero(self) -> float:
        """max_ỹ ℓ^ρ(0, ỹ), written |ℓ|₀ in the paper."""
        pos, neg = self.coefficients([-1, 1])
        return float(np.max(pos + neg) * self.loss.at_zero)


def corrected_loss(
    loss: str | MarginLoss,
    noise_rates: NoiseRates | ArrayLike,
    *,
    cost_pos: float = 1.0,
    cost_neg: float = 1.0,
) -> CorrectedLoss:
    """Return the loss of noisy labels whose expectation is the loss of true labels.

    E[ℓ^ρ(t, Ỹ) | Y=y] = α_y·ℓ(t, y) for every score t (Lemma 1).

    Parameters
    ----------
    loss : str or MarginLoss
        The loss to correct.
    noise_rates : NoiseRates or pair of floats
        (flip_pos, flip_neg).
    cost_pos, cost_neg : float
        Costs of the two true classes. They are applied first, the correction second:
        (ℓ_α)^ρ, which differs from (ℓ^ρ)_α.

    Notes
    -----
    Natarajan et al. (2018), and Sec. 2.1 of Scott & Zhang (2019).

    Examples
    --------
    >>> from decorrupt.corruption import corrected_loss
    >>> noisy = corrected_loss("logistic", (0.2, 0.1))
    >>> clean = corrected_loss("logistic", (0.0, 0.0))
    >>> mean = 0.8 * noisy.value(1.5, 1) + 0.2 * noisy.value(1.5, -1)
    >>> bool(abs(mean - clean.value(1.5, 1)) < 1e-12)
    True
    """
    for name, cost in (("cost_pos", cost_pos), ("cost_neg", cost_neg)):
        if not (np.isfinite(cost) and cost >= 0):
            raise ValueError(f"{name}={cost!r} must be a finite number of at least 0")
    return CorrectedLoss(get_loss(loss), NoiseRates.of(noise_rates), cost_pos, cost_neg)
