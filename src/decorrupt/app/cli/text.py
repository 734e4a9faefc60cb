"""Results as rich tables and paragraphs, for a terminal or a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from decorrupt.app.cli.printable import Printable
from decorrupt.glossary import CLASS_CRITERIA, CRITERIA, METRICS

if TYPE_CHECKING:
    from decorrupt.app.training.model_card import ModelCard, Value
    from decorrupt.app.training.results import (
        BagSummary,
        ColumnCard,
        Inspection,
        Measured,
        SourceRow,
        SourceSummary,
    )

Facts = Sequence[tuple[str, str]]
SHOWN_COLUMNS, SHOWN_BAGS = 8, 5
PIPE_WIDTH = 100


def print_text(*parts: RenderableType) -> None:
    """Print parts with an empty line between them: in colour on a terminal, plain on a pipe."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for place, part in enumerate(parts):
            # In a group, because print would join texts and break their lines.
            console.print(Printable(Group("", part) if place else Group(part)), crop=False)
    # Tables fill their last column with spaces.
    lines = [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
    sys.stdout.write("\n".join(lines) + "\n")


def section(title: str, *parts: RenderableType) -> Group:
    """Return a title and indented parts."""
    return Group(Text(title, "bold"), *(Padding(part, (0, 0, 0, 2)) for part in parts))


def line(text: str) -> Text:
    """Return one line that is never broken, such as one with a path to copy."""
    return Text(text, no_wrap=True, overflow="ignore")


def facts(rows: Facts) -> Table:
    """Return names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def bullets(lines: Sequence[str]) -> Table:
    """Return a list, or that it is empty."""
    grid = Table.grid(padding=(0, 1))
    for text in lines or ["none"]:
        grid.add_row("-", text)
    return grid


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int = 1) -> Table:
    """Return a table whose first `n_text` columns are text and whose others are numbers."""
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, name in enumerate(header):
        found.add_column(name, justify="left" if place < n_text else "right", overflow="fold")
    for row in rows:
        found.add_row(*row)
    return found


def number(value: float | None, digits: int = 3) -> str:
    """Return a number, or "–" where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def measured(value: Measured, digits: int = 3) -> str:
    """Return value ± standard error."""
    if value["std_error"] is None:
        return number(value["value"], digits)
    return f"{number(value['value'], digits)} ± {number(value['std_error'], digits)}"


def params_text(params: Mapping[str, Value]) -> str:
    """Return name=value, comma-separated."""
    from decorrupt.model_selection import describe_params  # loads scikit-learn

    return describe_params(params)


def assumptions_section(lines: Sequence[str], title: str = "What your bags satisfy") -> list[Group]:
    """Return what the bags satisfy and what follows; nothing for sources."""
    return [section(title, bullets(lines))] if lines else []


def leaderboard_section(card: ModelCard) -> Group:
    """Return the methods that were compared, the chosen one with a star, and the baselines."""
    leaderboard, scoring = card["leaderboard"], card["scoring"]
    rows = [
        (
            "*" if row["chosen"] else "",
            row["method"],
            params_text(row["params"]),
            number(row.get("weight"), 3),
            number(row["score"], 4),
            f"± {number(row['std_error'], 4)}",
            f"{row['seconds']:.1f}",
        )
        for row in leaderboard
    ]
    rows += [
        (
            "",
            f"baseline: {one['method']}",
            "",
            "",
            number(one["score"], 4),
            f"± {number(one['std_error'], 4)}",
            "",
        )
        for one in card.get("baselines", [])
    ]
    header = ("", "method", "parameters", "weight", "score", "± std error", "seconds")
    parts: list[RenderableType] = [table(header, rows, n_text=3)]
    if len(leaderboard) > 1:
        parts.append("* part of the model")
    return section(f"Methods by {CRITERIA[scoring].label} on held-out data", *parts)


def measures(values: Mapping[str, Measured], *, several_classes: bool = False) -> Table:
    """Return criteria or metrics with standard errors."""
    known = (CLASS_CRITERIA if several_classes else CRITERIA) | METRICS
    return facts([(known[name].label, measured(value)) for name, value in values.items()])


def confusion_section(names: Sequence[str], confusion: Sequence[Sequence[int]]) -> Group:
    """Return the confusion matrix of several classes."""
    rows = [
        (name, *(f"{n:,}" if n else "." for n in row))
        for name, row in zip(names, confusion, strict=True)
    ]
    title = "Confusion matrix: true classes in rows, predicted classes in columns"
    return section(title, table(("true class", *names), rows))


def held_out_section(card: ModelCard) -> Group:
    """Return the criteria on held-out data."""
    method = card["method"]
    title = f"On held-out data ({method['held_out']}); ± is one standard error"
    notes = [method["std_error_includes"]] if method["std_error_includes"] else []
    several = len(card["class_shares"]) > 2
    return section(title, measures(card["criteria"], several_classes=several), *notes)


def bag_parts(bags: BagSummary) -> list[RenderableType]:
    """Return sizes, proportions and information of bags, with a table of several classes."""
    if len(bags["classes"]) == 2:
        return [facts(bag_facts(bags))]
    rows = [
        (
            one["name"],
            f"{one['pooled_proportion']:.3f}",
            f"{one['proportions']['min']:.3f} to {one['proportions']['max']:.3f}",
            f"{one['effective_rows']:,.1f}",
        )
        for one in bags["classes"]
    ]
    return [
        facts([*_size_facts(bags), *_class_facts(bags)]),
        "",
        table(("class", "pooled proportion", "proportions", "worth in labelled rows"), rows),
    ]


def _class_facts(bags: BagSummary) -> Facts:
    return [
        ("classes", f"{len(bags['classes'])}"),
        ("hardest to distinguish", _some(bags["hardest_classes"], SHOWN_COLUMNS)),
        ("condition number", f"{bags['condition_number'] or math.inf:.4g}"),
        _worth(bags),
    ]


def _size_facts(bags: BagSummary) -> Facts:
    sizes = bags["sizes"]
    same = sizes["min"] == sizes["max"]
    return [
        ("rows", f"{bags['n_rows']:,}"),
        ("bags", f"{bags['n_bags']:,}"),
        (
            "rows per bag",
            f"{sizes['min']:.0f}"
            if same
            else f"{sizes['min']:.0f} to {sizes['max']:.0f}, median {sizes['median']:g}",
        ),
    ]


def _worth(bags: BagSummary) -> tuple[str, str]:
    return (
        "effective sample size",
        f"{bags['effective_sample_size']:,.1f} labelled rows ({bags['efficiency']:.1%} of the "
        "rows)",
    )


def bag_facts(bags: BagSummary) -> Facts:
    """Return sizes, proportions and information of bags of two classes."""
    positive = bags["classes"][1]
    shares = positive["proportions"]
    return [
        *_size_facts(bags),
        (
            "proportions",
            f"{shares['min']:.3f} to {shares['max']:.3f}, middle half "
            f"{shares['lower_quartile']:.3f} to {shares['upper_quartile']:.3f}",
        ),
        ("pooled proportion", f"{positive['pooled_proportion']:.3f}"),
        ("information V", f"{bags['information']:.4g}"),
        _worth(bags),
    ]


def source_parts(sources: SourceSummary) -> list[RenderableType]:
    """Return rows, rates and weights of sources."""
    rows = [
        (
            row["source"],
            f"{row['n_rows']:,}",
            f"{row['n_labelled_positive'] / row['n_rows']:.3f}",
            *_rates(row),
            number(row["weight"]),
        )
        for row in sources["sources"]
    ]
    header = ("source", "rows", "labelled +", "flip_pos", "flip_neg", "weight")
    named = [
        ("rows", f"{sources['n_rows']:,}"),
        ("share of positives", f"{sources['class_prior']:.3f}, implied by the noise rates"),
        ("effective sample size", f"{sources['effective_sample_size']:,.1f} clean rows"),
    ]
    notes = [sources["left_out"]] if sources["left_out"] else []
    return [facts(named), table(header, rows), *notes]


def _rates(row: SourceRow) -> list[str]:
    pairs = (
        (row["flip_pos"], row.get("flip_pos_interval")),
        (row["flip_neg"], row.get("flip_neg_interval")),
    )
    return [
        f"{rate:.3f}" + (f" ({ends[0]:.3f}–{ends[1]:.3f})" if ends else "") for rate, ends in pairs
    ]


def data_section(title: str, card: ModelCard | Inspection) -> Group:
    """Return the bags or sources of a model or an inspection."""
    parts = bag_parts(card["bags"]) if "bags" in card else source_parts(card["sources"])
    return section(title, *parts)


def columns_section(
    title: str,
    columns: Sequence[ColumnCard],
    left_out: Mapping[str, str],
    shown: int = SHOWN_COLUMNS,
) -> Group:
    """Return the columns by kind, and those that are not used."""
    by_kind: dict[str, list[str]] = {}
    for column in columns:
        by_kind.setdefault(column["kind"], []).append(column["name"])
    rows = [(f"{kind} ({len(names)})", _some(names, shown)) for kind, names in by_kind.items()]
    missing = [f"{c['name']} ({c['n_missing']:,})" for c in columns if c["n_missing"]]
    folded = [f"{c['name']} ({c['n_folded']})" for c in columns if c["n_folded"]]
    rows += [("missing values", _some(missing, shown))] * bool(missing)
    rows += [("rare levels folded", _some(folded, shown))] * bool(folded)
    rows += [(f"not used: {name}", why) for name, why in left_out.items()]
    return section(title, facts(rows))


def _some(names: Sequence[str], shown: int) -> str:
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")
