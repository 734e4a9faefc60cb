"""Every method against every other over the cells: wins, ties, losses, ranks and paired tests."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from decorrupt.reproduction.published import published_numbers
from decorrupt.reproduction.records import Record
from decorrupt.reproduction.report.columns import Column
from decorrupt.reproduction.report.spread import CellKey, Scores, scores_by_method
from decorrupt.reproduction.report.tables import verdict

# Fewer pairs than this cannot give a two-sided p below .05 whatever they are.
FEWEST_PAIRS = 6
LEAST_RANKED = 3
# Differences are rounded here, so that equal numbers added in another order still tie.
DECIMALS = 9
# A printed number stands for all repetitions.
PRINTED = -1


def compare(records: Sequence[Record], metric: str, columns: Sequence[Column]) -> dict[str, Any]:
    """Return pairwise results and ranks as plain values.

    Paired are cells. In a cell, two methods of ours are compared over the repetitions that both
    have, which are the same splits and bags; a printed mean is compared with the mean of all ours.
    """
    scores = scores_by_method(records, metric) | _printed_scores(metric)
    present = [column for column in columns if scores.get(column.key)]
    pairs = [_pair(one.key, other.key, scores) for one, other in combinations(present, 2)]
    tested = [pair for pair in pairs if pair["p"] is not None]
    for pair, corrected in zip(tested, holm([pair["p"] for pair in tested]), strict=True):
        pair["p_holm"] = corrected
    ranked = [column.key for column in present if not column.sees_labels]
    return {"pairs": pairs, "n_tests": len(tested), "ranks": _ranks(ranked, scores)}


def _printed_scores(metric: str) -> dict[str, Scores]:
    found: dict[str, Scores] = {}
    for (table, dataset, size, method), number in published_numbers().items():
        if table == metric:
            by_cell = found.setdefault(f"published:{method}", {})
            by_cell[dataset, size] = {PRINTED: number.mean}
    return found


def _pair(one: str, other: str, scores: Mapping[str, Scores]) -> dict[str, Any]:
    cells = scores[one].keys() & scores[other].keys()
    differences = [
        difference
        for cell in sorted(cells)
        if (difference := _difference(scores[one][cell], scores[other][cell])) is not None
    ]
    verdicts = [verdict(difference) for difference in differences]
    return {
        "one": one,
        "other": other,
        "n_cells": len(differences),
        "wins": verdicts.count("better"),
        "ties": verdicts.count("same"),
        "losses": verdicts.count("worse"),
        "mean_difference": statistics.fmean(differences) if differences else None,
        "p": wilcoxon_p(differences),
        "p_holm": None,
    }


def _difference(one: Mapping[int, float], other: Mapping[int, float]) -> float | None:
    if PRINTED in one or PRINTED in other:
        return _rounded(statistics.fmean(one.values()) - statistics.fmean(other.values()))
    shared = one.keys() & other.keys()
    return _rounded(statistics.fmean(one[k] - other[k] for k in shared)) if shared else None


def _rounded(value: float) -> float:
    return round(value, DECIMALS)


def wilcoxon_p(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of the signed-rank test, zeros ranked but not counted (Pratt)."""
    if len(differences) < FEWEST_PAIRS:
        return None
    if not any(differences):
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="pratt", method="approx").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return max over earlier ranks j ≤ k of (m − j + 1)·p₍ⱼ₎, at most 1, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = largest
    return corrected


def _ranks(keys: Sequence[str], scores: Mapping[str, Scores]) -> dict[str, Any]:
    """Return average ranks (1 is best) and Friedman's test over the cells all ranked have."""
    own = [scores[key].keys() for key in keys if PRINTED not in next(iter(scores[key].values()))]
    cells = sorted(set().union(*own)) if own else []
    ranked = [key for key in keys if all(cell in scores[key] for cell in cells)]
    rows = [row for cell in cells if (row := _shared_means(ranked, cell, scores))]
    left_out = [key for key in keys if key not in ranked]
    if len(ranked) < LEAST_RANKED or len(rows) < 2:
        return {
            "n_cells": len(rows),
            "average": {},
            "left_out": left_out,
            "statistic": None,
            "p": None,
        }
    values = np.round(rows, DECIMALS)
    average = stats.rankdata(-values, axis=1).mean(axis=0)
    test = stats.friedmanchisquare(*values.T)
    sound = math.isfinite(test.pvalue)
    return {
        "n_cells": len(rows),
        "average": dict(zip(ranked, map(float, average), strict=True)),
        "left_out": left_out,
        "statistic": float(test.statistic) if sound else None,
        "p": float(test.pvalue) if sound else None,
    }


def _shared_means(
    keys: Sequence[str], cell: CellKey, scores: Mapping[str, Scores]
) -> list[float] | None:
    """Return the methods' means in a cell over the repetitions that all of ours have."""
    own = [scores[key][cell].keys() for key in keys if PRINTED not in scores[key][cell]]
    shared = set.intersection(*map(set, own)) if own else set()
    if own and not shared:
        return None
    return [
        statistics.fmean(v for k, v in scores[key][cell].items() if k in shared or k == PRINTED)
        for key in keys
    ]
