"""Train/test split with the training rows in bags of known proportions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from reproduction import FloatArray


@dataclass(frozen=True)
class Split:
    """Training rows in bags with known proportions, and a labelled test part.

    Attributes
    ----------
    X, y, bags : ndarray
        Standardised training rows; the proportion of each row's bag; the bag of each row.
    X_test, y_test : ndarray
        Test rows, standardised like the training rows, and their labels.
    n_left_out : int
        Training rows that did not fill a bag.
    """

    X: FloatArray
    y: FloatArray
    bags: NDArray[np.intp]
    X_test: FloatArray
    y_test: NDArray[np.int_]
    n_left_out: int


def split_into_bags(
    X: Any, labels: NDArray[np.int_], bag_size: int, test_share: float, seed: int
) -> tuple[Split, NDArray[np.int_]]:
    """Return the split, and separately the training labels, for the supervised ceiling only.

    Rows are split at random, standardised by the training part, and put into bags in random order.
    """
    X_train, X_test, y_train, y_test = train_test_split(
        X, labels, test_size=test_share, random_state=seed
    )
    scaler = StandardScaler().fit(X_train)
    n_bags = len(y_train) // bag_size
    used = n_bags * bag_size
    hidden = y_train[:used]  # train_test_split has shuffled them
    bags = np.repeat(np.arange(n_bags), bag_size)
    shares = hidden.reshape(n_bags, bag_size).mean(axis=1)
    split = Split(
        X=scaler.transform(X_train[:used]),
        y=shares[bags],
        bags=bags,
        X_test=scaler.transform(X_test),
        y_test=y_test,
        n_left_out=len(y_train) - used,
    )
    return split, hidden
