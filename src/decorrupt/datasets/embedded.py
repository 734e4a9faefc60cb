"""Binary tasks in bags from the data sets included in scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.datasets.bags import make_bags

RandomState = int | np.random.RandomState | None
TEST_SIZE = 0.2


@dataclass(frozen=True, eq=False)
class BagDataset:
    """Training rows with the shares of their bags, and test rows with labels.

    No attribute contains a label of a training row.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features of the training rows.
    y : ndarray of shape (n_rows,)
        The proportion of positives in each row's bag.
    bags : ndarray of shape (n_rows,)
        The bag of each row.
    X_test, y_test : ndarray
        Held-out rows and their labels, 1 for the positive class and 0 for the other.
    feature_names : tuple of str
        The columns of X.
    name : str
        Name of the data.
    positive_class : str
        Name of the positive class.
    """

    X: FloatArray
    y: FloatArray
    bags: NDArray[np.intp]
    X_test: FloatArray
    y_test: NDArray[np.int_]
    feature_names: tuple[str, ...]
    name: str
    positive_class: str


def load_breast_cancer_bags(
    bag_size: int = 16,
    *,
    test_size: float | int = TEST_SIZE,
    random_state: RandomState = 0,
) -> BagDataset:
    """Return the Wisconsin breast-cancer data (569 × 30) in bags; positives are malignant.

    Parameters
    ----------
    bag_size : int, default=16
        Number of rows per training bag.
    test_size : float or int, default=0.2
        Share or number of rows held out with their labels.
    random_state : int, RandomState or None, default=0
        Source of the random split and bags.

    Examples
    --------
    >>> from decorrupt.datasets import load_breast_cancer_bags
    >>> data = load_breast_cancer_bags()
    >>> data.X.shape, data.X_test.shape
    ((448, 30), (114, 30))
    """
    data = load_breast_cancer()
    is_pos = data.target == 0
    task = ("breast_cancer", "malignant")
    return _in_bags(data, is_pos, task, bag_size, test_size, random_state)


def load_digits_bags(
    bag_size: int = 16,
    *,
    test_size: float | int = TEST_SIZE,
    random_state: RandomState = 0,
) -> BagDataset:
    """Return the 8 × 8 digits (1797 × 64) in bags; positives are the odd digits.

    Parameters
    ----------
    bag_size, test_size, random_state
        As in :func:`load_breast_cancer_bags`.

    Examples
    --------
    >>> from decorrupt.datasets import load_digits_bags
    >>> data = load_digits_bags(bag_size=32)
    >>> data.X.shape, len(set(data.bags))
    ((1408, 64), 44)
    """
    data = load_digits()
    is_pos = data.target % 2 == 1
    task = ("digits", "odd digit")
    return _in_bags(data, is_pos, task, bag_size, test_size, random_state)


def load_wine_bags(
    bag_size: int = 8,
    *,
    test_size: float | int = TEST_SIZE,
    random_state: RandomState = 0,
) -> BagDataset:
    """Return the wine data (178 × 13) in bags; positives are class_1, the most frequent cultivar.

    Parameters
    ----------
    bag_size : int, default=8
        Number of rows per training bag.
    test_size, random_state
        As in :func:`load_breast_cancer_bags`.

    Examples
    --------
    >>> from decorrupt.datasets import load_wine_bags
    >>> data = load_wine_bags(bag_size=8)
    >>> data.X.shape[1], len(data.X) // 8 == len(set(data.bags))
    (13, True)
    """
    data = load_wine()
    is_pos = data.target == 1
    task = ("wine", "cultivar class_1")
    return _in_bags(data, is_pos, task, bag_size, test_size, random_state)


def _in_bags(
    data: Any,
    is_pos: NDArray[np.bool_],
    task: tuple[str, str],
    bag_size: int,
    test_size: float | int,
    random_state: RandomState,
) -> BagDataset:
    """Hold out test rows; of the training labels keep only the bags' shares."""
    rng = check_random_state(random_state)
    # Not stratified: the training labels are used only for the proportions.
    train, test = train_test_split(np.arange(len(is_pos)), test_size=test_size, random_state=rng)
    made = make_bags(is_pos[train].astype(int), bag_size=bag_size, random_state=rng)
    return BagDataset(
        X=data.data[train[made.rows]],
        y=made.y,
        bags=made.bags,
        X_test=data.data[test],
        y_test=is_pos[test].astype(int),
        feature_names=tuple(map(str, data.feature_names)),
        name=task[0],
        positive_class=task[1],
    )
