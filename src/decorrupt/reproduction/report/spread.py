"""Means and standard deviations over repetitions, and the distance between two means."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import NamedTuple

from decorrupt.reproduction.records import DONE, Record

CellKey = tuple[str, int]  # data set, bag size
# The values of one method by cell and repetition.
Scores = dict[CellKey, dict[int, float]]


class Spread(NamedTuple):
    """Mean, sample standard deviation (None for a single value) and number of values."""

    mean: float
    std: float | None
    n: int


def spread(values: Iterable[float]) -> Spread:
    """Return mean, standard deviation (with n − 1, as in the paper's tables) and number.

    Examples
    --------
    >>> spread([0.5, 1.0])
    Spread(mean=0.75, std=0.3535533905932738, n=2)
    """
    found = list(values)
    deviation = statistics.stdev(found) if len(found) > 1 else None
    return Spread(statistics.fmean(found), deviation, len(found))


def scores_by_method(records: Iterable[Record], metric: str) -> dict[str, Scores]:
    """Return the metric of all finished runs by method, cell and repetition."""
    found: dict[str, Scores] = {}
    for record in records:
        if record["status"] == DONE:
            cell = record["dataset"], record["bag_size"]
            by_cell = found.setdefault(record["method"], {})
            by_cell.setdefault(cell, {})[record["repetition"]] = float(record[metric])
    return found


def pooled_deviations(one: Spread, other: Spread) -> float | None:
    """Return (mean₁ − mean₂) / √[((n₁−1)s₁² + (n₂−1)s₂²) / (n₁+n₂−2)], None for x/0.

    For a single value, the standard deviation of the other side is used.
    """
    difference = one.mean - other.mean
    freedom = one.n + other.n - 2
    squares = sum((side.n - 1) * (side.std or 0.0) ** 2 for side in (one, other))
    if freedom > 0 and squares > 0:
        return difference / math.sqrt(squares / freedom)
    return 0.0 if math.isclose(difference, 0.0, abs_tol=5e-5) else None  # published with 4 decimals
