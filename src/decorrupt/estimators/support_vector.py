"""What the two support vector baselines share: f(x) = Σ_j dual_j·k(x, x_j) + b, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from decorrupt.corruption import Strata, pooled_proportion
from decorrupt.estimators.inputs import read_labels, read_strata
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.features import resolve_kernel_gamma
from decorrupt.losses.margin import FloatArray


def read_bags(y: ArrayLike, bags: Any) -> tuple[NDArray[Any], Strata]:
    """Return the classes and the bags; without bags, every labelled row is a bag of one."""
    if bags is not None:
        return read_strata(y, bags)
    classes, labels = read_labels(y)
    rows = np.arange(len(labels))
    return classes, Strata(rows, rows, (labels > 0).astype(float))


class SupportVectorClassifier(ScoreClassifier):
    """A classifier whose fit finds one dual coefficient a row and a bias; label = sign f.

    Subclasses have the parameters `kernel`, `kernel_gamma`, `degree` and `coef0`.
    """

    # So that bags reach fit through pipelines and searches without set_fit_request.
    __metadata_request__fit = {"bags": True}  # noqa: RUF012 — scikit-learn reads it as it is

    def _read_training(self, X: Any, y: ArrayLike, bags: Any) -> tuple[Any, Strata]:
        X = self._read_rows(X, reset=True)
        check_consistent_length(X, y)
        self.classes_, strata = read_bags(y, bags)
        self.kernel_gamma_ = resolve_kernel_gamma(self.kernel_gamma, X)
        self.score_prior_ = pooled_proportion(strata.sizes, strata.proportions)
        self.decision_threshold_ = 0.0
        return X, strata

    def _keep_dual(self, X: Any, row_coef: FloatArray, intercept: float) -> None:
        """Keep the rows whose coefficient is not zero, in the precision of X."""
        row_coef = row_coef.astype(X.dtype)
        self.intercept_ = intercept
        if self.kernel == "linear":
            self.coef_ = np.asarray(X.T @ row_coef)
            return
        support = np.flatnonzero(row_coef)
        if not len(support):  # a constant score, but scoring wants a row to compare with
            support = np.array([0])
        self.dual_coef_ = row_coef[support]
        self.landmarks_ = support if self.kernel == "precomputed" else X[support]
