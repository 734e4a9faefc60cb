"""Summaries of bags and sources: sizes, proportions, rates and information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from decorrupt._typing import FloatArray
from decorrupt.app.training.results import (
    BagSummary,
    ClassSummary,
    SourceRow,
    SourceSummary,
    plain,
    spread,
)
from decorrupt.documents import count
from decorrupt.noise_rates import NoiseRateEstimate
from decorrupt.observed import Observed
from decorrupt.theory import information, required_rows

# Classes are hard to distinguish if they have at least this share of the largest coordinate of the
# direction about which the bags have the least information.
HARD_SHARE = 0.5


def summarize_bags(observed: Observed) -> BagSummary:
    """Return sizes, class shares and information of bags."""
    sizes, shares, classes = observed.sizes, observed.proportions, observed.classes.tolist()
    found = information(sizes, shares, classes=classes)
    weight = np.abs(found.direction)
    worth = found.effective_sample_size if len(classes) == 2 else float(found.rows_by_class.sum())
    return BagSummary(
        n_rows=observed.n_rows,
        n_bags=observed.n_bags,
        sizes=spread(sizes),
        classes=[
            ClassSummary(
                name=str(name),
                pooled_proportion=pooled,
                proportions=spread(own),
                effective_rows=effective_rows,
            )
            for name, pooled, own, effective_rows in zip(
                classes,
                found.class_prior.tolist(),
                shares.T,
                found.rows_by_class.tolist(),
                strict=True,
            )
        ],
        hardest_classes=[
            str(name)
            for name, own in zip(classes, weight.tolist(), strict=True)
            if own >= HARD_SHARE * weight.max()
        ],
        condition_number=plain(found.condition_number),
        information=found.total,
        effective_sample_size=worth,
        efficiency=worth / found.n_rows,
    )


def warn_of_bags(observed: Observed) -> list[str]:
    """Return warnings about proportions that are no counts, and about bags of one row."""
    messages, is_binary = [], observed.n_classes == 2
    counts = observed.proportions * observed.sizes[:, None]
    apart = np.abs(counts - np.rint(counts)).max(axis=1)
    broken = apart > 0.01 * np.maximum(observed.sizes, 1)
    if broken.any() and not observed.is_inexact:
        bag = observed.ids[np.flatnonzero(broken)[0]]
        messages.append(
            f"in {count(int(broken.sum()), 'bag')} (the first is {bag!r}) the proportion does not "
            f"give a whole number of {'positive ' if is_binary else ''}rows: are rows missing, or "
            "is the proportion an estimate?"
        )
    alone = int(np.sum(observed.sizes == 1))
    if 0 < alone < observed.n_bags:
        messages.append(f"{count(alone, 'bag')} of one row: a proportion of one row is its label")
    return messages


def warn_of_bag_columns(frame: pd.DataFrame, names: Sequence[str], observed: Observed) -> list[str]:
    """Return a warning if columns are the same in all rows of every bag."""
    if observed.sizes.max() == 1:
        return []
    by_bag = frame[list(names)].groupby(observed.row_bag).nunique(dropna=False)
    constant = [repr(name) for name in names if by_bag[name].max() == 1]
    if not constant:
        return []
    return [
        f"columns that are the same in all rows of a bag: {', '.join(constant)}; they identify the "
        "bag and do not distinguish its rows: leave them out with --drop"
    ]


def summarize_sources(
    observed: Observed,
    weights: dict[Any, float] | None = None,
    estimate: NoiseRateEstimate | None = None,
) -> SourceSummary:
    """Return rows, rates and weight of every source, and their effective sample size."""
    intervals = {} if estimate is None else estimate.intervals
    sources = observed.only_sources()
    n_positive = np.bincount(sources.row_source, sources.noisy_class).astype(int).tolist()
    rates, rows = sources.rates, []
    for place, (source, (flip_pos, flip_neg)) in enumerate(rates.items()):
        row = SourceRow(
            source=source,
            n_rows=int(observed.source_sizes[place]),
            n_labelled_positive=n_positive[place],
            flip_pos=plain(flip_pos),
            flip_neg=plain(flip_neg),
            weight=None if weights is None else plain(weights[source]),
        )
        if source in intervals:
            row["flip_pos_interval"] = plain(intervals[source]["flip_pos"])
            row["flip_neg_interval"] = plain(intervals[source]["flip_neg"])
        rows.append(row)
    return SourceSummary(
        n_rows=len(observed),
        class_prior=float(observed.class_prior[1]),
        effective_sample_size=_worth(observed.source_sizes, np.array(list(rates.values()))),
        sources=rows,
        left_out="" if estimate is None else estimate.left_out,
    )


def _worth(sizes: FloatArray, flips: FloatArray) -> float:
    """Return the number of clean rows with the same bound (Theorem 2) at optimal weights."""
    flip_pos, flip_neg = flips.T
    for_one = required_rows(
        1.0, quantity="effective_sample_size", flip_pos=flip_pos, flip_neg=flip_neg, sizes=sizes
    )
    return float(1 / for_one.factor)
