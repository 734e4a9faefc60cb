"""Unbiased combinations of bags for several classes, and whether the classes are identifiable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_shares import SHARE_TOL, inseparable_classes, is_share_row
from decorrupt.corruption.strata import Strata


@dataclass(frozen=True, eq=False)
class ClassCombination:
    """One coefficient per bag and class: the rows of bag b share coef[b, c] equally.

    Attributes
    ----------
    coef : ndarray of shape (n_bags, n_classes)
        a, with aᵀΓ = diag(π).
    """

    coef: FloatArray

    def row_coef(self, strata: Strata) -> FloatArray:
        """Return a_bc/n_b for every row, shape (n_rows, n_classes)."""
        return np.asarray((self.coef / strata.sizes[:, None])[strata.row_stratum])


def combine_classes(
    sizes: ArrayLike, proportions: ArrayLike, *, target_prior: ArrayLike | str = 0.5
) -> ClassCombination:
    """Return a = NΓ(ΓᵀNΓ)⁻¹diag(π), the unbiased combination with the least Σ_bc a_bc²/n_b.

    Σ_b Σ_c a_bc·mean_{j∈b} ℓ_c(f_j) is unbiased for Σ_c π_c·E_c ℓ_c(f), because aᵀΓ = diag(π).
    For two classes this is ``least_squares`` of :func:`combine_strata`.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        n, the rows of each bag; N = diag(n).
    proportions : array-like of shape (n_bags, n_classes)
        Γ, the share of each class in each bag; rows sum to 1.
    target_prior : 0.5, "pooled" or array-like of shape (n_classes,)
        π, the class shares of the population the risk is for: 0.5 is the balanced risk, 1/K for
        each of K classes; "pooled" are the shares among all rows (then the row sums of a are
        n_b/Σn, and softmax cross-entropy gives a convex risk).

    Raises
    ------
    ValueError
        If sizes, shares or the prior are out of range, or some classes cannot be
        distinguished from the bags.

    Examples
    --------
    >>> from decorrupt.corruption import combine_classes
    >>> combine_classes([10, 10], [[0.25, 0.75], [0.75, 0.25]]).coef.round(2).tolist()
    [[-0.25, 0.75], [0.75, -0.25]]
    """
    sizes, proportions = check_class_strata(sizes, proportions)
    prior = resolve_class_prior(target_prior, sizes, proportions)
    root_sizes = np.sqrt(sizes)[:, None]
    basis, triangle = np.linalg.qr(root_sizes * proportions)
    inverse = solve_triangular(triangle, basis.T).T  # W(WᵀW)⁻¹, W = N^½Γ
    return ClassCombination(root_sizes * inverse * prior)


def resolve_class_prior(
    target_prior: ArrayLike | str, sizes: FloatArray, proportions: FloatArray
) -> FloatArray:
    """Return π as one share per class."""
    n_classes = proportions.shape[1]
    if isinstance(target_prior, str) and target_prior == "pooled":
        return np.asarray(np.average(proportions, axis=0, weights=sizes))
    if not isinstance(target_prior, str):
        prior = np.asarray(target_prior, dtype=float)
        if prior.shape == (n_classes,) and is_share_row(prior) and (prior > 0).all():
            return prior
        if prior.shape == () and prior == 0.5:
            return np.full(n_classes, 1 / n_classes)
    raise ValueError(
        f"target_prior={target_prior!r}: give {n_classes} positive shares that sum to 1, 'pooled', "
        "or 0.5 for the same share of every class"
    )


def check_class_strata(
    sizes: ArrayLike, proportions: ArrayLike, classes: Sequence[Any] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return both as float arrays; raise a ValueError if the classes cannot be learned.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        Rows of each bag.
    proportions : array-like of shape (n_bags, n_classes)
        Shares of the classes in each bag; rows sum to 1 within 1e-6.
    classes : sequence, optional
        Class names for the messages; column numbers by default.
    """
    sizes = np.asarray(sizes, dtype=float)
    proportions = np.asarray(proportions, dtype=float)
    if proportions.ndim != 2 or proportions.shape[1] < 2 or sizes.shape != proportions.shape[:1]:
        raise ValueError(
            "proportions must have one row per bag and one column per class, at least two: got "
            f"shape {proportions.shape} for sizes of shape {sizes.shape}"
        )
    for bag in np.flatnonzero(~((sizes > 0) & np.isfinite(sizes)))[:1]:
        raise ValueError(f"sizes of bag {bag} is {sizes[bag]:g}: an empty bag has no mean; drop it")
    for bag in np.flatnonzero(~is_share_row(proportions))[:1]:
        raise ValueError(
            f"proportions of bag {bag} are {proportions[bag].tolist()}: they must lie in [0, 1] "
            f"and sum to 1 (within {SHARE_TOL:g})"
        )
    names = list(range(proportions.shape[1])) if classes is None else list(classes)
    absent = [name for name, share in zip(names, proportions.T, strict=True) if not share.any()]
    if absent:
        raise ValueError(
            f"class {absent[0]!r} has share 0 in every bag: nothing can be learned about it; "
            "leave out its column"
        )
    together = inseparable_classes(np.sqrt(sizes)[:, None] * proportions)
    if together:
        few = f" (there are only {len(sizes)} bags)" if len(sizes) < len(names) else ""
        raise ValueError(
            f"the classes {', '.join(repr(names[c]) for c in together)} cannot be distinguished: "
            f"their shares in the bags are linearly dependent{few}. Merge these classes or add "
            f"bags with other shares; {len(names)} classes need at least {len(names)} bags"
        )
    return sizes, proportions
