"""Base class of the support vector baselines."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.estimators import BagClassifier
from decorrupt.features import FeatureMap, fit_feature_map, kernel_name
from decorrupt.notices import Notice
from decorrupt.observed import Observed

# LIBSVM's own limit of iterations, at which scikit-learn warns. Scaled columns need far fewer.
MAX_ITER = 10**7


class SupportVectorClassifier(BagClassifier):
    """Base class of the support vector baselines, whose label is the sign of the score.

    The score is f(x) = Σ_j dual_j·k(x, x_j) + b over the training rows. Subclasses have the
    parameters `kernel` and `kernel_gamma`, and define `_fit_rows`. There is no λ path and no
    `problem`: scikit-learn's LIBSVM minimises the objective. Only signs of scores mean something.
    """

    labels_as_bags = True
    _takes_several_classes = False
    has_path = False
    has_log_odds = False

    @abstractmethod
    def _fit_rows(self, X: Any, observed: Observed) -> tuple[FloatArray, float]:
        """Return dual, one coefficient per training row, and b."""

    def kernel_rows(self, X: Any, rows: slice = slice(None)) -> FloatArray:
        """Return k(x_i, x_j) of the given rows i and all training rows j."""
        if kernel_name(self.kernel) != "precomputed":
            return self.kernel_function().block(X[rows], X)
        return np.asarray(X[rows].toarray() if issparse(X) else X[rows])

    def _train_rows(
        self,
        X: Any,
        observed: Observed,
        features: FeatureMap | None = None,  # noqa: ARG002 — the kernel is exact
    ) -> list[Notice]:
        self.keep_observed(observed)
        if kernel_name(self.kernel) == "linear":
            rows = fit_feature_map(
                X, self.kernel_function(), centred=True, weights=observed.weights
            )
            dual, intercept = self._fit_rows(rows.matrix, observed)
            self.coef_ = np.asarray(rows.matrix.T @ dual.astype(X.dtype))
            self.intercept_ = intercept - float(np.sum(rows.centre * self.coef_))
        else:
            dual, self.intercept_ = self._fit_rows(X, observed)
            # If the score is constant, keep one row all the same: scoring needs one.
            support = np.flatnonzero(dual) if dual.any() else np.array([0])
            self.dual_coef_ = dual[support].astype(X.dtype)
            self.landmarks_ = support if kernel_name(self.kernel) == "precomputed" else X[support]
        self._note_one_class(self._score(X))
        return self._take_notices()

    def _threshold(self, class_prior: FloatArray) -> float:  # noqa: ARG002 — the sign is the class
        return 0.0
