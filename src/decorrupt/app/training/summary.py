"""Summaries of bags and sources: sizes, proportions, rates and information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt.app.training.results import (
    BagSummary,
    ClassSummary,
    SourceRow,
    SourceSummary,
    plain,
    spread,
)
from decorrupt.corruption import Strata
from decorrupt.noise_rates import NoiseRateEstimate
from decorrupt.theory import class_information, information, required_rows

# Classes are hard to distinguish if they have at least this share of the largest coordinate of the
# direction about which the bags have the least information.
HARD_SHARE = 0.5


def summarize_bags(strata: Strata, classes: Sequence[str] = ()) -> BagSummary:
    """Return sizes, proportions and V = Σ n_k(γ_k−γ̄)² of bags; `classes` if there are several."""
    if strata.n_classes is not None:
        return _summarize_classes(strata, classes)
    found = information(strata.sizes, strata.proportions)
    return BagSummary(
        n_rows=int(found.n_rows),
        n_bags=len(strata.ids),
        sizes=spread(strata.sizes),
        proportions=spread(strata.proportions),
        pooled_proportion=found.pooled_proportion,
        information=found.total,
        effective_sample_size=found.effective_sample_size,
        efficiency=found.efficiency,
    )


def _summarize_classes(strata: Strata, classes: Sequence[str]) -> BagSummary:
    """Return sizes, shares of the classes and the spectrum of ΓᵀNΓ."""
    sizes, shares = strata.sizes, strata.proportions
    found = class_information(sizes, shares, classes=classes)
    weight = np.abs(found.direction)
    rows = zip(classes, shares.T, found.rows_by_class.tolist(), strict=True)
    n_rows, worth = int(sizes.sum()), float(found.rows_by_class.sum())
    return BagSummary(
        n_rows=n_rows,
        n_bags=len(strata.ids),
        sizes=spread(sizes),
        classes=[
            ClassSummary(
                name=name,
                pooled_proportion=float(np.average(own, weights=sizes)),
                proportions=spread(own),
                effective_rows=effective_rows,
            )
            for name, own, effective_rows in rows
        ],
        hardest_classes=[
            name
            for name, own in zip(classes, weight.tolist(), strict=True)
            if own >= HARD_SHARE * weight.max()
        ],
        condition_number=found.condition_number,
        information=found.total,
        effective_sample_size=worth,
        efficiency=worth / n_rows,
    )


def warn_of_bag_columns(frame: pd.DataFrame, names: Sequence[str], strata: Strata) -> list[str]:
    """Return a warning if columns are the same in all rows of every bag."""
    if strata.sizes.max() == 1:
        return []
    by_bag = frame[list(names)].groupby(strata.row_stratum).nunique(dropna=False)
    constant = [repr(name) for name in names if by_bag[name].max() == 1]
    if not constant:
        return []
    return [
        f"columns that are the same in all rows of a bag: {', '.join(constant)}; they identify the "
        "bag and do not distinguish its rows: leave them out with --drop"
    ]


def summarize_sources(
    sources: NDArray[Any],
    is_pos: NDArray[np.bool_],
    rates: dict[str, tuple[float, float]],
    prior: float,
    weights: dict[Any, float] | None = None,
    estimate: NoiseRateEstimate | None = None,
) -> SourceSummary:
    """Return rows, rates and weight of every source, and their effective sample size."""
    intervals = {} if estimate is None else estimate.intervals
    rows: list[SourceRow] = []
    for source, (flip_pos, flip_neg) in rates.items():
        own = sources == source
        row = SourceRow(
            source=source,
            n_rows=int(own.sum()),
            n_labelled_positive=int(is_pos[own].sum()),
            flip_pos=plain(flip_pos),
            flip_neg=plain(flip_neg),
            weight=None if weights is None else plain(weights[source]),
        )
        if source in intervals:
            row["flip_pos_interval"] = plain(intervals[source]["flip_pos"])
            row["flip_neg_interval"] = plain(intervals[source]["flip_neg"])
        rows.append(row)
    flips = np.array(list(rates.values()), dtype=float)
    sizes = [row["n_rows"] for row in rows]
    return SourceSummary(
        n_rows=len(sources),
        class_prior=prior,
        effective_sample_size=_worth(sizes, flips),
        sources=rows,
        left_out="" if estimate is None else estimate.left_out,
    )


def _worth(sizes: list[int], flips: Any) -> float:
    """Return the number of clean rows with the same bound (Theorem 2) at optimal weights."""
    for_one = required_rows(
        1.0,
        quantity="effective_sample_size",
        flip_pos=flips[:, 0],
        flip_neg=flips[:, 1],
        sizes=sizes,
    )
    return float(1 / for_one.factor)
