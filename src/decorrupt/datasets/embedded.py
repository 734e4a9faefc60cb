"""Binary tasks in bags from the data sets included in scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from decorrupt.datasets.bags import BagDataset, make_bags

RandomState = int | np.random.RandomState | None
TEST_SIZE = 0.2


def load_breast_cancer_bags(
    bag_size: int = 16,
    *,
    proportions: Sequence[float] | None = None,
    test_size: float | int = TEST_SIZE,
    random_state: RandomState = 0,
) -> BagDataset:
    """Return the Wisconsin breast-cancer data (569 × 30) in bags; positives are malignant.

    Parameters
    ----------
    bag_size : int, default=16
        Number of rows per training bag.
    proportions : (low, high), optional
        Range of the bags' shares of positives, see :func:`make_bags`; None for random bags.
    test_size : float or int, default=0.2
        Share or number of rows held out with their labels.
    random_state : int, RandomState or None, default=0
        Source of the random split and bags.

    Examples
    --------
    >>> from decorrupt.datasets import load_breast_cancer_bags
    >>> data = load_breast_cancer_bags()
    >>> data.X.shape, data.X_test.shape, data.n_left_out
    ((448, 30), (114, 30), 7)
    """
    data = load_breast_cancer()
    is_pos = data.target == 0
    task = ("breast_cancer", "malignant")
    return _in_bags(data, is_pos, task, bag_size, proportions, test_size, random_state)


def load_digits_bags(
    bag_size: int = 16,
    *,
    proportions: Sequence[float] | None = None,
    test_size: float | int = TEST_SIZE,
    random_state: RandomState = 0,
) -> BagDataset:
    """Return the 8 × 8 digits (1797 × 64) in bags; positives are the odd digits.

    Parameters
    ----------
    bag_size, proportions, test_size, random_state
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
    return _in_bags(data, is_pos, task, bag_size, proportions, test_size, random_state)


def load_wine_bags(
    bag_size: int = 8,
    *,
    proportions: Sequence[float] | None = None,
    test_size: float | int = TEST_SIZE,
    random_state: RandomState = 0,
) -> BagDataset:
    """Return the wine data (178 × 13) in bags; positives are class_1, the most frequent cultivar.

    Parameters
    ----------
    bag_size : int, default=8
        Number of rows per training bag.
    proportions, test_size, random_state
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
    return _in_bags(data, is_pos, task, bag_size, proportions, test_size, random_state)


def _in_bags(
    data: Any,
    is_pos: NDArray[np.bool_],
    task: tuple[str, str],
    bag_size: int,
    proportions: Sequence[float] | None,
    test_size: float | int,
    random_state: RandomState,
) -> BagDataset:
    """Hold out test rows; of the training labels keep only the bags' shares."""
    rng = check_random_state(random_state)
    # Not stratified: the training labels are used only for the proportions.
    train, test = train_test_split(np.arange(len(is_pos)), test_size=test_size, random_state=rng)
    made = make_bags(
        is_pos[train].astype(int), bag_size=bag_size, proportions=proportions, random_state=rng
    )
    return BagDataset(
        X=data.data[train[made.rows]],
        y=made.y,
        bags=made.bags,
        X_test=data.data[test],
        y_test=is_pos[test].astype(int),
        feature_names=tuple(map(str, data.feature_names)),
        name=task[0],
        positive_class=task[1],
        n_left_out=made.n_left_out,
    )
