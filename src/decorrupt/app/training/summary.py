"""What bags and sources can tell, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt.app.training.results import BagSummary, SourceSummary, plain, spread
from decorrupt.corruption import Strata
from decorrupt.noise_rates import NoiseRateEstimate
from decorrupt.theory import information, required_rows


def summarize_bags(strata: Strata) -> BagSummary:
    """Return sizes, proportions and V = Σ n_k(γ_k−γ̄)² of bags."""
    told = information(strata.sizes, strata.proportions)
    return BagSummary(
        n_rows=int(told.n_rows),
        n_bags=len(strata.ids),
        sizes=spread(strata.sizes),
        proportions=spread(strata.proportions),
        pooled_proportion=told.pooled_proportion,
        information=told.total,
        effective_sample_size=told.effective_sample_size,
        efficiency=told.efficiency,
    )


def warn_of_bag_columns(frame: pd.DataFrame, names: Sequence[str], strata: Strata) -> list[str]:
    """Return a warning if columns are the same in all rows of every bag, as their counts are."""
    if strata.sizes.max() == 1:
        return []
    by_bag = frame[list(names)].groupby(strata.row_stratum).nunique(dropna=False)
    telling = [repr(name) for name in names if by_bag[name].max() == 1]
    if not telling:
        return []
    return [
        f"columns that are the same in all rows of a bag: {', '.join(telling)}; they name the bag "
        "and tell nothing of a row: leave them out by --drop"
    ]


def summarize_sources(
    sources: NDArray[Any],
    is_pos: NDArray[np.bool_],
    rates: dict[str, tuple[float, float]],
    prior: float,
    weights: dict[Any, float] | None = None,
    estimate: NoiseRateEstimate | None = None,
) -> SourceSummary:
    """Return rows, rates and weight of every source, and what all are worth in clean rows."""
    intervals = {} if estimate is None else estimate.intervals
    rows = []
    for source, (flip_pos, flip_neg) in rates.items():
        own = sources == source
        row = {
            "source": source,
            "n_rows": own.sum(),
            "n_labelled_positive": is_pos[own].sum(),
            "flip_pos": flip_pos,
            "flip_neg": flip_neg,
            "weight": None if weights is None else weights[source],
        }
        for name, ends in intervals.get(source, {}).items():
            row[f"{name}_interval"] = list(ends)
        rows.append(row)
    flips = np.array(list(rates.values()), dtype=float)
    sizes = [row["n_rows"] for row in rows]
    return SourceSummary(
        n_rows=len(sources),
        class_prior=prior,
        effective_sample_size=_worth(sizes, flips),
        sources=plain(rows),
        left_out="" if estimate is None else estimate.left_out,
    )


def _worth(sizes: list[Any], flips: Any) -> float:
    """Return the clean rows whose bound (Theorem 2) these sources reach at optimal weights."""
    for_one = required_rows(
        1.0,
        quantity="effective_sample_size",
        flip_pos=flips[:, 0],
        flip_neg=flips[:, 1],
        sizes=sizes,
    )
    return float(1 / for_one.factor)
