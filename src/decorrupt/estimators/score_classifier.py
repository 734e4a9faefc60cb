"""Base class of all classifiers: a score f(x) = ⟨θ, z(x)⟩ + b.

The `fit` of a subclass makes a risk in score space from its labels. This class computes the
features of X, minimises the risk over θ, and computes scores, decisions and probabilities.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators.parameters import check_parameters, check_share
from decorrupt.estimators.saved_state import FillMissingParameters
from decorrupt.exceptions import OneClassWarning
from decorrupt.features import FeatureMap, Kernel, LinearMap, fit_feature_map, kernel_scores
from decorrupt.features import resolve_kernel_gamma as resolve_gamma
from decorrupt.notices import QuietEstimator
from decorrupt.risks import ScoreRisk
from decorrupt.solvers import Objective, SolverResult, choose_solver, solve

FLOATS = (np.float64, np.float32)
DECISIONS = ("balanced", "accuracy")
BALANCED = 0.5  # the share of positives in a balanced population


def decision_threshold(decision: str, prior: float, score_at: Callable[[float], float]) -> float:
    """Return the score above which rows are positive, for a population with the share `prior`.

    The two class densities are equal where P(Y=1|x) equals the prior. "balanced" therefore puts
    the threshold at the score of that probability; "accuracy" puts it at the score of ½, which
    is 0.
    """
    if decision not in DECISIONS:
        raise ValueError(f"unknown decision {decision!r}: choose one of {', '.join(DECISIONS)}")
    if decision == "accuracy" or prior == BALANCED:
        return 0.0
    try:
        return score_at(prior)
    except ValueError as error:
        raise ValueError(
            f"{error}: decision='balanced' needs it. Set decision='accuracy' or target_prior=0.5"
        ) from None


def shift_prior(log_odds: FloatArray, score_prior: float, class_prior: float) -> FloatArray:
    """Return log_odds + logit(class_prior) − logit(score_prior).

    These are the log-odds in a population with the share `class_prior` of positives, from those
    in a population with the share `score_prior` and the same P(x | Y).

    Raises
    ------
    ValueError
        If class_prior is not strictly between 0 and 1.
    """
    check_share("class_prior", class_prior)
    return np.asarray(log_odds + float(logit(class_prior) - logit(score_prior)))


def class_probabilities(
    log_odds: FloatArray, score_prior: float, class_prior: float | None
) -> FloatArray:
    """Return the columns P(Y=−1|x), P(Y=1|x), at `class_prior` or, if None, at `score_prior`."""
    if class_prior is not None:
        log_odds = shift_prior(log_odds, score_prior, class_prior)
    return np.column_stack([expit(-log_odds), expit(log_odds)])


def _forget_fit(estimator: Any) -> None:
    """Delete the attributes of a previous fit: not every fit sets every attribute."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


class ScoreClassifier(FillMissingParameters, QuietEstimator, ClassifierMixin, BaseEstimator):
    """A binary classifier whose score is linear in the features of a kernel.

    Subclasses have the parameters `kernel`, `kernel_gamma`, `degree`, `coef0`, and, where they
    call `_fit_scores`, `reg_strength`, `fit_intercept`, `solver`, `rank_tol`, `max_rank`, `tol`,
    `max_iter` and `random_state`. They set `classes_`, `score_prior_` (the share of positives in
    the population that the score describes) and `decision_threshold_`.
    """

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        if reset:
            check_parameters(self)
            _forget_fit(self)
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, accept_large_sparse=False
        )
        if reset:
            self.kernel_gamma_ = resolve_gamma(self.kernel_gamma, X)
        return X

    @abstractmethod
    def _threshold(self, prior: float) -> float:
        """Return the score above which rows are positive, see :func:`decision_threshold`."""

    def fit_feature_map(self, X: Any) -> FeatureMap:
        """Return the features of the rows X, computed without labels; the model is unchanged."""
        if self.kernel == "linear" and self.fit_intercept:
            return LinearMap.centred(X)
        return fit_feature_map(
            X,
            self._kernel_for(X),
            rank_tol=self.rank_tol,
            max_rank=self.max_rank,
            random_state=self.random_state,
        )

    def _fit_scores(
        self, X: Any, features: FeatureMap, risk: ScoreRisk, start: FloatArray | None = None
    ) -> tuple[SolverResult, FloatArray]:
        """Minimise risk + λ‖f‖², store the model, return the training rows' scores."""
        objective = Objective(features.matrix, risk, self.reg_strength, self.fit_intercept)
        self.solver_ = choose_solver(self.solver, objective)
        result = solve(objective, start=start, **self._solver_options())
        self._keep(X, features, result.coef)
        self.n_iter_ = result.n_iter
        return result, objective.scores(result.coef)

    def _note_unconverged(self, result: SolverResult) -> None:
        if not result.converged:
            self._note(ConvergenceWarning, f"the {self.solver_} solver {result.advice}")

    def _note_one_class(self, scores: FloatArray) -> None:
        """Note if the model predicts the same class for all training rows."""
        is_pos = scores > self.decision_threshold_
        if is_pos.all() or not is_pos.any():
            only = self.classes_.tolist()[int(is_pos[0])]
            self._note(
                OneClassWarning,
                f"the model predicts class {only!r} for all {len(scores)} training rows, though "
                "they have two classes. Scale the columns of X, try another kernel, kernel_gamma "
                "or regularisation, or decision='balanced' where one class is rare",
            )

    def _solver_options(self) -> dict[str, Any]:
        return {"solver": self.solver, "tol": self.tol, "max_iter": self.max_iter}

    def _keep(self, X: Any, features: FeatureMap, coef: FloatArray) -> None:
        theta = coef[: features.rank].astype(X.dtype, copy=False)
        self.intercept_ = float(coef[-1]) if self.fit_intercept else 0.0
        if isinstance(features, LinearMap):
            self.coef_ = features.coefficients(theta)
            self.intercept_ -= float(np.sum(features.centre * self.coef_))
        else:
            self.dual_coef_ = features.coefficients(theta)
            precomputed = self.kernel == "precomputed"
            self.landmarks_ = features.pivots if precomputed else X[features.pivots]

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.kernel_gamma_, self.degree, self.coef0)

    def _kernel_for(self, X: Any) -> Kernel:
        gamma = resolve_gamma(self.kernel_gamma, X)
        return Kernel(self.kernel, gamma, self.degree, self.coef0)

    def _raw_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._score(self._read_rows(X, reset=False))

    def _score(self, X: Any) -> FloatArray:
        """Return f(x) of validated rows."""
        if self.kernel == "linear":
            scores = X @ self.coef_
        else:
            scores = kernel_scores(X, self._kernel(), self.landmarks_, self.dual_coef_)
        return np.asarray(scores + self.intercept_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) minus the decision threshold: positive means `classes_[1]`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return np.asarray(self._raw_scores(X) - self.decision_threshold_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of X, one of `classes_`."""
        is_pos = self.decision_function(X) > 0
        return np.asarray(self.classes_[is_pos.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
