"""Feature maps that are applied inside a partition: z(x) for any rows x.

The maps of `decorrupt.features` contain the features of their training rows. These contain only
what new rows need, are small, and are sent to the workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.distributed.summary import ColumnSummary
from decorrupt.features import (
    FeatureMap,
    Kernel,
    LinearMap,
    LowRankKernelMap,
    RandomFourierMap,
    RandomKernelMap,
    fit_feature_map,
)
from decorrupt.features.kernels import FROM_ALL_ROWS
from decorrupt.features.maps import FEATURES
from decorrupt.features.random_fourier import check_has_frequencies


class RowFeatures(Protocol):
    """z(x), computed row by row; `RandomFourierMap` is one."""

    def transform(self, rows: Any) -> Any:
        """Return the features of the rows, shape (n_rows, rank)."""


@dataclass(frozen=True)
class LinearFeatures:
    """z(x) = x − centre; sparse rows are not centred."""

    centre: FloatArray | float = 0.0

    def transform(self, rows: Any) -> Any:
        """Return the features of the rows."""
        return rows - self.centre if np.ndim(self.centre) else rows


@dataclass(frozen=True)
class LandmarkFeatures:
    """z(x) = triangle⁻¹·k(landmarks, x), landmarks chosen from a sample of rows."""

    kernel: Kernel
    landmarks: Any
    triangle: FloatArray

    def transform(self, rows: Any) -> FloatArray:
        """Return the features of the rows."""
        gram = self.kernel.block(self.landmarks, rows)
        return np.asarray(
            solve_triangular(self.triangle, gram, lower=True, check_finite=False, overwrite_b=True)
        ).T


def fit_features(
    columns: ColumnSummary,
    kernel: Kernel,
    sample: Any,
    *,
    features: str,
    fit_intercept: bool,
    n_features: int,
    rank_tol: float,
    random_state: Any,
) -> FeatureMap:
    """Return the feature map for all rows: linear, random, or with landmarks from a sample.

    Parameters
    ----------
    columns : ColumnSummary
        The columns of X.
    kernel : Kernel
        The kernel.
    sample : array or CSR matrix of shape (n_sampled, n_columns)
        Some rows of X.
    features : {"landmarks", "random"}
        How the kernel is approximated.
    fit_intercept : bool
        With an intercept, the linear map is centred.
    n_features : int
        The largest rank, or the number of random features.
    rank_tol, random_state
        As in :func:`decorrupt.features.fit_feature_map`.
    """
    check_features(features, kernel)
    centre = 0.0 if columns.is_sparse else columns.mean.astype(columns.dtype)
    if kernel.name == "linear":
        return LinearMap(sample, centre if fit_intercept else 0.0)
    if features == "random":
        seed = check_random_state(random_state)
        rule = RandomFourierMap.draw(kernel, columns.n_columns, n_features, seed, centre=centre)
        return RandomKernelMap(rule.transform(sample), rule, rule.error(kernel, sample, seed))
    return fit_feature_map(
        sample, kernel, rank_tol=rank_tol, max_rank=n_features, random_state=random_state
    )


def check_features(features: str, kernel: Kernel) -> None:
    """Raise ValueError if the features are unknown, or need all rows at once."""
    if features not in FEATURES:
        raise ValueError(f"unknown features {features!r}: choose one of {', '.join(FEATURES)}")
    if kernel.name == "precomputed":
        raise ValueError("kernel='precomputed' needs all pairs of rows: choose another kernel")
    if kernel.name in FROM_ALL_ROWS:
        raise ValueError(
            f"kernel={kernel.name!r} is made from all rows at once: choose another kernel, or fit "
            "the class without Dask to a sample of the rows"
        )
    if features == "random":
        check_has_frequencies(kernel.name)


def row_features(fitted: FeatureMap, kernel: Kernel, sample: Any) -> RowFeatures:
    """Return what new rows need of a map that was fitted to the rows `sample`."""
    if isinstance(fitted, LinearMap):
        return LinearFeatures(fitted.centre)
    if isinstance(fitted, RandomKernelMap):
        return fitted.rule
    assert isinstance(fitted, LowRankKernelMap)  # noqa: S101 — `check_features` refuses others
    return LandmarkFeatures(kernel, sample[fitted.pivots], fitted.triangle)
