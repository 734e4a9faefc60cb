"""Pairwise comparison of the methods over the cells: wins, ranks and paired tests."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from reproduction.published import published_numbers
from reproduction.records import Record
from reproduction.report.columns import Column
from reproduction.report.tables import CellKey, Scores, scores_by_method, verdict

# With fewer pairs, no two-sided p can be below .05.
FEWEST_PAIRS = 6
LEAST_RANKED = 3
# Differences are rounded to this, so that sums in another order still tie.
DECIMALS = 9
# The "repetition" of a published mean.
PUBLISHED = -1


def compare(records: Sequence[Record], metric: str, columns: Sequence[Column]) -> dict[str, Any]:
    """Return pairwise results and ranks as plain values.

    The pairs of the tests are cells. Within a cell, two methods run by us are compared over the
    repetitions that both have (the same splits and bags); a published mean is compared with the
    mean over all our repetitions.
    """
    scores = scores_by_method(records, metric) | _published_scores(metric)
    present = [column for column in columns if scores.get(column.key)]
    pairs = [_pair(one.key, other.key, scores) for one, other in combinations(present, 2)]
    tested = [pair for pair in pairs if pair["p"] is not None]
    for pair, corrected in zip(tested, holm([pair["p"] for pair in tested]), strict=True):
        pair["p_holm"] = corrected
    ranked = [column.key for column in present if not column.sees_labels]
    return {"pairs": pairs, "n_tests": len(tested), "ranks": _ranks(ranked, scores)}


def _published_scores(metric: str) -> dict[str, Scores]:
    found: dict[str, Scores] = {}
    for (table, dataset, size, method), number in published_numbers().items():
        if table == metric:
            by_cell = found.setdefault(f"published:{method}", {})
            by_cell[dataset, size] = {PUBLISHED: number.mean}
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
    if PUBLISHED in one or PUBLISHED in other:
        return round(statistics.fmean(one.values()) - statistics.fmean(other.values()), DECIMALS)
    shared = one.keys() & other.keys()
    return round(statistics.fmean(one[k] - other[k] for k in shared), DECIMALS) if shared else None


def wilcoxon_p(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of Wilcoxon's signed-rank test; zeros as Pratt proposed."""
    if len(differences) < FEWEST_PAIRS:
        return None
    if not any(differences):
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="pratt", method="approx").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p: max over ranks j ≤ k of (m − j + 1)·p₍ⱼ₎, at most 1.

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
    """Return average ranks (1 is best) and Friedman's test over the cells of our runs.

    A method without one of these cells is left out.
    """
    own = [scores[key].keys() for key in keys if PUBLISHED not in next(iter(scores[key].values()))]
    cells = sorted(set().union(*own)) if own else []
    ranked = [key for key in keys if all(cell in scores[key] for cell in cells)]
    rows = [row for cell in cells if (row := _shared_means(ranked, cell, scores))]
    average: dict[str, float] = {}
    statistic = p = None
    if len(ranked) >= LEAST_RANKED and len(rows) >= 2:
        values = np.round(rows, DECIMALS)
        ranks = stats.rankdata(-values, axis=1).mean(axis=0)
        average = dict(zip(ranked, map(float, ranks), strict=True))
        test = stats.friedmanchisquare(*values.T)
        if math.isfinite(test.pvalue):
            statistic, p = float(test.statistic), float(test.pvalue)
    left_out = [key for key in keys if key not in ranked]
    return {
        "n_cells": len(rows),
        "average": average,
        "left_out": left_out,
        "statistic": statistic,
        "p": p,
    }


def _shared_means(
    keys: Sequence[str], cell: CellKey, scores: Mapping[str, Scores]
) -> list[float] | None:
    """Return the methods' means in a cell, over the repetitions that all our methods have."""
    own = [scores[key][cell].keys() for key in keys if PUBLISHED not in scores[key][cell]]
    shared = set.intersection(*map(set, own)) if own else set()
    if own and not shared:
        return None
    return [
        statistics.fmean(v for k, v in scores[key][cell].items() if k in shared or k == PUBLISHED)
        for key in keys
    ]
