"""Agreement of our reruns of the three published methods with the published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decorrupt.reproduction.published import RERUNS
from decorrupt.reproduction.report.spread import Spread, pooled_deviations

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
