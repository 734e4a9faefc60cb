"""Folds of whole bags for cross-fitting and early stopping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from decorrupt.meta.observed import ObservedLabels
from decorrupt.splitters import BagKFold

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def seed(random: np.random.RandomState) -> int:
    """Return a seed for another random state."""
    return int(random.randint(2**31))


def bag_folds(observed: ObservedLabels, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Return new folds of whole bags, at most as many as there are bags."""
    strata = observed.strata
    splitter = BagKFold(min(n_folds, len(strata.ids)), shuffle=True, random_state=seed(random))
    bags, shares = strata.row_stratum, strata.row_proportions
    return list(splitter.split(bags, shares, bags=bags))
