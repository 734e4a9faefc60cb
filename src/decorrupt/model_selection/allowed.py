"""The methods whose assumptions the bags do not contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone

from decorrupt.assumptions import AssumptionReport
from decorrupt.estimators import needs_common_classes
from decorrupt.exceptions import BagAssumptionWarning, warn
from decorrupt.model_selection.candidates import Candidate
from decorrupt.model_selection.scorers import BagScorer


@dataclass(frozen=True)
class AllowedMethods:
    """Candidates to compare, why others are left out, and what the user should know.

    Attributes
    ----------
    candidates : list of Candidate
        Those whose assumptions are not rejected; count likelihood with a bag effect if P(y|x)
        differs between bags.
    notes : list of str
        Lines for the leaderboard.
    """

    candidates: list[Candidate]
    notes: list[str] = field(default_factory=list)


def allowed_methods(
    candidates: Sequence[Candidate], report: AssumptionReport | None, scorer: BagScorer
) -> AllowedMethods:
    """Return the candidates whose assumptions are not rejected; all if none would remain.

    Parameters
    ----------
    candidates : sequence of Candidate
        All candidates.
    report : AssumptionReport or None
        The tests; None: not tested.
    scorer : BagScorer
        The criterion, which can need an assumption as well.
    """
    if report is None:
        return AllowedMethods(list(candidates))
    classes, counts = report.common_classes_rejected, report.common_probabilities_rejected
    notes = [_tested("A. common class distributions", classes)]
    notes.append(_tested("B. common P(y|x)", counts))
    kept = [
        _with_bag_effect(one, report.bag_effect) if counts else one
        for one in candidates
        if not (classes and needs_common_classes(one.estimator))
        and not (counts and _needs_common_probabilities(one.estimator))
    ]
    left_out = [one.name for one in candidates if one.name not in {k.name for k in kept}]
    if not kept:
        _warn(
            f"the bags do not satisfy what {', '.join(left_out)} assume, and there are no other "
            "candidates: the results can be wrong. decorrupt.check_assumptions shows the details; "
            "add 'count_likelihood' to the candidates"
        )
        return AllowedMethods(list(candidates), notes)
    if left_out:
        notes.append(f"not compared, because they need what is rejected: {', '.join(left_out)}")
    if classes and counts:
        _warn_of_neither(report)
    if classes and scorer.needs_spread:
        _warn(
            f"scoring={scorer.name!r} assumes that the rows of a class look the same in every bag, "
            "which is rejected: use scoring='count_log_likelihood'"
        )
    return AllowedMethods(kept, notes)


def counting_methods(candidates: Sequence[Candidate]) -> AllowedMethods:
    """Return the candidates that model counts, so that ranges and noisy counts can be used.

    Raises
    ------
    ValueError
        If there are none.
    """
    kept = [one for one in candidates if "count_noise" in one.estimator.get_params(deep=False)]
    left_out = [one.name for one in candidates if one not in kept]
    if not kept:
        raise ValueError(
            f"{', '.join(left_out)} cannot use ranges and noisy counts: choose count_likelihood "
            "or em"
        )
    note = f"not compared, because they need exact counts: {', '.join(left_out)}"
    return AllowedMethods(kept, [note] if left_out else [])


def _tested(name: str, rejected: bool | None) -> str:
    words = {None: "cannot be tested", True: "rejected", False: "not rejected"}
    return f"{name}: {words[rejected]}"


def _takes_bag_effect(estimator: Any) -> bool:
    return "bag_effect" in estimator.get_params()


def _needs_common_probabilities(estimator: Any) -> bool:
    needs = getattr(estimator, "needs_common_probabilities", False)
    return bool(needs) and not _takes_bag_effect(estimator)


def _with_bag_effect(candidate: Candidate, effect: float) -> Candidate:
    """Return count likelihood with the effect estimated on held-out bags.

    On its training bags a flexible model explains every count, and leaves nothing to an effect.
    """
    if not _takes_bag_effect(candidate.estimator) or candidate.estimator.bag_effect:
        return candidate
    return replace(candidate, estimator=clone(candidate.estimator).set_params(bag_effect=effect))


def _warn_of_neither(report: AssumptionReport) -> None:
    effect = report.bag_effect
    columns = ", ".join(column.column for column in report.violating_columns[:3])
    _warn(
        "the bags satisfy neither assumption: the rows of a class differ between bags (most in "
        f"{columns}), and the bags' shares differ by about {effect:.2g} (standard deviation) more "
        "than their rows explain. Only count likelihood with a bag effect is used: its "
        "probabilities are those of an average bag, and the share of a new bag can differ from "
        f"them by about ±{2 * effect:.2g}"
    )


def _warn(message: str) -> None:
    warn(message, BagAssumptionWarning)
