"""How a model was made: methods compared, diagnostics, limits, options and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from decorrupt.app.pages.wording import (
    CRITERIA,
    METHODS,
    METRICS,
    measured_cell,
    method_label,
    percent,
    sentence,
)
from decorrupt.documents.document import Block, Cell, Definitions, Facts, Table, Text
from decorrupt.documents.numbers import count, duration, number

Found = Mapping[str, Any]
DECISIONS = {
    "balanced": "both classes count alike, however rare one is",
    "accuracy": "as many rows right as can be, among rows like the training rows",
}


def leaderboard_blocks(card: Found) -> list[Block]:
    """Return the methods tried, their scores, and what each of them does."""
    tried: Sequence[Found] = card.get("leaderboard") or []
    if not tried:
        return []
    scoring = CRITERIA.get(card.get("scoring") or "", (card.get("scoring") or "score", "", ""))
    rows: list[list[Cell]] = [
        [
            {
                "text": method_label(row["method"]),
                "strong": bool(row.get("chosen")),
                "under": "chosen" if row.get("chosen") else "",
            },
            measured_cell({"value": row.get("score"), "std_error": row.get("std_error")}, 4),
            _seconds(row.get("seconds")),
            parameters(row.get("params") or {}),
        ]
        for row in tried
    ]
    caption = (
        f"Methods by their {scoring[0]}, on held-out data, ± standard error; each at its best "
        "settings. Higher is better."
    )
    if card.get("scoring") == "count_log_likelihood" and len(tried) > 1:
        caption += (
            " Of those that are as good as the best within one standard error, the most stable one "
            "is chosen."
        )
    heads = ["method", "score", "time", "settings"]
    known = dict.fromkeys(row["method"] for row in tried if row["method"] in METHODS)
    return [
        Table("leaderboard", caption, heads, rows),
        *([Definitions([METHODS[name] for name in known])] if known else []),
    ]


def ceiling_blocks(test: Found | None) -> list[Block]:
    """Return the model beside one that was told the labels, on test rows."""
    models = {name: found for name, found in (test or {}).items() if isinstance(found, Mapping)}
    if not models:
        return []
    shown = [key for key in METRICS if all(key in found for found in models.values())]
    rows: list[list[Cell]] = [
        [name, *(measured_cell(found[key]) for key in shown)] for name, found in models.items()
    ]
    n_rows = f"{test['n_rows']:,} " if test and "n_rows" in test else ""
    caption = (
        f"On {n_rows}test rows with their true labels, ± standard error. No model has seen them. "
        "The one that was told the training rows’ labels marks what the data allow."
    )
    heads = ["trained on", *(METRICS[key][0] for key in shown)]
    return [Table("test-rows", caption, heads, rows, sortable=False)]


def diagnostic_blocks(found: Found | None) -> list[Block]:
    """Return how the fit went."""
    found = found or {}
    entries = [*_risk_entries(found), *_solver_entries(found)]
    for reason, n_groups in (found.get("dropped") or {}).items():
        entries.append((f"Left out: {n_groups}", sentence(reason)))
    return [Definitions(entries)] if entries else []


def _risk_entries(found: Found) -> Iterator[tuple[str, str]]:
    is_convex, floor = found.get("is_convex_at_reg_strength"), found.get("convexity_floor")
    if is_convex is not None:
        certain = f" Certain from reg_strength {_value(floor)} on." if floor else ""
        yield (
            f"One minimum: {'yes' if is_convex else 'not certain'}",
            f"Whether training has one best answer, whatever it starts from.{certain}",
        )
    if found.get("training_risk") is not None:
        meaning = "The estimated risk on the training rows themselves."
        if found.get("is_overfitted"):
            meaning += (
                " Below 0 by more than its noise explains, which no true risk can be: the model "
                "fits its rows too closely."
            )
        yield f"Training risk: {number(found['training_risk'], 4)}", meaning
    if found.get("bound") is not None:
        meaning = "How far training and true risk may lie apart, with a certainty of 95 %."
        if found.get("is_bound_vacuous"):
            meaning += " That is too far to promise anything."
        yield f"Bound: ± {_value(found['bound'])}", meaning


def _solver_entries(found: Found) -> Iterator[tuple[str, str]]:
    if found.get("kernel_rank") is not None:
        error = found.get("kernel_error")
        meaning = "How many features stand for the kernel"
        meaning += "" if error is None else f"; the relative error is {_value(error)}"
        yield f"Kernel rank: {found['kernel_rank']}", sentence(meaning)
    if found.get("solver"):
        ended = str(found.get("solver_status") or "it says nothing about its end")
        steps = found.get("n_iter")
        text = ended if steps is None else f"{ended}, after {count(steps, 'iteration')}"
        yield f"Solver: {found['solver']}", sentence(text)


def method_blocks(card: Found) -> list[Block]:
    """Return what was chosen, its parameters and what it decides for."""
    method: Found = card.get("method") or {}
    facts = [("method", method_label(method["chosen"]))] if "chosen" in method else []
    if method.get("parameters"):
        facts.append(("settings", parameters(method["parameters"])))
    if method.get("decision"):
        facts.append(
            ("decides so that", DECISIONS.get(method["decision"], str(method["decision"])))
        )
    if card.get("training_prior") is not None:
        shares = f"a population with {percent(card['training_prior'])} positives"
        facts.append(("probabilities are for", shares))
    return [Facts(facts)] if facts else []


def limit_blocks(card: Found) -> list[Block]:
    """Return what the model must not be used for, from phrases such as "for single cases"."""
    return [Text(sentence(f"Do not use it {limit}"), "note") for limit in card.get("not_for") or []]


def warning_blocks(*found: Found) -> list[Block]:
    """Return each warning once."""
    said = dict.fromkeys(text for one in found for text in one.get("warnings") or [])
    return [Text(sentence(text), "note") for text in said]


def made_blocks(card: Found) -> list[Block]:
    """Return when, with what versions and which options."""
    facts = [("made", when(card["created"]))] if card.get("created") else []
    facts += list((card.get("versions") or {}).items())
    blocks: list[Block] = [Facts(facts)] if facts else []
    options: Found = card.get("configuration") or {}
    origins: Found = card.get("configuration_from") or {}
    rows: list[list[Cell]] = [
        [f"--{name.replace('_', '-')}", _option(value), origins.get(name)]
        for name, value in options.items()
    ]
    if rows:
        caption = "The options of the command, and where they came from"
        blocks.append(Table("options", caption, ["option", "value", "from"], rows))
    return blocks


def parameters(values: Found) -> str:
    """Return settings as name = value, no line breaking inside of one."""
    return ", ".join(
        f"{name}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{_value(value)}"
        for name, value in values.items()
    )


def when(created: str) -> str:
    """Return an ISO time as a reader writes it."""
    return created.replace("T", " ").replace("+00:00", " UTC")


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.4g}".replace("e-", "e−") if is_number else str(value)


def _option(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _seconds(value: float | None) -> Cell:
    return None if value is None else {"text": duration(value), "sort": f"{value:.6f}"}
