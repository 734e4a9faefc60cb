"""The published numbers of Scott & Zhang (2019), Tables 1 and 2.

Clayton Scott and Jianxin Zhang (2019). Learning from Multiple Corrupted Sources, with Application
to Learning from Label Proportions. Table 1 is balanced accuracy, Table 2 accuracy; each number is
the mean ± standard deviation of five repetitions.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

TABLES = Path(__file__).with_name("published.csv")
PUBLISHED_REPETITIONS = 5
# The tables by their metric, in the paper's order.
PUBLISHED_TABLES = {"balanced_accuracy": 1, "accuracy": 2}
# Published method → the name of our rerun of it in the records.
RERUNS = {
    "corrected_loss": "corrected_loss_published",
    "invcal": "invcal",
    "alternating_psvm": "alternating_psvm",
}


class Published(NamedTuple):
    """One published number.

    Attributes
    ----------
    mean, std : float
        As published. The standard deviation divides by n − 1: a single error in one of five test
        parts of banknote is published as .9993 ± .0016; dividing by n would give ± .0015.
    suspect : bool
        Whether its row is a copy of another data set's row.
    """

    mean: float
    std: float
    suspect: bool


PublishedKey = tuple[str, str, int, str]


@cache
def published_numbers() -> dict[PublishedKey, Published]:
    """Return both tables by (metric, data set, bag size, method).

    The metrics are those of :data:`PUBLISHED_TABLES`, the methods those of :data:`RERUNS`, the data
    sets those of :func:`reproduction.uci.read_uci`.

    Examples
    --------
    >>> published_numbers()["balanced_accuracy", "banknote", 64, "invcal"]
    Published(mean=0.9053, std=0.0369, suspect=False)
    """
    lines = TABLES.read_text(encoding="utf-8").splitlines()
    return dict(map(_entry, csv.DictReader(lines)))


def published_cells() -> list[tuple[str, int]]:
    """Return the 42 pairs (data set, bag size), in the paper's order."""
    return list(dict.fromkeys((dataset, size) for _, dataset, size, _ in published_numbers()))


def _entry(row: dict[str, Any]) -> tuple[PublishedKey, Published]:
    key = row["metric"], row["dataset"], int(row["bag_size"]), row["method"]
    return key, Published(float(row["mean"]), float(row["std"]), row["suspect"] == "1")
