"""Corrected risks over partitions: the same coefficients for all rows of a bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import RiskTerms
from decorrupt.distributed.classifier import Outcome, Problem, Work
from decorrupt.distributed.preparation import TermsRecipe, prepare_terms
from decorrupt.distributed.report import describe_class_fit, describe_fit, std_error
from decorrupt.estimators.diagnostics import describe_dropped, describe_overfitting, is_overfitted
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.risks.multiclass import ClassCorrectedRisk


def terms_partitions(work: Work, terms: Any, loss: MarginLoss, correction: str | None) -> list[Any]:
    """Return one task per block that makes its partition.

    Parameters
    ----------
    work : Work
        The blocks and their bags.
    terms : RiskTerms, or ndarray of shape (n_bags, n_classes)
        Coefficients per bag.
    loss : MarginLoss
        For two classes.
    correction : str or None
        With a risk correction the two class-wise sums are kept apart.
    """
    data, delayed = work.data, work.engine.dask.delayed
    recipes = [
        delayed(TermsRecipe(_of_bags(terms, bags), loss, correction is not None))
        for bags in data.bags_of
    ]
    # Sent once, not with every pass.
    recipes = work.engine.persist(recipes)
    prepare, codes_of = delayed(prepare_terms), data.codes_of
    pairs = zip(data.blocks.tasks, recipes, strict=True)
    return [prepare(block, codes_of, recipe) for block, recipe in pairs]


def _of_bags(terms: Any, bags: NDArray[np.intp]) -> Any:
    if isinstance(terms, RiskTerms):
        return RiskTerms(terms.coef_pos[bags], terms.coef_neg[bags])
    return terms[bags]


def refuse_unbounded_classes(local: Any, coef: FloatArray) -> None:
    """Raise ValueError if the risk of several classes has no minimum."""
    if local.reg_strength_ == 0 and (coef < 0).any():
        raise ValueError(
            "reg_strength=0: the corrected risk has negative coefficients and is unbounded "
            "below, so it has no minimum. Set reg_strength above 0"
        )


def finish_corrected(
    work: Work,
    local: Any,
    problem: Problem,
    outcome: Outcome,
    word: str | None,
) -> None:
    """Note a risk far below zero; set the diagnostics if there is a word for the strata."""
    table = work.data.table if problem.table is None else problem.table
    risk = float(sum(report.sums.sum() for report in outcome.reports))
    error = std_error(outcome.reports, work.data.bags_of, work.data.table.sizes)
    if problem.dropped and word is not None:
        local._note(DroppedBagsWarning, describe_dropped(problem.dropped, word))
    if problem.correction is None and is_overfitted(risk, error):
        advice = describe_overfitting(risk, error)
        is_corrigible = hasattr(local, "risk_correction") and isinstance(problem.terms, RiskTerms)
        local._note(NegativeRiskWarning, advice + ", or set risk_correction='abs'" * is_corrigible)
    if word is None:
        return
    if isinstance(problem.terms, RiskTerms):
        local.diagnostics_ = describe_fit(
            local,
            table,
            problem.terms,
            get_loss(local.loss),
            risk,
            error,
            outcome.result,
            problem.dropped,
            word,
        )
    else:
        is_convex = ClassCorrectedRisk(problem.terms).is_convex
        local.diagnostics_ = describe_class_fit(
            local, table, is_convex, risk, error, outcome.result, word
        )
