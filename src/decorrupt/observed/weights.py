"""Rows that represent many: reading of `sample_weight`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray

MAX_ROWS = 2**53


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    """Return how many rows each row represents, whole numbers as such; None if all represent one.

    Raises
    ------
    ValueError
        If there is not one finite, non-negative number per row, or all are zero.
    """
    if sample_weight is None:
        return None
    weights = check_weights(sample_weight, n_rows)
    if not weights.any():
        raise ValueError("every sample_weight is zero: there is no row to learn from")
    return None if (weights == 1).all() else whole_if_whole(weights)


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return the weights; raise ValueError if one is not a finite number of rows, at least 0."""
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}: give one number for each of the {n_rows} "
            "rows, how many rows it represents"
        )
    for row in np.flatnonzero(~((weights >= 0) & (weights <= MAX_ROWS)))[:1]:
        rule = "a finite number of rows, at least 0"
        if MAX_ROWS < weights[row] < np.inf:
            rule = "at most 2**53 rows, the largest number that is counted exactly"
        raise ValueError(f"sample_weight[{row}] = {weights[row]:g}: a row represents {rule}")
    return weights


def whole_if_whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers as integers if all are whole, otherwise as they are."""
    whole = np.rint(numbers)
    return whole.astype(np.intp) if (whole == numbers).all() else numbers


def check_whole(weights: NDArray[Any] | None, chosen: NDArray[np.bool_] | bool = True) -> None:
    """Raise ValueError if a chosen row's weight is not whole: counts are of whole rows."""
    if weights is None or weights.dtype.kind != "f":
        return
    for row in np.flatnonzero((weights != np.rint(weights)) & chosen)[:1]:
        raise ValueError(
            f"sample_weight[{row}] = {weights[row]:g} is not a whole number: class counts of bags "
            "are counts of whole rows"
        )


def refuse_weights(weights: Any, what: str) -> None:
    """Raise ValueError if there are weights, for what can only use single rows."""
    if weights is not None:
        raise ValueError(f"{what} cannot use sample_weight: repeat the rows instead")


def repeated_rows(weights: NDArray[Any], most: int, random_state: Any = None) -> NDArray[np.intp]:
    """Return each row number as often as its weight says; of more than `most` rows a sample.

    Weights that are not whole are the chances of as many draws as rows.
    """
    rows = np.arange(len(weights))
    if weights.dtype.kind == "i" and weights.sum() <= most:
        return np.repeat(rows, weights)
    rng = check_random_state(random_state)
    if weights.dtype.kind == "f":
        total = weights.sum()
        return np.sort(rng.choice(rows, min(most, int(np.ceil(total))), p=weights / total))
    generator = np.random.default_rng(rng.randint(2**31))  # RandomState lacks this distribution
    return np.repeat(rows, generator.multivariate_hypergeometric(weights, most, method="marginals"))
