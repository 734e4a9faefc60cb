"""Base class of the support vector baselines."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.estimators import BagFitMixin, KernelModel, estimator
from decorrupt.features import FeatureMap, fit_feature_map, kernel_name
from decorrupt.losses import chosen_classes
from decorrupt.observed import Observed

# LIBSVM's own limit of iterations, at which scikit-learn warns. Scaled columns need far fewer.
MAX_ITER = 10**7


@estimator
class SupportVectorClassifier(BagFitMixin, KernelModel):
    """Base class of the support vector baselines, whose label is the sign of the score.

    The score is f(x) = Σ_j dual_j·k(x, x_j) + b over the training rows. Subclasses have the
    parameters `kernel` and `kernel_gamma`, and define `_fit_rows`. There is no λ path and no
    `problem`: scikit-learn's LIBSVM minimises the objective. Only signs of scores mean something.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A name as in :class:`decorrupt.Kernel` (not knn or pca_…), a callable that takes two
        matrices, or a Kernel. It is exact: of a Kernel only `gamma`, `degree` and `coef0` count.
    """

    takes_several_classes: ClassVar[bool] = False
    has_path: ClassVar[bool] = False
    has_log_odds: ClassVar[bool] = False

    @abstractmethod
    def _fit_rows(self, X: Any, observed: Observed) -> tuple[FloatArray, float]:
        """Return dual, one coefficient per training row, and b."""

    def kernel_rows(self, X: Any, rows: slice = slice(None)) -> FloatArray:
        """Return k(x_i, x_j) of the given rows i and all training rows j."""
        if kernel_name(self.kernel) != "precomputed":
            return self.kernel_function().block(X[rows], X)
        return np.asarray(X[rows].toarray() if issparse(X) else X[rows])

    def _fit_observed(
        self,
        X: Any,
        observed: Observed,
        features: FeatureMap | None,  # noqa: ARG002 — the kernel is exact
    ) -> Self:
        X, observed = self._keep_observed(X, observed)
        if kernel_name(self.kernel) == "linear":
            kernel, weights = self.kernel_function(), observed.weights
            rows = fit_feature_map(X, kernel, centred=True, weights=weights)
            dual, intercept = self._fit_rows(rows.matrix, observed)
            self.coef_ = np.asarray(rows.matrix.T @ dual.astype(X.dtype))
            self.intercept_ = intercept - float(np.sum(rows.centre * self.coef_))
        else:
            dual, self.intercept_ = self._fit_rows(X, observed)
            # If the score is constant, keep one row all the same: scoring needs one.
            support = np.flatnonzero(dual) if dual.any() else np.array([0])
            self.dual_coef_ = dual[support].astype(X.dtype)
            self.landmarks_ = support if kernel_name(self.kernel) == "precomputed" else X[support]
        self.warn_if_one_class(chosen_classes(self._score(X)), X.shape[0])
        return self

    def threshold(self, class_prior: FloatArray) -> float:  # noqa: ARG002 — the sign is the class
        """Return 0: the class is the sign of the score."""
        return 0.0
