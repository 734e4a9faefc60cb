"""Number of rows needed for a given bound or effective sample size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags
from decorrupt.theory.arguments import pair_signal_to_noise, positive_vector, resolve_source_weights
from decorrupt.theory.bounds import bound_bags
from decorrupt.theory.information import combined_sample_size
from decorrupt.theory.source_bounds import bound_common_source, bound_varying_priors

QUANTITIES = ("bound", "effective_sample_size")


@dataclass(frozen=True, eq=False)
class RequiredRows:
    """Sizes that reach the target, all scaled by one factor; ``int(…)`` returns the total rows.

    Attributes
    ----------
    factor : float
        The smallest factor by which all sizes must be multiplied.
    sizes : ndarray of int, shape (n_strata or n_sources,)
        The given sizes times `factor`, rounded up.
    """

    factor: float
    sizes: NDArray[np.int_]

    @property
    def total(self) -> int:
        """Total number of rows."""
        return int(self.sizes.sum())

    @property
    def copies(self) -> int:
        """How many times the given strata or sources must be collected, at their given sizes."""
        return math.ceil(self.factor)

    def __int__(self) -> int:
        return self.total


def required_rows(
    target: float,
    *,
    quantity: str = "bound",
    proportions: ArrayLike | None = None,
    flip_pos: ArrayLike | None = None,
    flip_neg: ArrayLike | None = None,
    source_priors: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    combine: str = "superbag",
    weights: str | ArrayLike = "optimal",
    **bound_options: Any,
) -> RequiredRows:
    """Return the sizes at which a bound, or an effective sample size, reaches a target.

    The sizes are t·n_k: a bound is proportional to 1/√t, an effective sample size to t.

    Parameters
    ----------
    target : float
        The largest acceptable bound, or the smallest acceptable effective sample size.
    quantity : {"bound", "effective_sample_size"}
        Which quantity `target` is.
    proportions : array-like of shape (n_strata,), optional
        Share of positives of each bag; give these, or flip_pos and flip_neg.
    flip_pos, flip_neg : array-like of shape (n_sources,) or float, optional
        Noise rates of each source.
    source_priors : array-like of shape (n_sources,) or float, optional
        P(Y=1) of each source (Theorem 3); None if all have the same clean distribution (Theorem 2).
    sizes : array-like, optional
        Number of rows of each bag or source, all 1 by default. Only their ratios matter, except
        for `copies`.
    combine : str, default="superbag"
        How bags are combined, see :func:`decorrupt.corruption.combine_bags`.
    weights : str or array-like
        How sources are weighted, see :func:`decorrupt.corruption.source_weights`; "exact" needs
        `source_priors`.
    **bound_options
        For quantity="bound": `radius`, and optionally `kernel_bound`, `lipschitz`, `at_zero`,
        `failure_prob`, as in :func:`bound_bags`.

    Raises
    ------
    ValueError
        If neither or both of proportions and noise rates are given, or a value is out of range.

    Examples
    --------
    Half of the bags have 60 % positives, half 40 %: 25 times as many rows as with labels.

    >>> from decorrupt.theory import required_rows
    >>> int(required_rows(400, quantity="effective_sample_size", proportions=[0.6, 0.4]))
    10000
    >>> int(required_rows(0.1, proportions=[0.6, 0.4], radius=1.0))
    73778
    """
    if not (math.isfinite(target) and target > 0):
        raise ValueError(f"target={target!r} must be a positive number")
    if quantity not in QUANTITIES:
        raise ValueError(f"unknown quantity {quantity!r}: choose one of {', '.join(QUANTITIES)}")
    if proportions is not None and flip_pos is None and flip_neg is None:
        given = _sizes(sizes, proportions)
        reached = _reached_with_strata(quantity, given, proportions, combine, bound_options)
    elif proportions is None and flip_pos is not None and flip_neg is not None:
        rates = np.stack(np.broadcast_arrays(np.atleast_1d(flip_pos), flip_neg)).astype(float)
        given = _sizes(sizes, rates[0])
        reached = _reached_with_sources(
            quantity, given, rates, source_priors, weights, bound_options
        )
    else:
        raise ValueError("give either the proportions of bags or flip_pos and flip_neg of sources")
    factor = (reached / target) ** 2 if quantity == "bound" else target / reached
    # A rounding error must not push a whole number up to the next one.
    rows = np.ceil(factor * given * (1 - 1e-12)).astype(int)
    return RequiredRows(factor, np.maximum(rows, 1))


def _sizes(sizes: ArrayLike | None, like: ArrayLike) -> FloatArray:
    return np.ones(np.size(like)) if sizes is None else positive_vector("sizes", sizes)


def _reached_with_strata(
    quantity: str, sizes: FloatArray, proportions: ArrayLike, combine: str, options: dict[str, Any]
) -> float:
    if quantity == "effective_sample_size":
        _refuse_bound_options(options)
        return combined_sample_size(sizes, proportions, combine=combine)
    return bound_bags(sizes, combine_bags(sizes, proportions, method=combine), **options)


def _reached_with_sources(
    quantity: str,
    sizes: FloatArray,
    rates: FloatArray,
    source_priors: ArrayLike | None,
    weights: str | ArrayLike,
    options: dict[str, Any],
) -> float:
    if quantity == "effective_sample_size":
        _refuse_bound_options(options)
        snr = pair_signal_to_noise(sizes, rates[0], rates[1], source_priors)
        share = resolve_source_weights(weights, sizes, rates[0], rates[1], source_priors)
        # For n clean rows of a balanced population c² is 4/n with class priors and 1/n without.
        clean = 1.0 if source_priors is None else 4.0
        return float(clean / np.sum(share**2 / snr))
    if source_priors is None:
        return bound_common_source(sizes, rates[0], rates[1], weights=weights, **options)
    return bound_varying_priors(
        sizes, rates[0], rates[1], source_priors, weights=weights, **options
    )


def _refuse_bound_options(options: dict[str, Any]) -> None:
    if options:
        raise ValueError(
            f"{', '.join(options)} only apply to quantity='bound': remove them for "
            "quantity='effective_sample_size'"
        )
