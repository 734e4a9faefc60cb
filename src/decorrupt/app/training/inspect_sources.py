"""Inspection of noisy labels before training."""

from __future__ import annotations

from typing import Any

import numpy as np

from decorrupt.app.training.columns import Features, column_cards
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.results import Inspection, SourceSummary, now
from decorrupt.app.training.source_roles import SourceRows
from decorrupt.app.training.summary import summarize_sources
from decorrupt.app.training.train import collected_warnings
from decorrupt.app.training.verdict import judge_sources
from decorrupt.app.training.words import ESTIMATED_RATES
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.theory import weights_comparison

# A source with less than this share of the signal of clean labels is little better than chance.
NEARLY_CHANCE = 0.2


def inspect_sources(rows: SourceRows, features: Features, *, seed: int = 0) -> Inspection:
    """Return the information in every source; unknown rates are estimated first.

    Parameters
    ----------
    rows : SourceRows
        Rows with noisy labels, and rates if known.
    features : Features
        The columns that would be used.
    seed : int
        For the estimate.
    """
    said: list[str] = list(rows.warnings)
    y, sources = rows.labels.is_pos.astype(int), rows.sources.astype(str)
    rates = rows.rates
    estimate: Any = None
    if rates is None:
        with collected_warnings(said):
            prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
            matrix = make_preprocessor(features.columns, len(y)).fit_transform(prepared)
            estimate = estimate_noise_rates(matrix, y, sources=sources, random_state=seed)
        rates = estimate.rates
    noisy = rows.noisy(rates)
    named = noisy.only_sources()
    flips = np.array([rates[source] for source in named.ids.tolist()])
    weights = weights_comparison(noisy.source_sizes, *flips.T).weights["optimal"]
    summary = summarize_sources(noisy, named.by_source(weights), estimate)
    return Inspection(
        rows=rows.table.name,
        situation="sources",
        created=now(),
        sources=summary,
        columns=column_cards(features, {}, ()),
        left_out=dict(features.left_out),
        verdict=judge_sources(summary, estimated=rows.rates is None),
        warnings=said + _warnings(summary, estimated=rows.rates is None),
    )


def _warnings(summary: SourceSummary, *, estimated: bool) -> list[str]:
    said = [ESTIMATED_RATES] if estimated else []
    weak = [
        row["source"]
        for row in summary["sources"]
        if 1 - row["flip_pos"] - row["flip_neg"] < NEARLY_CHANCE
    ]
    if weak:
        said.append(
            f"sources whose labels are little better than chance: {', '.join(map(repr, weak))}"
        )
    return said
