"""What noisy labels of sources can tell before any training."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from decorrupt.app.training.columns import Features
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.results import Inspection, SourceSummary, now
from decorrupt.app.training.source_roles import SourceRows
from decorrupt.app.training.summary import summarize_sources
from decorrupt.app.training.train import FEW_CLEAN_ROWS, collected_warnings
from decorrupt.estimators.inputs import read_sources as noisy_sources
from decorrupt.estimators.inputs import source_priors
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.theory import weights_comparison

# A source whose labels carry less than this share of a clean label's signal is nearly a coin.
NEARLY_A_COIN = 0.2


def inspect_sources(rows: SourceRows, features: Features, *, seed: int = 0) -> Inspection:
    """Return what every source is worth; unknown rates are estimated first.

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
    rates, estimate = rows.rates, None
    if rates is None:
        with collected_warnings(said):
            prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
            matrix = make_preprocessor(features.columns, len(y)).fit_transform(prepared)
            estimate = estimate_noise_rates(matrix, y, sources=sources, random_state=seed)
        rates = {str(s): (float(p[0]), float(p[1])) for s, p in _as_pairs(estimate.rates)}
    noisy = noisy_sources(2 * y - 1, sources, rates)
    priors = source_priors(rows.class_priors, noisy)
    flips = np.array([rates[source] for source in noisy.ids.tolist()])
    weights = weights_comparison(noisy.sizes, flips[:, 0], flips[:, 1]).weights["optimal"]
    summary = summarize_sources(
        sources,
        rows.labels.is_pos,
        rates,
        float(np.average(priors, weights=noisy.sizes)),
        noisy.by_source(weights),
        estimate,
    )
    worth = summary["effective_sample_size"]
    return Inspection(
        rows=rows.table.name,
        situation="sources",
        created=now(),
        sources=summary,
        columns=[asdict(column) for column in features.columns],
        left_out=dict(features.left_out),
        advice={
            "method": "auto",
            "reason": "compares corrected loss and forward likelihood on held-out rows",
        },
        hope={
            "effective_sample_size": worth,
            "words": "By the theory's worst-case bound the labels are worth "
            f"{worth:,.0f} clean ones: hope for about what so many clean labels would give.",
        },
        warnings=said + _warnings(summary, estimated=rows.rates is None),
    )


def _as_pairs(rates: dict[Any, Any]) -> Any:
    return ((source, list(pair)) for source, pair in rates.items())


def _warnings(summary: SourceSummary, *, estimated: bool) -> list[str]:
    said = []
    if estimated:
        said.append(
            "the rates were estimated from the labels: right only if some rows are surely "
            "positive, some surely negative, and labels err by class alone"
        )
    coins = [
        row["source"]
        for row in summary["sources"]
        if 1 - row["flip_pos"] - row["flip_neg"] < NEARLY_A_COIN
    ]
    if coins:
        said.append(f"sources that say little more than a coin: {', '.join(map(repr, coins))}")
    if summary["effective_sample_size"] < FEW_CLEAN_ROWS:
        said.append("all labels together are worth very few clean ones: more are needed")
    return said
