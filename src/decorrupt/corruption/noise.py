"""Known noise rates, T[y, ỹ] = P(Ỹ=ỹ | Y=y): corruption, corrected loss, source weights, costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.losses import get_loss
from decorrupt.observed import (
    NoiseRates,
    is_common,
    is_share_row,
    matrix_of_rates,
    positive_shares,
    transition_matrix,
)

WEIGHT_SCHEMES = ("optimal", "exact", "size", "uniform")


def corrupt_labels(
    y: ArrayLike,
    noise_rates: NoiseRates | ArrayLike,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[Any]:
    """Return noisy labels of the same values and dtype: Ỹ drawn from T[Y, ·].

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels; of two values the larger in sorted order is the positive class.
    noise_rates : NoiseRates, pair of floats, or array of shape (n_rows, 2)
        (flip_pos, flip_neg) of all rows, or of each row (noise that depends on the features). For
        several classes, one matrix T, classes in sorted order, or one per row, shape
        (n_rows, n_classes, n_classes).
    random_state : int, RandomState or None
        Source of the random draws.

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
            f"y has only the value {values.tolist()}, so labels cannot be flipped: y must have two "
            "classes"
        )
    if is_common(noise_rates, n_classes):
        rows = transition_matrix("all rows", noise_rates, values.tolist())[codes]
    else:
        rows = _matrices_by_row(noise_rates, len(codes), n_classes)[np.arange(len(codes)), codes]
    is_true = np.arange(n_classes) == codes[:, None]
    ends = np.cumsum(np.where(is_true, 0.0, rows), axis=1)  # a label that reaches none is kept
    drawn = check_random_state(random_state).uniform(size=(len(codes), 1))
    noisy = (drawn >= ends).sum(axis=1)
    noisy = np.where(noisy == n_classes, codes, noisy)
    return np.asarray(values[noisy], dtype=labels.dtype)


def _matrices_by_row(noise_rates: Any, n_rows: int, n_classes: int) -> FloatArray:
    """Return one matrix per row, from matrices or, of two classes, pairs of rates."""
    rates = np.asarray(noise_rates, dtype=float)
    are_pairs = n_classes == 2 and rates.shape == (n_rows, 2)
    if not are_pairs and rates.shape != (n_rows, n_classes, n_classes):
        pair = f"a pair (flip_pos, flip_neg), shape ({n_rows}, 2), or " * (n_classes == 2)
        raise ValueError(
            f"noise_rates given per row must be {pair}a matrix of shape ({n_classes}, {n_classes}) "
            f"for each of the {n_rows} rows; got an array of shape {rates.shape}"
        )
    matrices = matrix_of_rates(*rates.T) if are_pairs else rates
    is_valid = is_share_row(matrices).all(axis=1) & (not are_pairs or rates.sum(axis=1) < 1)
    for row in np.flatnonzero(~is_valid)[:1]:
        transition_matrix(f"row {row}", rates[row], range(n_classes))
    return matrices


@dataclass
class CorrectedLoss:
    """The loss of noisy labels whose expectation is the loss of true labels (Natarajan 2018).

    ℓ^ρ(t,1) = [(1−ρ₋)α₊ℓ(t,1) − ρ₊α₋ℓ(t,−1)] / (1−ρ₋−ρ₊), and ℓ^ρ(t,−1) likewise. Then
    E[ℓ^ρ(t, Ỹ) | Y=y] = α_y·ℓ(t, y) for every score t (Lemma 1). The costs α are applied first, the
    correction second: (ℓ_α)^ρ, which differs from (ℓ^ρ)_α.

    >>> from decorrupt.corruption import CorrectedLoss
    >>> noisy, clean = CorrectedLoss("logistic", (0.2, 0.1)), CorrectedLoss("logistic", (0.0, 0.0))
    >>> mean = 0.8 * noisy.value(1.5, 1) + 0.2 * noisy.value(1.5, -1)
    >>> bool(abs(mean - clean.value(1.5, 1)) < 1e-12)
    True
    """

    loss: Any  # a name or a MarginLoss
    noise_rates: Any  # a pair (flip_pos, flip_neg)
    cost_pos: float = 1.0
    cost_neg: float = 1.0

    def __post_init__(self) -> None:
        self.loss = get_loss(self.loss)
        self.matrix = transition_matrix("the labels", self.noise_rates, (-1, 1))
        for name, cost in (("cost_pos", self.cost_pos), ("cost_neg", self.cost_neg)):
            if not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"{name}={cost!r} must be a finite number of at least 0")

    def coefficients(self, noisy_label: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return (c₊, c₋) with ℓ^ρ(t, ỹ) = c₊·ℓ(t, 1) + c₋·ℓ(t, −1)."""
        labels = np.asarray(noisy_label)
        if not np.isin(labels, (-1, 1)).all():
            raise ValueError("noisy_label must be −1 or +1")
        inverse = np.linalg.inv(self.matrix)[(labels > 0).astype(int)]
        return self.cost_pos * inverse[..., 1], self.cost_neg * inverse[..., 0]

    def value(self, score: ArrayLike, noisy_label: ArrayLike) -> FloatArray:
        """Return ℓ^ρ(t, ỹ), elementwise; it may be negative."""
        coef_pos, coef_neg = self.coefficients(noisy_label)
        score = np.asarray(score, dtype=float)
        return np.asarray(coef_pos * self.loss.value(score) + coef_neg * self.loss.value(-score))

    @property
    def lipschitz(self) -> float:
        """max_ỹ (|c₊| + |c₋|)·|ℓ|, the larger Lipschitz bound of the two labels."""
        return float(np.abs(self.coefficients([-1, 1])).sum(axis=0).max() * self.loss.lipschitz)

    @property
    def at_zero(self) -> float:
        """max_ỹ ℓ^ρ(0, ỹ), written |ℓ|₀ in the paper."""
        return float(np.sum(self.coefficients([-1, 1]), axis=0).max() * self.loss.at_zero)


def signal_to_noise(
    sizes: ArrayLike,
    noise_rates: Any,
    *,
    source_priors: ArrayLike | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return the signal-to-noise ratio of every source, as in the generalisation bound.

    1/c_s² with c_s = max_ỹ Σ_y |T_s⁻¹[ỹ, y]| / √n_s, and with class shares also / min_y π_s(y). For
    two classes c_s = (1+|ρ₊−ρ₋|) / ((1−ρ₊−ρ₋)·√n_s).

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        Rows of each source.
    noise_rates : sequence of pairs (flip_pos, flip_neg), or of matrices T
        One per source.
    source_priors : array-like of shape (n_sources,) or (n_sources, n_classes), optional
        P(Y=1) in each source, or its class shares. Without it, all sources have the same clean
        distribution (Thm 2); with it, the same class-conditional distributions (Thm 3).
    scheme : {"optimal", "exact", "size", "uniform"}
        - ``optimal``: the formula above, from the paper.
        - ``exact``: c_s² = Σ_ỹ q_s(ỹ)·(Σ_y |T_s⁻¹[ỹ, y]|/(K·π_s(y)))² / n_s with q_s = T_sᵀπ_s, the
          mean square over the noisy labels where the paper uses their maximum. For two classes
          1/c² = n·4q(1−q)Δ² with q = P(Ỹ=1), Δ = P(Y=1|Ỹ=1) − P(Y=1|Ỹ=−1).
        - ``size``: n_s (van Rooyen & Williamson 2018).
        - ``uniform``: 1 for every source.
    """
    sizes = np.atleast_1d(np.array(sizes, dtype=float))
    if sizes.ndim != 1:
        raise ValueError("sizes must be a list of numbers, one per source")
    for source in np.flatnonzero(~((sizes > 0) & np.isfinite(sizes)))[:1]:
        raise ValueError(f"sizes must be positive numbers: source {source} has {sizes[source]:g}")
    rates = list(noise_rates)
    n_classes = max((len(matrix) for matrix in rates if np.ndim(matrix) == 2), default=2)
    classes = range(n_classes)
    transitions = np.array(
        [transition_matrix(f"source {s}", matrix, classes) for s, matrix in enumerate(rates)]
    )
    if len(rates) != len(sizes):
        raise ValueError(f"rates of {len(rates)} sources and {len(sizes)} sizes: give as many")
    priors = None if source_priors is None else _check_priors(source_priors, len(sizes), n_classes)
    if scheme not in WEIGHT_SCHEMES:
        raise ValueError(f"unknown scheme {scheme!r}: choose one of {', '.join(WEIGHT_SCHEMES)}")
    if scheme in ("size", "uniform"):
        return sizes if scheme == "size" else np.ones_like(sizes)
    inverse = np.abs(np.linalg.inv(transitions))
    if scheme == "optimal":
        balance = 1.0 if priors is None else priors.min(axis=1)
        return np.asarray(sizes * (balance / inverse.sum(axis=2).max(axis=1)) ** 2)
    if priors is None:
        raise ValueError("scheme='exact' needs source_priors, the class shares of every source")
    reach = np.einsum("sny,sy->sn", inverse, 1 / (n_classes * priors))
    label_shares = np.einsum("syn,sy->sn", transitions, priors)
    return np.asarray(sizes / np.sum(label_shares * reach**2, axis=1))


def source_weights(sizes: ArrayLike, noise_rates: Any, **options: Any) -> FloatArray:
    """Return the weights of the sources with the smallest generalisation bound.

    w_s ∝ 1/c_s² with sum 1 minimise Σ w_s²c_s². The arguments are those of :func:`signal_to_noise`.
    A clean source has a much larger weight than a source with almost random labels:

    >>> import numpy as np
    >>> from decorrupt.corruption import source_weights
    >>> source_weights([100, 100], [(0.0, 0.0), (0.4, 0.4)]).round(3).tolist()
    [0.962, 0.038]
    >>> noisy = 0.4 * np.eye(3) + 0.2
    >>> source_weights([100, 100], [np.eye(3), noisy]).round(3).tolist()
    [0.9, 0.1]
    """
    snr = signal_to_noise(sizes, noise_rates, **options)
    return np.asarray(snr / snr.sum())


def backward_coefficients(transitions: FloatArray, row_source: Any, noisy_class: Any) -> FloatArray:
    """Return T_s⁻¹[ỹ, ·] of every row: ℓ̃(f, ỹ) = Σ_y T_s⁻¹[ỹ, y]·ℓ_y(f), unbiased as T_s·ℓ̃ = ℓ."""
    return np.asarray(np.linalg.inv(transitions)[row_source, noisy_class])


def label_costs(transitions: FloatArray, threshold: float) -> FloatArray:
    """Return s·α and s·(1−α) per source, the weights of rows labelled − and + (Natarajan 2013).

    With the signal s = 1 − ρ₊ − ρ₋ of a source, α = s·τ + ρ₋ is P(Ỹ=1|x) where P(Y=1|x) is the
    threshold τ, strictly between 0 and 1.
    """
    flip_pos, flip_neg = transitions[:, 1, 0], transitions[:, 0, 1]
    signal = 1 - flip_pos - flip_neg
    border = signal * threshold + flip_neg
    return signal[:, None] * np.column_stack([border, 1 - border])


def _check_priors(source_priors: ArrayLike, n_sources: int, n_classes: int) -> FloatArray:
    """Return the class shares of every source."""
    priors = np.asarray(source_priors, dtype=float)
    priors = np.full(n_sources, priors) if priors.ndim == 0 else priors
    if len(priors) != n_sources:
        raise ValueError(
            f"source_priors must be one share of positives per source ({n_sources} sources), or "
            f"one row of {n_classes} class shares per source; got shape {priors.shape}"
        )
    names = (f"source_priors of source {source}" for source in range(n_sources))
    return np.array(
        [positive_shares(p, n_classes, n) for p, n in zip(priors.tolist(), names, strict=True)]
    )
