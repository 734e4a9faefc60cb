"""decorrupt explain: the model card as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decorrupt.app.cli.checks import check_file
from decorrupt.app.cli.conventions import Json, Output
from decorrupt.app.cli.predict import ModelFile
from decorrupt.app.cli.text import (
    Facts,
    assumptions_section,
    bullets,
    columns_section,
    data_section,
    facts,
    held_out_section,
    leaderboard_section,
    line,
    params_text,
    section,
)
from decorrupt.app.training.methods import BAG_METHODS, SOURCE_METHODS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from decorrupt.app.training.model_card import DiagnosticsCard, ModelCard

DECISIONS = {
    "balanced": "the balanced error (both classes have equal weight)",
    "accuracy": "accuracy on rows like the training rows",
}


def explain(model: ModelFile, *, json_output: Json = False) -> None:
    """Describe a model: how it was trained, how good it is, what it must not be used for.

    Example: decorrupt explain model.skops
    """
    check_file(model)
    from decorrupt.app.training.model_card import has_card, read_card
    from decorrupt.model_files import load_with_metadata

    output = Output(as_json=json_output)
    loaded, metadata = load_with_metadata(model)
    if has_card(metadata):
        card = read_card(metadata, model)
        output.result(card, *_parts(card))
    else:
        text = f"A {type(loaded).__name__} saved from Python, without a card:\n{loaded!r}"
        output.result({"estimator": repr(loaded), "metadata": metadata}, line(text))


def _parts(card: ModelCard) -> list[RenderableType]:
    data = "bags with known proportions" if "bags" in card else "noisy labels of sources"
    n_columns = len(card["columns"])
    return [
        section("Model", facts(_model(card))),
        *assumptions_section(card.get("assumptions", []), "What the bags satisfied"),
        data_section(f"Trained on {data}", card),
        columns_section("Columns it needs", card["columns"], card["left_out"], n_columns),
        leaderboard_section(card),
        held_out_section(card),
        section("Diagnostics", facts(_diagnostics(card["diagnostics"]))),
        section("Warnings in training", bullets(card["warnings"])),
        section("Do not use it", bullets(card["not_for"])),
        section("Origin", facts(_origin(card))),
    ]


def _model(card: ModelCard) -> Facts:
    method = card["method"]
    known = BAG_METHODS if "bags" in card else SOURCE_METHODS
    return [
        ("classifies", f"rows as {_classes(card)}"),
        ("method", f"{method['chosen']} ({method['estimator']})"),
        ("asked for", f"{method['asked']}: {known[method['asked']].meaning}"),
        ("parameters", params_text(method["parameters"])),
        ("optimised for", _decision(card)),
        ("probabilities", f"for a population with {_shares(card)}, unless --class-prior is given"),
    ]


def _decision(card: ModelCard) -> str:
    words = DECISIONS[card["method"]["decision"]]
    return words.replace("both", "all") if len(card["class_shares"]) > 2 else words


def _classes(card: ModelCard) -> str:
    from decorrupt.app.training.model_card import class_names

    *others, last = map(repr, class_names(card))
    return f"{', '.join(others)} or {last}"


def _shares(card: ModelCard) -> str:
    from decorrupt.app.training.model_card import share_of_positives

    if len(card["class_shares"]) == 2:
        return f"{share_of_positives(card):.1%} positives"
    return ", ".join(f"{share:.1%} {name}" for name, share in card["class_shares"].items())


def _diagnostics(found: DiagnosticsCard | None) -> Facts:
    if found is None:
        return [("none", "this method has no diagnostics; see the held-out criteria")]
    convex = "yes" if found["is_convex_at_reg_strength"] else "not certain"
    overfitted = " (negative: overfitted)" if found["is_overfitted"] else ""
    rows = [
        (
            "objective convex",
            f"{convex} (certain from --reg-strength {found['convexity_floor']:.3g} on)",
        ),
        ("training risk", f"{found['training_risk']:.4g}{overfitted}"),
        ("kernel rank", f"{found['kernel_rank']} (error {found['kernel_error']:.2g})"),
        ("solver", f"{found['solver']}: {found['solver_status']}"),
    ]
    if found["bound"] is not None:
        rows.append(("bound on the error of the risk", f"± {found['bound']:.3g}"))
    return rows + [("left out", f"{n} {reason}") for reason, n in found["dropped"].items()]


def _origin(card: ModelCard) -> Facts:
    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    options = [
        f"{name}={card['configuration'][name]} ({source})"
        for name, source in card["configuration_from"].items()
        if source != "default"
    ]
    return [
        ("created", card["created"]),
        ("versions", versions),
        ("options", ", ".join(options) or "none"),
    ]
