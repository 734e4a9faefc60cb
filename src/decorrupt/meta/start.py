"""The start of EM: a model of maximum likelihood, with its held-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import _safe_indexing

from decorrupt._typing import FloatArray
from decorrupt.estimators import KernelClassifier, PathFit, estimator
from decorrupt.features import (
    FeatureMap,
    Kernel,
    check_magnitude,
    kernel_name,
    resolve_kernel_gamma,
)
from decorrupt.losses import score_shape
from decorrupt.meta.observed_classifier import Fold
from decorrupt.observed import Observed, repeated_rows
from decorrupt.progress import track
from decorrupt.risks import CountRisk, count_risk
from decorrupt.solvers import Problem, prior_start

# λ of the path for k(x,x) = 1, from smooth to flexible; the best is chosen on held-out bags.
START_REG_STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
# A wide kernel: 0.3 times "scale" did best on average in our experiments.
GAMMA_FACTOR = 0.3
# Enough for a start; keeps its cost below that of a forest.
START_MAX_RANK = 200
START_KERNELS = (Kernel("linear"), Kernel("rbf", rank_tol=1e-6, max_rank=START_MAX_RANK))
START_OBJECTIVE_TOL = 1e-5
# Of rows with weights, a sample of this size is scaled if they represent more.
MOST_SCALED_ROWS = 100_000
# Category columns with more levels than this give at most so many indicator columns.
MAX_CATEGORIES = 50


def check_numbers(X: Any) -> None:
    """Raise ValueError if a number is too large to be scaled; columns of categories may be any."""
    if not hasattr(X, "columns"):
        return check_magnitude(X, n_rows=X.shape[0])
    frame = nw.from_native(X)
    places = [k for k, dtype in enumerate(frame.schema.values()) if dtype.is_numeric()]
    if places:
        names = [frame.columns[place] for place in places]
        numbers = np.asarray(frame[:, places].to_numpy(), dtype=float)
        check_magnitude(numbers, names, n_rows=len(numbers))
    return None


def make_columns(X: Any) -> Any:
    """Return a transformer that scales numbers, fills missing ones, and encodes categories.

    Raises
    ------
    ValueError
        If a number is too large to be scaled.
    """
    check_numbers(X)
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


def fit_columns(columns: Any, X: Any, weights: Any) -> None:
    """Fit the transformer to the rows, each as often as its weight says."""
    if weights is not None:
        X = _safe_indexing(X, repeated_rows(weights, MOST_SCALED_ROWS, 0))
    columns.fit(X)


@estimator
class LikelihoodStart(KernelClassifier):
    """min_f −(1/n)·Σ log P(observation) + λ‖f‖²; λ chosen on held-out rows.

    Not an estimator for users: it has fixed settings, and is fitted by `fit_start`.
    """

    decision: str = "accuracy"

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of all observations, started at the constant."""
        likelihood = count_risk(observed)
        return Problem(likelihood, observed.n_rows, prior_start(likelihood.class_prior))

    def try_folds(self, X: Any, observed: Observed, folds: Sequence[Fold]) -> Trial:
        """Return the best λ on held-out rows; the model is not fitted yet.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Scaled columns.
        observed : Observed
            What is known about their labels.
        folds : sequence of (train, test)
            Folds of whole bags.
        """
        scale = resolve_kernel_gamma("scale", X, observed.weights)
        self.kernel_gamma = GAMMA_FACTOR * scale
        X = self._read_rows(X, reset=True)
        features = self.fit_feature_map(X, observed.weights)
        # The total variance of the columns, the same for sparse rows, which are not centred.
        size = 1 / scale if kernel_name(self.kernel) == "linear" else 1.0
        path = [size * reg_strength for reg_strength in START_REG_STRENGTHS]
        matrix = features.coarse().matrix
        held_out = np.empty((len(observed.row_bag), len(path), *score_shape(observed.n_classes)))
        quality = np.zeros(len(path))
        for train, test in track(folds, "choosing the start", len(folds)):
            found = self._path(matrix[train], observed.take(train), path)
            held_out[test] = found.scores(matrix[test])
            tested = count_risk(observed.take(test))
            quality += [tested.log_likelihood(own) for own in np.moveaxis(held_out[test], 1, 0)]
        best = int(quality.argmax())
        own = held_out[:, best].copy()
        return Trial(self, X, features, path, best, own, float(quality[best]))

    def fit_trial(self, trial: Trial, likelihood: CountRisk) -> None:
        """Fit all rows with the λ of a trial."""
        observed = likelihood.observed
        path = self._path(trial.features.matrix, observed, trial.path)
        self.keep_path(trial.X, trial.features, path, trial.best, observed)
        self.set_class_prior(likelihood.class_prior)
        self.reg_strength_ = trial.path[trial.best]

    def _path(self, matrix: Any, observed: Observed, path: Sequence[float]) -> PathFit:
        return self.fit_path(matrix, observed, path, objective_tol=START_OBJECTIVE_TOL)

    def raw_scores(self, X: Any) -> FloatArray:
        """Return f(x) of each row; without scikit-learn's check of a method `fit`."""
        return self._score(self._read_rows(X, reset=False))


@dataclass(frozen=True)
class Trial:
    """A start with its best λ on held-out rows, their scores and log-likelihood."""

    start: LikelihoodStart
    X: Any
    features: FeatureMap
    path: list[float]
    best: int
    held_out: FloatArray
    log_likelihood: float


def fit_start(
    X: Any, likelihood: CountRisk, folds: Sequence[Fold], random_state: Any
) -> tuple[LikelihoodStart, FloatArray]:
    """Return the better of a linear and an rbf start, and its scores of held-out rows.

    Held-out bags decide. Bags that were formed by a column are beyond all that an rbf kernel has
    seen, but not beyond a linear model.
    """
    starts = [LikelihoodStart(kernel=kernel, random_state=random_state) for kernel in START_KERNELS]
    trials = [start.try_folds(X, likelihood.observed, folds) for start in starts]
    trial = max(trials, key=lambda one: one.log_likelihood)
    trial.start.fit_trial(trial, likelihood)
    return trial.start, trial.held_out
