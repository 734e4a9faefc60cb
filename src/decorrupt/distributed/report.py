"""One pass after training: predicted classes, and the noise of the corrected risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.distributed.data import Data
from decorrupt.distributed.partition import Partition, ScoreModel
from decorrupt.losses import chosen_classes, probabilities

# What a report sums, see `Report.expected`.
POSTERIORS, PROBABILITIES = "posteriors", "probabilities"


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
