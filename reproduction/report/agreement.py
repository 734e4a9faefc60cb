"""Agreement of our reruns of the three published methods with the published numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from reproduction.published import RERUNS
from reproduction.report.tables import Spread

# A larger distance, in pooled standard deviations, is called a deviation.
LIMIT = 2.0


def agreement(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the distance from the published number per method and cell, and counts per method.

    `pooled` is None if both standard deviations are 0 and the means differ: also a deviation.
    """
    cells = [
        _cell(row, rerun, row["values"][f"published:{method}"])
        for method, rerun in RERUNS.items()
        for row in table["rows"]
        if rerun in row["values"] and f"published:{method}" in row["values"]
    ]
    methods = {
        rerun: _counts([cell for cell in cells if cell["method"] == rerun])
        for rerun in RERUNS.values()
    }
    return {"limit": LIMIT, "methods": methods, "cells": cells}


def _cell(row: Mapping[str, Any], rerun: str, published: Mapping[str, Any]) -> dict[str, Any]:
    ours = row["values"][rerun]
    pooled = pooled_deviations(*(Spread(v["mean"], v["std"], v["n"]) for v in (ours, published)))
    return {
        "method": rerun,
        "dataset": row["dataset"],
        "bag_size": row["bag_size"],
        "ours": ours["mean"],
        "published": published["mean"],
        "difference": ours["mean"] - published["mean"],
        "pooled": pooled,
        "deviates": pooled is None or abs(pooled) > LIMIT,
        "suspect": published["suspect"],
        "n": ours["n"],
    }


def _counts(cells: list[dict[str, Any]]) -> dict[str, int]:
    deviating = [cell for cell in cells if cell["deviates"]]
    return {
        "n_cells": len(cells),
        "n_deviating": len(deviating),
        "n_above": sum(cell["difference"] > 0 for cell in deviating),
        "n_suspect_deviating": sum(cell["suspect"] for cell in deviating),
    }


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
