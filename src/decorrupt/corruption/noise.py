"""Label noise with known rates: noise rates, label corruption, and the corrected loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_shares import is_share_row
from decorrupt.corruption.transitions import check_transition_rows, draw_noisy_classes
from decorrupt.losses import MarginLoss, get_loss


@dataclass(frozen=True)
class NoiseRates:
    """ρ₊ = P(Ỹ=−1 | Y=1) and ρ₋ = P(Ỹ=1 | Y=−1), with ρ₊ + ρ₋ < 1.

    Parameters
    ----------
    flip_pos : float
        The share of true positives whose label was flipped to negative.
    flip_neg : float
        The share of true negatives whose label was flipped to positive.

    Raises
    ------
    ValueError
        If a rate is negative or not a number, or the sum is at least 1. At a sum of 1 the noisy
        label carries no information; above 1 it indicates the opposite class.

    Examples
    --------
    >>> from decorrupt import NoiseRates
    >>> NoiseRates(0.25, 0.25).signal
    0.5
    """

    flip_pos: float
    flip_neg: float

    def __post_init__(self) -> None:
        for name in ("flip_pos", "flip_neg"):
            rate = getattr(self, name)
            if not 0 <= rate < 1:  # also catches NaN
                raise ValueError(f"{name}={rate!r} is not a rate: it must be in [0, 1)")
        if self.flip_pos + self.flip_neg >= 1:
            raise ValueError(
                f"flip_pos + flip_neg = {self.flip_pos + self.flip_neg:g} must be below 1: "
                "at 1 the labels carry no information, above 1 they indicate the opposite class"
            )

    @property
    def signal(self) -> float:
        """1 − ρ₊ − ρ₋: 1 for clean labels, 0 for labels without information."""
        return 1.0 - self.flip_pos - self.flip_neg

    def __iter__(self) -> Iterator[float]:
        return iter((self.flip_pos, self.flip_neg))

    @classmethod
    def of(cls, rates: NoiseRates | ArrayLike) -> NoiseRates:
        """Return `rates` itself, or convert a pair or a matrix T[y, ỹ] = P(Ỹ=ỹ | Y=y).

        The rows and columns of a matrix are in the order of the classes, negative first.
        """
        if isinstance(rates, NoiseRates):
            return rates
        pair = np.asarray(rates, dtype=float)
        if is_two_class_matrix(pair):
            pair = np.array([pair[1, 0], pair[0, 1]])
        if pair.shape != (2,):
            raise ValueError(
                f"noise rates must be a pair (flip_pos, flip_neg), got {rates!r}. A matrix of two "
                "classes has shape (2, 2) and rows that sum to 1"
            )
        return cls(float(pair[0]), float(pair[1]))


def is_two_class_matrix(rates: ArrayLike) -> bool:
    """Return whether `rates` is a matrix T[y, ỹ] of two classes; its rows sum to 1.

    Two rows of valid (flip_pos, flip_neg) pairs do not: each pair sums to less than 1.
    """
    matrix = np.asarray(rates, dtype=float)
    return matrix.shape == (2, 2) and bool(is_share_row(matrix).all())


def check_rate_rows(noise_rates: ArrayLike, n_rows: int) -> FloatArray:
    """Return an (n, 2) array of rates, one pair per row; an error names the wrong row.

    One matrix T[y, ỹ] per row, shape (n, 2, 2), is converted.
    """
    rates = np.asarray(noise_rates, dtype=float)
    if rates.shape == (n_rows, 2, 2):
        rates = check_transition_rows(rates, n_rows, 2)
        rates = np.column_stack([rates[:, 1, 0], rates[:, 0, 1]])
    if rates.shape != (n_rows, 2):
        raise ValueError(
            f"noise_rates given per row must have shape ({n_rows}, 2): one (flip_pos, "
            f"flip_neg) for each row of X; got shape {rates.shape}"
        )
    bad = ~((rates >= 0).all(axis=1) & (rates.sum(axis=1) < 1))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"noise_rates of row {row} are {rates[row].tolist()}: both must be at least 0 and "
            "their sum below 1"
        )
    return rates


def corrupt_labels(
    y: ArrayLike,
    noise_rates: NoiseRates | ArrayLike,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[Any]:
    """Draw Ỹ given Y: flip positives with probability ρ₊ and negatives with probability ρ₋.

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
    if len(values) > 2:
        if isinstance(noise_rates, NoiseRates) or np.ndim(noise_rates) < 2:
            raise ValueError(
                f"y has {len(values)} classes, {values[:5].tolist()}: give a matrix of shape "
                f"({len(values)}, {len(values)}), row y with P(noisy label | true class y); a "
                "pair of rates is for two classes"
            )
        drawn = draw_noisy_classes(codes, len(values), noise_rates, random_state)
        return np.asarray(values[drawn])
    rates: FloatArray
    if (
        isinstance(noise_rates, NoiseRates)
        or np.ndim(noise_rates) == 1
        or is_two_class_matrix(noise_rates)
    ):
        rates = np.tile(list(NoiseRates.of(noise_rates)), (len(labels), 1))
    else:
        rates = check_rate_rows(noise_rates, len(labels))
    if len(values) < 2:
        raise ValueError(
            f"y has only the value {values.tolist()}: the other class is unknown, so labels cannot "
            "be flipped; y must have two classes"
        )
    is_pos = labels == values[1]
    flip_prob = np.where(is_pos, rates[:, 0], rates[:, 1])
    flipped = check_random_state(random_state).uniform(size=len(labels)) < flip_prob
    return np.asarray(np.where(is_pos ^ flipped, values[1], values[0]), dtype=labels.dtype)


def correction_coefficients(
    is_pos: NDArray[np.bool_], flip_pos: ArrayLike, flip_neg: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return (c₊, c₋) of the corrected loss at noisy labels; rates for all rows or per row.

    ỹ=+1: (1−ρ₋, −ρ₊)/(1−ρ₊−ρ₋);  ỹ=−1: (−ρ₋, 1−ρ₊)/(1−ρ₊−ρ₋).
    """
    flip_pos, flip_neg = np.asarray(flip_pos, dtype=float), np.asarray(flip_neg, dtype=float)
    signal = 1 - flip_pos - flip_neg
    return (is_pos - flip_neg) / signal, (~is_pos - flip_pos) / signal


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
        coef_pos, coef_neg = correction_coefficients(labels > 0, *self.noise_rates)
        return self.cost_pos * coef_pos, self.cost_neg * coef_neg

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
    """Return ℓ^ρ with E[ℓ^ρ(t, Ỹ) | Y=y] = α_y·ℓ(t, y) for every score t (Lemma 1).

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
