"""What the data are: bags, sources, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decorrupt.app.pages.wording import (
    MOST_COLUMNS,
    listed,
    name_cell,
    number_cell,
    percent,
    shown_of,
)
from decorrupt.documents.document import Block, Facts, Table, Text
from decorrupt.documents.numbers import count, number

WORTH_OF_BAGS = (
    "“Worth” is the number of labelled rows that the theory’s worst-case bound takes the shares of "
    "the bags for; in practice it is often more. Bags tell the more, the larger they are and the "
    "further their shares lie apart: V adds up rows × (share − overall share)² over the bags, and "
    "the worth is 4 V."
)
WORTH_OF_SOURCES = (
    "“Worth” is the number of rightly labelled rows that the theory’s worst-case bound takes the "
    "noisy labels for."
)


def data_blocks(found: Mapping[str, Any]) -> list[Block]:
    """Return what was trained on or looked at, from a card or an inspection."""
    return [*bag_blocks(found.get("bags")), *source_blocks(found.get("sources"))]


def bag_blocks(bags: Mapping[str, Any] | None) -> list[Block]:
    """Return rows, bags, shares and what they are worth."""
    if not bags:
        return []
    sizes, shares = bags["sizes"], bags["proportions"]
    same = sizes["min"] == sizes["max"]
    facts = [
        ("rows", f"{bags['n_rows']:,}"),
        ("bags", f"{bags['n_bags']:,}"),
        (
            "rows a bag",
            f"{sizes['min']:,.0f}"
            if same
            else f"{sizes['min']:,.0f} to {sizes['max']:,.0f}, median {sizes['median']:g}",
        ),
        ("shares of positives", f"{number(shares['min'])} to {number(shares['max'])}"),
        (
            "middle half of the shares",
            f"{number(shares['lower_quartile'])} to {number(shares['upper_quartile'])}",
        ),
        ("share in all bags together", number(bags["pooled_proportion"])),
        ("information V", f"{bags['information']:.4g}"),
        (
            "worth",
            f"{bags['effective_sample_size']:,.0f} labelled rows "
            f"({percent(bags['efficiency'])} of all)",
        ),
    ]
    return [Facts(facts), Text(WORTH_OF_BAGS, "faint")]


def source_blocks(sources: Mapping[str, Any] | None) -> list[Block]:
    """Return the sources of labels, how often they err and what they are worth."""
    if not sources:
        return []
    facts = [
        ("rows", f"{sources['n_rows']:,}"),
        ("sources of labels", f"{len(sources['sources']):,}"),
        ("share of positives, implied", number(sources["class_prior"])),
        ("worth", f"{sources['effective_sample_size']:,.0f} rightly labelled rows"),
    ]
    rows = [
        [
            name_cell(row["source"]),
            row["n_rows"],
            number_cell(row["n_labelled_positive"] / row["n_rows"]),
            _rate(row, "flip_pos"),
            _rate(row, "flip_neg"),
            number_cell(row.get("weight")),
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
        "Where the labels come from. Mislabelled: which share of the true positives or negatives "
        "the source calls the other; in brackets where it was estimated, from … to. "
        + sources.get("left_out", "")
    ).rstrip()
    return [
        Facts(facts),
        Text(WORTH_OF_SOURCES, "faint"),
        Table("sources", caption, heads, rows),
    ]


def _rate(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    interval = row.get(f"{name}_interval")
    under = f"({number(interval[0])} to {number(interval[1])})" if interval else ""
    return {"text": number(row[name]), "sort": f"{row[name]:.9g}", "under": under}


def column_blocks(found: Mapping[str, Any]) -> list[Block]:
    """Return the columns learned from, and why others were not used."""
    columns, left_out = found.get("columns") or [], found.get("left_out") or {}
    blocks: list[Block] = []
    if columns:
        blocks.append(_columns_table(columns))
    if left_out:
        few = [[name_cell(name), why] for name, why in left_out.items()][:MOST_COLUMNS]
        caption = f"Columns not used: {shown_of(len(few), len(left_out), 'column')}"
        blocks.append(Table("left-out", caption, ["column", "why"], few))
    return blocks


def _columns_table(columns: Sequence[Mapping[str, Any]]) -> Table:
    few = columns[:MOST_COLUMNS]
    is_folded = any(column.get("n_folded") for column in columns)
    kinds = {column["kind"]: 0 for column in columns}
    for column in columns:
        kinds[column["kind"]] += 1
    rows = [
        [name_cell(column["name"]), column["kind"], column["n_distinct"], column["n_missing"]]
        + ([column.get("n_folded", 0)] if is_folded else [])
        for column in few
    ]
    caption = (
        f"Columns learned from: {shown_of(len(few), len(columns), 'column')} ("
        + ", ".join(f"{kind}: {n:,}" for kind, n in kinds.items())
        + "). Missing numbers are filled with the column’s median and marked, numbers are brought "
        "to one scale, categories become one column a level; levels too rare to learn from are "
        "folded into one."
    )
    heads = ["column", "kind", "different values", "missing"]
    return Table("columns", caption, heads + ["rare levels folded"] * is_folded, rows)


def telling_blocks(found: Mapping[str, Any], most: int) -> list[Block]:
    """Return the bags that tell most, and those that tell nothing."""
    shares = found.get("bag_shares") or []
    if not shares:
        return []
    rows = [
        [name_cell(bag["bag"]), bag["size"], number_cell(bag["proportion"]), _part(bag["share"])]
        for bag in shares[:most]
    ]
    caption = f"The bags that tell most: {shown_of(len(rows), len(shares), 'bag')}"
    heads = ["bag", "rows", "share of positives", "part of V"]
    blocks: list[Block] = [Table("telling", caption, heads, rows)]
    useless = found.get("useless") or []
    if useless:
        blocks.append(
            Text(
                f"{count(len(useless), 'bag')} of {len(shares):,} tell next to nothing, because "
                f"their share of positives is that of all bags together: {listed(useless)}."
            )
        )
    return blocks


def _part(share: float) -> dict[str, Any]:
    return {"text": percent(share), "sort": f"{share:.9g}"}
