"""Feature maps that are applied inside a partition: z(x) for any rows x.

The maps of `decorrupt.features` contain the features of their training rows. These contain only
what new rows need, are small, and are sent to the workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from decorrupt._typing import FloatArray
from decorrupt.distributed.columns import ColumnSummary
from decorrupt.features import (
    FROM_ALL_ROWS,
    FeatureMap,
    Kernel,
    fit_feature_map,
)

# Landmarks, if `max_rank` is not set.
DEFAULT_RANK = 512


class RowFeatures(Protocol):
    """z(x), computed row by row."""

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


def largest_rank(kernel: Kernel, n_columns: int) -> int:
    """Return how many features a row has at most."""
    return n_columns if kernel.name == "linear" else kernel.max_rank or DEFAULT_RANK


def fit_features(
    local: Any, columns: ColumnSummary, sample: Any, weights: Any, seed: int
) -> tuple[FeatureMap, RowFeatures]:
    """Return the feature map of an estimator, fitted to a sample, and what new rows need of it.

    Parameters
    ----------
    local : estimator
        Its kernel defines the map; `fit_intercept` centres linear rows.
    columns : ColumnSummary
        The columns of X.
    sample : array or CSR matrix of shape (n_sampled, n_columns)
        Some rows of X; landmarks are chosen from them.
    weights : ndarray of shape (n_sampled,) or None
        Their weights.
    seed : int
        Seed of the landmarks.
    """
    kernel = local.kernel_function()
    if kernel.name == "linear":
        is_centred = local.fit_intercept and not columns.is_sparse
        linear = LinearFeatures(columns.mean.astype(columns.dtype) if is_centred else 0.0)
        return FeatureMap(sample, centre=linear.centre), linear
    kernel = replace(kernel, max_rank=largest_rank(kernel, columns.n_columns))
    fitted = fit_feature_map(sample, kernel, random_state=seed, weights=weights)
    return fitted, LandmarkFeatures(kernel, fitted.landmarks(sample), fitted.triangle)


def check_features(kernel: Kernel) -> None:
    """Raise ValueError if the features need all rows at once."""
    if kernel.name == "precomputed":
        raise ValueError("kernel='precomputed' needs all pairs of rows: choose another kernel")
    if kernel.name in FROM_ALL_ROWS:
        raise ValueError(
            f"kernel={kernel.name!r} is made from all rows at once: choose another kernel, or fit "
            "the class without Dask to a sample of the rows"
        )
