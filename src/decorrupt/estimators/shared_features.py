"""Base class of the methods with λ paths over features that folds and methods share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.features import FeatureMap
from decorrupt.notices import Notice
from decorrupt.solvers import SolverResult

# Parameters that determine the features, besides the kernel.
FEATURE_PARAMS = (
    "fit_intercept",  # columns are centred with it
    "random_state",
)


@dataclass(frozen=True)
class PathFit:
    """The solutions of a λ path.

    Attributes
    ----------
    coefs : ndarray of shape (rank, n_reg_strengths) or (rank, n_reg_strengths, n_classes)
        θ by λ.
    intercepts : ndarray of shape (n_reg_strengths,) or (n_reg_strengths, n_classes)
        b by λ.
    threshold : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the scores.
    prior : float or ndarray of shape (n_classes,)
        The class shares in the population that the scores describe.
    link : callable or None
        Turns Zθ + b into scores, elementwise or for the classes of the last axis; None if they
        are the scores.
    """

    coefs: FloatArray
    intercepts: FloatArray
    threshold: Any
    prior: Any
    link: Callable[[FloatArray], FloatArray] | None = None

    def scores(self, matrix: Any) -> FloatArray:
        """Return the scores of the rows of a feature matrix, with λ along the second axis."""
        coefs = self.coefs.astype(matrix.dtype, copy=False)  # otherwise numpy would copy `matrix`
        scores = matrix @ coefs.reshape(len(coefs), -1)
        scores = np.asarray(scores.reshape(-1, *self.intercepts.shape) + self.intercepts)
        return scores if self.link is None else self.link(scores)


class PathClassifier(ScoreClassifier):
    """A classifier whose features can be shared by folds and methods in a search.

    A search checks `has_path`, groups estimators by `feature_key`, calls `fit_feature_map` once
    per group and `fit_path` per fold, and passes the features to the refit:
    ``train_quietly(estimator, X, y, features=features)``. What is observed about the labels are
    the strata of bags, or the noisy labels of sources. Subclasses define `_path` and
    `_score_prior`.
    """

    @property
    def has_path(self) -> bool:
        """Whether a λ path replaces separate fits."""
        return True

    def feature_key(self) -> tuple[str, ...]:
        """Return a key that is equal for estimators that can share features."""
        kernel = self.chosen_kernel.get_params(deep=False)
        others = [getattr(self, name) for name in FEATURE_PARAMS]
        return tuple(map(repr, [*kernel.values(), *others]))

    def fit_path(
        self,
        matrix: Any,
        observed: Any,
        reg_strengths: Sequence[float],
        *,
        objective_tol: float = 0.0,
    ) -> PathFit:
        """Return the solutions for every λ over given features; the model is unchanged.

        Parameters
        ----------
        matrix : array or sparse matrix of shape (n_rows, rank)
            Features of the training rows.
        observed : Strata, NoisySources or ClassSources
            Their bags, or their noisy labels.
        reg_strengths : sequence of float
            λ, in any order.
        objective_tol : float
            Tolerance of the objective per row; 0 uses the estimator's `tol`.
        """
        options = self._solver_options() | {"objective_tol": objective_tol}
        results = self._path(matrix, observed, reg_strengths, options)
        columns = () if observed.n_classes is None else (observed.n_classes,)
        coefs = np.stack([result.coef.reshape(-1, *columns) for result in results], axis=1)
        intercepts = coefs[-1] if self.fit_intercept else np.zeros(coefs.shape[1:])
        prior = self._score_prior(observed)
        return PathFit(
            coefs[: matrix.shape[1]],
            intercepts,
            self._threshold(prior),
            prior,
            self._link(observed),
        )

    def _link(self, observed: Any) -> Callable[[FloatArray], FloatArray] | None:  # noqa: ARG002
        """Return `link` of :class:`PathFit`."""
        return None

    @abstractmethod
    def _score_prior(self, observed: Any) -> Any:
        """Return the class shares in the population that the scores describe."""

    @abstractmethod
    def _path(
        self, matrix: Any, observed: Any, reg_strengths: Sequence[float], options: dict[str, Any]
    ) -> list[SolverResult]:
        """Minimise the method's objective for every λ, with the given solver options."""


class SharedFeaturesClassifier(BagClassifier, PathClassifier):
    """A classifier for bags with λ paths; subclasses define `_fit_features` and `_path`."""

    def _train(
        self, X: Any, y: ArrayLike, *, bags: Any = None, features: FeatureMap | None = None
    ) -> list[Notice]:
        X, strata = self._read_bags(X, y, bags)
        return self._train_rows(X, strata, features)

    def _train_rows(
        self, X: Any, strata: Strata, features: FeatureMap | None = None
    ) -> list[Notice]:
        features = self.fit_feature_map(X) if features is None else features
        # Of a mean negative log-likelihood; methods with a corrected risk set another λ.
        self._set_reg_strength(X, features, X.shape[0])
        self._note_one_class(self._fit_features(X, features, strata))
        return self._take_notices()

    @abstractmethod
    def _fit_features(self, X: Any, features: FeatureMap, strata: Strata) -> FloatArray:
        """Train on validated rows and their features; return the rows' raw scores."""
