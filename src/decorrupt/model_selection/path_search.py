"""Searching λ and the kernel parameter together, without doing anything twice.

The features of a kernel parameter are built once, from all rows (they look at X only), and shared
by all folds and methods; every fold's λ path is solved with warm starts, over as many features and
to as many digits as a comparison needs. The refit uses all of both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.parameters import check_not_negative
from decorrupt.features import FeatureMap, resolve_kernel_gamma
from decorrupt.model_selection.splitters import Fold

# How near the minimum a path's objectives must come to be compared, per row; the refit uses the
# estimator's own tolerance.
SELECTION_OBJECTIVE_TOL = 1e-5
DEFAULT_REG_STRENGTHS = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Multiples of kernel_gamma="scale": from nearly linear to as local as 1/(n_columns·Var X).
DEFAULT_GAMMA_FACTORS = (0.03, 0.3, 1.0)
# Kernels that have no parameter to search.
WITHOUT_GAMMA = ("linear", "precomputed")


@dataclass(frozen=True)
class HeldOutPath:
    """A method's scores of one fold's held-out rows, for every λ.

    Attributes
    ----------
    test : ndarray of int
        The held-out rows.
    scores : ndarray of shape (n_test, n_reg_strengths)
        Raw scores.
    threshold, prior : float
        The decision threshold, and the prior for which the scores are log-odds.
    seconds : float
        What the path took, the features left out.
    """

    test: NDArray[np.intp]
    scores: FloatArray
    threshold: float
    prior: float
    seconds: float


def check_lists(**tried: Any) -> None:
    """Raise a ValueError unless each parameter is a list of one or more values, or None."""
    for name, values in tried.items():
        if values is not None and (isinstance(values, str) or len(values) == 0):
            raise ValueError(f"{name}={values!r} must be a list of one or more values to try")
    for k, reg_strength in enumerate(tried.get("reg_strengths") or ()):
        check_not_negative(f"reg_strengths[{k}]", reg_strength)


def resolve_kernel_gammas(kernel_gammas: Any, X: Any) -> list[float]:
    """Return kernel parameters as numbers; None means multiples of "scale"."""
    if kernel_gammas is None:
        scale = resolve_kernel_gamma("scale", X)
        return [factor * scale for factor in DEFAULT_GAMMA_FACTORS]
    return [resolve_kernel_gamma(kernel_gamma, X) for kernel_gamma in kernel_gammas]


def held_out_paths(
    estimators: Sequence[Any],
    features: FeatureMap,
    strata: Strata,
    folds: Sequence[Fold],
    reg_strengths: Sequence[float],
    n_jobs: int | None,
) -> list[list[HeldOutPath]]:
    """Return, for every estimator, its held-out path of every fold, over the features given."""
    # Reading the features is most of the work, and half the bytes are read in half the time.
    matrix = features.coarse_matrix().astype(np.float32)
    jobs = [
        delayed(_held_out_path)(clone(estimator), matrix, strata, fold, reg_strengths)
        for estimator in estimators
        for fold in folds
    ]
    # Threads: the work is in BLAS and numpy, which release the lock, and the features are shared.
    # BLAS itself gets one thread each: its products are small here, and threads that wait for
    # each other on busy cores cost far more than they save.
    with threadpool_limits(1, user_api="blas"):
        paths = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
    return [paths[k * len(folds) : (k + 1) * len(folds)] for k in range(len(estimators))]


def _held_out_path(
    estimator: Any, matrix: Any, strata: Strata, fold: Fold, reg_strengths: Sequence[float]
) -> HeldOutPath:
    began = time.perf_counter()
    train, test = fold
    estimator._objective_tol = SELECTION_OBJECTIVE_TOL
    training = strata.take(train)
    estimator._set_prior(training)
    # An unconverged candidate is judged by its held-out score like any other.
    path = estimator._fit_path(matrix[train], training, reg_strengths)
    coefs = np.column_stack([result.coef for result in path])
    rank = matrix.shape[1]
    scores = matrix[test] @ coefs[:rank] + (coefs[-1] if estimator.fit_intercept else 0.0)
    return HeldOutPath(
        test=test,
        scores=np.asarray(scores),
        threshold=estimator.decision_threshold_,
        prior=estimator.score_prior_,
        seconds=time.perf_counter() - began,
    )
