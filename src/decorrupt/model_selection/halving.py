"""Successive comparison: all configurations on a sample of bags, the promising on more bags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from decorrupt.model_selection.averaging import result_weights
from decorrupt.model_selection.evaluation import Configuration, Evaluation
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import has_usable_folds
from decorrupt.model_selection.results import Result
from decorrupt.observed import Observed

# Rows of the first sample, which also has at least so many bags; each sample is 4 times as large.
FIRST_ROWS = 1024
FEWEST_BAGS = 40
GROWTH = 4
FEWEST_CONFIGURATIONS = 2
# A configuration with less than this part of an equal weight is not compared on more bags.
LEAST_SHARE = 0.1


def samples_of_bags(observed: Observed, random_state: Any) -> list[NDArray[np.intp]]:
    """Return the rows of growing, nested samples of whole bags, without the one of all bags.

    All rows are at least twice the largest sample; none if there are few bags or rows.
    """
    order = check_random_state(random_state).permutation(len(observed.ids))
    reached = np.cumsum(observed.sizes[order])
    n_rows = max(FIRST_ROWS, int(reached[min(FEWEST_BAGS, len(order)) - 1]))
    samples = []
    while 2 * n_rows <= reached[-1]:
        taken = np.zeros(len(order), dtype=bool)
        taken[order[: np.searchsorted(reached, n_rows) + 1]] = True
        samples.append(np.flatnonzero(taken[observed.row_bag]))
        n_rows *= GROWTH
    return samples


def evaluate_by_halving(
    configurations: Sequence[Configuration],
    data: FoldedData,
    compare: Callable[[Sequence[Configuration], FoldedData], Evaluation],
    random_state: Any,
) -> Evaluation:
    """Return the evaluation on all bags of the configurations that are left.

    `compared` also contains the configurations that a sample excluded, but not those for which
    there was no time.

    Parameters
    ----------
    configurations : sequence of Configuration
        All of them are compared on the first sample, the promising ones on each larger one.
    data : FoldedData
        All rows.
    compare : callable
        Evaluates configurations on data.
    random_state : int, RandomState or None
        Source of the samples.
    """
    left, excluded = list(configurations), []
    for rows in samples_of_bags(data.observed, random_state):
        sample = data.take(rows)
        if len(left) <= FEWEST_CONFIGURATIONS or not has_usable_folds(
            sample.observed, sample.folds
        ):
            break
        found = compare(left, sample)
        left = promising(found.compared, found.results, random_state)
        excluded += [one for one in found.compared if not any(one is other for other in left)]
    found = compare(left, data)
    return replace(found, compared=found.compared + excluded)


def promising(
    configurations: Sequence[Configuration], results: Sequence[Result], random_state: Any
) -> list[Configuration]:
    """Return the configurations that may be the best on all bags, the most probable first.

    Those remain whose weight, summed over λ, is at least LEAST_SHARE of an equal share: a sample
    with few bags leaves many, where a fixed number would be unstable. Criteria without weights
    leave the better half.
    """
    if all(result.by_bag is not None for result in results):
        values = _own_values(configurations, results, result_weights(results, random_state))
        ranks = np.array([sum(own) for own in values])
        n_kept = int((ranks >= LEAST_SHARE / len(configurations)).sum())
    else:
        values = _own_values(configurations, results, [result.score for result in results])
        ranks = np.array([max(own, default=-np.inf) for own in values])
        n_kept = (len(configurations) + 1) // 2
    order = np.argsort(-ranks, kind="stable")[: max(n_kept, FEWEST_CONFIGURATIONS)]
    return [configurations[place] for place in order]


def _own_values(
    configurations: Sequence[Configuration], results: Sequence[Result], values: Iterable[float]
) -> list[list[float]]:
    """Return the values of each configuration's results."""
    pairs = list(zip(results, values, strict=True))
    return [
        [
            value
            for result, value in pairs
            if result.method == one.method and one.params.items() <= result.params.items()
        ]
        for one in configurations
    ]
