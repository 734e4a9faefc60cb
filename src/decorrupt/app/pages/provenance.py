"""Sections on the model: methods compared, diagnostics, limits, options and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from decorrupt.app.pages.wording import measured_cell, percent, sentence
from decorrupt.app.training.model_card import (
    DiagnosticsCard,
    ModelCard,
    Value,
    share_of_positives,
)
from decorrupt.app.training.results import Comparison, Measured
from decorrupt.documents import (
    Block,
    Cell,
    Definitions,
    Facts,
    Table,
    Text,
    count,
    duration,
    number,
)
from decorrupt.glossary import CRITERIA, METRICS, method_label

DECISIONS = {
    "balanced": "the balanced error: both classes have equal weight",
    "accuracy": "accuracy on rows like the training rows",
}


def leaderboard_blocks(card: ModelCard) -> list[Block]:
    """Return the methods that were compared, and their scores."""
    rows: list[list[Cell]] = [
        [
            {"text": method_label(row["method"]), "strong": row["chosen"]},
            weight_cell(row.get("weight")),
            measured_cell(Measured(value=row["score"], std_error=row["std_error"]), 4),
            {"text": duration(row["seconds"]), "sort": f"{row['seconds']:.6f}"},
            parameters(row["params"]),
        ]
        for row in card["leaderboard"]
    ]
    rows += [
        [
            {"text": one["method"], "under": "baseline"},
            None,
            measured_cell(Measured(value=one["score"], std_error=one["std_error"]), 4),
            None,
            "",
        ]
        for one in card.get("baselines", [])
    ]
    caption = (
        f"Methods by {CRITERIA[card['scoring']].label} on held-out data, ± one standard error, "
        "each with its best settings. Higher is better."
    )
    if card["method"]["n_models"] > 1:
        caption += (
            " The model is the average of those in bold, some with several λ, with these weights: "
            "the probability of "
            f"each to explain the held-out {'counts' if 'bags' in card else 'labels'} best."
        )
    else:
        caption += " The model is the one in bold."
    n_compared, n_all = card["method"]["n_compared"], card["method"]["n_configurations"]
    if n_compared < n_all:
        caption += f" The time budget was enough for {n_compared} of {n_all} configurations."
    heads = ["method", "weight", "score", "time", "settings"]
    return [Table("leaderboard", caption, heads, rows)]


def weight_cell(weight: float | None) -> Cell:
    """Return the weight of a method in the average; None where there is no average."""
    return None if weight is None else {"text": f"{weight:.3f}", "sort": f"{weight:.6f}"}


def comparison_blocks(test: Comparison) -> list[Block]:
    """Return the model next to one that was trained on labels, on test rows."""
    models = test["models"]
    shown = [key for key in METRICS if all(key in metrics for metrics in models.values())]
    rows: list[list[Cell]] = [
        [name, *(measured_cell(metrics[key]) for key in shown)] for name, metrics in models.items()
    ]
    caption = (
        f"On {test['n_rows']:,} test rows with true labels, ± one standard error. No model was "
        "trained on them. The model trained on true labels shows what is possible with these data."
    )
    heads = ["trained on", *(METRICS[key].label for key in shown)]
    return [Table("test-rows", caption, heads, rows, sortable=False)]


def diagnostic_blocks(found: DiagnosticsCard | None) -> list[Block]:
    """Return the diagnostics of the fit."""
    if found is None:
        return []
    entries = [*_risk_entries(found), *_solver_entries(found)]
    entries += [
        (f"Left out: {n_groups}", sentence(reason)) for reason, n_groups in found["dropped"].items()
    ]
    return [Definitions(entries)]


def _risk_entries(found: DiagnosticsCard) -> Iterator[tuple[str, str]]:
    is_convex, floor = found["is_convex_at_reg_strength"], found["convexity_floor"]
    certain = f" It is certainly convex from reg_strength {_value(floor)} on." if floor else ""
    yield (
        f"Objective convex: {'yes' if is_convex else 'not certain'}",
        f"A convex objective has one minimum, which every start finds.{certain}",
    )
    meaning = "The estimated risk on the training rows."
    if found["is_overfitted"]:
        meaning += (
            " It is below 0 by more than its standard error explains: the model is overfitted."
        )
    yield f"Training risk: {number(found['training_risk'], 4)}", meaning
    if found["bound"] is not None:
        meaning = "Largest difference between training risk and true risk, with probability 95 %."
        if found["is_bound_vacuous"]:
            meaning += " This is too large to be informative."
        yield f"Bound: ± {_value(found['bound'])}", meaning


def _solver_entries(found: DiagnosticsCard) -> Iterator[tuple[str, str]]:
    error = _value(found["kernel_error"])
    yield (
        f"Kernel rank: {found['kernel_rank']}",
        f"Number of features that approximate the kernel; the relative error is {error}.",
    )
    steps = count(found["n_iter"], "iteration")
    yield f"Solver: {found['solver']}", sentence(f"{found['solver_status']} after {steps}")


def method_blocks(card: ModelCard) -> list[Block]:
    """Return the chosen method, its parameters and what it is optimised for."""
    method = card["method"]
    return [
        Facts(
            [
                ("method", _method(card)),
                *([("settings", parameters(method["parameters"]))] * (method["n_models"] == 1)),
                ("optimised for", _decision(card)),
                ("probabilities are for", _population(card)),
            ]
        )
    ]


def _method(card: ModelCard) -> str:
    """Return the name of the method, with the size of the average."""
    method = card["method"]
    name, n_models = method_label(method["chosen"]), method["n_models"]
    if n_models > 1:
        return f"average of {n_models} models, with the largest weight {name}"
    return name


def _decision(card: ModelCard) -> str:
    words = DECISIONS[card["method"]["decision"]]
    return words.replace("both", "all") if len(card["class_shares"]) > 2 else words


def _population(card: ModelCard) -> str:
    if len(card["class_shares"]) > 2:
        return "a population with the class shares of the training rows"
    return f"a population with {percent(share_of_positives(card))} positives"


def limit_blocks(card: ModelCard) -> list[Block]:
    """Return what the model must not be used for, from phrases such as "for single cases"."""
    return [Text(sentence(f"Do not use it {limit}"), "note") for limit in card["not_for"]]


def origin_blocks(card: ModelCard) -> list[Block]:
    """Return when the model was created, with which versions and options."""
    rows: list[list[Cell]] = [
        [f"--{name.replace('_', '-')}", _option(value), card["configuration_from"].get(name)]
        for name, value in card["configuration"].items()
        if value is not None
    ]
    caption = "Options of the command, and where their values came from"
    return [
        Facts([("created", when(card["created"])), *card["versions"].items()]),
        *([Table("options", caption, ["option", "value", "from"], rows)] if rows else []),
    ]


def parameters(values: Mapping[str, Value]) -> str:
    """Return settings as name = value, without line breaks inside one."""
    return ", ".join(
        f"{name}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{_value(value)}"
        for name, value in values.items()
    )


def when(created: str) -> str:
    """Return an ISO time in a readable form."""
    return created.replace("T", " ").replace("+00:00", " UTC")


def _value(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.4g}".replace("e-", "e−") if is_number else str(value)


def _option(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
