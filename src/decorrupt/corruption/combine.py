"""Unbiased combinations (a_k, b_k) of stratum means.

With S = Σn, γ̄ = Σnγ/S, V = Σn(γ−γ̄)², a combination is unbiased for the target risk
π_t·E₊ℓ(f,1) + (1−π_t)·E₋ℓ(f,−1) iff

    Σaγ = π_t,  Σa(1−γ) = 0,  Σbγ = 0,  Σb(1−γ) = 1−π_t.

Every method below is written for π_t = ½ and scaled: a ↦ 2π_t·a, b ↦ 2(1−π_t)·b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_combination import combine_classes
from decorrupt.corruption.convex import project_to_convex
from decorrupt.corruption.pairing import pair_bags
from decorrupt.corruption.strata import Strata
from decorrupt.corruption.terms import RiskTerms

# {method: how :func:`pair_bags` pairs the bags}
PAIRINGS = {
    "pairs": "auto",
    "sorted_pairs": "sorted",
    "matched_pairs": "matching",
    "random_pairs": "random",
}
ROUNDING = 1e-12  # proportions closer than this differ in the last digits only


class Combination(NamedTuple):
    """(a_k, b_k) for each stratum: the rows of stratum k share a_k and b_k equally."""

    pos: FloatArray
    neg: FloatArray

    def row_terms(self, strata: Strata) -> RiskTerms:
        """Return the coefficients row by row: a_k/n_k and b_k/n_k."""
        sizes = strata.sizes
        return RiskTerms(
            (self.pos / sizes)[strata.row_stratum], (self.neg / sizes)[strata.row_stratum]
        )


def pooled_proportion(sizes: ArrayLike, proportions: ArrayLike) -> Any:
    """Return γ̄ = Σnγ/Σn, the share of positives among all rows; an array for several classes."""
    pooled = np.average(np.asarray(proportions), axis=0, weights=np.asarray(sizes))
    return pooled if np.ndim(pooled) else float(pooled)


def stratum_information(sizes: FloatArray, proportions: FloatArray) -> FloatArray:
    """Return n_k(γ_k−γ̄)²; their sum V measures the information in the proportions."""
    return np.asarray(sizes * (proportions - pooled_proportion(sizes, proportions)) ** 2)


def combine_strata(
    sizes: ArrayLike,
    proportions: ArrayLike,
    *,
    method: str = "auto",
    target_prior: ArrayLike | str = 0.5,
    convex: str | None = None,
    random_state: Any = None,
) -> Combination:
    """Return (a_k, b_k) so that Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1) estimates the risk.

    Parameters
    ----------
    sizes : array-like of shape (n_strata,)
        Rows of each stratum.
    proportions : array-like of shape (n_strata,) or (n_strata, n_classes)
        Share of positives of each stratum. A matrix holds the shares of several classes; the
        result is then that of :func:`decorrupt.corruption.combine_classes`, by least squares.
    method : str
        One of "auto", "superbag", "pairs", "sorted_pairs", "matched_pairs", "random_pairs",
        "least_squares" and "easy_llp".
        "auto" is ``superbag`` for two classes and ``least_squares``, the only method for several.

        - ``superbag`` minimises Σ(|a|+|b|)²/n, the factor of the generalisation bound, at 1/(4V);
          no pairing does better.
        - ``pairs`` is the paper's: disjoint pairs of bags, weighted by (n_a·n_b/(n_a+n_b))·gap².
          A bag without a partner of another proportion gets zeros. The pairs are the best that
          can be computed in reasonable time; ``sorted_pairs``, ``matched_pairs`` and
          ``random_pairs`` choose how bags are paired, see :func:`pair_bags`.
        - ``least_squares`` minimises Σ(a²+b²)/n; it equals the mean map.
        - ``easy_llp`` uses the expected variance of the proportions in bags of i.i.d. rows instead
          of the observed variance (Busa-Fekete et al. 2023). It is unbiased for such random bags
          only, up to a relative error of order 1/n_strata from the estimated prior.
    target_prior : float in (0, 1), "pooled", or for several classes array-like
        π_t, the share of positives in the target population. ½ gives the balanced risk. "pooled"
        is the share among all rows; ``least_squares`` then has a_k + b_k ≥ 0.
    convex : {None, "project"}
        "project" replaces a_k + b_k with the nearest non-negative numbers that keep the
        combination unbiased. They exist if π_t is between the smallest and the largest proportion.
    random_state : int, RandomState or None
        For ``random_pairs``.

    Raises
    ------
    ValueError
        If all proportions are equal (nothing can be learned), there is only one stratum, or no
        convex combination exists.

    Notes
    -----
    ``pairs`` is from Sec. 3 of Scott & Zhang (2019). If the two bags of a pair differ in size, each
    bag is averaged separately: the paper's average over the whole pair would be biased.

    Examples
    --------
    >>> from decorrupt.corruption import combine_strata
    >>> pos, neg = combine_strata([10, 10], [0.75, 0.25])
    >>> pos.tolist(), neg.tolist()
    ([0.75, -0.25], [-0.25, 0.75])
    """
    if np.ndim(sizes) == 1 and np.ndim(proportions) == 2:
        if method not in ("auto", "least_squares") or convex is not None:
            raise ValueError(
                f"method={method!r} and convex={convex!r} are for two classes: a matrix of shares "
                "takes method='least_squares' and convex=None"
            )
        # numpy's types do not distinguish a matrix from a vector.
        return combine_classes(sizes, proportions, target_prior=target_prior)  # type: ignore[return-value]
    sizes, proportions = check_strata(sizes, proportions)
    method = "superbag" if method == "auto" else method
    if method in PAIRINGS:
        base = _pairs(sizes, proportions, PAIRINGS[method], random_state)
    elif method in _CLOSED_FORMS:
        base = _CLOSED_FORMS[method](sizes, proportions)
    else:
        raise ValueError(
            f"unknown method {method!r}: choose one of {', '.join(COMBINATION_METHODS)}"
        )
    prior = resolve_target_prior(target_prior, sizes, proportions)
    combination = Combination(2 * prior * base.pos, 2 * (1 - prior) * base.neg)
    if convex is None:
        return combination
    if convex == "project":
        return Combination(*project_to_convex(*combination, sizes, proportions, prior))
    raise ValueError(f"unknown convex={convex!r}: choose None or 'project'")


def resolve_target_prior(
    target_prior: ArrayLike | str, sizes: ArrayLike, proportions: ArrayLike
) -> float:
    """Return π_t as a number."""
    if isinstance(target_prior, str):
        if target_prior != "pooled":
            raise ValueError(
                f"target_prior={target_prior!r}: give a number strictly between 0 and 1 or 'pooled'"
            )
        return float(pooled_proportion(sizes, proportions))
    prior = np.asarray(target_prior, dtype=float)
    if prior.ndim or not 0 < prior < 1:
        raise ValueError(f"target_prior={target_prior!r} must lie strictly between 0 and 1")
    return float(prior)


def check_strata(sizes: ArrayLike, proportions: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both as float arrays; raise a ValueError if nothing can be learned from them."""
    sizes = np.asarray(sizes, dtype=float)
    proportions = np.asarray(proportions, dtype=float)
    if sizes.ndim != 1 or sizes.shape != proportions.shape:
        raise ValueError(
            f"sizes and proportions must be lists of the same length, got shapes {sizes.shape} "
            f"and {proportions.shape}"
        )
    for name, values, fine, right in (
        ("sizes", sizes, (sizes > 0) & np.isfinite(sizes), "an empty bag has no mean; drop it"),
        ("proportions", proportions, (proportions >= 0) & (proportions <= 1), "use [0, 1]"),
    ):
        if not fine.all():
            bag = int(np.flatnonzero(~fine)[0])
            raise ValueError(f"{name} of bag {bag} is {values[bag]:g}: {right}")
    if len(sizes) < 2:
        raise ValueError(
            "there is only one bag: nothing can be learned from a single proportion, because "
            "every classifier has the same risk estimate; at least two bags are needed"
        )
    if np.ptp(proportions) <= ROUNDING:
        raise ValueError(
            f"all {len(sizes)} bags have the same proportion {proportions[0]:g}: nothing can be "
            "learned, because only differences between bags give information about the classes"
        )
    return sizes, proportions


def _superbag(sizes: FloatArray, proportions: FloatArray) -> Combination:
    centre = pooled_proportion(sizes, proportions)
    lever = sizes * (proportions - centre)
    information = float(np.dot(lever, proportions - centre))
    above = lever > 0
    upper = np.average(proportions[above], weights=lever[above])
    lower = np.average(proportions[lever < 0], weights=-lever[lever < 0])
    # Two superbags, above and below the pooled proportion, corrected like one pair of bags.
    share = np.where(above, 1 - lower, 1 - upper)
    return Combination(share * lever / (2 * information), -(1 - share) * lever / (2 * information))


def _least_squares(
    sizes: FloatArray, proportions: FloatArray, spread: FloatArray | None = None
) -> Combination:
    centre = pooled_proportion(sizes, proportions)
    deviation = proportions - centre
    if spread is None:
        spread = np.average(deviation**2, weights=sizes)
    half_share = 0.5 * sizes / sizes.sum()
    return Combination(
        half_share * (1 + (1 - centre) * deviation / spread),
        half_share * (1 - centre * deviation / spread),
    )


def _easy_llp(sizes: FloatArray, proportions: FloatArray) -> Combination:
    prior = pooled_proportion(sizes, proportions)
    # A bag of n i.i.d. rows has a proportion of variance p(1−p)/n.
    return _least_squares(sizes, proportions, prior * (1 - prior) / sizes)


def _pairs(
    sizes: FloatArray, proportions: FloatArray, pairing: str, random_state: Any
) -> Combination:
    pairs = pair_bags(proportions, sizes, method=pairing, random_state=random_state)
    pos, neg = np.zeros(len(sizes)), np.zeros(len(sizes))
    half = 0.5 * pairs.weight / pairs.gap
    pos[pairs.pos] = half * (1 - proportions[pairs.neg])
    neg[pairs.pos] = -half * proportions[pairs.neg]
    pos[pairs.neg] = -half * (1 - proportions[pairs.pos])
    neg[pairs.neg] = half * proportions[pairs.pos]
    return Combination(pos, neg)


_CLOSED_FORMS: dict[str, Callable[[FloatArray, FloatArray], Combination]] = {
    "superbag": _superbag,
    "least_squares": _least_squares,
    "easy_llp": _easy_llp,
}
COMBINATION_METHODS = ("superbag", *PAIRINGS, "least_squares", "easy_llp")
