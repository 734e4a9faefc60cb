"""One pass after training: predicted classes, and the noise of the corrected risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.distributed.partition import Partition, ScoreModel
from decorrupt.estimators.priors import chosen_classes
from decorrupt.risks.multiclass.posterior import class_posterior
from decorrupt.risks.multiclass.softmax import log_softmax


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
        Σ P(Y=c | x, observation of the bag), if the counts are vague; otherwise 0.
    """

    n_chosen: NDArray[np.intp]
    sums: FloatArray
    squares: FloatArray
    expected: FloatArray


def partition_report(
    partition: Partition,
    coef: FloatArray,
    model: ScoreModel,
    threshold: Any,
    n_bags: int,
    is_vague: bool,
) -> Report:
    """Return the report of a partition with `n_bags` bags; `is_vague`: with posteriors."""
    n_chosen = np.zeros(model.n_classes or 2, dtype=np.intp)
    sums, squares, expected = np.zeros(n_bags), np.zeros(n_bags), np.zeros(len(n_chosen))
    parts: list[Any] = [*partition.chunks, *partition.large]
    for part in parts:
        scores = model.objective(part.rows).scores(coef)
        chosen = chosen_classes(scores - threshold)
        n_chosen += np.bincount(chosen, minlength=len(n_chosen))
        codes = getattr(part, "codes", None)
        if codes is not None:
            terms = np.sum([risk.row_values(scores) for risk in part.risks], axis=0, dtype=float)
            sums += np.bincount(codes, terms, n_bags)
            squares += np.bincount(codes, terms**2, n_bags)
        elif is_vague:
            expected += _posterior_sums(part, scores)
    return Report(n_chosen, sums, squares, expected)


def _posterior_sums(part: Any, scores: FloatArray) -> FloatArray:
    """Return Σ_j P(Y_j=c | count); of two classes from the slopes (p_j − P(Y_j=1 | count))/n.

    A bag that is larger than the partition has Σ_j p_jc: with an intercept, the slopes sum to zero
    at the solution.
    """
    scores, risks = scores.astype(float, copy=False), getattr(part, "risks", ())
    if scores.ndim == 2:
        log_prob = log_softmax(scores)
        found = class_posterior(risks[0], log_prob) if risks else np.exp(log_prob)
        return np.asarray(found.sum(axis=0))
    total = expit(scores).sum()
    for risk in risks:
        total -= risk.n_rows * risk.value_and_slope(scores)[1].sum()
    return np.array([len(scores) - total, total])


def std_error(
    reports: Sequence[Report], bags_of: Sequence[NDArray[np.intp]], sizes: NDArray[np.intp]
) -> float:
    """Return √Σ_k n_k·Var_k, Var_k the variance of the rows' terms within bag k."""
    sums, squares = np.zeros(len(sizes)), np.zeros(len(sizes))
    for report, bags in zip(reports, bags_of, strict=True):
        np.add.at(sums, bags, report.sums)
        np.add.at(squares, bags, report.squares)
    inside = np.maximum(squares - sums**2 / np.maximum(sizes, 1), 0.0)
    return float(np.sqrt(np.sum(inside * sizes / np.maximum(sizes - 1, 1))))
