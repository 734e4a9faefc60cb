"""Pictures of a table: rates with intervals, tomography lines, HTML."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from decorrupt.extras import import_pyplot


def plot(model: Any, ax: Any = None, kind: str = "rates") -> Any:
    """Draw a fitted model, see :meth:`EcologicalInference.plot`."""
    if kind not in ("rates", "tomography"):
        raise ValueError(f"unknown kind {kind!r}: choose one of rates, tomography")
    if kind == "tomography" and model.table_.shape != (2, 2):
        n_groups, n_outcomes = model.table_.shape
        raise ValueError(f"tomography needs a 2 × 2 table; this one is {n_groups} × {n_outcomes}")
    if ax is None:
        height = 4 if kind == "tomography" else 1 + 0.25 * model.table_.size
        _, ax = import_pyplot("plot()").subplots(figsize=(6, height), layout="constrained")
    draw = {"rates": draw_rates, "tomography": draw_tomography}[kind]
    return draw(model, ax)


def draw_rates(model: Any, ax: Any) -> Any:
    """Draw the rate of every cell, its 95 % interval, and Goodman's rate."""
    names, start = [], 0
    n_outcomes = len(model.outcome_names_)
    low, high = model.interval(function="rates")
    for r, group in enumerate(model.group_names_):
        places = start + np.arange(n_outcomes)
        rate = model.rates_[r]
        away = np.maximum([rate - low[r], high[r] - rate], 0)
        label = "95 % interval" if r == 0 else None
        ax.errorbar(rate, places, xerr=away, fmt="o", color="tab:blue", capsize=2, label=label)
        label = "Goodman" if r == 0 else None
        ax.plot(model.goodman_[r], places, "x", color="tab:gray", label=label)
        names += [f"{group}: {outcome}" for outcome in model.outcome_names_] + [""]
        start += n_outcomes + 1
    ax.set_yticks(np.arange(start), names, parse_math=False)
    ax.invert_yaxis()
    ax.set(xlabel="share of the group", xlim=(-0.02, 1.02))
    ax.legend(loc="best")
    return ax


def draw_tomography(model: Any, ax: Any) -> Any:
    """Draw one line per place: the rates of both groups that its margins allow."""
    groups, yes = model.group_counts_, model.outcome_counts_[:, 0]
    for (first, second), count in zip(groups, yes, strict=True):
        if not first or not second:
            continue
        ends = np.clip([(count - second) / first, count / first], 0, 1)
        ax.plot(ends, (count - first * ends) / second, color="tab:blue", alpha=0.3, lw=0.8)
    ax.plot(*model.rates_[:, 0], "o", color="tab:red", label="estimate")
    outcome, (first, second) = model.outcome_names_[0], model.group_names_
    ax.set_xlabel(f"{outcome}, share of {first}", parse_math=False)
    ax.set_ylabel(f"{outcome}, share of {second}", parse_math=False)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="best")
    return ax


def table_as_html(model: Any) -> str:
    """Return the rates with their intervals as an HTML table."""
    low, high = model.interval(function="rates")
    rows = []
    for r, group in enumerate(model.group_names_):
        cells = [
            f"{rate:.1%} ({low[r, c]:.1%}–{high[r, c]:.1%})"
            for c, rate in enumerate(model.rates_[r])
        ]
        rows.append(_row(f"{group} ({model.table_[r].sum():,.0f})", cells, "td"))
    head = _row("share of the group (95 %)", model.outcome_names_)
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _row(first: str, cells: Any, tag: str = "th") -> str:
    return (
        f"<tr><th>{escape(first)}</th>"
        + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells)
        + "</tr>"
    )
