"""Cross-validation splitters for bags: folds of whole bags, and folds within bags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.observed import as_targets, factorize

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
# Shares that agree in so many digits are equal.
SHARE_DIGITS = 9


def _similarity(y: FloatArray, row_bag: NDArray[np.intp], weights: FloatArray) -> FloatArray:
    """Return one number per bag, close for bags with similar proportions.

    Two classes: the proportion. Several: first the class whose share is above its mean the most,
    then that share.
    """
    n_rows = np.bincount(row_bag)
    columns = [np.bincount(row_bag, column) / n_rows for column in y.reshape(len(y), -1).T]
    # Without the rounding errors of the means, equal shares stay equal if rows are repeated.
    shares = np.round(np.column_stack(columns), SHARE_DIGITS)
    if y.ndim == 1:
        return np.asarray(shares[:, 0])
    leading = np.argmax(shares - np.average(y, axis=0, weights=weights), axis=1)
    return np.asarray(leading + shares[np.arange(len(shares)), leading] / 2)


def _targets(y: ArrayLike) -> FloatArray:
    """Return the share of positives of each row's bag, or the shares of several classes."""
    shares = np.asarray(y, dtype=float)
    return shares if shares.ndim == 1 else as_targets(shares)


class BagSplitter(BaseCrossValidator):
    """Base class of both splitters; `split` gets bags through routing, or as `groups` without."""

    __metadata_request__split = {"bags": True}  # noqa: RUF012

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, *_args: Any, **_kwargs: Any) -> int:
        """Return the number of folds; the arguments are ignored, scikit-learn passes them."""
        return self.n_splits

    def split(
        self,
        X: Any,  # noqa: ARG002 — scikit-learn passes it
        y: ArrayLike | None = None,
        bags: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Iterator[Fold]:
        """Yield (train, test) row indices, one pair per fold.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Ignored.
        y : array-like of shape (n_rows,), optional
            The proportion of each row's bag; shape (n_rows, n_classes) for several classes.
        bags : array-like of shape (n_rows,)
            The bag of each row; any hashable ids.
        groups : array-like of shape (n_rows,), optional
            Used as `bags` if scikit-learn passes only this.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents.
        """
        bags = groups if bags is None else bags
        if bags is None:
            raise ValueError(f"{type(self).__name__} needs bags=, the bag of each row")
        if not (isinstance(self.n_splits, int | np.integer) and self.n_splits >= 2):
            raise ValueError(f"n_splits={self.n_splits!r} must be a whole number, at least 2")
        _, row_bag = factorize(bags, "bags")
        weights = np.ones(len(row_bag)) if sample_weight is None else np.asarray(sample_weight)
        similarity = None if y is None else _similarity(_targets(y), row_bag, weights)
        fold = self._row_folds(row_bag, similarity, weights)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def _row_folds(
        self, row_bag: NDArray[np.intp], similarity: FloatArray | None, weights: FloatArray
    ) -> NDArray[np.intp]:
        raise NotImplementedError

    def _shuffled(self, n: int) -> NDArray[np.intp]:
        if not self.shuffle:
            return np.arange(n)
        return np.asarray(check_random_state(self.random_state).permutation(n))


class BagKFold(BagSplitter):
    """K folds of whole bags, with similar numbers of rows and similar proportions.

    Bags are sorted by proportion and assigned in groups of `n_splits`: every fold gets one bag of
    each group, and the largest bag goes to the fold with the fewest rows. scikit-learn's folds
    split bags, so that rows of a training bag are in the test fold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether bags of equal proportion (all bags, without y in `split`) are first put in random
        order.
    random_state : int, RandomState or None
        Seed of `shuffle`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import BagKFold
    >>> bags = np.repeat(["a", "b", "c", "d"], 3)
    >>> y = np.repeat([0.1, 0.9, 0.2, 0.8], 3)
    >>> for train, test in BagKFold(2).split(bags, y, bags=bags):
    ...     print(sorted(set(bags[test].tolist())))
    ['a', 'd']
    ['b', 'c']
    """

    def _row_folds(
        self, row_bag: NDArray[np.intp], similarity: FloatArray | None, weights: FloatArray
    ) -> NDArray[np.intp]:
        sizes = np.bincount(row_bag, weights)
        if len(sizes) < self.n_splits:
            raise ValueError(
                f"cannot make {self.n_splits} folds of {len(sizes)} bags: lower n_splits (cv), or "
                "split inside the bags with WithinBagKFold"
            )
        order = self._shuffled(len(sizes))
        if similarity is not None:
            order = order[np.argsort(similarity[order], kind="stable")]
        rows_of_fold = np.zeros(self.n_splits)
        bag_fold = np.empty(len(sizes), dtype=np.intp)
        for start in range(0, len(order), self.n_splits):
            group = order[start : start + self.n_splits]
            group = group[np.argsort(-sizes[group], kind="stable")]
            smallest = np.argsort(rows_of_fold, kind="stable")[: len(group)]
            bag_fold[group] = smallest
            rows_of_fold[smallest] += sizes[group]
        return bag_fold[row_bag]


class WithinBagKFold(BagSplitter):
    """K folds within bags: each fold contains a part of every bag, with the bag's proportion.

    For few large bags, where holding out whole bags would remove much of the training data. A part
    of a bag has the bag's proportion in expectation. Bags with fewer rows than folds are missing
    from some folds.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether the rows of each bag are first put in random order.
    random_state : int, RandomState or None
        Seed of `shuffle`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.model_selection import WithinBagKFold
    >>> y, bags = np.repeat([0.2, 0.8], 10), np.repeat(["a", "b"], 10)
    >>> train, test = next(WithinBagKFold(5).split(np.zeros((20, 1)), y, bags))
    >>> sorted(set(bags[test].tolist())), len(test)
    (['a', 'b'], 4)
    """

    def _row_folds(
        self,
        row_bag: NDArray[np.intp],
        similarity: FloatArray | None,  # noqa: ARG002 — a part of a bag keeps its proportion
        weights: FloatArray,  # noqa: ARG002 — a row is in one fold
    ) -> NDArray[np.intp]:
        if len(row_bag) < self.n_splits:
            raise ValueError(f"cannot make {self.n_splits} folds of {len(row_bag)} rows")
        order = self._shuffled(len(row_bag))
        order = order[np.argsort(row_bag[order], kind="stable")]
        fold = np.empty(len(row_bag), dtype=np.intp)
        # Continue with the next fold from bag to bag, so that all folds have equal sizes.
        fold[order] = np.arange(len(order)) % self.n_splits
        return fold
