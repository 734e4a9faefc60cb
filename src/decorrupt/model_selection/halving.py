"""Successive halving: many configurations on a sample of bags, the better half on more bags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from decorrupt.corruption import Strata
from decorrupt.model_selection.evaluation import Configuration, Evaluation
from decorrupt.model_selection.folds import has_usable_folds
from decorrupt.model_selection.out_of_fold import TrainingData
from decorrupt.model_selection.results import Result

# Rows of the first sample, which also has at least so many bags; each sample is 4 times as large.
FIRST_ROWS = 1024
FEWEST_BAGS = 40
GROWTH = 4
# Fewer configurations are not halved.
FEWEST_CONFIGURATIONS = 2


def samples_of_bags(strata: Strata, random_state: Any) -> list[NDArray[np.intp]]:
    """Return the rows of growing, nested samples of whole bags, without the one of all bags.

    All rows are at least twice the largest sample; none if there are few bags or rows.
    """
    order = check_random_state(random_state).permutation(len(strata.ids))
    reached = np.cumsum(strata.sizes[order])
    n_rows = max(FIRST_ROWS, int(reached[min(FEWEST_BAGS, len(order)) - 1]))
    samples = []
    while 2 * n_rows <= reached[-1]:
        taken = np.zeros(len(order), dtype=bool)
        taken[order[: np.searchsorted(reached, n_rows) + 1]] = True
        samples.append(np.flatnonzero(taken[strata.row_stratum]))
        n_rows *= GROWTH
    return samples


def evaluate_by_halving(
    configurations: Sequence[Configuration],
    data: TrainingData,
    compare: Callable[[Sequence[Configuration], TrainingData], Evaluation],
    random_state: Any,
) -> Evaluation:
    """Return the evaluation on all bags of the configurations that are left.

    Parameters
    ----------
    configurations : sequence of Configuration
        All of them are compared on the first sample, half of them on each larger one.
    data : TrainingData
        All rows.
    compare : callable
        Evaluates configurations on data.
    random_state : int, RandomState or None
        Source of the samples.
    """
    left = list(configurations)
    for rows in samples_of_bags(data.strata, random_state):
        sample = data.take(rows)
        if len(left) <= FEWEST_CONFIGURATIONS or not has_usable_folds(sample.strata, sample.folds):
            break
        left = better_half(left, compare(left, sample).results)
    return compare(left, data)


def better_half(
    configurations: Sequence[Configuration], results: Sequence[Result]
) -> list[Configuration]:
    """Return the half with the better scores, each at its best λ, the best first."""

    def score(one: Configuration) -> float:
        own = (
            r.score
            for r in results
            if r.method == one.method and one.params.items() <= r.params.items()
        )
        return max(own, default=-np.inf)

    n_kept = max(FEWEST_CONFIGURATIONS, (len(configurations) + 1) // 2)
    return sorted(configurations, key=score, reverse=True)[:n_kept]
