"""Do the bags share their class distributions? A permutation test of their column means.

If so, the mean of a column in bag k is Σ_c p_kc·μ_c plus noise of variance v_k/n_k. The test asks
whether the bags' means are further from this line than rows that are moved between bags at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
MIN_VARIANCE = 0.05
LEVEL = 0.05
# Permutations are computed for this many cells (rows × columns) at most.
MAX_CELLS = 2e7
# The quick check of every fit: fewer cells, and permutations in two stages. The first stage ends
# 95 % of the checks of valid bags, the second has the level of 1 %.
QUICK_CELLS = 5e5
QUICK_PERMUTATIONS = (19, 99)


@dataclass(frozen=True)
class ClassMeansTest:
    """The outcome of :func:`check_class_means`: one value per tested column."""

    columns: NDArray[np.intp]  # constant ones and those beyond the limit are left out
    dispersions: FloatArray  # Q/(M − rank); 1 on average if the assumption holds
    critical: FloatArray  # significant at the 5 % level, adjusted for the number of columns
    p_values: FloatArray  # adjusted for the number of columns
    p_value: float  # the smallest, that of all columns together
    n_rows: int  # used by the test


def check_class_means(
    X: Any,
    bags: Observed,
    *,
    n_permutations: int = 199,
    max_cells: float = MAX_CELLS,
    random_state: Any = None,
) -> ClassMeansTest | None:
    """Return the test of mean_k φ = Σ_c p_kc·μ_c for every column φ of X.

    Q = Σ_k n_k·(mean_k φ − Σ_c p_kc·μ̂_c)²/v_k, where μ̂ are weighted least squares over the bags
    and v_k = Σ_c p_kc·v_c is the variance of a row, a line through the squared residuals: classes
    may have different variances, and small bags other proportions than large ones. The residuals,
    divided by √v_k, are permuted across all bags. Each permutation repeats the least squares. Q^⅓,
    which is nearly normal, is standardised per column over the data *and* all permutations, so
    that they are exchangeable; the largest column of the data is compared with the largest of each
    permutation (max-T). The smallest possible p-value is 1/(n_permutations + 1).

    If X has more than `max_cells` cells, a random subset of whole bags is tested, and of columns if
    there are very many. None if it cannot be tested: too few bags for the number of classes, no bag
    of two rows, or no column that varies.
    """
    rng = check_random_state(random_state)
    if bags.weights is not None:
        people, bags = bags.single_rows(max(max_cells / X.shape[1], 1), rng)
        X = X[people]
    X, columns, bags = _within_limit(X, bags, max_cells, rng)
    varies = np.ptp(X, axis=0) > 0
    X, columns = X[:, varies], columns[varies]
    shares, row_bag = _merge_single_rows(bags)
    freedom = len(shares) - int(np.linalg.matrix_rank(shares, tol=RANK_TOL))
    if freedom < 1 or not len(columns) or np.bincount(row_bag).max() < 2:
        return None
    statistic = _statistic(X, shares, row_bag)
    data = statistic(row_bag)
    draws = track(range(n_permutations), "permuting rows between bags", n_permutations)
    roots = np.cbrt([data, *(statistic(rng.permutation(row_bag)) for _ in draws)])
    # A permutation that reproduces the data must count as equal to it despite rounding.
    standardised = _standardise(roots).round(6)
    p_values = np.mean(standardised.max(axis=1)[:, None] >= standardised[0], axis=0)
    highest = np.quantile(_standardise(roots[1:]).max(axis=1), 1 - LEVEL)
    critical = (roots[1:].mean(axis=0) + highest * roots[1:].std(axis=0)) ** 3
    dispersions, critical = data / freedom, critical / freedom
    p_value = float(p_values.min())
    return ClassMeansTest(columns, dispersions, critical, p_values, p_value, len(row_bag))


def quick_violation(X: Any, bags: Observed) -> ClassMeansTest | None:
    """Return the test on a subset of rows if it rejects at the 1 % level, else None.

    The data must exceed every permutation. The subset is the same in every call.
    """
    test = None
    for n_permutations in QUICK_PERMUTATIONS:
        test = check_class_means(
            X, bags, n_permutations=n_permutations, max_cells=QUICK_CELLS, random_state=0
        )
        if test is None or test.p_value > 1 / (n_permutations + 1):
            return None
    return test


def sums_by_bag(values: FloatArray, row_bag: NDArray[np.intp], n_bags: int) -> FloatArray:
    """Return the sums of each bag's rows."""
    n_rows = len(row_bag)
    ones = np.ones(n_rows, dtype=values.dtype)
    # By column, so that the product reads the rows in order, and nothing is sorted.
    indicator = sparse.csc_matrix((ones, row_bag, np.arange(n_rows + 1)), shape=(n_bags, n_rows))
    return np.asarray(indicator @ values)


def _merge_single_rows(bags: Observed) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return the bags' shares and the rows' bags, with one-row bags of the same share in one.

    Rows whose own label is known are bags of one row. Separately they say nothing about the
    differences between bags; together they are one bag of each class.
    """
    single = bags.sizes == 1
    pure, group = np.unique(bags.proportions[single], axis=0, return_inverse=True)
    number = np.empty(len(single), dtype=np.intp)
    number[~single] = np.arange(np.sum(~single))
    number[single] = np.sum(~single) + group.ravel()
    return np.vstack([bags.proportions[~single], pure]), number[bags.row_bag]


def _statistic(
    X: FloatArray, shares: FloatArray, row_bag: NDArray[np.intp]
) -> Callable[[NDArray[np.intp]], FloatArray]:
    """Return the function from the bags of the residuals, in any order, to Q of all columns."""
    sizes = np.bincount(row_bag, minlength=len(shares)).astype(float)
    root = np.sqrt(sizes)[:, None]

    def line(values: FloatArray) -> FloatArray:
        """Return Σ_c p_kc·μ̂_c of every bag, by least squares of its means weighted by size."""
        means = sums_by_bag(values, row_bag, len(sizes)) / root
        return np.asarray(shares @ np.linalg.lstsq(root * shares, means, rcond=RANK_TOL)[0])

    residuals = X - line(X)[row_bag]
    squares = residuals**2
    floor = np.maximum(MIN_VARIANCE * squares.mean(axis=0), np.finfo(float).tiny)
    spread = np.sqrt(np.maximum(line(squares), floor))  # √v_k
    residuals = (residuals / spread[row_bag]).astype(np.float32)  # twice as fast
    weights = sizes[:, None] / spread**2
    information = np.einsum("kc,kd,kj->jcd", shares, shares, weights, optimize=True)
    inverse = np.linalg.pinv(information, rcond=RANK_TOL, hermitian=True)

    def statistic(permuted_bag: NDArray[np.intp]) -> FloatArray:
        sums = sums_by_bag(residuals, permuted_bag, len(sizes))
        slopes = (shares.T @ (sums / spread)).T
        explained = np.einsum("jc,jcd,jd->j", slopes, inverse, slopes)
        return np.asarray(np.maximum(np.sum(sums**2 / sizes[:, None], axis=0) - explained, 0))

    return statistic


def _standardise(values: FloatArray) -> FloatArray:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _within_limit(
    X: Any, bags: Observed, max_cells: float, rng: np.random.RandomState
) -> tuple[FloatArray, NDArray[np.intp], Observed]:
    """Return the rows, of whole bags in random order, the columns to test, and the bags."""
    n_rows, n_columns = X.shape
    rows, columns = np.arange(n_rows), np.arange(n_columns)
    # More columns than √cells would leave fewer rows than columns.
    max_columns = max(int(np.sqrt(max_cells)), 1)
    if n_rows * n_columns > max_cells:
        if n_columns > max_columns:
            columns = np.sort(rng.choice(n_columns, max_columns, replace=False))
        order = rng.permutation(len(bags.ids))
        total = np.cumsum(bags.sizes[order]) * len(columns)
        kept = order[: max(int(np.searchsorted(total, max_cells, side="right")), 1)]
        rows = np.flatnonzero(np.isin(bags.row_bag, kept))
        X = X[rows][:, columns]
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    return X, columns, bags.take(rows)
