"""Bags that contain the most information for a given minimum size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from decorrupt._typing import FloatArray

IntArray = NDArray[np.intp]


def design_bags(X: Any, score: ArrayLike | None = None, *, size: int) -> IntArray:
    """Return bags of rows with similar scores, which carry the most information.

    They maximise, over bags of at least `size` rows, Σ_k n_k·(mean_k score − mean score)².

    For those who publish aggregates: if only bags of at least `size` rows may be released, bags of
    rows with similar scores contain the most information V = Σ_k n_k(γ_k − γ̄)², and random bags
    the least (PriorBoost, Javanmard et al. 2024). The optimal bags are intervals of the sorted
    score, each of `size` to 2·size − 1 rows, and are found exactly by dynamic programming in
    O(n·size). Bags by a score violate common class distributions: train with count likelihood or
    proportion matching, as :class:`decorrupt.AutoLabelProportionsClassifier` does.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The rows.
    score : array-like of shape (n_rows,), optional
        A prediction of the label from features, for example P(Y=1|x) of a model trained on earlier
        bags. None: the first principal component of the standardised columns.
    size : int
        The smallest number of rows of a bag, at least 1.

    Returns
    -------
    ndarray of int, shape (n_rows,)
        The bag of each row, 0, 1, … in the order of the score.

    Raises
    ------
    ValueError
        If there are fewer rows than `size`, or `score` does not have one finite value per row.

    Examples
    --------
    >>> from decorrupt.datasets import design_bags
    >>> design_bags([[0]] * 6, [0.1, 0.9, 0.2, 0.8, 0.85, 0.15], size=3).tolist()
    [0, 1, 0, 1, 1, 0]
    """
    X = check_array(X, accept_sparse="csr")
    values = _first_component(X) if score is None else _read_score(score, X.shape[0])
    if not (isinstance(size, int | np.integer) and 1 <= size <= len(values)):
        raise ValueError(
            f"size={size!r} must be a whole number of at least 1 and at most the number of rows, "
            f"{len(values)}"
        )
    order = np.argsort(values, kind="stable")
    bags = np.empty(len(values), dtype=np.intp)
    bags[order] = _optimal_intervals(values[order], int(size))
    return bags


def _read_score(score: ArrayLike, n_rows: int) -> FloatArray:
    values = np.asarray(score, dtype=float)
    if values.shape != (n_rows,) or not np.isfinite(values).all():
        raise ValueError(
            f"score must contain one finite number for each of the {n_rows} rows, got shape "
            f"{values.shape}"
        )
    return values


def _first_component(X: Any) -> FloatArray:
    scaled = StandardScaler(with_mean=not hasattr(X, "tocsr")).fit_transform(X)
    if scaled.shape[1] == 1:
        return np.asarray(scaled.toarray() if hasattr(scaled, "toarray") else scaled)[:, 0]
    return np.asarray(TruncatedSVD(1, random_state=0).fit_transform(scaled)[:, 0])


def _optimal_intervals(values: FloatArray, size: int) -> IntArray:
    """Return the number of the interval of each sorted value.

    best[j] = max_{size ≤ j−i < 2·size} best[i] + (S_j − S_i)²/(j − i), S the cumulative sums. An
    interval of 2·size rows or more can be divided without loss.
    """
    n_rows = len(values)
    sums = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    best = np.full(n_rows + 1, -np.inf)
    best[0], begin = 0.0, np.zeros(n_rows + 1, dtype=np.intp)
    for end in range(size, n_rows + 1):
        first = np.arange(max(end - 2 * size + 1, 0), end - size + 1)
        gains = best[first] + (sums[end] - sums[first]) ** 2 / (end - first)
        place = int(np.argmax(gains))
        best[end], begin[end] = gains[place], first[place]
    starts, end = np.zeros(n_rows, dtype=np.intp), n_rows
    while end > 0:
        end = int(begin[end])
        starts[end] = 1
    return np.cumsum(starts) - 1
