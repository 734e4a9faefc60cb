"""What the two support vector baselines share: f(x) = Σ_j dual_j·k(x, x_j) + b, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.features import LinearMap

# Iterations of LIBSVM: seconds for some hundred rows or bags. Scaled columns need less.
DEFAULT_MAX_ITER = 100_000


class SupportVectorClassifier(BagClassifier):
    """A classifier whose fit finds one dual coefficient per row and a bias; label = sign f.

    Subclasses have the parameters `kernel`, `kernel_gamma`, `degree` and `coef0`.
    """

    _labels_as_bags = True

    def _note_max_iter(self) -> None:
        self._note(
            ConvergenceWarning,
            f"LIBSVM stopped after max_iter={self.max_iter} iterations before it was done: scale "
            "the columns of X (StandardScaler), lower the costs, or raise max_iter",
        )

    def _threshold(self, prior: float) -> float:  # noqa: ARG002 — the sign is the class
        return 0.0

    def _training_rows(self, X: Any) -> LinearMap:
        """Return the rows to train on and their centre."""
        return LinearMap.centred(X) if self.kernel == "linear" else LinearMap(X)

    def _keep_dual(self, rows: LinearMap, row_coef: FloatArray, intercept: float) -> None:
        """Keep the rows whose coefficient is not zero, in the precision of X."""
        X = rows.matrix
        row_coef = row_coef.astype(X.dtype)
        self.intercept_ = intercept
        if self.kernel == "linear":
            self.coef_ = np.asarray(X.T @ row_coef)
            self.intercept_ -= float(np.sum(rows.centre * self.coef_))
            return
        support = np.flatnonzero(row_coef)
        if not len(support):  # a constant score, but scoring wants a row to compare with
            support = np.array([0])
        self.dual_coef_ = row_coef[support]
        self.landmarks_ = support if self.kernel == "precomputed" else X[support]
