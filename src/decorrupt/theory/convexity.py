"""Convexity and boundedness of corrected risks, and Prop. 7 of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import convexity_floor as solver_convexity_floor
from decorrupt.theory.arguments import check_pairs, positive_vector, resolve_weights, vector


def is_convex(coef: ArrayLike, loss: str | MarginLoss = "logistic") -> bool:
    """Return whether the corrected risk is convex, for any penalty and any features.

    The risk is Σ_j c₊φ(f_j) + c₋φ(−f_j).

    For a loss of even curvature: iff c₊ + c₋ ≥ 0 in every row, equivalently a_k + b_k ≥ 0 in every
    bag; for a pair of bags iff γ₋ ≤ ½ ≤ γ₊. A convex combination exists iff the target prior
    lies between the smallest and the largest proportion.

    Parameters
    ----------
    coef : array-like of shape (n_rows, 2) or (n_bags, 2)
        c₋ and c₊ per row or per bag: only the sign of the curvature matters here.
    loss : str or MarginLoss, default="logistic"
        φ.

    Examples
    --------
    >>> from decorrupt.corruption import combine_bags
    >>> from decorrupt.theory import is_convex
    >>> is_convex(combine_bags([10, 10], [0.9, 0.3]))
    True
    >>> is_convex(combine_bags([10, 10], [0.9, 0.6]))
    False
    """
    return not get_loss(loss).concavity(_as_coef(coef)).any()


def is_bounded_below(coef: ArrayLike, loss: str | MarginLoss = "logistic") -> bool:
    """Return whether the corrected risk is bounded below without a penalty.

    The risk is Σ_j c₊φ(f_j) + c₋φ(−f_j), over all scores f.

    If it is not, then at λ = 0 the risk has no minimum for features that can give every row an
    arbitrary score. For the logistic loss: iff no coefficient is negative.

    Parameters
    ----------
    coef, loss
        As in :func:`is_convex`.

    Examples
    --------
    >>> from decorrupt.theory import is_bounded_below
    >>> is_bounded_below([[0.0, 1.0], [0.5, -0.5]]), is_bounded_below([[0.0, 1.0], [0.5, 0.0]])
    (False, True)
    """
    return bool(get_loss(loss).is_bounded_below(_as_coef(coef)).all())


def convexity_floor(
    coef: ArrayLike,
    loss: str | MarginLoss = "logistic",
    *,
    features: Any = None,
    kernel_bound: float = 1.0,
) -> float:
    """Return a penalty from which on the objective is convex.

    λ₀ = ½·λ_max(ZᵀCZ) ≤ ½K²·Σ_j C_j: risk + λ‖f‖² is convex for all λ ≥ λ₀.

    C_j is the largest negative curvature of row j over all scores: for the logistic loss a quarter
    of the negative part of c₊ + c₋.

    Parameters
    ----------
    coef, loss
        As in :func:`is_convex`.
    features : array or sparse matrix of shape (n_rows, rank), optional
        Z with ZZᵀ the kernel matrix; `coef` must then contain one row per row of Z. Without it the
        right-hand side is returned, which needs the coefficients only.
    kernel_bound : float, default=1.0
        K = sup √k(x,x); used only without `features`.

    Examples
    --------
    >>> from decorrupt.corruption import combine_bags
    >>> from decorrupt.theory import convexity_floor
    >>> round(convexity_floor(combine_bags([10, 10], [0.9, 0.6])), 4)
    0.0417
    """
    by_class, loss = _as_coef(coef), get_loss(loss)
    if features is None:
        return float(0.5 * kernel_bound**2 * loss.concavity(by_class).sum())
    if features.shape[0] != len(by_class):
        raise ValueError(
            f"features have {features.shape[0]} rows but coef {len(by_class)}: with "
            "features, give the coefficients of each row (corruption.row_coefficients)"
        )
    return solver_convexity_floor(features, CorrectedRisk(by_class, loss))


def aggregate_condition(
    proportions_pos: ArrayLike,
    proportions_neg: ArrayLike,
    sizes_pos: ArrayLike,
    sizes_neg: ArrayLike,
    *,
    weights: str | ArrayLike = "optimal",
) -> bool:
    """Return whether the condition of Prop. 7 holds as it is printed.

    The condition is Σ_i w_i/(n_i·gap_i)·[n_i⁺(½−γ_i⁻) + n_i⁻(γ_i⁺−½)] ≥ 0.

    If true, J(t) = Σ_i (w_i/n_i)Σ_j ℓ_i(t, ỹ_ij) is convex in *one* score t shared by all rows.
    This does not imply that the training objective is convex: there every row has its own score,
    and a row whose coefficients have a negative sum adds negative curvature. Bags of equal sizes
    always satisfy the condition, even γ = (.9, .6), where two opposite classifiers both minimise
    the objective. To check the objective use :func:`is_convex`.

    Parameters
    ----------
    proportions_pos, proportions_neg : array-like of shape (n_pairs,)
        γ₊ > γ₋ of each pair of bags.
    sizes_pos, sizes_neg : array-like of shape (n_pairs,)
        Numbers of rows of the two bags of each pair; n_i is their sum.
    weights : {"optimal", "size", "uniform"} or array-like of shape (n_pairs,)
        "optimal" is w ∝ n·gap².

    Examples
    --------
    >>> from decorrupt.theory import aggregate_condition
    >>> aggregate_condition([0.9], [0.6], [10], [10])
    True
    """
    n_pos = positive_vector("sizes_pos", sizes_pos)
    n_neg = vector("sizes_neg", positive_vector("sizes_neg", sizes_neg), len(n_pos))
    upper, lower, rows = check_pairs(proportions_pos, proportions_neg, n_pos + n_neg)
    gap = upper - lower
    schemes = {"optimal": rows * gap**2, "size": rows, "uniform": np.ones_like(rows)}
    share = resolve_weights(weights, schemes) / (rows * gap)
    terms = share * np.array([n_pos * (0.5 - lower), n_neg * (upper - 0.5)])
    # Terms that cancel in exact arithmetic leave a rounding error.
    return bool(terms.sum() >= -64 * np.finfo(float).eps * np.abs(terms).sum())


def _as_coef(coef: ArrayLike) -> FloatArray:
    by_class = np.asarray(coef, dtype=float)
    if by_class.ndim != 2 or by_class.shape[1] != 2:
        raise ValueError(
            f"coef must have one row per bag or row and two columns, got shape {by_class.shape}"
        )
    return by_class
