"""Base class of the methods on features: a method is a risk with a start, `fit` is a λ path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.parameters import AUTO, check_parameters
from decorrupt.estimators.score_classifier import ScoreClassifier, validated_rows
from decorrupt.exceptions import UnscaledColumnsWarning, warn
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
from decorrupt.losses import chosen_classes, only_two_classes, score_shape
from decorrupt.observed import Observed, as_observed
from decorrupt.solvers import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    Problem,
    Solution,
    SolverResult,
    solve_problem,
)

# C, the variance of the log-odds before training: log-odds of ±3 (probabilities of .05 and .95) are
# within one standard deviation for counts, within two for noisy labels. Both were decided on the
# data sets of benchmarks/default_strength.py, by balanced accuracy and log loss of test rows; see
# docs/evidence/penalty.md.
COUNT_PRIOR_VARIANCE = 10.0
NOISY_PRIOR_VARIANCE = 3.0
# Parameters that determine the features, besides the kernel.
FEATURE_PARAMS = (
    "fit_intercept",  # columns are centred with it
    "random_state",
)


@estimator
class KernelModel(ScoreClassifier):
    """Base class of the classifiers whose score is linear, or a sum of kernels at landmarks.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, knn, pca_rbf, pca8_rbf,
        pca_knn, or a callable that takes two matrices and returns the kernel of all their rows. A
        :class:`decorrupt.Kernel` also sets the rarely changed options: the polynomial's degree, and
        the rank.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter. "scale" is 1/(n_columns·Var X), where Var X is the mean of the
        columns' variances; "auto" is 1/n_columns. The principal components are scaled to the total
        variance of X, so it has the same meaning for them; the knn kernels do not use it. It cannot
        be set if the :class:`decorrupt.Kernel` given as `kernel` has a `gamma`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels in sorted
        order. Of two classes the second is the positive class.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows.
    decision_threshold_ : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the raw scores.
    coef_ : ndarray of shape (n_columns,) or (n_classes, n_columns)
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    intercept_ : float or ndarray of shape (n_classes,)
        0 without `fit_intercept`.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_ (other kernels). For the knn
        kernels, f(x) is the weighted mean of dual_coef_ of the 10 nearest landmarks, plus
        intercept_.
    kernel_gamma_ : float
        The kernel parameter as a number.
    n_features_in_, feature_names_in_
        Columns seen in fit.
    """

    kernel: Any = "rbf"
    kernel_gamma: float | str = "scale"

    # Whether labels or proportions of more than two classes are accepted.
    takes_several_classes: ClassVar[bool] = True

    def check(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""
        check_parameters(self)

    def check_classes(self, n_classes: int) -> None:
        """Raise ValueError if the method or a parameter is for two classes only."""
        if not self.takes_several_classes:
            only_two_classes(
                n_classes,
                type(self).__name__,
                "fit one model per class with scikit-learn's OneVsRestClassifier, or choose "
                "another method",
            )

    @property
    def chosen_kernel(self) -> Kernel:
        """The parameters `kernel` and `kernel_gamma` as one object."""
        return as_kernel(self.kernel, self.kernel_gamma)

    def kernel_function(self) -> Kernel:
        """Return the kernel with the γ of the fit."""
        return replace(self.chosen_kernel, gamma=self.kernel_gamma_)

    def class_prior_of(self, observed: Observed) -> FloatArray:
        """Return the class shares in the population that the scores describe."""
        return observed.class_prior

    def fit_observed(self, X: Any, observed: Observed, features: FeatureMap | None = None) -> Self:
        """Fit rows of which it is known what is observed; searches pass features they share.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        observed : Observed
            What is known about their labels.
        features : FeatureMap, optional
            The features of the rows, if they are computed already.
        """
        return self._fit(X, observed, features)

    def _fit(self, X: Any, y: Any, features: FeatureMap | None = None, **known: Any) -> Self:
        """Read rows and what is known about their labels, once, and fit."""
        X = self._read_rows(X, reset=True)
        return self._fit_observed(X, as_observed(y, **known), features)

    @abstractmethod
    def _fit_observed(self, X: Any, observed: Observed, features: FeatureMap | None) -> Self:
        """Fit validated rows."""

    def keep_classes(self, observed: Observed) -> None:
        """Set the classes and their prior; raise ValueError if there are too many classes."""
        self.classes_ = observed.classes
        self.check_classes(observed.n_classes)
        self.set_class_prior(self.class_prior_of(observed))

    def _keep_observed(self, X: Any, observed: Observed) -> tuple[Any, Observed]:
        """Set the classes and γ; return the rows that represent some, and what is known of them."""
        is_partly = observed.weights is not None and not observed.weights.all()
        if is_partly and kernel_name(self.kernel) == "precomputed":
            raise ValueError(
                "a precomputed kernel cannot use rows of sample_weight 0: leave out these rows and "
                "their columns"
            )
        X, observed = observed.used(X)
        self.keep_classes(observed)
        self.kernel_gamma_ = self.chosen_kernel.resolved(X, observed.weights).gamma
        return X, observed

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        if reset:
            self.check()
            self._forget_fit()
        name = kernel_name(self.kernel)
        is_squared = name != "precomputed"
        X = validated_rows(self, X, reset=reset, is_squared=is_squared, accept_large_sparse=False)
        if reset and name in OF_DISTANCES:
            hidden = describe_hidden_columns(X, getattr(self, "feature_names_in_", None))
            if hidden is not None:
                warn(hidden, UnscaledColumnsWarning)
        return X

    def _forget_fit(self) -> None:
        """Delete the attributes of a previous fit: not every fit sets every attribute."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _score(self, X: Any) -> FloatArray:
        if kernel_name(self.kernel) == "linear":
            scores = X @ self.coef_.T
        else:
            projection, kernel = getattr(self, "projection_", None), self.kernel_function()
            scores = kernel_scores(X, kernel, self.landmarks_, self.dual_coef_, projection)
        return np.asarray(scores + np.asarray(self.intercept_, dtype=scores.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            self.check_classes(3)
        except ValueError:
            tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = kernel_name(self.kernel) == "precomputed"
        return tags


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
    """

    coefs: FloatArray
    intercepts: FloatArray
    threshold: Any
    class_prior: FloatArray

    def scores(self, matrix: Any) -> FloatArray:
        """Return the scores of the rows of a feature matrix, with λ along the second axis."""
        coefs = self.coefs.astype(matrix.dtype, copy=False)  # otherwise numpy would copy `matrix`
        scores = matrix @ coefs.reshape(len(coefs), -1)
        return np.asarray(scores.reshape(-1, *self.intercepts.shape) + self.intercepts)


@estimator
class KernelClassifier(KernelModel):
    """Base class of the methods on the features of a kernel.

    The score is f(x) = ⟨θ, z(x)⟩ + b, where θ and b minimise a risk of the scores plus λ‖θ‖². A
    subclass defines `problem`: from what is known about the labels to a
    :class:`decorrupt.solvers.Problem`. `fit`, λ paths of searches, folds and Dask use the same
    problem. It may define `_describe`, which stores what the user should know about a fit.

    Parameters
    ----------
    reg_strength : float or "auto", default="auto"
        λ, at least 0; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian
        prior on the log-odds with the variance C = 3: n is the number of labelled rows that the
        data are worth, s the mean of k(x, x), 1 for the rbf kernel.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots.

    Attributes
    ----------
    projection_ : ndarray of shape (n_columns, n_components)
        x·projection_ are the coordinates of a pca kernel, and `landmarks_` are coordinates.
    reg_strength_ : float
        λ as a number.
    kernel_rank_ : int
        Number of columns of the feature matrix.
    kernel_error_ : float
        Error of the kernel approximation: trace(K − ZZᵀ)/trace(K) for landmarks, 0 for
        kernel="linear"; the share of trace(ZZᵀ) that a rank below 101 leaves out for knn.
    n_iter_ : int
        Number of solver iterations.
    """

    reg_strength: float | str = AUTO
    fit_intercept: bool = True
    decision: str = "balanced"
    tol: float = DEFAULT_TOL
    max_iter: int = DEFAULT_MAX_ITER
    random_state: Any = None

    intercept_: ClassVar[Any]  # a number for two classes, an array for several
    # C, the variance of the log-odds, for reg_strength="auto".
    prior_variance: ClassVar[float] = NOISY_PRIOR_VARIANCE
    # Whether a λ path replaces separate fits.
    has_path: ClassVar[bool] = True

    def problem(self, observed: Observed) -> Problem:
        """Return what the method minimises; the model is unchanged.

        Parameters
        ----------
        observed : Observed
            What is known about the labels of the rows.
        """
        raise NotImplementedError

    def completed(
        self,
        observed: Observed,
        matrix: Any,  # noqa: ARG002
        strength: Callable[[Problem], float],  # noqa: ARG002
    ) -> tuple[Observed, dict[str, Any]]:
        """Return what is known with what the method estimates from features, and attributes of it.

        Parameters
        ----------
        observed : Observed
            What is known about the labels of the rows.
        matrix : ndarray or sparse matrix of shape (n_rows, rank)
            The features of the rows.
        strength : callable
            From a problem to λ.
        """
        return observed, {}

    def _fit_observed(self, X: Any, observed: Observed, features: FeatureMap | None) -> Self:
        X, observed = self._keep_observed(X, observed)
        if features is None:
            features = self.fit_feature_map(X, observed.weights)
        size = partial(self.kernel_size, X, features, observed.weights)
        observed, estimated = self.completed(
            observed, features.matrix, lambda problem: self.strength(problem.n_rows, size)
        )
        self.__dict__.update(estimated)
        problem = self.problem(observed)
        self.reg_strength_ = self.strength(problem.n_rows, size)
        self._check_problem(problem, features.matrix)
        (solution,) = self.solutions(problem, features.matrix, observed, [self.reg_strength_])
        self.keep(X, features, solution.result.coef)
        self.keep_result(solution.result)
        self._describe(observed, problem, solution)
        chosen = chosen_classes(solution.scores - self.decision_threshold_)
        self.warn_if_one_class(chosen, X.shape[0])
        return self

    # --- features and λ

    def fit_feature_map(self, X: Any, weights: Any = None) -> FeatureMap:
        """Return the features of the rows X, computed without labels; the model is unchanged.

        `weights` are how many rows each row represents.
        """
        return fit_feature_map(
            X,
            self.kernel_function() if hasattr(self, "kernel_gamma_") else self.chosen_kernel,
            centred=self.fit_intercept,
            random_state=self.random_state,
            weights=weights,
        )

    def feature_key(self) -> tuple[str, ...]:
        """Return a key that is equal for estimators that can share features."""
        kernel = self.chosen_kernel.get_params(deep=False)
        others = [getattr(self, name) for name in FEATURE_PARAMS]
        return tuple(map(repr, [*kernel.values(), *others]))

    def kernel_size(self, X: Any, features: FeatureMap | None = None, weights: Any = None) -> float:
        """Return the mean of k(x, x) over the rows X, the scale of λ; 1 for rbf and knn kernels."""
        kernel = self.chosen_kernel
        if kernel.name in OF_DISTANCES:
            return 1.0
        if kernel.name == "linear":
            features = self.fit_feature_map(X, weights) if features is None else features
            diagonal = squared_norms(features.matrix)
        else:
            diagonal = kernel.resolved(X, weights).diagonal(X)
        return float(np.average(diagonal, weights=weights)) or 1.0

    def strength(self, n_rows: float, kernel_size: Callable[[], float]) -> float:
        """Return λ as a number; "auto" is λ = s/(2·C·n).

        The mean loss of n labelled rows plus λ‖f‖² is 1/n times the negative log-posterior of f
        under a Gaussian prior with covariance k/(2λn). With this λ the prior variance of f(x) is C,
        on average over the rows. scikit-learn's LogisticRegression(C/s) has the same prior with
        kernel="linear".

        Parameters
        ----------
        n_rows : float
            n, how many labelled rows the data are worth.
        kernel_size : callable
            Returns s, the mean of k(x, x); called for "auto" only.
        """
        if self.reg_strength != AUTO:
            return float(self.reg_strength)
        return kernel_size() / (2 * self.prior_variance * n_rows)

    # --- solutions

    def _check_problem(self, problem: Problem, matrix: Any) -> None:
        """Raise ValueError if there is no minimum at the chosen λ."""

    def solutions(
        self,
        problem: Problem,
        matrix: Any,
        observed: Observed,
        reg_strengths: Sequence[float],
        objective_tol: float = 0.0,
    ) -> list[Solution]:
        """Return the solution for every λ over given features; the model is unchanged."""
        return solve_problem(
            problem,
            matrix,
            reg_strengths,
            n_classes=observed.n_classes,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            objective_tol=objective_tol,
        )

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
        middle = sorted(reg_strengths)[len(reg_strengths) // 2]
        problem = self.problem(self.completed(observed, matrix, lambda _: middle)[0])
        solutions = self.solutions(problem, matrix, observed, reg_strengths, objective_tol)
        parts = [one.objective.split(one.result.coef) for one in solutions]
        class_prior = self.class_prior_of(observed)
        return PathFit(
            np.stack([theta for theta, _ in parts], axis=1),
            np.stack([intercept for _, intercept in parts]),
            self.threshold(class_prior),
            class_prior,
        )

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
        self.intercept_ = np.array(intercept)[()]  # type: ignore[misc]

    def keep_result(self, result: SolverResult) -> None:
        """Set the number of iterations; warn if the solver did not reach its tolerance."""
        self.n_iter_ = result.n_iter
        if not result.converged:
            warn(result.advice, ConvergenceWarning)

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
        X, observed = self._keep_observed(self._read_rows(X, reset=True), observed)
        self.keep(X, features, np.concatenate([path.coefs[:, place], path.intercepts[None, place]]))

    def _describe(self, observed: Observed, problem: Problem, solution: Solution) -> None:
        """Set the attributes that only this method has, and warn of what the user should know."""
