"""The models of a search's folds, made from the fits of its comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from decorrupt.estimators import FLOATS
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.out_of_fold import out_of_fold
from decorrupt.model_selection.results import PathFits
from decorrupt.observed import Observed
from decorrupt.splitters import Fold

FoldModel = tuple[Any, NDArray[np.intp]]


@dataclass(frozen=True)
class FoldFits:
    """What the models of the folds are made from.

    Attributes
    ----------
    model : AveragedClassifier, or its only member
        The model on all rows.
    members : list of PathFits or None
        The fits of its members on the folds; None for a member without a λ path.
    observed : Observed
        What is known about the labels of all rows.
    folds : list of (train, test)
        Row numbers.
    """

    model: Any
    members: list[PathFits | None]
    observed: Observed
    folds: list[Fold]

    def models(self, X: Any, *, class_prior: Any, n_jobs: int | None) -> list[FoldModel]:
        """Return the model of every fold, and its held-out rows; X are all rows."""
        known = [member for member in self.members if member is not None]
        if len(known) < len(self.members):  # a member without a λ path has to be fitted again
            data = FoldedData(X, self.observed, self.folds)
            return out_of_fold(self.model, data, class_prior=class_prior, n_jobs=n_jobs).models
        if len(known) == 1:
            models: list[Any] = list(known[0].models(X, self.observed))
        else:
            rows = check_array(X, accept_sparse="csr", dtype=FLOATS)
            by_member = [member.models(rows, self.observed) for member in known]
            models = [self._average(list(one), X) for one in zip(*by_member, strict=True)]
        return [(model, test) for model, (_, test) in zip(models, self.folds, strict=True)]

    def _average(self, members: list[Any], X: Any) -> Any:
        average = clone(self.model)
        average.take_fitted(members, X, self.observed)
        return average
