"""Folds of whole bags for cross-fitting and early stopping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from decorrupt.observed import Observed
from decorrupt.splitters import BagKFold

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def seed(random: np.random.RandomState) -> int:
    """Return a seed for another random state."""
    return int(random.randint(2**31))


def bag_folds(observed: Observed, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Return new folds of whole bags, at most as many as there are bags."""
    splitter = BagKFold(min(n_folds, observed.n_bags), shuffle=True, random_state=seed(random))
    bags = observed.row_bag
    shares, weights = observed.row_proportions, observed.weights
    return list(splitter.split(bags, shares, bags=bags, sample_weight=weights))
