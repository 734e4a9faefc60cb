"""Which configurations may be the best: those with a noticeable weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from decorrupt.model_selection.averaging import result_weights
from decorrupt.model_selection.evaluation import Configuration
from decorrupt.model_selection.results import Result

FEWEST_CONFIGURATIONS = 2
# A configuration with less than this part of an equal weight is not compared on more bags.
LEAST_SHARE = 0.5


def promising(
    configurations: Sequence[Configuration], results: Sequence[Result], random_state: Any
) -> list[Configuration]:
    """Return the configurations that may be the best on all bags, the most probable first.

    Those remain whose weight, summed over λ, is at least LEAST_SHARE of an equal share: a sample
    with few bags leaves many, where a fixed number would be unstable. Criteria without weights
    leave the better half.
    """
    if all(result.by_bag is not None for result in results):
        weights = result_weights(results, random_state)
        by_result = {id(result): weight for result, weight in zip(results, weights, strict=True)}
        ranks = np.array(
            [sum(by_result[id(own)] for own in own_results(one, results)) for one in configurations]
        )
        n_kept = int((ranks >= LEAST_SHARE / len(configurations)).sum())
    else:
        scores = [[own.score for own in own_results(one, results)] for one in configurations]
        ranks = np.array([max(own, default=-np.inf) for own in scores])
        n_kept = (len(configurations) + 1) // 2
    order = np.argsort(-ranks, kind="stable")[: max(n_kept, FEWEST_CONFIGURATIONS)]
    return [configurations[place] for place in order]


def own_results(one: Configuration, results: Sequence[Result]) -> list[Result]:
    """Return the results of a configuration, one per λ."""
    own = one.results_params()
    return [result for result in results if result.method == one.method and result.params in own]
