"""Information in bags and sources, computed before any training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    WEIGHT_SCHEMES,
    bag_information,
    combine_bags,
)
from decorrupt.losses import class_loss
from decorrupt.observed import check_bags
from decorrupt.theory.arguments import pair_signal_to_noise


@dataclass(frozen=True, eq=False)
class Information:
    """How much bags contain about the classes; ``float(…)`` returns V.

    Attributes
    ----------
    by_bag : ndarray of shape (n_bags,)
        ½·n_b·Σ_c(Γ_bc−Γ̄_c)², the contribution of each bag to V; n_k(γ_k−γ̄)² for two classes.
    class_prior : ndarray of shape (n_classes,)
        Γ̄, the class shares among all rows.
    eigenvalues : ndarray of shape (n_classes,)
        Of ΓᵀNΓ, in ascending order. Pure bags have the rows of each class.
    direction : ndarray of shape (n_classes,)
        The unit vector of the smallest one: the difference of classes that is known worst. Large
        entries are the classes that are hard to distinguish.
    rows_by_class : ndarray of shape (n_classes,)
        1/[(ΓᵀNΓ)⁻¹]_cc: the rows of known class c that would give its mean with the same variance.
    effective_sample_size : float
        The number of clean labelled rows whose risk estimate is as noisy; 4V for two classes.
    n_rows : float
        Number of rows of all bags.
    """

    by_bag: FloatArray
    class_prior: FloatArray
    eigenvalues: FloatArray
    direction: FloatArray
    rows_by_class: FloatArray
    effective_sample_size: float
    n_rows: float

    @property
    def total(self) -> float:
        """V."""
        return float(self.by_bag.sum())

    @property
    def condition_number(self) -> float:
        """The largest eigenvalue of ΓᵀNΓ over the smallest."""
        return float(self.eigenvalues[-1] / self.eigenvalues[0])

    @property
    def efficiency(self) -> float:
        """Effective rows per row: 1 for pure bags of equal sizes, 0 for equal proportions."""
        return self.effective_sample_size / self.n_rows

    def __float__(self) -> float:
        return self.total


def information(
    sizes: ArrayLike, proportions: ArrayLike, *, classes: Sequence[Any] | None = None
) -> Information:
    """Return how much bags with these class shares contain about the classes.

    V = Σ n_k(γ_k−γ̄)² for two classes; for any number, ΓᵀNΓ with the class shares Γ of the bags.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        n, rows of each bag; N = diag(n).
    proportions : array-like of shape (n_bags,) or (n_bags, n_classes)
        The share of positives of each bag, or the shares of all classes.
    classes : sequence, optional
        What an error message calls the classes.

    Raises
    ------
    ValueError
        If a size or proportion is out of range, or the bags do not distinguish some classes, which
        are named.

    Examples
    --------
    Two pure bags are as informative as labels; a bag at the pooled proportion adds nothing:

    >>> from decorrupt.theory import information
    >>> found = information([50, 50, 100], [1.0, 0.0, 0.5])
    >>> float(found), round(found.effective_sample_size, 6), found.by_bag.tolist()
    (25.0, 100.0, [12.5, 12.5, 0.0])

    Three pure bags of three classes, and a mixed one:

    >>> shares = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]]
    >>> found = information([20, 20, 5, 10], shares)
    >>> found.eigenvalues.round(2).tolist(), found.rows_by_class.round(2).tolist()
    ([7.09, 20.0, 22.91], [20.0, 21.67, 7.22])
    """
    sizes, shares = check_bags(sizes, proportions, classes)
    # The singular values of N^½Γ: forming ΓᵀNΓ would lose half of the digits.
    roots, directions = np.linalg.svd(np.sqrt(sizes)[:, None] * shares, full_matrices=False)[1:]
    return Information(
        bag_information(sizes, shares),
        sizes @ shares / sizes.sum(),
        roots[::-1] ** 2,
        directions[-1],
        1 / np.square(directions / roots[:, None]).sum(axis=0),
        combined_sample_size(sizes, shares),
        float(sizes.sum()),
    )


def combined_sample_size(
    sizes: ArrayLike, proportions: ArrayLike, *, combine: str = "auto"
) -> float:
    """Return the number of clean labelled rows with the same error bound as combined bags.

    For two classes that is 1/Σ_k(|a_k|+|b_k|)²/n_k: 4V for ``superbag``, and at most 4V for any
    other unbiased combination.
    """
    coef, sizes = combine_bags(sizes, proportions, method=combine), np.asarray(sizes, dtype=float)
    loss = class_loss("logistic", coef.shape[1])
    return float(1 / np.sum(loss.row_noise(coef) / sizes))


@dataclass(frozen=True, eq=False)
class WeightsComparison:
    """The sum under the root of the bounds, for each weight scheme.

    Σ w_i²c_i², as in Theorems 2 and 3.

    Attributes
    ----------
    factors : dict of str to float
        Σ w²c² per scheme; "optimal" gives the minimum.
    weights : dict of str to ndarray
        The weights per scheme.
    arithmetic_mean, harmonic_mean : float
        Means of the c_i²: N·Σw²c² for uniform and for optimal weights.
    """

    factors: dict[str, float]
    weights: dict[str, FloatArray]
    arithmetic_mean: float
    harmonic_mean: float

    @property
    def mean_ratio(self) -> float:
        """Arithmetic / harmonic mean: the squared ratio of the uniform to the optimal bound."""
        return self.arithmetic_mean / self.harmonic_mean


def weights_comparison(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    *,
    source_priors: ArrayLike | None = None,
) -> WeightsComparison:
    """Return the sum under the root of the bounds, for four weight schemes.

    Σ w_i²c_i² for the optimal, exact, size and uniform weights.

    Parameters
    ----------
    sizes, flip_pos, flip_neg, source_priors
        As in :func:`decorrupt.corruption.signal_to_noise`. Without `source_priors` the scheme
        "exact", which needs them, is omitted.

    Examples
    --------
    The paper's example: nine accurate sources and one with nearly random labels. The paper says
    the ratio "exceeds 100":

    >>> from decorrupt.theory import weights_comparison
    >>> rates = [0.01] * 9 + [0.49]
    >>> round(weights_comparison([100] * 10, rates, rates).mean_ratio, 1)
    216.9
    """
    snr = {
        scheme: pair_signal_to_noise(sizes, flip_pos, flip_neg, source_priors, scheme)
        for scheme in WEIGHT_SCHEMES
        if scheme != "exact" or source_priors is not None
    }
    weights = {scheme: np.asarray(value / value.sum()) for scheme, value in snr.items()}
    squares = 1 / snr["optimal"]
    return WeightsComparison(
        factors={scheme: float(np.sum(w**2 * squares)) for scheme, w in weights.items()},
        weights=weights,
        arithmetic_mean=float(squares.mean()),
        harmonic_mean=float(1 / snr["optimal"].mean()),
    )
