"""Base class of the methods on features: a method is a risk with a start, `fit` is a λ path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.estimators.default_strength import NOISY_PRIOR_VARIANCE, resolve_reg_strength
from decorrupt.estimators.parameters import check_parameters
from decorrupt.estimators.rows import validated_rows
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.exceptions import UnscaledColumnsWarning
from decorrupt.features import (
    OF_DISTANCES,
    FeatureMap,
    Kernel,
    as_kernel,
    describe_hidden_columns,
    fit_feature_map,
    kernel_name,
    kernel_scores,
    squared_norms,
)
from decorrupt.losses import only_two_classes, score_shape
from decorrupt.notices import Notice
from decorrupt.observed import Observed, read_weights
from decorrupt.solvers import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    Problem,
    Solution,
    SolverResult,
    solve_problem,
)

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
    class_prior : ndarray of shape (n_classes,)
        The class shares in the population that the scores describe.
    link : callable or None
        Turns Zθ + b into scores, elementwise or for the classes of the last axis; None if they
        are the scores.
    """

    coefs: FloatArray
    intercepts: FloatArray
    threshold: Any
    class_prior: FloatArray
    link: Callable[[FloatArray], FloatArray] | None = None

    def scores(self, matrix: Any) -> FloatArray:
        """Return the scores of the rows of a feature matrix, with λ along the second axis."""
        coefs = self.coefs.astype(matrix.dtype, copy=False)  # otherwise numpy would copy `matrix`
        scores = matrix @ coefs.reshape(len(coefs), -1)
        scores = np.asarray(scores.reshape(-1, *self.intercepts.shape) + self.intercepts)
        return scores if self.link is None else self.link(scores)


@dataclass(frozen=True)
class Fit:
    """A finished fit: the validated rows, their features, what was known, and the solution."""

    X: Any
    features: FeatureMap
    observed: Observed
    problem: Problem
    solution: Solution


class KernelClassifier(ScoreClassifier):
    """Base class of the methods on the features of a kernel.

    The score is f(x) = ⟨θ, z(x)⟩ + b, where θ and b minimise a risk of the scores plus λ‖θ‖².
    A subclass defines `problem`: from what is known about the labels to a
    :class:`decorrupt.solvers.Problem`. `fit`, λ paths of searches, folds and Dask use the same
    problem. A subclass with further parameters has its own `__init__`, which lists all of them. It
    may define `_describe`, which stores what the user should know about a fit.
    """

    intercept_: Any  # a number for two classes, an array for several
    # Whether labels or proportions of more than two classes are accepted.
    _takes_several_classes: ClassVar[bool] = True
    # Of the log-odds, for reg_strength="auto".
    prior_variance: ClassVar[float] = NOISY_PRIOR_VARIANCE

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        fit_intercept: bool = True,
        decision: str = "balanced",
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def problem(self, observed: Observed) -> Problem:
        """Return what the method minimises; the model is unchanged.

        Parameters
        ----------
        observed : Observed
            What is known about the labels of the rows.
        """
        raise NotImplementedError

    def problem_over(
        self,
        observed: Observed,
        matrix: Any,  # noqa: ARG002
        reg_strengths: Sequence[float],  # noqa: ARG002
    ) -> Problem:
        """Return the problem of a method that depends on the features, or on λ.

        Parameters
        ----------
        observed : Observed
            What is known about the labels of the rows.
        matrix : ndarray or sparse matrix of shape (n_rows, rank)
            The features of the rows.
        reg_strengths : sequence of float
            The λ for which the problem will be solved.
        """
        return self.problem(observed)

    def class_prior_of(self, observed: Observed) -> FloatArray:
        """Return the class shares in the population that the scores describe."""
        return observed.class_prior

    def check(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""
        check_parameters(self)

    def _check_classes(self, n_classes: int) -> None:
        """Raise ValueError if the method or a parameter is for two classes only."""
        if not self._takes_several_classes:
            only_two_classes(
                n_classes,
                type(self).__name__,
                "fit one model per class with scikit-learn's OneVsRestClassifier, or choose "
                "another method",
            )

    # --- features

    @property
    def chosen_kernel(self) -> Kernel:
        """The parameters `kernel` and `kernel_gamma` as one object."""
        return as_kernel(self.kernel, self.kernel_gamma)

    def kernel_function(self) -> Kernel:
        """Return the kernel with the γ of the fit."""
        return replace(self.chosen_kernel, gamma=self.kernel_gamma_)

    def _read_rows(self, X: Any, *, reset: bool, sample_weight: Any = None) -> Any:
        if reset:
            self.check()
            self._forget_fit()
        name = kernel_name(self.kernel)
        X = validated_rows(
            self, X, reset=reset, is_squared=name != "precomputed", accept_large_sparse=False
        )
        if reset:
            weights = read_weights(sample_weight, X.shape[0])
            if name == "precomputed" and weights is not None and not weights.all():
                raise ValueError(
                    "a precomputed kernel cannot use rows of sample_weight 0: leave out these rows "
                    "and their columns"
                )
            self.kernel_gamma_ = self.chosen_kernel.resolved(X, weights).gamma
            if name in OF_DISTANCES:
                self._note_hidden_columns(X)
        return X

    def _note_hidden_columns(self, X: Any) -> None:
        message = describe_hidden_columns(X, getattr(self, "feature_names_in_", None))
        if message is not None:
            self._note(UnscaledColumnsWarning, message)

    def _forget_fit(self) -> None:
        """Delete the attributes of a previous fit: not every fit sets every attribute."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def fit_feature_map(
        self, X: Any, kernel: Kernel | None = None, *, weights: Any = None
    ) -> FeatureMap:
        """Return the features of the rows X, computed without labels; the model is unchanged.

        `kernel` is the chosen kernel with γ as a number, if it is known already; `weights` are
        how many rows each row represents.
        """
        return fit_feature_map(
            X,
            self.chosen_kernel if kernel is None else kernel,
            centred=self.fit_intercept,
            random_state=self.random_state,
            weights=weights,
        )

    def feature_key(self) -> tuple[str, ...]:
        """Return a key that is equal for estimators that can share features."""
        kernel = self.chosen_kernel.get_params(deep=False)
        others = [getattr(self, name) for name in FEATURE_PARAMS]
        return tuple(map(repr, [*kernel.values(), *others]))

    def kernel_size(
        self, X: Any, features: FeatureMap | None = None, *, weights: Any = None
    ) -> float:
        """Return the mean of k(x, x) over the rows X, the scale of λ; 1 for rbf and knn kernels."""
        kernel = self.chosen_kernel
        if kernel.name in OF_DISTANCES:
            return 1.0
        if kernel.name == "linear":
            features = self.fit_feature_map(X, weights=weights) if features is None else features
            diagonal = squared_norms(features.matrix)
        else:
            diagonal = kernel.resolved(X, weights).diagonal(X)
        return float(np.average(diagonal, weights=weights)) or 1.0

    # --- training

    def train_observed(
        self, X: Any, observed: Observed, *, features: FeatureMap | None = None
    ) -> list[Notice]:
        """Fit rows of which it is known what is observed, and return the warnings as notices.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        observed : Observed
            What is known about their labels.
        features : FeatureMap, optional
            The features of the rows if they are computed already.
        """
        self._take_notices()  # discard those of an earlier fit that failed
        X = self._read_rows(X, reset=True, sample_weight=observed.weights)
        return self._train_rows(X, observed, features)

    def _train_rows(
        self, X: Any, observed: Observed, features: FeatureMap | None = None
    ) -> list[Notice]:
        self.keep_observed(observed)
        weights = observed.weights
        if features is None:
            features = self.fit_feature_map(X, self.kernel_function(), weights=weights)
        size = partial(self.kernel_size, X, features, weights=weights)
        self.set_reg_strength(observed.n_rows, size)
        problem = self.problem_over(observed, features.matrix, [self.reg_strength_])
        if problem.n_rows is not None:
            self.set_reg_strength(problem.n_rows, size)
        self._check_problem(problem, features.matrix)
        (solution,) = self._solutions(problem, features.matrix, observed, [self.reg_strength_])
        self.keep(X, features, solution.result.coef)
        self.solver_, self.n_iter_ = solution.solver, solution.result.n_iter
        self.note_unconverged(solution.result)
        self._describe(Fit(X, features, observed, problem, solution))
        scores = solution.scores if problem.link is None else problem.link(solution.scores)
        self._note_one_class(scores)
        return self._take_notices()

    def keep_observed(self, observed: Observed) -> None:
        """Set the classes and their prior; raise ValueError if there are too many classes."""
        self.classes_ = observed.classes
        self._check_classes(observed.n_classes)
        self.set_class_prior(self.class_prior_of(observed))

    def set_reg_strength(self, n_rows: float, kernel_size: Callable[[], float]) -> None:
        """Set λ for a risk that is worth `n_rows` labelled rows."""
        self.reg_strength_ = resolve_reg_strength(
            self.reg_strength,
            prior_variance=self.prior_variance,
            n_rows=n_rows,
            kernel_size=kernel_size,
        )

    def _check_problem(self, problem: Problem, matrix: Any) -> None:
        """Raise ValueError if there is no minimum at the chosen λ."""

    def _solutions(
        self,
        problem: Problem,
        matrix: Any,
        observed: Observed,
        reg_strengths: Sequence[float],
        **options: Any,
    ) -> list[Solution]:
        return solve_problem(
            problem,
            matrix,
            reg_strengths,
            n_classes=observed.n_classes,
            fit_intercept=self.fit_intercept,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            **options,
        )

    def _describe(self, fit: Fit) -> None:
        """Set the attributes that only this method has, and note what the user should know."""

    def note_unconverged(self, result: SolverResult) -> None:
        """Note that the solver did not reach its tolerance."""
        if not result.converged:
            self._note(ConvergenceWarning, f"the {self.solver_} solver {result.advice}")

    # --- λ paths

    @property
    def has_path(self) -> bool:
        """Whether a λ path replaces separate fits."""
        return True

    def fit_path(
        self,
        matrix: Any,
        observed: Observed,
        reg_strengths: Sequence[float],
        *,
        objective_tol: float = 0.0,
    ) -> PathFit:
        """Return the solutions for every λ over given features; the model is unchanged.

        Parameters
        ----------
        matrix : ndarray or sparse matrix of shape (n_rows, rank)
            Features of the rows.
        observed : Observed
            What is known about their labels.
        reg_strengths : sequence of float
            The λ.
        objective_tol : float
            See :func:`decorrupt.solvers.solve`.
        """
        problem = self.problem_over(observed, matrix, reg_strengths)
        solutions = self._solutions(
            problem, matrix, observed, reg_strengths, objective_tol=objective_tol
        )
        parts = [one.objective.split(one.result.coef) for one in solutions]
        class_prior = problem.class_prior
        if class_prior is None:
            class_prior = self.class_prior_of(observed)
        return PathFit(
            np.stack([theta for theta, _ in parts], axis=1),
            np.stack([intercept for _, intercept in parts]),
            self._threshold(class_prior),
            class_prior,
            problem.link,
        )

    # --- the fitted model

    def keep(self, X: Any, features: FeatureMap, coef: FloatArray) -> None:
        """Store a solution: θ of the columns, or of landmarks."""
        shape = score_shape(len(self.classes_))
        by_feature = coef.reshape(-1, *shape)
        theta = by_feature[: features.rank].astype(X.dtype, copy=False)
        intercept = by_feature[-1] if self.fit_intercept else np.zeros(shape)
        self.kernel_rank_, self.kernel_error_ = features.rank, features.error
        if features.is_linear:
            self.coef_ = features.coefficients(theta).T
            intercept = intercept - np.sum(features.centre * self.coef_, axis=-1)
        else:
            self.dual_coef_ = features.coefficients(theta)
            is_precomputed = kernel_name(self.kernel) == "precomputed"
            self.landmarks_ = features.pivots if is_precomputed else features.landmarks(X)
        if features.projection is not None:
            self.projection_ = features.projection
        self.intercept_ = np.array(intercept)[()]

    def keep_path(
        self, X: Any, features: FeatureMap, path: PathFit, place: int, observed: Observed
    ) -> None:
        """Store the solution of a path at one λ.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows to which the features were fitted.
        features : FeatureMap
            The features of the path.
        path : PathFit
            Its solutions.
        place : int
            The number of the λ.
        observed : Observed
            What is known about the labels of these rows.
        """
        X = self._read_rows(X, reset=True, sample_weight=observed.weights)
        self.classes_ = observed.classes
        self.keep(X, features, np.concatenate([path.coefs[:, place], path.intercepts[None, place]]))
        self.set_class_prior(path.class_prior)

    def _score(self, X: Any) -> FloatArray:
        if kernel_name(self.kernel) == "linear":
            scores = X @ self.coef_.T
        else:
            projection = getattr(self, "projection_", None)
            scores = kernel_scores(
                X, self.kernel_function(), self.landmarks_, self.dual_coef_, projection
            )
        return np.asarray(scores + np.asarray(self.intercept_, dtype=scores.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            self._check_classes(3)
        except ValueError:
            tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = kernel_name(self.kernel) == "precomputed"
        return tags
