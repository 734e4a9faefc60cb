"""Base class of the support vector baselines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.features import KernelFunction, LinearMap, kernel_name
from decorrupt.features.maps import check_gram

# LIBSVM iterations; they take seconds for hundreds of rows or bags. Scaled columns need fewer.
DEFAULT_MAX_ITER = 100_000


class SupportVectorClassifier(BagClassifier):
    """f(x) = Σ_j dual_j·k(x, x_j) + b over the training rows; the label is sign f.

    Subclasses have the parameters `kernel` and `kernel_gamma`.
    """

    _labels_as_bags = True
    _takes_several_classes = False

    def _note_max_iter(self) -> None:
        self._note(
            ConvergenceWarning,
            f"LIBSVM did not converge in max_iter={self.max_iter} iterations: scale the columns of "
            "X (StandardScaler), lower the costs, or raise max_iter",
        )

    def _threshold(self, prior: Any) -> float:  # noqa: ARG002 — the sign is the class
        return 0.0

    def _training_rows(self, X: Any) -> LinearMap:
        """Return the training rows, centred for the linear kernel."""
        return LinearMap.centred(X) if kernel_name(self.kernel) == "linear" else LinearMap(X)

    def _keep_dual(self, rows: LinearMap, row_coef: FloatArray, intercept: float) -> None:
        """Store the rows with a coefficient other than 0, in the precision of X."""
        X = rows.matrix
        row_coef = row_coef.astype(X.dtype)
        self.intercept_ = intercept
        if kernel_name(self.kernel) == "linear":
            self.coef_ = np.asarray(X.T @ row_coef)
            self.intercept_ -= float(np.sum(rows.centre * self.coef_))
            return
        support = np.flatnonzero(row_coef)
        if not len(support):  # the score is constant, but scoring needs at least one row
            support = np.array([0])
        self.dual_coef_ = row_coef[support]
        self.landmarks_ = support if kernel_name(self.kernel) == "precomputed" else X[support]


def gram_matrix(X: Any, kernel: KernelFunction) -> FloatArray:
    """Return the full Gram matrix K in the format of LIBSVM: double precision, C order."""
    if kernel.name == "precomputed":
        check_gram(X)
        gram = X.toarray() if sparse.issparse(X) else X
    else:
        gram = kernel.block(X, X)
    return np.ascontiguousarray(gram, dtype=np.float64)
