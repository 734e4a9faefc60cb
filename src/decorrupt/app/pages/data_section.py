"""Sections about the data: bags, sources, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from decorrupt.app.pages.class_sections import class_bag_blocks
from decorrupt.app.pages.plots import gain_plot, spread_plot
from decorrupt.app.pages.wording import (
    MOST_BAGS,
    MOST_COLUMNS,
    listed,
    name_cell,
    number_cell,
    percent,
    shown_of,
)
from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.results import (
    BagDetails,
    BagSummary,
    ColumnCard,
    Convexity,
    Inspection,
    SourceSummary,
)
from decorrupt.documents import Block, Cell, Facts, Figure, Panels, Table, Text, count, number

SIZE_OF_BAGS = (
    "The effective sample size is the number of labelled rows with the same worst-case bound; in "
    "practice bags are often worth more. It is 4 V, where V is the sum of "
    "rows × (proportion − pooled proportion)² over the bags: large bags with different proportions "
    "are informative."
)
SIZE_OF_SOURCES = (
    "The effective sample size is the number of rows with clean labels that have the same "
    "worst-case bound."
)


def data_blocks(found: ModelCard | Inspection) -> list[Block]:
    """Return the bags or sources of a card or an inspection."""
    return bag_blocks(found["bags"]) if "bags" in found else source_blocks(found["sources"])


def bag_blocks(bags: BagSummary) -> list[Block]:
    """Return sizes, proportions and information of bags."""
    sizes = bags["sizes"]
    same = sizes["min"] == sizes["max"]
    size_facts = [
        ("rows", f"{bags['n_rows']:,}"),
        ("bags", f"{bags['n_bags']:,}"),
        (
            "rows per bag",
            f"{sizes['min']:,.0f}"
            if same
            else f"{sizes['min']:,.0f} to {sizes['max']:,.0f}, median {sizes['median']:g}",
        ),
    ]
    if len(bags["classes"]) > 2:
        return class_bag_blocks(bags, size_facts)
    positive = bags["classes"][1]
    shares = positive["proportions"]
    facts = [
        *size_facts,
        ("proportions", f"{number(shares['min'])} to {number(shares['max'])}"),
        (
            "middle half of the proportions",
            f"{number(shares['lower_quartile'])} to {number(shares['upper_quartile'])}",
        ),
        ("pooled proportion", number(positive["pooled_proportion"])),
        ("information V", f"{bags['information']:.4g}"),
        (
            "effective sample size",
            f"{bags['effective_sample_size']:,.0f} labelled rows "
            f"({percent(bags['efficiency'])} of all)",
        ),
    ]
    return [Facts(facts), Text(SIZE_OF_BAGS, "faint")]


def source_blocks(sources: SourceSummary) -> list[Block]:
    """Return the sources of labels, their noise rates and information."""
    facts = [
        ("rows", f"{sources['n_rows']:,}"),
        ("sources of labels", f"{len(sources['sources']):,}"),
        ("implied share of positives", number(sources["class_prior"])),
        ("effective sample size", f"{sources['effective_sample_size']:,.0f} clean rows"),
    ]
    rows = [
        [
            name_cell(row["source"]),
            row["n_rows"],
            number_cell(row["n_labelled_positive"] / row["n_rows"]),
            _rate(row["flip_pos"], row.get("flip_pos_interval")),
            _rate(row["flip_neg"], row.get("flip_neg_interval")),
            number_cell(row["weight"]),
        ]
        for row in sources["sources"]
    ]
    heads = [
        "source",
        "rows",
        "labelled positive",
        "positives mislabelled",
        "negatives mislabelled",
        "weight",
    ]
    caption = (
        "Sources of the labels. Mislabelled: the share of true positives or negatives to which the "
        "source gives the other label; in brackets the bounds where it was estimated. "
        + sources["left_out"]
    ).rstrip()
    return [
        Facts(facts),
        Text(SIZE_OF_SOURCES, "faint"),
        Table("sources", caption, heads, rows),
    ]


def _rate(rate: float, interval: Sequence[float] | None) -> Cell:
    under = f"({number(interval[0])} to {number(interval[1])})" if interval else ""
    return {"text": number(rate), "sort": f"{rate:.9g}", "under": under}


def column_blocks(columns: Sequence[ColumnCard], left_out: Mapping[str, str]) -> list[Block]:
    """Return the columns in use, and why others are not used."""
    blocks: list[Block] = [_columns_table(columns)]
    if left_out:
        few = [[name_cell(name), why] for name, why in left_out.items()][:MOST_COLUMNS]
        caption = f"Columns not used: {shown_of(len(few), len(left_out), 'column')}"
        blocks.append(Table("left-out", caption, ["column", "reason"], few))
    return blocks


def _columns_table(columns: Sequence[ColumnCard]) -> Table:
    few = columns[:MOST_COLUMNS]
    is_folded = any(column["n_folded"] for column in columns)
    kinds = {column["kind"]: 0 for column in columns}
    for column in columns:
        kinds[column["kind"]] += 1
    rows = [
        [name_cell(column["name"]), _kind(column), column["n_distinct"], column["n_missing"]]
        + ([column["n_folded"]] if is_folded else [])
        for column in few
    ]
    caption = (
        f"Columns in use: {shown_of(len(few), len(columns), 'column')} ("
        + ", ".join(f"{kind}: {n:,}" for kind, n in kinds.items())
        + "). Missing numbers are replaced by the median of the column and marked, numbers are "
        "scaled, those with a heavy tail after arcsinh, categories become one feature per level; "
        "rare levels are folded into one."
    )
    heads = ["column", "kind", "distinct values", "missing"]
    return Table("columns", caption, heads + ["rare levels folded"] * is_folded, rows)


def _kind(column: ColumnCard) -> str:
    return column["kind"] + ", heavy tail" * column["heavy_tailed"]


def bag_detail_blocks(details: BagDetails) -> list[Block]:
    """Return plots of the bags, the most informative ones, and those that do not matter."""
    return [*_bag_plots(details), *_informative(details), Text(_convexity(details["convexity"]))]


def _bag_plots(details: BagDetails) -> list[Block]:
    bags = details["shares"]
    proportions = [bag["proportion"] for bag in bags]
    above = sum(proportion > 0.5 for proportion in proportions)
    words = (
        f"{count(len(bags), 'bag')}, proportions from {number(min(proportions))} to "
        f"{number(max(proportions))}; {above:,} of them above 0.5."
    )
    gain = f"{details['n_informative']:,} of {count(len(bags), 'bag')} contribute 90 % of V."
    spread = Figure(
        partial(spread_plot, proportions, "spread", words),
        f"Bags are more informative the more their proportions differ. {words}",
        "Proportions of the bags",
    )
    shares = Figure(
        partial(gain_plot, [bag["share"] for bag in bags], "gain", gain),
        f"{gain} Dotted: if all bags contributed equally.",
        "Informative bags",
    )
    return [Panels([spread, shares])]


def _informative(details: BagDetails) -> list[Block]:
    shares = details["shares"]
    rows = [
        [name_cell(bag["bag"]), bag["size"], number_cell(bag["proportion"]), _part(bag["share"])]
        for bag in shares[:MOST_BAGS]
    ]
    caption = f"Most informative bags: {shown_of(len(rows), len(shares), 'bag')}"
    heads = ["bag", "rows", "proportion", "share of V"]
    blocks: list[Block] = [Table("informative", caption, heads, rows)]
    for reason, names in (
        ("Too small to matter", details["too_small"]),
        ("Share close to that of all rows, so next to no information", details["average"]),
    ):
        blocks += [Text(f"{reason}: {listed(names)}.")] if names else []
    return blocks


def _part(share: float) -> Cell:
    return {"text": percent(share), "sort": f"{share:.9g}"}


def _convexity(convexity: Convexity) -> str:
    """Return whether the corrected loss is convex on these bags."""
    floor = (
        f"--method corrected-loss has one minimum from --reg-strength {convexity['floor']:.3g} on"
    )
    if convexity["superbag"]:
        return "--method corrected-loss has one minimum on these bags for every --reg-strength."
    return f"{floor}."
