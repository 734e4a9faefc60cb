"""Held-out class probabilities of a count model, and how they depend on the training counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from decorrupt._typing import FloatArray
from decorrupt.corruption import sums_by_bag
from decorrupt.estimators import CountLikelihoodClassifier
from decorrupt.features import Kernel
from decorrupt.losses import probabilities, relative_scores
from decorrupt.observed import Observed
from decorrupt.progress import track
from decorrupt.risks import count_log_likelihood

N_FOLDS = 5
REG_STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4)
KERNELS = ("linear", "rbf")
# Columns of the model; more are reduced to their principal components.
MOST_FEATURES = 100
# Landmarks of the rbf kernel: enough for a smooth function of the columns.
MAX_RANK = 60
OBJECTIVE_TOL = 1e-5


@dataclass(frozen=True)
class FoldModel:
    """The model of one fold: held-out rows use `coef`, fitted to the bags `train`.

    `coef` has shape (n_features + 1, n_classes − 1): scores relative to the first class; its last
    row is the intercept.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    coef: FloatArray


@dataclass(frozen=True)
class CountModel:
    """Count models of all folds for one kernel and λ.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, n_features + 1)
        The features and a column of ones.
    observed : Observed
        The bags.
    folds : list of FoldModel
        One model per fold of bags.
    reg_strength, log_likelihood : float
        λ and its held-out log-likelihood.
    """

    matrix: FloatArray
    observed: Observed
    folds: list[FoldModel]
    reg_strength: float
    log_likelihood: float

    def probabilities(self, fold: FoldModel) -> FloatArray:
        """Return P(Y=c|x) of all rows and all classes but the first."""
        scores = self.matrix @ fold.coef
        return probabilities(np.column_stack([np.zeros(len(scores)), scores]))[:, 1:]


def fit_count_models(
    X: Any, observed: Observed, rng: np.random.RandomState
) -> Iterator[CountModel | None]:
    """Yield the best model of each kernel on held-out bags; None if the bags do not allow a fit."""
    X = standardised(X, rng, observed.weights)
    folds = KFold(min(N_FOLDS, observed.n_bags), shuffle=True, random_state=rng)
    bag_folds = list(folds.split(observed.ids))
    for kernel in KERNELS:
        models = _fit_kernel(X, observed, bag_folds, kernel, rng)
        yield max(models, key=lambda model: model.log_likelihood, default=None)


def standardised(X: Any, rng: np.random.RandomState, weights: Any = None) -> FloatArray:
    """Return columns of variance 1, at most MOST_FEATURES: else their principal components."""
    scaler = StandardScaler(with_mean=not sparse.issparse(X))
    scaled = scaler.fit(X, sample_weight=weights).transform(X)
    if scaled.shape[1] > MOST_FEATURES:
        scaled = TruncatedSVD(MOST_FEATURES, random_state=rng).fit_transform(scaled)
    return np.asarray(scaled.toarray() if sparse.issparse(scaled) else scaled, dtype=float)


def _fit_kernel(
    X: FloatArray,
    observed: Observed,
    bag_folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    kernel: str,
    rng: np.random.RandomState,
) -> Iterator[CountModel]:
    """Yield the models of one kernel, one per λ."""
    template = CountLikelihoodClassifier(
        kernel=Kernel(kernel, max_rank=MAX_RANK),
        random_state=rng.randint(2**31),
    )
    weights = observed.weights
    features = np.asarray(template.fit_feature_map(X, weights).matrix, dtype=np.float32)
    size = template.kernel_size(X, weights=weights)
    reg_strengths = [size * value for value in REG_STRENGTHS]
    paths, rows = [], []
    for train, test in track(bag_folds, f"{kernel} count model on folds", len(bag_folds)):
        own = np.flatnonzero(np.isin(observed.row_bag, train))
        part = observed.take(own)
        if not part.class_prior.all():  # a class that is in no training bag cannot be learned
            return
        path = template.fit_path(features[own], part, reg_strengths, objective_tol=OBJECTIVE_TOL)
        paths.append(path)
        rows.append(np.flatnonzero(np.isin(observed.row_bag, test)))
    matrix = np.column_stack([features, np.ones(len(features))]).astype(float)
    for place, reg_strength in enumerate(reg_strengths):
        folds, likelihood = [], 0.0
        for (train, test), path, own in zip(bag_folds, paths, rows, strict=True):
            scores = path.scores(features[own])[:, place]
            held_out = probabilities(scores)
            likelihood += float(count_log_likelihood(held_out, observed.take(own)).sum())
            coef = np.concatenate([path.coefs[:, place], path.intercepts[place][None]])
            folds.append(FoldModel(train, test, relative_scores(coef)))
        yield CountModel(matrix, observed, folds, reg_strength, likelihood)


@dataclass(frozen=True)
class BagMoments:
    """Mean, covariance and slope of the bags' counts under a model, classes but the first.

    Attributes
    ----------
    mean : ndarray of shape (n_bags, n_classes − 1)
        Σ_j p_j.
    covariance : ndarray of shape (n_bags, n_classes − 1, n_classes − 1)
        Σ_j diag(p_j) − p_j p_jᵀ.
    slope : ndarray of shape (n_bags, n_classes − 1, n_coef)
        The derivative of the mean in the coefficients.
    """

    mean: FloatArray
    covariance: FloatArray
    slope: FloatArray


def bag_moments(model: CountModel, fold: FoldModel) -> BagMoments:
    """Return the moments of all bags under one fold's model."""
    free, bags = model.probabilities(fold), model.observed.row_bag
    weights: Any = 1.0 if model.observed.weights is None else model.observed.weights
    n_bags, n_free = model.observed.n_bags, free.shape[1]
    n_features = model.matrix.shape[1]
    covariance = np.empty((n_bags, n_free, n_free))
    slope = np.empty((n_bags, n_free, n_features, n_free))
    for c in range(n_free):
        for d in range(n_free):
            weight = weights * free[:, c] * ((c == d) - free[:, d])
            covariance[:, c, d] = np.bincount(bags, weight, n_bags)
            slope[:, c, :, d] = sums_by_bag(model.matrix * weight[:, None], bags, n_bags)
    mean = sums_by_bag((weights * free.T).T, bags, n_bags)
    # A bag whose rows are all certain has no variance; a count that differs is then far out.
    covariance += VARIANCE_FLOOR * np.eye(n_free)
    return BagMoments(mean, covariance, slope.reshape(n_bags, n_free, -1))


VARIANCE_FLOOR = 1e-6


def penalty_matrix(model: CountModel, fold: FoldModel) -> FloatArray:
    """Return the second derivative of n·λ‖f‖² in the coefficients relative to the first class."""
    n_rows = float(model.observed.sizes[fold.train].sum())
    n_features, n_free = fold.coef.shape
    classes = np.eye(n_free) - 1 / (n_free + 1)  # 2‖Θ‖² = 2·(Σ‖θ_c − θ_0‖² − ‖Σ(θ_c − θ_0)‖²/K)
    features = np.ones(n_features)
    features[-1] = 0.0  # the intercept is not penalised
    return np.kron(np.diag(features), 4 * n_rows * model.reg_strength * classes)
