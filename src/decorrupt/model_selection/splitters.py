"""Folds for data in bags: whole bags, or the rows of every bag."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED

from decorrupt._typing import FloatArray
from decorrupt.corruption import factorize

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


class BagSplitter(BaseCrossValidator):
    """What both splitters share: bags reach `split` by routing, or as `groups` without it."""

    __metadata_request__split = {"bags": True, "groups": UNUSED}  # noqa: RUF012

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, *_args: Any, **_kwargs: Any) -> int:
        """Return the number of folds; the arguments are there for scikit-learn's sake."""
        return self.n_splits

    def split(
        self,
        X: Any,  # noqa: ARG002 — scikit-learn passes it
        y: ArrayLike | None = None,
        bags: Any = None,
        groups: Any = None,
    ) -> Iterator[Fold]:
        """Yield (train, test) row indices, one pair a fold.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Only its length is looked at.
        y : array-like of shape (n_rows,), optional
            The proportion of each row's bag.
        bags : array-like of shape (n_rows,)
            The bag of each row; any hashable ids.
        groups : array-like of shape (n_rows,), optional
            Taken for `bags` where scikit-learn passes only this.
        """
        bags = groups if bags is None else bags
        if bags is None:
            raise ValueError(f"{type(self).__name__} needs bags=, the bag of each row")
        if not (isinstance(self.n_splits, int | np.integer) and self.n_splits >= 2):
            raise ValueError(f"n_splits={self.n_splits!r} must be a whole number of at least 2")
        _, row_bag = factorize(bags, "bags")
        proportions = None
        if y is not None:
            proportions = np.bincount(row_bag, np.asarray(y, dtype=float)) / np.bincount(row_bag)
        fold = self._row_folds(row_bag, proportions)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def _row_folds(
        self, row_bag: NDArray[np.intp], proportions: FloatArray | None
    ) -> NDArray[np.intp]:
        raise NotImplementedError

    def _shuffled(self, n: int) -> NDArray[np.intp]:
        if not self.shuffle:
            return np.arange(n)
        return np.asarray(check_random_state(self.random_state).permutation(n))


class BagKFold(BagSplitter):
    """K folds of whole bags, balanced in rows and spread over the proportions.

    Bags are taken in the order of their proportions, `n_splits` at a time; of each such hand every
    fold gets one, the fold with the fewest rows so far the largest. Cutting a bag in two, as a
    plain integer ``cv`` does, would leave rows of a training bag in the test fold.

    Parameters
    ----------
    n_splits : int, default=5
        Folds.
    shuffle : bool, default=False
        Whether bags of equal proportion (all, without `stratify`) are put in random order first.
    random_state : int, RandomState or None
        For `shuffle`.
    stratify : bool, default=True
        Whether to go by proportion, which needs y in `split`; else in the bags' order.

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

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        stratify: bool = True,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.stratify = stratify

    def _row_folds(
        self, row_bag: NDArray[np.intp], proportions: FloatArray | None
    ) -> NDArray[np.intp]:
        sizes = np.bincount(row_bag)
        if len(sizes) < self.n_splits:
            raise ValueError(
                f"cannot make {self.n_splits} folds of {len(sizes)} bags: lower n_splits (cv), or "
                "split inside the bags with WithinBagKFold"
            )
        order = self._shuffled(len(sizes))
        if self.stratify and proportions is not None:
            order = order[np.argsort(proportions[order], kind="stable")]
        rows_of_fold = np.zeros(self.n_splits)
        bag_fold = np.empty(len(sizes), dtype=np.intp)
        for start in range(0, len(order), self.n_splits):
            hand = order[start : start + self.n_splits]
            hand = hand[np.argsort(-sizes[hand], kind="stable")]
            emptiest = np.argsort(rows_of_fold, kind="stable")[: len(hand)]
            bag_fold[hand] = emptiest
            rows_of_fold[emptiest] += sizes[hand]
        return bag_fold[row_bag]


class WithinBagKFold(BagSplitter):
    """K folds that each hold a part of every bag's rows, under the whole bag's proportion.

    Where bags are few and large, leaving whole bags out takes away much of what there is to learn
    from; a part of a bag has the bag's proportion in expectation. Bags of fewer rows than folds
    are missing from some folds.

    Parameters
    ----------
    n_splits : int, default=5
        Folds.
    shuffle : bool, default=False
        Whether each bag's rows are put in random order first.
    random_state : int, RandomState or None
        For `shuffle`.
    """

    def _row_folds(
        self,
        row_bag: NDArray[np.intp],
        proportions: FloatArray | None,  # noqa: ARG002 — a part of a bag keeps its proportion
    ) -> NDArray[np.intp]:
        if len(row_bag) < self.n_splits:
            raise ValueError(f"cannot make {self.n_splits} folds of {len(row_bag)} rows")
        order = self._shuffled(len(row_bag))
        order = order[np.argsort(row_bag[order], kind="stable")]
        fold = np.empty(len(row_bag), dtype=np.intp)
        # Dealt bag after bag without starting anew, so that all folds end up equally full.
        fold[order] = np.arange(len(order)) % self.n_splits
        return fold
