"""Whether our runs of the three published methods give the published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decorrupt.reproduction.published import RERUNS
from decorrupt.reproduction.report.spread import Spread, pooled_deviations

# Apart by more pooled standard deviations than this is called a deviation.
LIMIT = 2.0


def agreement(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by method and cell, the distance from the printed number in pooled deviations.

    `pooled` is None where both deviations are 0 and the means differ: a deviation as well.
    """
    cells = [
        _cell(row, method, rerun)
        for method, rerun in RERUNS.items()
        for row in table["rows"]
        if rerun in row["values"] and f"published:{method}" in row["values"]
    ]
    methods = {
        rerun: _counts([c for c in cells if c["method"] == rerun]) for rerun in RERUNS.values()
    }
    return {"limit": LIMIT, "methods": methods, "cells": cells}


def _cell(row: Mapping[str, Any], method: str, rerun: str) -> dict[str, Any]:
    printed, ours = row["values"][f"published:{method}"], row["values"][rerun]
    pooled = pooled_deviations(_spread(ours), _spread(printed))
    return {
        "method": rerun,
        "dataset": row["dataset"],
        "bag_size": row["bag_size"],
        "ours": ours["mean"],
        "published": printed["mean"],
        "difference": ours["mean"] - printed["mean"],
        "pooled": pooled,
        "deviates": pooled is None or abs(pooled) > LIMIT,
        "suspect": printed["suspect"],
        "n": ours["n"],
    }


def _spread(value: Mapping[str, Any]) -> Spread:
    return Spread(value["mean"], value["std"], value["n"])


def _counts(cells: list[dict[str, Any]]) -> dict[str, int]:
    deviating = [cell for cell in cells if cell["deviates"]]
    return {
        "n_cells": len(cells),
        "n_deviating": len(deviating),
        "n_above": sum(cell["difference"] > 0 for cell in deviating),
        "n_suspect_deviating": sum(cell["suspect"] for cell in deviating),
    }
