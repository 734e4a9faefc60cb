"""Rows, what is known about their labels, and folds: what every evaluation needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from decorrupt.estimators import KernelClassifier
from decorrupt.exceptions import quiet
from decorrupt.features import FROM_ALL_ROWS, FeatureMap, kernel_name
from decorrupt.observed import Observed
from decorrupt.splitters import Fold


@dataclass(frozen=True, eq=False)
class FoldedData:
    """Rows and folds of an evaluation.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
        The rows.
    observed : Observed
        What is known about their labels.
    folds : list of (train, test)
        Row numbers.
    maps : dict
        Feature maps of nearest rows by their key, which take long and little memory: comparisons
        and refits share them.
    """

    X: Any
    observed: Observed
    folds: list[Fold]
    maps: dict[Any, FeatureMap] = field(default_factory=dict)

    def take(self, rows: NDArray[np.intp]) -> FoldedData:
        """Return the data of some rows, sorted and of whole bags, with the same folds."""
        folds = [(_places(train, rows), _places(test, rows)) for train, test in self.folds]
        return FoldedData(_safe_indexing(self.X, rows), self.observed.take(rows), folds)

    @cached_property
    def training(self) -> list[Observed]:
        """What is known about the training rows of each fold; all configurations share it."""
        return [self.observed.take(train) for train, _ in self.folds]

    def feature_map(self, estimator: KernelClassifier) -> FeatureMap:
        """Return the features of all rows, computed without labels."""
        key = estimator.feature_key()
        features = self.maps.get(key)
        if features is None:
            features = estimator.fit_feature_map(self.X, self.observed.weights)
            if kernel_name(estimator.kernel) in FROM_ALL_ROWS:
                self.maps[key] = features
        return features

    def fit_fold(self, estimator: Any, fold: int) -> Any:
        """Return a clone fitted on the training rows of a fold, without warnings."""
        model = clone(estimator)
        X, _ = _safe_split(model, self.X, None, self.folds[fold][0])
        with quiet():  # not only in `evaluate`: this may run in another process
            return train_on(model, X, self.training[fold])

    def test_rows(self, model: Any, fold: int) -> Any:
        """Return the held-out rows of a fold; of a precomputed kernel, with the training rows."""
        train, test = self.folds[fold]
        return _safe_split(model, self.X, None, test, train)[0]


def _places(some: Any, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places in `rows` of those rows that are among `some`."""
    return np.flatnonzero(np.isin(rows, some))


def train_on(model: Any, X: Any, observed: Observed, *, features: FeatureMap | None = None) -> Any:
    """Fit a model without reading the labels again, on features that are computed already."""
    if features is None:
        return model.fit(X, observed)
    return model.fit_observed(X, observed, features)
