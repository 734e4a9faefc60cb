"""Base class of the support vector baselines."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.estimators import BagClassifier
from decorrupt.features import FeatureMap, KernelFunction, LinearMap, check_gram, kernel_name
from decorrupt.notices import Notice
from decorrupt.observed import Observed

# LIBSVM iterations; they take seconds for hundreds of rows or bags. Scaled columns need fewer.
DEFAULT_MAX_ITER = 100_000


class SupportVectorClassifier(BagClassifier):
    """Base class of the support vector baselines, whose label is the sign of the score.

    The score is f(x) = Σ_j dual_j·k(x, x_j) + b over the training rows. Subclasses have the
    parameters `kernel` and `kernel_gamma`, and define `_fit_bags`. There is no λ path and no
    `problem`: LIBSVM or a method of its own minimises the objective.
    """

    labels_as_bags = True
    _takes_several_classes = False

    @abstractmethod
    def _fit_bags(self, X: Any, observed: Observed) -> FloatArray:
        """Train on validated rows; return scores with the signs that the rows' scores have."""

    def _train_rows(
        self,
        X: Any,
        observed: Observed,
        features: FeatureMap | None = None,  # noqa: ARG002 — the kernel is exact
    ) -> list[Notice]:
        self.classes_ = observed.classes
        self._check_classes(observed.n_classes)
        self.set_class_prior(observed.class_prior)
        self._note_one_class(self._fit_bags(X, observed))
        return self._take_notices()

    @property
    def has_path(self) -> bool:
        """Whether a λ path replaces separate fits: there is no λ."""
        return False

    @property
    def has_log_odds(self) -> bool:
        """Whether the scores are log-odds: only their signs mean something."""
        return False

    def _note_max_iter(self) -> None:
        self._note(
            ConvergenceWarning,
            f"LIBSVM did not converge in max_iter={self.max_iter} iterations: scale the columns of "
            "X (StandardScaler), lower the costs, or raise max_iter",
        )

    def _threshold(self, class_prior: FloatArray) -> float:  # noqa: ARG002 — the sign is the class
        return 0.0

    def _training_rows(self, X: Any, weights: Any = None) -> LinearMap:
        """Return the training rows, centred for the linear kernel."""
        is_linear = kernel_name(self.kernel) == "linear"
        return LinearMap.centred(X, weights) if is_linear else LinearMap(X)

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
