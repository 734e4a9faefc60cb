"""Results as text for a terminal: aligned lines, no colours, the same on a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

CRITERIA = {
    "corrected_accuracy": "balanced accuracy, estimated",
    "corrected_risk": "balanced sigmoid risk, estimated",
    "proportion_risk": "error in a bag's proportion",
    "count_log_likelihood": "log-likelihood of counts, per row",
}
SCORINGS = {
    "count_log_likelihood": "the log-likelihood of held-out bags' counts, per row",
    "corrected_accuracy": "the balanced accuracy of held-out rows, estimated without true labels",
}
SHOWN_COLUMNS, SHOWN_BAGS = 8, 5
WIDTH = 100


def listing(rows: Sequence[tuple[str, str]], indent: str = "") -> str:
    """Return names and values in two columns; long values go on below themselves."""
    width = max((len(name) for name, _ in rows), default=0)
    hanging = indent + " " * (width + 2)
    return "\n".join(
        wrapped(f"{name:<{width}}  {value}".rstrip(), indent, hanging) for name, value in rows
    )


def wrapped(text: str, indent: str = "  ", hanging: str | None = None) -> str:
    """Return a paragraph of lines that fit a page; words and the name's column stay whole."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )


def bullets(lines: Sequence[str]) -> str:
    """Return a list, or that there is nothing on it."""
    return "\n".join(wrapped(line, "  - ", "    ") for line in lines or ["none"])


def table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Return a table whose first column is flush left and whose others are flush right."""
    cells = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    lines = []
    for row in cells:
        first, *others = row
        right = "  ".join(cell.rjust(w) for cell, w in zip(others, widths[1:], strict=True))
        lines.append(f"{indent}{first.ljust(widths[0])}  {right}".rstrip())
    return "\n".join(lines)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number, or "–" where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def measured(value: dict[str, Any], digits: int = 3) -> str:
    """Return value ± standard error."""
    if value["std_error"] is None:
        return number(value["value"], digits)
    return f"{number(value['value'], digits)} ± {number(value['std_error'], digits)}"


def params_text(params: dict[str, Any]) -> str:
    """Return name=value, comma-separated."""
    from decorrupt.model_selection.leaderboard import describe_params  # loads scikit-learn

    return describe_params(params)


def leaderboard_text(leaderboard: Sequence[dict[str, Any]], scoring: str) -> str:
    """Return the methods tried, the chosen one with a star."""
    rows = [
        (
            ("* " if row["chosen"] else "  ") + row["method"],
            f"{row['score']:.4f}",
            f"± {row['std_error']:.4f}",
            f"{row['seconds']:.1f}",
        )
        for row in leaderboard
    ]
    header = ("  method", "score", "± std error", "seconds")
    lines = table(header, rows, indent="").split("\n")
    params = ["parameters"] + [params_text(row["params"]) for row in leaderboard]
    lines = [f"{line}  {values}" for line, values in zip(lines, params, strict=True)]
    several = len(leaderboard) > 1
    head = f"{'Methods compared' if several else 'Judged'} by {SCORINGS.get(scoring, scoring)}:"
    foot = ["* chosen: the most stable within one standard error of the best"]
    return "\n".join([head, *lines, *foot * (several and scoring == "count_log_likelihood")])


def criteria_text(criteria: dict[str, Any]) -> str:
    """Return label-free criteria with standard errors."""
    return listing([(CRITERIA[name], measured(criteria[name])) for name in criteria], "  ")


def held_out_text(card: dict[str, Any]) -> str:
    """Return the criteria on held-out data, and what their standard errors include."""
    method = card["method"]
    head = f"On held-out data ({method['held_out']}), ± standard error"
    includes = method.get("std_error_includes")
    note = f"\n{wrapped(includes)}" if includes else ""
    return f"{head}\n{criteria_text(card['criteria'])}{note}"


def bags_listing(bags: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what bags can tell."""
    sizes, shares = bags["sizes"], bags["proportions"]
    same = sizes["min"] == sizes["max"]
    return [
        ("rows", f"{bags['n_rows']:,}"),
        ("bags", f"{bags['n_bags']:,}"),
        (
            "rows a bag",
            f"{sizes['min']:.0f}"
            if same
            else f"{sizes['min']:.0f} to {sizes['max']:.0f}, median {sizes['median']:g}",
        ),
        (
            "proportions",
            f"{shares['min']:.3f} to {shares['max']:.3f}, the middle half "
            f"{shares['lower_quartile']:.3f} to {shares['upper_quartile']:.3f}",
        ),
        ("pooled proportion", f"{bags['pooled_proportion']:.3f}"),
        ("information V", f"{bags['information']:.4g}"),
        (
            "effective sample size",
            f"{bags['effective_sample_size']:,.1f} labelled rows "
            f"({bags['efficiency']:.1%} of the rows)",
        ),
    ]


def sources_text(sources: dict[str, Any]) -> str:
    """Return what noisy labels can tell."""
    rows = [
        (
            row["source"],
            f"{row['n_rows']:,}",
            f"{row['n_labelled_positive'] / row['n_rows']:.3f}",
            _rate(row, "flip_pos"),
            _rate(row, "flip_neg"),
            number(row["weight"]),
        )
        for row in sources["sources"]
    ]
    header = ("source", "rows", "labelled +", "flip_pos", "flip_neg", "weight")
    facts = [
        ("rows", f"{sources['n_rows']:,}"),
        ("share of positives", f"{sources['class_prior']:.3f}, as the rates imply it"),
        ("effective sample size", f"{sources['effective_sample_size']:,.1f} clean rows"),
    ]
    left_out = sources.get("left_out")
    note = f"\n{wrapped(left_out)}" if left_out else ""
    return f"{listing(facts, '  ')}\n{table(header, rows)}{note}"


def _rate(row: dict[str, Any], name: str) -> str:
    interval = row.get(f"{name}_interval")
    return f"{row[name]:.3f}" + (f" ({interval[0]:.3f}–{interval[1]:.3f})" if interval else "")


def columns_text(
    columns: Sequence[dict[str, Any]], left_out: dict[str, str], shown: int = SHOWN_COLUMNS
) -> str:
    """Return the columns by kind, and those left out."""
    by_kind: dict[str, list[str]] = {}
    for column in columns:
        by_kind.setdefault(column["kind"], []).append(column["name"])
    rows = [(f"{kind} ({len(names)})", _some(names, shown)) for kind, names in by_kind.items()]
    missing = [f"{c['name']} ({c['n_missing']:,})" for c in columns if c["n_missing"]]
    folded = [f"{c['name']} ({c['n_folded']})" for c in columns if c.get("n_folded")]
    rows += [("missing values", _some(missing, shown))] * bool(missing)
    rows += [("rare levels folded", _some(folded, shown))] * bool(folded)
    rows += [(f"not used: {name}", why) for name, why in left_out.items()]
    return listing(rows, "  ")


def _some(names: Sequence[str], shown: int) -> str:
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def card_text(card: dict[str, Any]) -> str:
    """Return what `fit` prints: data, leaderboard, held-out results."""
    if card["situation"] == "bags":
        data = "Bags\n" + listing(bags_listing(card["bags"]), "  ")
    else:
        data = "Sources\n" + sources_text(card["sources"])
    parts = [
        data,
        "Columns\n" + columns_text(card["columns"], card["left_out"]),
        leaderboard_text(card["leaderboard"], card["scoring"]),
        held_out_text(card),
    ]
    return "\n\n".join(parts)
