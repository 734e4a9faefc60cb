"""Bags from labelled rows, and data sets of bags without training labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.losses import only_two_classes
from decorrupt.observed import factorize, read_labels

Rows = NDArray[np.intp]
WAYS = ("bag_size", "sizes", "by", "n_clusters")


@dataclass(frozen=True, eq=False)
class Bags:
    """The rows of each bag, and each bag's share of positives.

    Attributes
    ----------
    rows : ndarray of int, shape (n_used,)
        The rows used, each at most once, ordered by bag.
    bags : ndarray of int, shape (n_used,)
        The bag of each of these rows, 0, 1, …
    proportions : ndarray of shape (n_bags,)
        The share of positives in each bag.
    n_left_out : int
        Number of rows in no bag.
    """

    rows: Rows
    bags: Rows
    proportions: FloatArray
    n_left_out: int

    @property
    def y(self) -> FloatArray:
        """The proportion of each row's bag, the `y` of `fit`."""
        return np.asarray(self.proportions[self.bags])

    @property
    def sizes(self) -> Rows:
        """Number of rows of each bag."""
        return np.bincount(self.bags, minlength=len(self.proportions))


def make_bags(
    y: ArrayLike,
    *,
    bag_size: int | None = None,
    sizes: Sequence[int] | None = None,
    proportions: Sequence[float] | None = None,
    by: Any = None,
    n_clusters: int | None = None,
    X: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bags:
    """Return disjoint bags of labelled rows, with the share of positives of each.

    The share of bag k is γ_k = (1/n_k)·Σ_j 1{y_j = positive}, for labels y.

    Give exactly one of `bag_size`, `sizes`, `by` and `n_clusters`. The first two draw rows without
    replacement and leave out rows that do not fill a bag; the last two use every row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of two values; the larger in sorted order is the positive class.
    bag_size : int, optional
        Number of rows per bag.
    sizes : (low, high), optional
        Each bag's size is drawn uniformly from low, …, high; the last bag may be smaller than its
        drawn size, but not smaller than low.
    proportions : (low, high), optional
        With `bag_size` or `sizes`: each bag's share of positives is drawn uniformly from this
        range and rounded to a whole number of rows, so that a bag is at most half a row outside
        the range. Drawing stops when the remaining rows cannot make such a bag.
    by : array-like of shape (n_rows,), or a column of X, optional
        Rows with the same value form a bag. A number or a name selects a column of X. Bags are
        numbered in the order of the sorted values.
    n_clusters : int, optional
        The bags are the k-means clusters of X.
    X : array-like or frame of shape (n_rows, n_columns), optional
        The features, for `n_clusters` and for a column `by`.
    random_state : int, RandomState or None
        Source of the random draws.

    Raises
    ------
    ValueError
        If y does not have two classes, none or several of the four arguments are given, a size or
        range is invalid, or no bag can be made.

    Examples
    --------
    >>> from decorrupt.datasets import make_bags
    >>> made = make_bags([0, 1] * 5, bag_size=4, random_state=0)
    >>> made.sizes.tolist(), made.n_left_out
    ([4, 4], 2)
    >>> make_bags([0, 0, 1, 1], by=["north", "south", "south", "south"]).proportions.round(2)
    array([0.  , 0.67])
    """
    classes, codes = read_labels(y)
    only_two_classes(len(classes), "make_bags", "give the labels of one class against all others")
    is_pos = codes > 0
    given = dict(zip(WAYS, (bag_size, sizes, by, n_clusters), strict=True))
    way = _chosen_way(given, proportions, X)
    rng = check_random_state(random_state)
    if way == "by":
        return _group(_bag_values(by, X, len(is_pos)), is_pos)
    if way == "n_clusters":
        return _group(_clusters(X, n_clusters, len(is_pos), rng), is_pos)
    size_range = _size_range(way, given[way], len(is_pos))
    if proportions is None:
        return _bags_of(_cut(len(is_pos), size_range, rng), is_pos)
    return _bags_of(_fill(is_pos, size_range, _share_range(proportions), rng), is_pos)


def _chosen_way(given: dict[str, Any], proportions: Any, X: Any) -> str:
    chosen = [way for way, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise ValueError(
            f"give exactly one of {', '.join(WAYS)} to define the bags, got "
            f"{' and '.join(chosen) or 'none'}"
        )
    way = chosen[0]
    if proportions is not None and way in ("by", "n_clusters"):
        raise ValueError(
            f"proportions can only be given with bag_size or sizes: with {way} the data determine "
            "them"
        )
    if X is None and way == "n_clusters":
        raise ValueError("n_clusters needs X=, the features to cluster")
    return way


def _size_range(name: str, value: Any, n_rows: int) -> tuple[int, int]:
    low, high = (value, value) if name == "bag_size" else _pair(name, value)
    whole = all(isinstance(end, int | np.integer) for end in (low, high))
    if not (whole and 1 <= low <= high):
        raise ValueError(f"{name}={value!r} must be whole numbers of at least 1, with low ≤ high")
    if low > n_rows:
        raise ValueError(f"{name}={value!r}: y has only {n_rows} rows, too few for one bag")
    return int(low), int(high)


def _share_range(value: Any) -> tuple[float, float]:
    low, high = _pair("proportions", value)
    if not 0 <= low <= high <= 1:
        raise ValueError(f"proportions={value!r} must satisfy 0 ≤ low ≤ high ≤ 1")
    return float(low), float(high)


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if np.shape(value) != (2,):
        raise ValueError(f"{name}={value!r} must be a range (low, high)")
    low, high = value
    return low, high


def _cut(n_rows: int, size_range: tuple[int, int], rng: np.random.RandomState) -> list[Rows]:
    """Cut the shuffled rows into bags until fewer than the smallest size remain."""
    low, high = size_range
    left = rng.permutation(n_rows)
    members = []
    while len(left) >= low:
        size = min(rng.randint(low, high + 1), len(left))
        members.append(left[:size])
        left = left[size:]
    return members


def _fill(
    is_pos: NDArray[np.bool_],
    size_range: tuple[int, int],
    share_range: tuple[float, float],
    rng: np.random.RandomState,
) -> list[Rows]:
    """Fill bags with the drawn shares of both classes until the rows do not suffice."""
    low, high = size_range
    pos, neg = (rng.permutation(np.flatnonzero(side)) for side in (is_pos, ~is_pos))
    members = []
    while len(pos) + len(neg) >= low:
        size = min(rng.randint(low, high + 1), len(pos) + len(neg))
        wanted = np.rint(rng.uniform(*share_range) * size)
        n_pos = int(np.clip(wanted, size - len(neg), len(pos)))
        # Half a row of tolerance: the range may contain no multiple of 1/size.
        if max(share_range[0] * size - n_pos, n_pos - share_range[1] * size) > 0.5:
            break
        members.append(rng.permutation(np.r_[pos[:n_pos], neg[: size - n_pos]]))
        pos, neg = pos[n_pos:], neg[size - n_pos :]
    if not members:
        raise ValueError(
            f"no bag of {low} to {high} rows with proportions in {list(share_range)} can be made "
            f"from {len(pos)} positive and {len(neg)} negative rows"
        )
    return members


def _bag_values(by: Any, X: Any, n_rows: int) -> Any:
    """Return the values that define the bags: `by`, or the column of X that it selects."""
    if np.ndim(by) == 0:
        if X is None:
            raise ValueError(f"by={by!r} selects a column of X: give X= too")
        by = _select_column(X, by)
    if len(by) != n_rows:
        raise ValueError(f"by has {len(by)} values but y has {n_rows} rows: give one value per row")
    return by


def _select_column(X: Any, column: Any) -> Any:
    if isinstance(column, str):
        return _named_column(X, column)
    table = np.asarray(X)
    if not (table.ndim == 2 and 0 <= column < table.shape[1]):
        raise ValueError(f"by={column!r} is not a column of X, which has shape {table.shape}")
    return table[:, column]


def _named_column(X: Any, column: str) -> Any:
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise TypeError(
            f"X must be a pandas, polars or arrow table in memory, got {type(X).__name__}"
        ) from None
    if column not in frame.columns:
        known = ", ".join(map(repr, frame.columns[:10]))
        raise ValueError(f"by: there is no column {column!r} (the columns are: {known})")
    return frame[column].to_numpy()


def _clusters(X: Any, n_clusters: Any, n_rows: int, rng: np.random.RandomState) -> Any:
    if not (isinstance(n_clusters, int | np.integer) and 1 <= n_clusters <= n_rows):
        raise ValueError(f"n_clusters={n_clusters!r} must be a whole number from 1 to {n_rows}")
    clusters = KMeans(n_clusters, n_init=10, random_state=rng).fit_predict(X)
    check_consistent_length(clusters, np.empty(n_rows))
    return clusters


def _group(values: Any, is_pos: NDArray[np.bool_]) -> Bags:
    ids, codes = factorize(values, "by")
    return _bags_of([np.flatnonzero(codes == bag) for bag in range(len(ids))], is_pos)


def _bags_of(members: list[Rows], is_pos: NDArray[np.bool_]) -> Bags:
    rows = np.concatenate(members)
    bags = np.repeat(np.arange(len(members)), [len(bag) for bag in members])
    shares = np.array([is_pos[bag].mean() for bag in members])
    return Bags(rows, bags, shares, len(is_pos) - len(rows))


@dataclass(frozen=True, eq=False)
class BagDataset:
    """Training rows with the shares of their bags, and test rows with labels.

    No attribute contains a label of a training row.

    Attributes
    ----------
    X : ndarray or frame of shape (n_rows, n_features)
        Features of the training rows.
    y : ndarray of shape (n_rows,)
        The proportion of positives in each row's bag.
    bags : ndarray of shape (n_rows,)
        The bag of each row.
    X_test, y_test : ndarray or None
        Held-out rows and their labels, 1 for the positive class and 0 for the other.
    feature_names : tuple of str
        The columns of X.
    name : str
        Name of the data.
    positive_class : str
        Name of the positive class.
    n_left_out : int
        Number of training rows in no bag.
    """

    X: Any
    y: FloatArray
    bags: NDArray[Any]
    X_test: Any = None
    y_test: NDArray[np.int_] | None = None
    feature_names: tuple[str, ...] = ()
    name: str = "table"
    positive_class: str = "positive"
    n_left_out: int = 0
