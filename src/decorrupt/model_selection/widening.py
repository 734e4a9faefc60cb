"""Smaller λ than those of the default grid, where its smallest is the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from decorrupt.model_selection.evaluation import Configuration, Evaluation
from decorrupt.model_selection.promising import own_results, promising

# A path goes so many steps beyond its grid at most.
MOST_STEPS = 3
STEP = 0.1
# The last λ has to improve the log-likelihood of all held-out bags by so many nats.
LEAST_GAIN = 1.0
# Only configurations with at least an equal share of the weight are continued.
LEAST_SHARE = 1.0

Compare = Callable[[Sequence[Configuration]], Evaluation]


def widen(found: Evaluation, compare: Compare, random_state: Any) -> Evaluation:
    """Return the evaluation with smaller λ of the heaviest configurations.

    While the smallest λ of one of them is clearly the best, a tenth of it is tried.

    Parameters
    ----------
    found : Evaluation
        All configurations on some data.
    compare : callable
        Evaluates more configurations on the same data.
    random_state : int, RandomState or None
        Seed of the weights.
    """
    for _ in range(MOST_STEPS):
        heavy = promising(found.compared, found.results, random_state, LEAST_SHARE)
        new = [
            replace(one, reg_strengths=(STEP * min(one.reg_strengths),))
            for one in heavy
            if one.reg_strengths and one.has_open_path and _smallest_is_best(one, found)
        ]
        if not new:
            break
        found = _joined(found, compare(new))
    return found


def _smallest_is_best(one: Configuration, found: Evaluation) -> bool:
    """Return whether the smallest λ explains the held-out bags clearly better than all others."""
    nats = {
        result.params["reg_strength"]: float(result.by_bag @ result.bag_sizes)
        for result in own_results(one, found.results)
        if result.by_bag is not None  # neither failed nor scored by another criterion
    }
    if len(nats) < len(one.reg_strengths or ()):
        return False
    last = nats.pop(min(nats))
    return bool(nats) and last >= max(nats.values()) + LEAST_GAIN


def _joined(found: Evaluation, more: Evaluation) -> Evaluation:
    """Return both evaluations; a further λ becomes part of the path that it continues."""
    further = {
        id(one): new.reg_strengths or ()
        for one in found.compared
        for new in more.compared
        if (one.method, one.params) == (new.method, new.params)
    }
    compared = [
        replace(one, reg_strengths=(*(one.reg_strengths or ()), *further[id(one)]))
        if id(one) in further
        else one
        for one in found.compared
    ]
    return Evaluation(found.results + more.results, compared, found.notices + more.notices)
