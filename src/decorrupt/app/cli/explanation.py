"""A model's card in words."""

from __future__ import annotations

from typing import Any

from decorrupt.app.cli.text import (
    bags_listing,
    bullets,
    columns_text,
    held_out_text,
    leaderboard_text,
    listing,
    params_text,
    sources_text,
)
from decorrupt.app.training.methods import BAG_METHODS, SOURCE_METHODS


def explanation_text(card: dict[str, Any]) -> str:
    """Return the card as paragraphs."""
    is_bags = card["situation"] == "bags"
    data = listing(bags_listing(card["bags"]), "  ") if is_bags else sources_text(card["sources"])
    taught_by = "bags of known proportions" if is_bags else "noisy labels of sources"
    parts = [
        _what_it_is(card),
        f"Trained on {taught_by}\n{data}",
        "Columns it needs\n"
        + columns_text(card["columns"], card["left_out"], len(card["columns"])),
        leaderboard_text(card["leaderboard"], card["scoring"]),
        held_out_text(card),
        "Diagnostics\n" + listing(_diagnostics(card), "  "),
        "Warnings when it was trained\n" + bullets(card["warnings"]),
        "It must not be used\n" + bullets(card["not_for"]),
        "Made\n" + listing(_made(card), "  "),
    ]
    return "\n\n".join(parts)


def _what_it_is(card: dict[str, Any]) -> str:
    method, classes = card["method"], card["classes"]
    known = BAG_METHODS if card["situation"] == "bags" else SOURCE_METHODS
    meaning = known[method["asked"]]
    decision = (
        "the balanced error (both classes count alike)"
        if method["decision"] == "balanced"
        else "accuracy among rows like the training rows"
    )
    facts = [
        ("what", f"a classifier of rows as {classes['negative']!r} or {classes['positive']!r}"),
        ("method", f"{method['chosen']} ({method['estimator']})"),
        ("asked for", f"{method['asked']}: {meaning if isinstance(meaning, str) else meaning[1]}"),
        ("parameters", params_text(method["parameters"])),
        ("decides for", decision),
        (
            "probabilities",
            f"for a population with {card['training_prior']:.1%} positives, unless --class-prior "
            "says otherwise",
        ),
    ]
    return "What it is\n" + listing(facts, "  ")


def _diagnostics(card: dict[str, Any]) -> list[tuple[str, str]]:
    found = card["diagnostics"]
    if found is None:
        return [("none", f"{card['method']['estimator']} keeps none; see the held-out criteria")]
    convex = "yes" if found["is_convex_at_reg_strength"] else "not certain"
    rows = [
        (
            "one minimum",
            f"{convex} (certain from --reg-strength {found['convexity_floor']:.3g} on)",
        ),
        (
            "training risk",
            f"{found['training_risk']:.4g}"
            + (" (negative: overfitted)" if found.get("is_overfitted") else ""),
        ),
        ("kernel rank", f"{found['kernel_rank']} (error {found['kernel_error']:.2g})"),
        ("solver", f"{found['solver']}: {found['solver_status']}"),
    ]
    if found["bound"] is not None:
        rows.append(("bound on the risk's error", f"± {found['bound']:.3g}"))
    rows += [("left out", f"{n} {reason}") for reason, n in found["dropped"].items()]
    return rows


def _made(card: dict[str, Any]) -> list[tuple[str, str]]:
    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    chosen = [
        f"{name}={card['configuration'][name]} ({source})"
        for name, source in card.get("configuration_from", {}).items()
        if source != "default"
    ]
    return [("at", card["created"]), ("with", versions), ("options", ", ".join(chosen) or "none")]
