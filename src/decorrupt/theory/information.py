"""Information in strata and sources, computed before any training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    WEIGHT_SCHEMES,
    check_strata,
    combine_strata,
    pooled_proportion,
    signal_to_noise,
    stratum_information,
)
from decorrupt.theory.class_information import class_information


@dataclass(frozen=True, eq=False)
class Information:
    """V = Σ n_k(γ_k−γ̄)², the information in the proportions; ``float(…)`` returns V.

    Attributes
    ----------
    by_stratum : ndarray of shape (n_strata,)
        n_k(γ_k−γ̄)², the contribution of each stratum.
    pooled_proportion : float
        γ̄, the share of positives among all rows.
    n_rows : float
        Number of rows of all strata.
    """

    by_stratum: FloatArray
    pooled_proportion: float
    n_rows: float

    @property
    def total(self) -> float:
        """V."""
        return float(self.by_stratum.sum())

    @property
    def effective_sample_size(self) -> float:
        """4V, the number of clean labelled rows with the same bound as ``superbag``."""
        return 4 * self.total

    @property
    def efficiency(self) -> float:
        """4V / n_rows: 1 for pure strata of equal sizes, 0 if all proportions are equal."""
        return self.effective_sample_size / self.n_rows

    def __float__(self) -> float:
        return self.total


def information(sizes: ArrayLike, proportions: ArrayLike) -> Information:
    """Return V = Σ n_k(γ_k−γ̄)² and the contribution of each stratum.

    Parameters
    ----------
    sizes : array-like of shape (n_strata,)
        Number of rows of each stratum.
    proportions : array-like of shape (n_strata,) or (n_strata, n_classes)
        Share of positives of each stratum. A matrix contains the shares of several classes; the
        result is then that of :func:`class_information`.

    Raises
    ------
    ValueError
        If a size or proportion is out of range, or all proportions are equal.

    Examples
    --------
    Two pure bags are as informative as labels; a bag at the pooled proportion adds nothing:

    >>> from decorrupt.theory import information
    >>> found = information([50, 50, 100], [1.0, 0.0, 0.5])
    >>> float(found), found.effective_sample_size, found.by_stratum.tolist()
    (25.0, 100.0, [12.5, 12.5, 0.0])
    """
    if np.ndim(sizes) == 1 and np.ndim(proportions) == 2:
        # numpy's types do not tell a matrix from a vector.
        return class_information(sizes, proportions)  # type: ignore[return-value]
    sizes, proportions = check_strata(sizes, proportions)
    return Information(
        stratum_information(sizes, proportions),
        pooled_proportion(sizes, proportions),
        float(sizes.sum()),
    )


def strata_sample_size(
    sizes: ArrayLike, proportions: ArrayLike, *, combine: str = "superbag"
) -> float:
    """Return 1/Σ_k(|a_k|+|b_k|)²/n_k, the number of clean labelled rows with the same bound.

    It is 4V for ``superbag`` and at most 4V for any other unbiased combination.
    """
    pos, neg = combine_strata(sizes, proportions, method=combine)
    return float(1 / np.sum((np.abs(pos) + np.abs(neg)) ** 2 / np.asarray(sizes, dtype=float)))


@dataclass(frozen=True, eq=False)
class WeightsComparison:
    """Σ w_i²c_i² for each weight scheme, the sum under the root in Theorems 2 and 3.

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
    class_priors: ArrayLike | None = None,
) -> WeightsComparison:
    """Return Σ w_i²c_i² for the optimal, exact, size and uniform weights.

    Parameters
    ----------
    sizes, flip_pos, flip_neg, class_priors
        As in :func:`decorrupt.corruption.signal_to_noise`. Without `class_priors` the scheme
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
        scheme: signal_to_noise(sizes, flip_pos, flip_neg, class_priors=class_priors, scheme=scheme)
        for scheme in WEIGHT_SCHEMES
        if scheme != "exact" or class_priors is not None
    }
    weights = {scheme: np.asarray(value / value.sum()) for scheme, value in snr.items()}
    squares = 1 / snr["optimal"]
    return WeightsComparison(
        factors={scheme: float(np.sum(w**2 * squares)) for scheme, w in weights.items()},
        weights=weights,
        arithmetic_mean=float(squares.mean()),
        harmonic_mean=float(1 / snr["optimal"].mean()),
    )
