"""Do the bags share their class distributions? A permutation test of their column means.

If the rows of a class have the same distribution in every bag, the mean of a column in bag k is
Σ_c p_kc·μ_c plus noise of variance v_k/n_k. The test asks whether the bags' means are further from
this line than rows that are moved between bags at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.observed import RANK_TOL, Observed
from decorrupt.progress import track

# The smallest variance of a bag's rows, as a share of the column's mean variance: the line
# through the bags' variances can reach zero or less at the ends.
LEAST_VARIANCE = 0.05
# The level of the critical dispersions.
LEVEL = 0.05
# Permutations are computed for this many cells (rows × columns) at most.
MOST_CELLS = 2e7
# The quick check of every fit: fewer cells, and permutations in two stages. The first stage ends
# 95 % of the checks of valid bags, the second has the level of 1 %.
QUICK_CELLS = 5e5
QUICK_PERMUTATIONS = (19, 99)


@dataclass(frozen=True)
class ClassMeansTest:
    """The outcome of :func:`check_class_means`.

    Attributes
    ----------
    columns : ndarray of int, shape (n_tested,)
        The columns tested; constant columns and those beyond the limit are left out.
    dispersions : ndarray of shape (n_tested,)
        Q/(M − rank) of each column; 1 on average if the assumption holds.
    critical : ndarray of shape (n_tested,)
        The dispersion above which a column is significant at the 5 % level, adjusted for the
        number of columns.
    p_values : ndarray of shape (n_tested,)
        Per column, adjusted for the number of columns.
    p_value : float
        Of all columns together: the smallest of `p_values`.
    n_bags, n_rows, n_permutations : int
        Bags (one-row bags of the same share count as one), rows and permutations used.
    """

    columns: NDArray[np.intp]
    dispersions: FloatArray
    critical: FloatArray
    p_values: FloatArray
    p_value: float
    n_bags: int
    n_rows: int
    n_permutations: int


def check_class_means(
    X: Any,
    bags: Observed,
    *,
    n_permutations: int = 199,
    most_cells: float = MOST_CELLS,
    random_state: Any = None,
) -> ClassMeansTest | None:
    """Return the test of mean_k φ = Σ_c p_kc·μ_c for every column φ of X.

    Q = Σ_k n_k·(mean_k φ − Σ_c p_kc·μ̂_c)²/v_k, where μ̂ are weighted least squares over the bags
    and v_k = Σ_c p_kc·v_c is the variance of a row, a line through the squared residuals: classes
    may have different variances, and small bags other proportions than large ones. The residuals,
    divided by √v_k, are permuted across all bags. Each permutation repeats the least squares. Q^⅓,
    which is nearly normal, is standardised per column over the data *and* all permutations, so
    that they are exchangeable; the largest column of the data is compared with the largest of each
    permutation (max-T).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The rows.
    bags : Observed
        Their bags, for two or several classes.
    n_permutations : int
        The smallest possible p-value is 1/(n_permutations + 1).
    most_cells : float
        If X has more cells than this, a random subset of whole bags, and of columns if one bag is
        already too large, is tested.
    random_state : int, RandomState or None
        Seed of permutations and subsets.

    Returns
    -------
    ClassMeansTest or None
        None if it cannot be tested: too few bags for the number of classes, no bag of two rows, or
        no column that varies.
    """
    rng = check_random_state(random_state)
    if bags.weights is not None:
        people, bags = bags.single_rows(max(most_cells / X.shape[1], 1), rng)
        X = X[people]
    rows, columns = _within_limit(X.shape, bags, most_cells, rng)
    X, bags = _take(X, rows, columns), merge_single_rows(bags.take(rows))
    varies = np.ptp(X, axis=0) > 0
    if not varies.all():
        X, columns = X[:, varies], columns[varies]
    shares = bags.proportions
    freedom = len(shares) - int(np.linalg.matrix_rank(shares, tol=RANK_TOL))
    if freedom < 1 or not len(columns) or bags.sizes.max() < 2:
        return None
    statistic = _Statistic.of(X, bags, shares)
    observed = statistic.observed()
    draws = track(range(n_permutations), "permuting rows between bags", n_permutations)
    permuted = [statistic.permuted(rng) for _ in draws]
    return _outcome(np.array([observed, *permuted]), freedom, columns, bags)


def quick_violation(X: Any, bags: Observed) -> ClassMeansTest | None:
    """Return the test on a subset of rows if it rejects at the 1 % level, else None.

    The data must exceed every permutation. The subset is the same in every call.
    """
    test = None
    for n_permutations in QUICK_PERMUTATIONS:
        test = check_class_means(
            X, bags, n_permutations=n_permutations, most_cells=QUICK_CELLS, random_state=0
        )
        if test is None or test.p_value > 1 / (n_permutations + 1):
            return None
    return test


def merge_single_rows(bags: Observed) -> Observed:
    """Return the bags, with all one-row bags of the same share in one.

    Rows whose own label is known are bags of one row. Separately they say nothing about the
    differences between bags; together they are one bag of each class.
    """
    single = bags.sizes == 1
    if single.sum() < 2:
        return bags
    shares = bags.proportions[single]
    _, first, group = np.unique(shares, axis=0, return_index=True, return_inverse=True)
    number = np.empty(len(bags.ids), dtype=np.intp)
    number[~single] = np.arange(np.sum(~single))
    number[single] = np.sum(~single) + group.ravel()
    kept = np.concatenate([np.flatnonzero(~single), np.flatnonzero(single)[first]])
    return replace(
        bags,
        ids=bags.ids[kept],
        row_bag=number[bags.row_bag],
        proportions=bags.proportions[kept],
        inexact=None,
        is_part=False,
    )


@dataclass(frozen=True)
class _Statistic:
    """Q of all columns: the residuals, and what the least squares of a permutation need.

    `scale` is √v_k per bag and column; `inverse` is (Σ_k n_k·p_k p_kᵀ/v_k)⁻¹ per column.
    """

    residuals: FloatArray
    shares: FloatArray
    scale: FloatArray
    inverse: FloatArray
    row_bag: NDArray[np.intp]
    sizes: FloatArray

    @classmethod
    def of(cls, X: FloatArray, bags: Observed, shares: FloatArray) -> _Statistic:
        sizes, row_bag = bags.sizes.astype(float), bags.row_bag
        residuals = X - _line(sums_by_bag(X, row_bag, len(sizes)), shares, sizes)[row_bag]
        scale = np.sqrt(_variances(residuals, shares, sizes, row_bag))
        residuals = (residuals / scale[row_bag]).astype(np.float32)  # twice as fast
        weights = sizes[:, None] / scale**2
        information = np.einsum("kc,kd,kj->jcd", shares, shares, weights, optimize=True)
        inverse = np.linalg.pinv(information, rcond=RANK_TOL, hermitian=True)
        return cls(residuals, shares, scale, inverse, row_bag, sizes)

    def observed(self) -> FloatArray:
        return self._of_sums(sums_by_bag(self.residuals, self.row_bag, len(self.sizes)))

    def permuted(self, rng: np.random.RandomState) -> FloatArray:
        shuffled = rng.permutation(self.row_bag)
        return self._of_sums(sums_by_bag(self.residuals, shuffled, len(self.sizes)))

    def _of_sums(self, sums: FloatArray) -> FloatArray:
        total = np.sum(sums**2 / self.sizes[:, None], axis=0)
        slopes = (self.shares.T @ (sums / self.scale)).T
        explained = np.einsum("jc,jcd,jd->j", slopes, self.inverse, slopes)
        return np.asarray(np.maximum(total - explained, 0))


def sums_by_bag(values: FloatArray, row_bag: NDArray[np.intp], n_bags: int) -> FloatArray:
    """Return the sums of each bag's rows."""
    n_rows = len(row_bag)
    ones = np.ones(n_rows, dtype=values.dtype)
    # By column, so that the product reads the rows in order, and nothing is sorted.
    indicator = sparse.csc_matrix((ones, row_bag, np.arange(n_rows + 1)), shape=(n_bags, n_rows))
    return np.asarray(indicator @ values)


def _line(sums: FloatArray, shares: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return Σ_c p_kc·μ̂_c of every bag, by least squares of the bags' means weighted by size."""
    root = np.sqrt(sizes)[:, None]
    return np.asarray(shares @ np.linalg.lstsq(root * shares, sums / root, rcond=RANK_TOL)[0])


def _variances(
    residuals: FloatArray, shares: FloatArray, sizes: FloatArray, row_bag: NDArray[np.intp]
) -> FloatArray:
    """Return v_k of every bag and column."""
    squares = sums_by_bag(residuals**2, row_bag, len(sizes))
    mean = squares.sum(axis=0) / sizes.sum()
    floor = np.maximum(LEAST_VARIANCE * mean, np.finfo(float).tiny)
    return np.asarray(np.maximum(_line(squares, shares, sizes), floor))


def _outcome(
    found: FloatArray, freedom: int, columns: NDArray[np.intp], bags: Observed
) -> ClassMeansTest:
    """Return the p-values; the first row of `found` is Q of the data, the others permutations."""
    roots = np.cbrt(found)
    # A permutation that reproduces the data must count as equal to it despite rounding.
    standardised = _standardise(roots, roots).round(6)
    p_values = np.mean(standardised.max(axis=1)[:, None] >= standardised[0], axis=0)
    highest = np.quantile(_standardise(roots[1:], roots[1:]).max(axis=1), 1 - LEVEL)
    critical = (roots[1:].mean(axis=0) + highest * roots[1:].std(axis=0)) ** 3
    return ClassMeansTest(
        columns=columns,
        dispersions=found[0] / freedom,
        critical=critical / freedom,
        p_values=p_values,
        p_value=float(p_values.min()),
        n_bags=len(bags.ids),
        n_rows=len(bags.row_bag),
        n_permutations=len(found) - 1,
    )


def _standardise(values: FloatArray, like: FloatArray) -> FloatArray:
    spread = like.std(axis=0)
    return np.asarray((values - like.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _within_limit(
    shape: tuple[int, int], bags: Observed, most_cells: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows, of whole bags in random order, and the columns to test."""
    n_rows, n_columns = shape
    if n_rows * n_columns <= most_cells:
        return np.arange(n_rows), np.arange(n_columns)
    # More columns than √cells would leave fewer rows than columns.
    most_columns = max(int(np.sqrt(most_cells)), 1)
    if n_columns > most_columns:
        columns = np.sort(rng.choice(n_columns, most_columns, replace=False))
    else:
        columns = np.arange(n_columns)
    order = rng.permutation(len(bags.ids))
    total = np.cumsum(bags.sizes[order]) * len(columns)
    kept = np.zeros(len(order), dtype=bool)
    kept[order[: max(int(np.searchsorted(total, most_cells, side="right")), 1)]] = True
    return np.flatnonzero(kept[bags.row_bag]), columns


def _take(X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> FloatArray:
    part = X[rows] if len(rows) < X.shape[0] else X
    part = part[:, columns] if len(columns) < X.shape[1] else part
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=float)
