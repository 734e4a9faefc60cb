"""What stands first on a page: what it is about, and the few numbers that matter most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decorrupt.app.pages.provenance import when
from decorrupt.app.pages.wording import (
    BAGS,
    METRICS,
    SOURCES,
    Kind,
    measured,
    method_label,
    percent,
)
from decorrupt.documents.document import Block, Facts, Text
from decorrupt.documents.numbers import count

Found = Mapping[str, Any]
# Shares of positives that differ by less make no difference one would see.
NEAR = 0.05


def _is_sources(found: Found) -> bool:
    return bool(found.get("situation") == "sources")


def kind_of(card: Found) -> Kind:
    """Return how the groups of rows are called."""
    return SOURCES if _is_sources(card) else BAGS


def taught_by(found: Found) -> str:
    """Return what took the place of labels."""
    return "noisy labels" if _is_sources(found) else "shares of positives"


def unseen(card: Found) -> str:
    """Return what was held out."""
    return "bags" if (card.get("method") or {}).get("held_out") == "whole bags" else "rows"


def model_lead(card: Found) -> str:
    """Return what a model does and what it was told."""
    classes = card.get("classes") or {}
    positive, negative = (
        f" (“{classes[side]}”)" if classes.get(side) not in (None, plain) else ""
        for side, plain in (("positive", "1"), ("negative", "0"))
    )
    if _is_sources(card):
        taught = "labels that are wrong at certain rates, by the source they come from"
    else:
        taught = (
            "groups of rows, called bags, with the share of positives in each; no single row’s "
            "class was known"
        )
    told_apart = f"positive rows{positive} from negative ones{negative}"
    return f"It tells {told_apart}, and was trained on {taught}."


def model_in_short(card: Found, held_out: Found) -> list[Block]:
    """Return the numbers asked for first."""
    criteria = held_out.get("criteria") or {}
    method = card.get("method") or {}
    facts = []
    if "corrected_accuracy" in criteria:
        facts.append(
            (
                "estimated balanced accuracy, held-out data",
                measured(criteria["corrected_accuracy"]),
            )
        )
    if method.get("chosen"):
        facts.append(("method", method_label(method["chosen"])))
    data = card.get("bags") or card.get("sources") or {}
    if "n_rows" in data:
        groups = f" in {count(data['n_bags'], 'bag')}" if "n_bags" in data else ""
        facts.append(("trained on", f"{count(data['n_rows'], 'row')}{groups}"))
    if card.get("columns"):
        facts.append(("columns", f"{len(card['columns']):,}"))
    if card.get("created"):
        facts.append(("made", when(card["created"])))
    if not facts:
        return []
    words = (
        "Balanced accuracy is the mean of two shares: of the positives recognised, and of the "
        "negatives recognised. Guessing gives 0.5, perfection 1. Held-out data took no part in the "
        "training of the model they judge. Behind ± stands the standard error."
    )
    return [Facts(facts), Text(words, "faint")]


def evaluation_in_short(found: Found) -> list[Block]:
    """Return the numbers asked for first."""
    metrics = (found.get("labels") or {}).get("metrics") or {}
    criteria = (found.get("bags") or {}).get("criteria") or {}
    facts = [
        (METRICS[name][0], measured(metrics[name]))
        for name in ("balanced_accuracy", "accuracy", "roc_auc")
        if name in metrics
    ]
    if "corrected_accuracy" in criteria:
        facts.append(
            ("estimated balanced accuracy, from bags", measured(criteria["corrected_accuracy"]))
        )
    if "n_rows" in found:
        facts.append(("rows", f"{found['n_rows']:,}"))
    return [Facts(facts)] if facts else []


def evaluation_lead(found: Found) -> str:
    """Return what was measured, when and on what."""
    rows = f" rows of {found['rows']}" if found.get("rows") else " rows"
    made = f", {when(found['created'])}" if found.get("created") else ""
    return f"How good the model is on{rows}{made}. They must not be rows it was trained on."


def label_lead(labels: Found) -> str:
    """Return how many rows are positive."""
    if not {"n_positive", "n_rows"} <= set(labels):
        return ""
    named = f" (“{labels['positive']}”)" if labels.get("positive") else ""
    text = f"{labels['n_positive']:,} of {count(labels['n_rows'], 'row')} are positive{named}."
    prior = labels.get("class_prior")
    if prior is None:
        return text
    text += f" Probabilities are for a population with {percent(prior)} positives"
    share = labels["n_positive"] / max(labels["n_rows"], 1)
    if abs(share - prior) < NEAR:
        return f"{text}."
    way = "high" if prior > share else "low"
    return f"{text}; here it is {percent(share)}, so expect them too {way} (--class-prior)."


def inspection_lead(found: Found) -> str:
    """Return what was looked at, and when."""
    text = f"What {taught_by(found)} can teach about single rows, before anything is trained."
    return text + (f" Looked at on {when(found['created'])}." if found.get("created") else "")
