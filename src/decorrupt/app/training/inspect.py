"""Inspection before training: information, convexity, assumptions and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from decorrupt.app.training.columns import CATEGORY, Features, column_cards
from decorrupt.app.training.held_out import checks_of
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.results import (
    AssumptionChecks,
    BagDetails,
    BagShare,
    Convexity,
    Inspection,
    SourceSummary,
    now,
    plain,
)
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.source_roles import SourceRows
from decorrupt.app.training.summary import (
    summarize_bags,
    summarize_sources,
    warn_of_bag_columns,
    warn_of_bags,
)
from decorrupt.app.training.train import collected_warnings
from decorrupt.app.training.verdict import judge_bags, judge_sources
from decorrupt.app.training.words import ESTIMATED_RATES
from decorrupt.assumptions import check_observed_assumptions
from decorrupt.corruption import combine_bags
from decorrupt.documents import count
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.observed import Observed
from decorrupt.theory import convexity_floor, information, is_convex, weights_comparison

# The informative bags contribute this share of V together.
INFORMATIVE = 0.9
# An uninformative bag contributes less than this share of the mean contribution. With fewer rows
# than this share of the mean size, it would do so with any usual proportion.
UNINFORMATIVE = 0.01
# A source with less than this share of the signal of clean labels is little better than chance.
NEARLY_CHANCE = 0.2


def inspect_bags(rows: BagRows, features: Features, *, seed: int) -> Inspection:
    """Return the information in bags, what they satisfy, the verdict and warnings.

    Parameters
    ----------
    rows : BagRows
        Rows in bags of known proportions.
    features : Features
        The columns that would be used.
    seed : int
        For the tests of the assumptions.
    """
    observed = rows.observed
    summary = summarize_bags(observed)
    # Ranges and noisy counts are not the proportions that the tests need.
    checks = None if observed.is_inexact else _checks(rows, features, seed)
    found = Inspection(
        rows=rows.table.name,
        situation="bags",
        created=now(),
        bags=summary,
        columns=column_cards(features, {}, ()),
        left_out=dict(features.left_out),
        verdict=judge_bags(summary, checks),
        warnings=[
            *rows.warnings,
            *warn_of_bags(observed),
            *_column_warnings(rows, features),
        ],
    )
    if checks is not None:
        found["assumptions"] = checks
    if observed.n_classes == 2:
        found["bag_details"] = _details(observed)
    return found


def _details(observed: Observed) -> BagDetails:
    found = information(observed.sizes, observed.proportions)
    shares = (observed.proportions[:, 1], found.by_bag / found.total)
    columns = (observed.ids, observed.sizes, *shares)
    bags = [
        BagShare(bag=plain(bag), size=size, proportion=proportion, share=share)
        for bag, size, proportion, share in zip(*(c.tolist() for c in columns), strict=True)
    ]
    bags.sort(key=lambda bag: -bag["share"])
    total = np.cumsum([bag["share"] for bag in bags])
    small = UNINFORMATIVE * observed.n_rows / len(bags)
    weak = [bag for bag in bags if bag["share"] < UNINFORMATIVE / len(bags)]
    return BagDetails(
        shares=bags,
        n_informative=min(int(np.searchsorted(total, INFORMATIVE)) + 1, len(bags)),
        too_small=[_with_size(bag) for bag in weak if bag["size"] < small],
        average=[bag["bag"] for bag in weak if bag["size"] >= small],
        convexity=_convexity(observed),
    )


def _with_size(bag: BagShare) -> str:
    return f"{bag['bag']} ({count(bag['size'], 'row')})"


def _convexity(observed: Observed) -> Convexity:
    coef = combine_bags(observed.sizes, observed.proportions)
    return Convexity(superbag=is_convex(coef), floor=convexity_floor(coef))


def _checks(rows: BagRows, features: Features, seed: int) -> AssumptionChecks:
    prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
    preprocessor = make_preprocessor(features.columns, len(prepared))
    matrix = preprocessor.fit_transform(prepared)
    report = check_observed_assumptions(matrix, rows.observed, None, random_state=seed)
    return checks_of(report, preprocessor)


def _column_warnings(rows: BagRows, features: Features) -> list[str]:
    frame = rows.table.frame
    said = warn_of_bag_columns(frame, features.names, rows.observed)
    half = [column.name for column in features.columns if column.n_missing > len(frame) / 2]
    if half:
        said.append(f"columns in which most values are missing: {', '.join(map(repr, half))}")
    many = [c.name for c in features.columns if c.kind == CATEGORY and c.n_distinct > 50]
    if many:
        said.append(
            f"columns with more than 50 categories: {', '.join(map(repr, many))}; rare ones are "
            "folded into one"
        )
    return said


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
    flips = np.array([rates[source] for source in noisy.ids.tolist()])
    weights = weights_comparison(noisy.sizes, *flips.T).weights["optimal"]
    summary = summarize_sources(noisy, noisy.by_source(weights), estimate)
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
