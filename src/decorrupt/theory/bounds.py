"""Generalisation bounds for bags, as printed in the paper and repaired.

With probability at least 1−δ over the draw of the sample, each of them bounds

    sup over ‖f‖ ≤ R of |corrected empirical risk − true risk|.

All have the same proof. Symmetrisation and contraction bound the mean of the supremum by
2KR·√(Σ_i w_i²|ℓ_i|²/n_i), where |ℓ_i| is the Lipschitz constant of source i's corrected loss.
McDiarmid's inequality bounds its fluctuation by √(Σ_i w_i²D_i²/n_i · log(2/δ)/2), where
(w_i/n_i)·D_i is the largest change from replacing one observation. The paper sets D_i to the
largest *value* of the loss, |ℓ_i|₀ + |ℓ_i|KR. This is correct for a non-negative loss, but a
corrected loss can be negative: D_i must be its largest *difference*, :func:`replacement_change`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from decorrupt.theory.arguments import check_pairs, norm, positive_vector, resolve_weights
from decorrupt.theory.master import (
    DEFAULT_FAILURE_PROB,
    LOGISTIC_AT_ZERO,
    LOGISTIC_LIPSCHITZ,
    Ball,
    replacement_change,
)


def bound_label_proportions(
    proportions_pos: ArrayLike,
    proportions_neg: ArrayLike,
    sizes: ArrayLike,
    *,
    weights: str | ArrayLike = "optimal",
    radius: float,
    kernel_bound: float = 1.0,
    lipschitz: float = LOGISTIC_LIPSCHITZ,
    at_zero: float = LOGISTIC_AT_ZERO,
    failure_prob: float = DEFAULT_FAILURE_PROB,
    fixed_sizes: bool = False,
    as_printed: bool = False,
) -> float:
    """Return the bound of Theorem 4, for pairs of bags.

    KRL·(2‖x‖ + ‖d·x‖)·√(log(2/δ)/2), x_i = w_i/(√n_i·gap_i).

    d_i = 2 + 2|1−2π_i|·φ(0)/(LKR), where π_i = (γ₊+γ₋)/2 is the mean proportion of pair i. If all
    π_i are equal, this is (4 + 2|1−2π|φ(0)/(LKR))·KRL·√(Σ w²/(n·gap²)·log(2/δ)/2); the paper
    prints 4 as the first factor.

    Parameters
    ----------
    proportions_pos, proportions_neg : array-like of shape (n_pairs,)
        γ₊ > γ₋ of each pair of bags.
    sizes : array-like of shape (n_pairs,)
        Number of rows of each pair, both bags together.
    weights : {"optimal", "exact", "size", "uniform"} or array-like of shape (n_pairs,)
        "optimal" is w ∝ n·gap²; "exact" is the same here. Or an array of weights.
    radius : float
        R, more than φ(0)/(K·L).
    kernel_bound, lipschitz, at_zero, failure_prob
        As in :func:`decorrupt.theory.bound_common_source`.
    fixed_sizes : bool, default=False
        True: the two bags of a pair have equal, fixed numbers of rows, as in practice. False: each
        row of a pair is assigned to one of its bags at random, as in the paper's model. For
        bags of unequal fixed sizes see :func:`bound_bags`.
    as_printed : bool, default=False
        Use the paper's constant 4 in both cases.

    Raises
    ------
    ValueError
        If a condition of the theorem is not met; the message names it.

    Notes
    -----
    Both labels' corrected losses have the Lipschitz constant L/gap, but at zero they differ by
    2|1−2π|φ(0)/gap. With random assignment, a replaced observation can move to the other bag and
    change the loss by up to (2LKR + 2|1−2π|φ(0))/gap; the unhinged loss attains this. With fixed
    sizes an observation is replaced within its bag, the second term is zero and the constant is 4.
    The proof gives the sum of two norms; ‖(2+d)·x‖ would be smaller (Minkowski) and is not
    implied. For φ ≥ 0 the change is also at most 2·max(π,1−π)·(φ(0) + LKR)/gap, which is smaller.

    Examples
    --------
    >>> from decorrupt.theory import bound_label_proportions
    >>> options = {"sizes": [2000, 2000], "radius": 1.0}
    >>> round(bound_label_proportions([0.9, 0.8], [0.3, 0.5], **options), 4)
    0.1949
    >>> round(bound_label_proportions([0.9, 0.8], [0.3, 0.5], **options, as_printed=True), 4)
    0.1811
    """
    ball = Ball(radius, kernel_bound, lipschitz, at_zero, failure_prob)
    ball.require("Theorem 4")
    upper, lower, rows = check_pairs(proportions_pos, proportions_neg, sizes)
    gap = upper - lower
    schemes = {"optimal": rows * gap**2, "size": rows, "uniform": np.ones_like(rows)}
    share = resolve_weights(weights, schemes | {"exact": schemes["optimal"]}) / np.sqrt(rows)
    tilt = 0.0 if as_printed or fixed_sizes else 2 * np.abs(1 - upper - lower) * at_zero
    change = replacement_change(lipschitz / gap, tilt / gap, ball.score_bound)
    mean = 2 * ball.loss_reach * norm(share / gap)
    return (mean + norm(share * change)) * ball.confidence


def bound_bags(
    sizes: ArrayLike,
    coef: ArrayLike,
    *,
    radius: float,
    kernel_bound: float = 1.0,
    lipschitz: float = LOGISTIC_LIPSCHITZ,
    at_zero: float = LOGISTIC_AT_ZERO,
    failure_prob: float = DEFAULT_FAILURE_PROB,
) -> float:
    """Return the generalisation bound for bags of fixed sizes.

    4KRL·√(Σ_k (|a_k|+|b_k|)²/n_k · log(2/δ)/2).

    It bounds the deviation of Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1) from its expectation,
    which for an unbiased combination is the target risk.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        Number of rows of each bag.
    coef : array-like of shape (n_bags, 2)
        b_k and a_k of the negative and the positive class, for example from
        :func:`decorrupt.corruption.combine_bags`.
    radius : float
        R, more than φ(0)/(K·L) as in Theorem 4. The proof does not need this condition;
        ``at_zero=0`` removes it.
    kernel_bound, lipschitz, at_zero, failure_prob
        As in :func:`decorrupt.theory.bound_common_source`.

    Raises
    ------
    ValueError
        If a condition is not met; the message names it.

    Notes
    -----
    A row of bag k has the loss a_k·φ(t) + b_k·φ(−t), with Lipschitz constant (|a_k|+|b_k|)·L,
    and replacing the row within its bag changes it by at most 2(|a_k|+|b_k|)·LKR. Rows must be
    independent but need not be identically distributed, so the bound also holds if γ_k is the
    exact share of positives in bag k. For pairs of equal bags it is Theorem 4 with its printed
    constant; with ``superbag`` the sum is 1/(4V), the minimum over all unbiased combinations.

    Examples
    --------
    >>> from decorrupt.corruption import combine_bags
    >>> from decorrupt.theory import bound_bags
    >>> sizes, shares = [1000, 1000, 2000], [0.9, 0.5, 0.2]
    >>> round(bound_bags(sizes, combine_bags(sizes, shares), radius=1), 4)
    0.1495
    """
    ball = Ball(radius, kernel_bound, lipschitz, at_zero, failure_prob)
    ball.require("the bound for bags")
    rows = positive_vector("sizes", sizes)
    by_class = np.asarray(coef, dtype=float)
    if by_class.shape != (len(rows), 2) or not np.isfinite(by_class).all():
        raise ValueError(
            f"coef must contain two finite numbers for each of the {len(rows)} bags, got shape "
            f"{by_class.shape}"
        )
    magnitude = np.abs(by_class).sum(axis=1)
    return 4 * ball.loss_reach * ball.confidence * norm(magnitude / np.sqrt(rows))
