"""Corrected risks over partitions: the same coefficients for all rows of a bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import ClassCombination, Combination, RiskTerms
from decorrupt.corruption.strata import BagTable
from decorrupt.distributed.classifier import Outcome, Problem, Work
from decorrupt.distributed.preparation import corrected_risk, prepare_terms
from decorrupt.distributed.report import std_error
from decorrupt.estimators.diagnostics import describe_dropped, describe_overfitting, is_overfitted
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.multiclass import ClassCorrectedRisk


def bag_coef(combination: Combination | ClassCombination, table: BagTable) -> FloatArray:
    """Return the coefficients of each bag's rows, see :func:`corrected_risk`."""
    if isinstance(combination, ClassCombination):
        return combination.row_coef(table)
    return as_columns(combination.row_terms(table))


def as_columns(terms: RiskTerms) -> FloatArray:
    """Return coef_pos and coef_neg as columns."""
    return np.column_stack([terms.coef_pos, terms.coef_neg])


def effective_sample_size(coef: FloatArray, sizes: NDArray[np.intp]) -> float:
    """Return how many labelled rows the risk with these coefficients per bag is worth."""
    is_binary = coef.shape[1] == 2
    risk: Any = RiskTerms(*coef.T) if is_binary else ClassCorrectedRisk(coef)
    return float(1 / (sizes @ risk.row_noise))


def refuse_unbounded(local: Any, coef: FloatArray) -> None:
    """Raise ValueError if the risk has no minimum."""
    loss = get_loss(local.loss)
    risk = corrected_risk(coef, loss)
    if isinstance(risk, ClassCorrectedRisk):
        local._refuse_unbounded_classes(risk)
    else:
        local._refuse_unbounded(risk.terms, loss)


def corrected_partitions(
    work: Work, coef: FloatArray, loss: MarginLoss, correction: str | None = None
) -> list[Any]:
    """Return one task per block that makes its partition.

    Parameters
    ----------
    work : Work
        The blocks and their bags.
    coef : ndarray of shape (n_bags, n_classes)
        The coefficients of each bag's rows.
    loss : MarginLoss
        For two classes.
    correction : str or None
        With a risk correction the two class-wise sums are kept apart.
    """
    data, delayed = work.data, work.engine.dask.delayed
    # Sent once, not with every pass.
    coefs = work.engine.persist([delayed(coef[bags]) for bags in data.bags_of])
    prepare, is_split = delayed(prepare_terms), correction is not None
    return [
        prepare(block, data.codes_of, own, loss, is_split)
        for block, own in zip(data.blocks.tasks, coefs, strict=True)
    ]


def finish_corrected(
    work: Work, local: Any, problem: Problem, outcome: Outcome, word: str | None
) -> None:
    """Note a risk far below zero; set the diagnostics if there is a word for the strata."""
    table = work.data.table if problem.table is None else problem.table
    value = float(sum(report.sums.sum() for report in outcome.reports))
    error = std_error(outcome.reports, work.data.bags_of, work.data.table.sizes)
    risk = corrected_risk(problem.coef, get_loss(getattr(local, "loss", "logistic")))
    is_binary = isinstance(risk, CorrectedRisk)
    if problem.dropped and word is not None:
        local._note(DroppedBagsWarning, describe_dropped(problem.dropped, word))
    if problem.correction is None and is_overfitted(value, error):
        advice = describe_overfitting(value, error)
        is_corrigible = hasattr(local, "risk_correction") and is_binary
        local._note(NegativeRiskWarning, advice + ", or set risk_correction='abs'" * is_corrigible)
    if word is None:
        return
    if not isinstance(risk, CorrectedRisk):
        local._describe_classes(table, risk, value, error, outcome.result, word)
        return
    local._describe(
        table,
        _describe_risk(problem.coef, risk, table.sizes)
        | {"training_risk": value, "risk_std_error": error},
        outcome.result,
        word,
        dropped=problem.dropped,
        bound=float("nan"),
        convexity_floor=0.0 if risk.is_convex else float("inf"),
    )


def _describe_risk(
    coef: FloatArray, risk: CorrectedRisk, sizes: NDArray[np.intp]
) -> dict[str, Any]:
    """Return what the diagnostics need of a risk with one entry per bag."""
    return {
        "effective_sample_size": effective_sample_size(coef, sizes),
        "is_convex": risk.is_convex,
        "risk_at_zero": risk.loss.at_zero * float(sizes @ coef.sum(axis=1)),
    }
