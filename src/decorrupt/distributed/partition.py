"""Value and gradient of a partition's part of the risk.

:func:`partition_value_and_gradient` is one picklable function of a partition and the coefficients.
The parts of all partitions add up, regardless of what adds them: Dask here, Spark or Ray in
``docs/howto/spark_and_ray.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.distributed.features import RowFeatures
from decorrupt.solvers import Objective

# Rows whose features are in memory at a time.
CHUNK_ROWS = 8192


@dataclass(frozen=True)
class Chunk:
    """Some rows and their part of the risk.

    Attributes
    ----------
    rows : array or CSR matrix of shape (n_rows, n_columns)
        X, or the features.
    risks : tuple of ScoreRisk
        The terms of these rows; one per class if their sums are corrected separately.
    codes : ndarray of int, shape (n_rows,), or None
        The bag of each row, as a number within the partition, for the error of a corrected risk.
    """

    rows: Any
    risks: tuple[Any, ...]
    codes: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Partition:
    """The rows of a partition in chunks, whose `codes` number `n_bags` bags."""

    chunks: Sequence[Chunk]
    n_bags: int = 0


@dataclass(frozen=True)
class ScoreModel:
    """What turns rows into scores: features and coefficients.

    f = z(x)·θ + b.

    Attributes
    ----------
    features : RowFeatures or None
        z; None if the partitions contain features.
    rank : int
        Number of features.
    fit_intercept : bool
        Whether there is b, the last coefficient.
    n_classes : int
        K.
    n_sums : int
        Terms of each chunk.
    """

    features: RowFeatures | None
    rank: int
    fit_intercept: bool
    n_classes: int = 2
    n_sums: int = 1

    @property
    def n_coef(self) -> int:
        """All coefficients, the intercepts included."""
        return self.penalised(0.0).n_coef

    def objective(self, rows: Any, risk: Any = None) -> Objective:
        """Return the part of the objective of some rows, without a penalty."""
        matrix = rows if self.features is None else self.features.transform(rows)
        return Objective(matrix, risk, 0.0, self.fit_intercept, self.n_classes)

    def penalised(self, reg_strength: float) -> Objective:
        """Return the objective without rows: the penalty, and the parts of the coefficients."""
        nothing: Any = None
        none = np.empty((0, self.rank))
        return Objective(none, nothing, reg_strength, self.fit_intercept, self.n_classes)


def partition_value_and_gradient(
    partition: Partition, coef: FloatArray, model: ScoreModel
) -> tuple[FloatArray, FloatArray]:
    """Return the risk of a partition's rows and its gradient.

    Σ_j r_j(⟨θ, z(x_j)⟩ + b) over the rows of a partition, and its gradient in (θ, b).

    Parameters
    ----------
    partition : Partition
        The rows and their terms r_j.
    coef : ndarray of shape (n_coef,)
        θ and b, as in :class:`decorrupt.solvers.Objective`.
    model : ScoreModel
        The features; they are made here, `CHUNK_ROWS` rows at a time.

    Returns
    -------
    values : ndarray of shape (n_sums,)
        The sums.
    gradients : ndarray of shape (n_sums, n_coef)
        Their gradients.
    """
    values, gradients = np.zeros(model.n_sums), np.zeros((model.n_sums, model.n_coef))
    for chunk in partition.chunks:
        objective = model.objective(chunk.rows)
        for k, risk in enumerate(chunk.risks):
            value, gradient = replace(objective, risk=risk).value_and_gradient(coef)
            values[k] += value
            gradients[k] += gradient
    return values, gradients


def keep_features(partition: Partition, features: RowFeatures) -> Partition:
    """Return the partition with features instead of rows, where memory suffices for them."""
    chunks = [replace(chunk, rows=features.transform(chunk.rows)) for chunk in partition.chunks]
    return replace(partition, chunks=chunks)


def add_sums(
    parts: Sequence[tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """Return the sum of values and gradients of several partitions."""
    values, gradients = zip(*parts, strict=True)
    return np.sum(values, axis=0), np.sum(gradients, axis=0)
