"""Successive comparison: all configurations on a sample of bags, the promising on more bags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from decorrupt.model_selection.evaluation import Configuration
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import has_usable_folds
from decorrupt.model_selection.promising import FEWEST_CONFIGURATIONS, promising
from decorrupt.model_selection.results import Result
from decorrupt.observed import Observed

# Rows of the first sample, which also has at least so many bags; each sample is 4 times as large.
FIRST_ROWS = 1024
FEWEST_BAGS = 40
GROWTH = 4


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
    compare: Callable[[Sequence[Configuration], FoldedData], list[Result]],
    random_state: Any,
) -> list[Result]:
    """Return the results on all bags of the configurations that are left.

    Parameters
    ----------
    configurations : sequence of Configuration
        All of them are compared on the first sample, the promising ones on each larger sample.
    data : FoldedData
        All rows.
    compare : callable
        Evaluates configurations on data.
    random_state : int, RandomState or None
        Source of the samples.
    """
    left = list(configurations)
    for rows in samples_of_bags(data.observed, random_state):
        sample = data.take(rows)
        if len(left) <= FEWEST_CONFIGURATIONS or not has_usable_folds(
            sample.observed, sample.folds
        ):
            break
        left = promising(left, compare(left, sample), random_state)
    return compare(left, data)
