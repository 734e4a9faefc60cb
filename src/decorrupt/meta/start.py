"""The start of EM: a kernel model of maximum likelihood, with its held-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from decorrupt._typing import FloatArray
from decorrupt.estimators.log_odds import LogOddsClassifier
from decorrupt.features import Kernel, resolve_kernel_gamma
from decorrupt.meta.folds import Fold
from decorrupt.meta.observed import ObservedLabels
from decorrupt.solvers import Objective, SolverResult, solve

# λ of the path, from smooth to flexible; the best is chosen on held-out bags.
START_REG_STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
# A wide kernel: 0.3 times "scale" did best on average in our experiments.
GAMMA_FACTOR = 0.3
# Enough for a start; keeps its cost below that of a forest.
START_MAX_RANK = 200
START_OBJECTIVE_TOL = 1e-5
# Category columns with more levels than this give at most so many indicator columns.
MAX_CATEGORIES = 50


def make_columns(X: Any) -> Any:
    """Return a transformer that scales numbers, fills missing ones, and encodes categories."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(with_mean=not sparse.issparse(X)),
    )
    if not hasattr(X, "columns"):
        return numbers
    frame = nw.from_native(X)
    # By position: names can be numbers.
    is_number = [dtype.is_numeric() for dtype in frame.schema.values()]
    numeric = [place for place, is_one in enumerate(is_number) if is_one]
    others = [place for place, is_one in enumerate(is_number) if not is_one]
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False
    )
    return make_column_transformer((numbers, numeric), (encoder, others))


class LikelihoodStart(LogOddsClassifier):
    """min_f −(1/n)·Σ log P(observation) + λ‖f‖² with an RBF kernel; λ chosen on held-out rows.

    Internal: :class:`EMClassifier` fits it with `fit_observed`, on scaled columns.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed of the kernel's landmarks.

    Attributes
    ----------
    reg_strength_ : float
        λ.
    """

    kernel = Kernel(rank_tol=1e-6, max_rank=START_MAX_RANK)
    kernel_gamma: float | str = "scale"
    fit_intercept, decision = True, "accuracy"

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit_observed(self, X: Any, observed: ObservedLabels, folds: Sequence[Fold]) -> FloatArray:
        """Choose λ, fit all rows, and return the scores of every row when it was held out.

        Parameters
        ----------
        X : array or sparse matrix
            Scaled columns without missing values.
        observed : ObservedLabels
            What is known about the labels.
        folds : sequence of (train, test)
            Rows; every row is held out once.
        """
        self.kernel_gamma = GAMMA_FACTOR * resolve_kernel_gamma("scale", X)
        X = self._read_rows(X, reset=True)
        self.classes_ = observed.classes
        features = self.fit_feature_map(X)
        matrix = features.coarse_matrix()
        shape = (len(START_REG_STRENGTHS), *observed.strata.row_proportions.shape)
        held_out = np.empty(shape)
        quality = np.zeros(len(START_REG_STRENGTHS))
        for train, test in folds:
            tested = observed.take(test)
            for k, result in enumerate(_path(matrix[train], observed.take(train))):
                held_out[k, test] = self._scores(matrix[test], result)
                quality[k] += tested.log_likelihood(held_out[k, test])
        best = int(quality.argmax())
        self.reg_strength_ = START_REG_STRENGTHS[best]
        result = _path(features.matrix, observed)[best]
        self._keep(X, features, result.coef)
        self.score_prior_ = observed.prior
        self.decision_threshold_ = self._threshold(self.score_prior_)
        return np.asarray(held_out[best])

    def _raw_scores(self, X: Any) -> FloatArray:
        return self._score(self._read_rows(X, reset=False))

    def _scores(self, matrix: Any, result: SolverResult) -> FloatArray:
        theta, intercept = self._split(result.coef, matrix.shape[1])
        return np.asarray(matrix @ theta + intercept)


def _path(matrix: Any, observed: ObservedLabels) -> list[SolverResult]:
    """Return the solutions for all λ, each started at the previous one, the first at the prior."""
    objective = Objective(matrix, observed, START_REG_STRENGTHS[0], True, observed.n_columns)
    prior = observed.prior
    coef: FloatArray = np.zeros(objective.n_coef)
    coef[-np.size(prior) :] = np.log(prior) if np.ndim(prior) else np.log(prior / (1 - prior))
    found = []
    for reg_strength in START_REG_STRENGTHS:
        problem = objective.with_reg_strength(reg_strength)
        found.append(solve(problem, solver="lbfgs", start=coef, objective_tol=START_OBJECTIVE_TOL))
        coef = found[-1].coef
    return found
