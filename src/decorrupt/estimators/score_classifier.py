"""Base class of all classifiers: a score f(x) = ⟨θ, z(x)⟩ + b, or one score per class.

The `fit` of a subclass makes a risk in score space from its labels. This class computes the
features of X, minimises the risk over θ, and computes scores, decisions and probabilities.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators.default_strength import NOISY_PRIOR_VARIANCE, resolve_reg_strength
from decorrupt.estimators.parameters import check_parameters
from decorrupt.estimators.priors import chosen_classes
from decorrupt.exceptions import OneClassWarning
from decorrupt.features import (
    FeatureMap,
    Kernel,
    KernelFunction,
    LinearMap,
    NeighbourMap,
    RandomFourierMap,
    RandomKernelMap,
    as_kernel,
    fit_feature_map,
    kernel_name,
    kernel_scores,
    project,
)
from decorrupt.features.kernels import squared_norms
from decorrupt.notices import QuietEstimator
from decorrupt.risks import ScoreRisk
from decorrupt.solvers import Objective, SolverResult, choose_solver, solve

FLOATS = (np.float64, np.float32)


def _forget_fit(estimator: Any) -> None:
    """Delete the attributes of a previous fit: not every fit sets every attribute."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def note_one_class(model: Any, scores: FloatArray) -> None:
    """Add a notice if the model predicts the same class for all training rows."""
    found = np.unique(chosen_classes(scores - model.decision_threshold_))
    note_predicted(model, found, len(scores))


def note_predicted(model: Any, found: NDArray[np.intp], n_rows: int) -> None:
    """Add a notice if only one class is among those predicted for the training rows."""
    if len(found) == 1:
        n_classes = {2: "two"}.get(len(model.classes_), len(model.classes_))
        model._note(
            OneClassWarning,
            f"the model predicts class {model.classes_.tolist()[found[0]]!r} for all "
            f"{n_rows} training rows, though they have {n_classes} classes. Scale the "
            "columns of X, try another kernel, kernel_gamma or regularisation, or "
            "decision='balanced' where one class is rare",
        )


class ScoreClassifier(QuietEstimator, ClassifierMixin, BaseEstimator):
    """A classifier whose scores are linear in the features of a kernel.

    Subclasses have the parameters `kernel` and `kernel_gamma`, and, where they call `_fit_scores`,
    `reg_strength`, `fit_intercept`, `solver`, `tol`, `max_iter` and `random_state`. They set
    `classes_`, `score_prior_` (the share of positives, or the class shares, in the population that
    the scores describe) and `decision_threshold_`.
    """

    # Whether labels or proportions of more than two classes are accepted.
    _takes_several_classes: ClassVar[bool] = True
    # Of the log-odds, for reg_strength="auto".
    _prior_variance: ClassVar[float] = NOISY_PRIOR_VARIANCE

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        if reset:
            check_parameters(self)
            _forget_fit(self)
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, accept_large_sparse=False
        )
        if reset:
            self.kernel_gamma_ = self.chosen_kernel.function(X).gamma
        return X

    def _check_several_classes(self, n_classes: int) -> None:
        """Raise ValueError if the method or a parameter is for two classes only."""
        if not self._takes_several_classes:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}, and y has "
                f"{n_classes} classes: fit one model per class with scikit-learn's "
                "OneVsRestClassifier, or choose another method"
            )

    @abstractmethod
    def _threshold(self, prior: Any) -> Any:
        """Return what `predict` subtracts from the scores, see :func:`decision_threshold`."""

    def fit_feature_map(self, X: Any) -> FeatureMap:
        """Return the features of the rows X, computed without labels; the model is unchanged."""
        kernel = self.chosen_kernel
        if kernel.name == "linear" and self.fit_intercept and kernel.features == "landmarks":
            return LinearMap.centred(X)
        return fit_feature_map(X, kernel, random_state=self.random_state)

    def kernel_size(self, X: Any, features: FeatureMap | None = None) -> float:
        """Return the mean of k(x, x) over the rows X, the scale of λ; 1 for rbf and knn kernels."""
        kernel = self.chosen_kernel.function(X)
        if kernel.on_coordinates().name == "knn":
            return 1.0
        if kernel.name == "linear":
            features = self.fit_feature_map(X) if features is None else features
            diagonal = squared_norms(features.matrix)
        else:
            diagonal = kernel.diagonal(X)
        return float(np.mean(diagonal)) or 1.0

    def _set_reg_strength(self, X: Any, features: FeatureMap, n_rows: float) -> None:
        """Set λ for a risk that is worth `n_rows` labelled rows."""
        self.reg_strength_ = resolve_reg_strength(
            self.reg_strength,
            prior_variance=self._prior_variance,
            n_rows=n_rows,
            kernel_size=lambda: self.kernel_size(X, features),
        )

    def _fit_scores(
        self, X: Any, features: FeatureMap, risk: ScoreRisk, start: FloatArray | None = None
    ) -> tuple[SolverResult, FloatArray]:
        """Minimise risk + λ‖f‖², store the model, return the training rows' scores.

        `_set_reg_strength` was called before.
        """
        objective = Objective(
            features.matrix, risk, self.reg_strength_, self.fit_intercept, self._n_columns
        )
        self.solver_ = choose_solver(self.solver, objective)
        result = solve(objective, start=start, **self._solver_options())
        self._keep(X, features, result.coef)
        self.n_iter_ = result.n_iter
        return result, objective.scores(result.coef)

    def _note_unconverged(self, result: SolverResult) -> None:
        if not result.converged:
            self._note(ConvergenceWarning, f"the {self.solver_} solver {result.advice}")

    @property
    def _n_columns(self) -> int | None:
        """Scores per row if there are several classes; None for two classes."""
        return None if len(self.classes_) == 2 else len(self.classes_)

    def _note_one_class(self, scores: FloatArray) -> None:
        """Note if the model predicts the same class for all training rows."""
        note_one_class(self, scores)

    def _note_predicted(self, found: NDArray[np.intp], n_rows: int) -> None:
        """Note if only one class is among those predicted for the training rows."""
        note_predicted(self, found, n_rows)

    def _solver_options(self) -> dict[str, Any]:
        return {"solver": self.solver, "tol": self.tol, "max_iter": self.max_iter}

    def _keep(self, X: Any, features: FeatureMap, coef: FloatArray) -> None:
        theta, self.intercept_ = self._split(coef, features.rank)
        theta = theta.astype(X.dtype, copy=False)
        self.kernel_rank_, self.kernel_error_ = features.rank, features.error
        if isinstance(features, LinearMap):
            self.coef_ = features.coefficients(theta).T
            offset = np.sum(features.centre * self.coef_, axis=-1)
            self.intercept_ -= float(offset) if self._n_columns is None else offset
            return
        if features.projection is not None:
            self.projection_ = features.projection
        if isinstance(features, RandomKernelMap):
            self.feature_coef_ = theta
            self.frequencies_ = features.rule.frequencies
            self.frequency_centre_ = features.rule.centre
        else:
            self.dual_coef_ = features.coefficients(theta)
            self.landmarks_ = (
                features.pivots
                if kernel_name(self.kernel) == "precomputed"
                else project(X[features.pivots], features.projection)
            )

    def _split(self, coef: FloatArray, rank: int) -> tuple[FloatArray, Any]:
        """Return θ, with one column per class if there are several, and the intercept."""
        if self._n_columns is None:
            return coef[:rank], float(coef[-1]) if self.fit_intercept else 0.0
        by_feature = coef.reshape(-1, self._n_columns)
        intercept = by_feature[-1] if self.fit_intercept else np.zeros(self._n_columns)
        return by_feature[:rank], intercept.copy()

    def _training_scores(self, features: FeatureMap, coef: FloatArray) -> FloatArray:
        """Return the scores of the training rows for the coefficients of a solution."""
        theta, intercept = self._split(coef, features.rank)
        # In the precision of the features: otherwise numpy would copy them to the wider type.
        theta = theta.astype(features.matrix.dtype, copy=False)
        return np.asarray(features.matrix @ theta + intercept)

    @property
    def chosen_kernel(self) -> Kernel:
        """The parameters `kernel` and `kernel_gamma` as one object."""
        return as_kernel(self.kernel, self.kernel_gamma)

    def _kernel(self) -> KernelFunction:
        return self.chosen_kernel.function_at(self.kernel_gamma_)

    def _kernel_diagonal(self, X: Any, features: FeatureMap) -> FloatArray:
        """Return k(x, x) of the training rows."""
        if isinstance(features, NeighbourMap):
            return squared_norms(features.matrix)
        return self._kernel().diagonal(X)

    def _raw_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._score(self._read_rows(X, reset=False))

    def _score(self, X: Any) -> FloatArray:
        """Return f(x) of validated rows."""
        X = project(X, getattr(self, "projection_", None))
        if kernel_name(self.kernel) == "linear":
            scores = X @ self.coef_.T
        elif hasattr(self, "frequencies_"):
            rule = RandomFourierMap(self.frequencies_, self.frequency_centre_)
            scores = rule.scores(X, self.feature_coef_)
        else:
            kernel = self._kernel().on_coordinates()
            scores = kernel_scores(X, kernel, self.landmarks_, self.dual_coef_)
        return np.asarray(scores + np.asarray(self.intercept_, dtype=scores.dtype))

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) minus the decision threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Two classes: positive means `classes_[1]`. Several: the largest one decides.
        """
        scores = self._raw_scores(X)
        return np.asarray(scores - np.asarray(self.decision_threshold_, dtype=scores.dtype))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of X, one of `classes_`."""
        chosen = chosen_classes(self.decision_function(X))
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            self._check_several_classes(3)
        except ValueError:
            tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = kernel_name(self.kernel) == "precomputed"
        return tags
