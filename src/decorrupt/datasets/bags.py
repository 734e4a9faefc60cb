"""Random bags of labelled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.losses import only_two_classes
from decorrupt.observed import read_labels


@dataclass(frozen=True, eq=False)
class Bags:
    """The rows of each bag, and each bag's share of positives.

    Attributes
    ----------
    rows : ndarray of int, shape (n_used,)
        The rows used, each once, ordered by bag.
    bags : ndarray of int, shape (n_used,)
        The bag of each of these rows, 0, 1, …
    proportions : ndarray of shape (n_bags,)
        The share of positives in each bag.
    """

    rows: NDArray[np.intp]
    bags: NDArray[np.intp]
    proportions: FloatArray

    @property
    def y(self) -> FloatArray:
        """The proportion of each row's bag, the `y` of `fit`."""
        return np.asarray(self.proportions[self.bags])


def make_bags(
    y: ArrayLike, *, bag_size: int, random_state: int | np.random.RandomState | None = None
) -> Bags:
    """Return disjoint random bags of labelled rows, with the share of positives of each.

    The share of bag k is γ_k = (1/n_k)·Σ_j 1{y_j = positive}, for labels y.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of two values; the larger in sorted order is the positive class.
    bag_size : int
        Number of rows per bag. Rows that do not fill a bag are left out.
    random_state : int, RandomState or None
        Source of the random draws.

    Raises
    ------
    ValueError
        If y does not have two classes, or there are not enough rows for a bag.

    Examples
    --------
    >>> from decorrupt.datasets import make_bags
    >>> made = make_bags([0, 1] * 5, bag_size=4, random_state=0)
    >>> made.bags.tolist(), made.proportions.tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [0.25, 0.75])
    """
    classes, codes = read_labels(y)
    only_two_classes(len(classes), "make_bags", "give the labels of one class against all others")
    if not (isinstance(bag_size, int | np.integer) and 1 <= bag_size <= len(codes)):
        raise ValueError(
            f"bag_size={bag_size!r} must be a whole number from 1 to the number of rows, "
            f"{len(codes)}"
        )
    n_bags = len(codes) // bag_size
    rows = check_random_state(random_state).permutation(len(codes))[: n_bags * bag_size]
    shares = (codes[rows] > 0).reshape(n_bags, bag_size).mean(axis=1)
    return Bags(rows, np.repeat(np.arange(n_bags), bag_size), shares)
