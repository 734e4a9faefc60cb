"""Unbiased combinations of bags: one coefficient per bag and class.

A matrix a with one row per bag and one column per class makes Σ_b Σ_c a_bc·mean_b ℓ_c(f) unbiased
for Σ_c π_c·E_c ℓ_c(f), the risk in a population with the class shares π, iff aᵀΓ = diag(π), where Γ
contains the bags' class shares. There are many such a; they differ in the variance of the estimate.

For two classes the columns are b and a of the paper, with S = Σn, γ̄ = Σnγ/S, V = Σn(γ−γ̄)². The
combinations for two classes only are written for π = ½ and scaled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from decorrupt._typing import FloatArray
from decorrupt.corruption.pairing import pair_bags
from decorrupt.losses import only_two_classes
from decorrupt.observed import BALANCED, Observed, check_bags, resolve_class_prior

COMBINATION_METHODS = ("superbag", "least_squares", "pairs")


def bag_information(sizes: FloatArray, shares: FloatArray) -> FloatArray:
    """Return ½·n_b·Σ_c(Γ_bc−Γ̄_c)² of every bag, with sum V: n_k(γ_k−γ̄)² for two classes."""
    away = shares - sizes @ shares / sizes.sum()
    return np.asarray(0.5 * sizes * np.einsum("bc,bc->b", away, away))


def row_coefficients(coef: FloatArray, observed: Observed) -> FloatArray:
    """Return m_j·a_bc/n_b for every row j, of weight m_j: the rows of a bag share a_bc."""
    by_row = (coef / observed.sizes[:, None])[observed.row_bag]
    return np.asarray(by_row if observed.weights is None else by_row * observed.weights[:, None])


def combine_bags(
    sizes: ArrayLike,
    proportions: ArrayLike,
    *,
    method: str = "auto",
    class_prior: ArrayLike | str = BALANCED,
) -> FloatArray:
    """Return one coefficient per bag and class, which turn losses into an estimate of the risk.

    Σ_b Σ_c a_bc·mean_b ℓ_c(f) is unbiased. For two classes the columns are those of the negative
    and the positive class.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        Rows of each bag.
    proportions : array-like of shape (n_bags,) or (n_bags, n_classes)
        The share of positives of each bag, or the shares of all classes.
    method : {"auto", "superbag", "least_squares", "pairs"}
        "auto" is ``superbag`` for two classes and ``least_squares``, the only method for several.

        - ``superbag`` minimises Σ(|a|+|b|)²/n, the factor of the generalisation bound, at 1/(4V);
          no pairing does better.
        - ``least_squares`` minimises Σ_bc a_bc²/n_b: a = NΓ(ΓᵀNΓ)⁻¹diag(π). It equals the mean map.
        - ``pairs`` is the paper's: disjoint pairs of bags, weighted by (n_a·n_b/(n_a+n_b))·gap².
          A bag without a partner of another proportion gets zeros, see :func:`pair_bags`.
    class_prior : float in (0, 1), "pooled", or array-like of shape (n_classes,)
        π, the class shares in the target population; a number is the share of positives. 0.5 gives
        the balanced risk. "pooled" are the shares among all rows; ``least_squares`` then has
        Σ_c a_bc ≥ 0, a convex risk.

    Notes
    -----
    ``pairs`` is from Sec. 3 of Scott & Zhang (2019). If the two bags of a pair differ in size, each
    bag is averaged separately: the paper's average over the whole pair would be biased.

    Examples
    --------
    >>> from decorrupt.corruption import combine_bags
    >>> combine_bags([10, 10], [0.75, 0.25]).tolist()
    [[-0.25, 0.75], [0.75, -0.25]]
    """
    sizes, shares = check_bags(sizes, proportions)
    n_classes = shares.shape[1]
    prior = resolve_class_prior(class_prior, sizes @ shares / sizes.sum())
    if method not in ("auto", *COMBINATION_METHODS):
        names = ", ".join(COMBINATION_METHODS)
        raise ValueError(f"unknown method {method!r}: choose one of {names}")
    if method == "least_squares" or (method == "auto" and n_classes > 2):
        return _least_squares(sizes, shares) * prior
    only_two_classes(n_classes, f"combine={method!r}", "use combine='least_squares'")
    combination = _pairs if method == "pairs" else _superbag
    return combination(sizes, shares[:, 1]) * 2 * prior


def _least_squares(sizes: FloatArray, shares: FloatArray) -> FloatArray:
    """Return NΓ(ΓᵀNΓ)⁻¹ = N^½W(WᵀW)⁻¹ with W = N^½Γ."""
    root_sizes = np.sqrt(sizes)[:, None]
    basis, triangle = np.linalg.qr(root_sizes * shares)
    return np.asarray(root_sizes * solve_triangular(triangle, basis.T).T)


def _superbag(sizes: FloatArray, proportions: FloatArray) -> FloatArray:
    away = proportions - np.average(proportions, weights=sizes)
    lever = sizes * away
    information = float(np.dot(lever, away))
    above = lever > 0
    upper = np.average(proportions[above], weights=lever[above])
    lower = np.average(proportions[lever < 0], weights=-lever[lever < 0])
    # Two superbags, above and below the pooled proportion, corrected like one pair of bags.
    share = np.where(above, 1 - lower, 1 - upper)
    return np.column_stack([-(1 - share), share]) * (lever / (2 * information))[:, None]


def _pairs(sizes: FloatArray, proportions: FloatArray) -> FloatArray:
    pos, neg, weight = pair_bags(proportions, sizes)
    upper, lower = proportions[pos], proportions[neg]
    half = 0.5 * weight / (upper - lower)
    coef = np.zeros((len(sizes), 2))
    coef[pos] = half[:, None] * np.column_stack([-lower, 1 - lower])
    coef[neg] = half[:, None] * np.column_stack([upper, upper - 1])
    return coef
