"""What a partition adds: to the risk and its gradient, and to the report after training.

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
from decorrupt.distributed.data import Data
from decorrupt.distributed.features import RowFeatures
from decorrupt.losses import chosen_classes, probabilities
from decorrupt.solvers import Objective

# Rows whose features are in memory at a time.
CHUNK_ROWS = 8192
# What a report sums, see `Report.expected`.
POSTERIORS, PROBABILITIES = "posteriors", "probabilities"


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


@dataclass(frozen=True)
class Report:
    """What a partition adds to the diagnostics.

    Attributes
    ----------
    n_chosen : ndarray of int, shape (n_classes,)
        Rows by predicted class.
    sums, squares : ndarray of shape (n_bags,)
        Σ and Σ² of the terms of a corrected risk, by bag of the partition.
    expected : ndarray of shape (n_classes,)
        Σ P(Y=c | x, observation of the bag) or, with a bag effect, Σ P(Y=c | x); 0 if the counts
        are exact.
    """

    n_chosen: NDArray[np.intp]
    sums: FloatArray
    squares: FloatArray
    expected: FloatArray


def partition_report(
    partition: Partition, coef: FloatArray, model: ScoreModel, threshold: Any, sum_of: str
) -> Report:
    """Return the report of a partition; `sum_of`: "posteriors", "probabilities" or ""."""
    n_bags, n_classes = partition.n_bags, model.n_classes
    n_chosen = np.zeros(n_classes, dtype=np.intp)
    sums, squares, expected = np.zeros(n_bags), np.zeros(n_bags), np.zeros(n_classes)
    for chunk in partition.chunks:
        scores = model.objective(chunk.rows).scores(coef)
        n_chosen += np.bincount(chosen_classes(scores - threshold), minlength=n_classes)
        if chunk.codes is not None:
            terms = np.sum([risk.row_values(scores) for risk in chunk.risks], axis=0, dtype=float)
            sums += np.bincount(chunk.codes, terms, n_bags)
            squares += np.bincount(chunk.codes, terms**2 / chunk.risks[0].weights, n_bags)
        elif sum_of:
            (risk,) = chunk.risks
            posterior_of = risk.posterior if sum_of == POSTERIORS else probabilities
            own = posterior_of(scores.astype(float, copy=False))
            expected += own.sum(axis=0) if risk.weights is None else risk.weights @ own
    return Report(n_chosen, sums, squares, expected)


def risk_and_error(reports: Sequence[Report], data: Data) -> tuple[float, float]:
    """Return the corrected risk and √Σ_k n_k·Var_k, Var_k the variance of the terms in bag k."""
    sizes = data.sizes
    sums, squares = np.zeros(len(sizes)), np.zeros(len(sizes))
    for report, bags in zip(reports, data.bags_of, strict=True):
        np.add.at(sums, bags, report.sums)
        np.add.at(squares, bags, report.squares)
    inside = np.maximum(squares - sums**2 / sizes, 0.0)
    return float(sums.sum()), float(np.sqrt(np.sum(inside * sizes / np.maximum(sizes - 1, 1))))
