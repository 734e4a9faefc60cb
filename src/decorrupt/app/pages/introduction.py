"""The head of a page: what it shows, and the most important numbers."""

from __future__ import annotations

from decorrupt.app.pages.provenance import when
from decorrupt.app.pages.wording import (
    BAGS,
    PLUS_MINUS,
    SOURCES,
    Kind,
    expected_range,
    listed,
    measured,
    percent,
)
from decorrupt.app.training.model_card import ModelCard, class_names
from decorrupt.app.training.results import Evaluation, HeldOutResults, Inspection, LabelResults
from decorrupt.documents.document import Block, Facts, Text
from decorrupt.documents.numbers import count
from decorrupt.glossary import CLASS_CRITERIA, CRITERIA, METRICS, method_label

ACCURACY = "corrected_accuracy"
# A smaller difference between two shares of positives is not worth a remark.
NEAR = 0.05


def kind_of(card: ModelCard) -> Kind:
    """Return the words for the groups of rows."""
    return SOURCES if "sources" in card else BAGS


def trained_on(found: ModelCard | Inspection) -> str:
    """Return what was known instead of labels."""
    return "noisy labels" if found["situation"] == "sources" else "label proportions"


def unseen(card: ModelCard) -> str:
    """Return what was held out."""
    return "bags" if card["method"]["held_out"] == "whole bags" else "rows"


def model_lead(card: ModelCard) -> str:
    """Return what a model does and what it was trained on."""
    classes = class_names(card)
    if len(classes) > 2:
        return (
            f"This model classifies rows as one of {len(classes)} classes: {listed(classes)}. "
            "It was trained on groups of rows, called bags, of which "
            "only the shares of the classes are known."
        )
    named = [
        f" (“{name}”)" if name != default else ""
        for name, default in zip(reversed(classes), "10", strict=True)
    ]
    data = (
        "labels from several sources, each with its own noise rates"
        if "sources" in card
        else "groups of rows, called bags, of which only the proportion of positives is known"
    )
    return (
        f"This model classifies rows as positive{named[0]} or negative{named[1]}. It was trained "
        f"on {data}."
    )


def model_summary(card: ModelCard, held_out: HeldOutResults) -> list[Block]:
    """Return the most important numbers of a model."""
    if "bags" in card:
        bags = card["bags"]
        data = f"{count(bags['n_rows'], 'row')} in {count(bags['n_bags'], 'bag')}"
    else:
        data = count(card["sources"]["n_rows"], "row")
    several = len(card["class_shares"]) > 2
    criteria = CLASS_CRITERIA if several else CRITERIA
    accuracy, remark = measured(held_out["criteria"][ACCURACY]), PLUS_MINUS
    if "expected" in card:
        level = percent(card["expected"]["level"], 0)
        accuracy = expected_range(card["expected"])
        remark = f"In brackets: the {level} interval."
        if card["expected"]["basis"] != "corrected":
            remark = f"In brackets: {level} of resampled bags, not a confidence interval."
    facts = [
        (f"{criteria[ACCURACY].label}, held-out data", accuracy),
        ("method", method_label(card["method"]["chosen"])),
        ("trained on", data),
        ("columns", f"{len(card['columns']):,}"),
        ("created", when(card["created"])),
    ]
    measure = "macro_recall" if several else "balanced_accuracy"
    return [Facts(facts), Text(f"{_as_sentence(measure)} {remark}", "faint")]


def _as_sentence(name: str) -> str:
    """Return label and meaning of a measure."""
    label, meaning, _ = METRICS[name]
    return f"{label[0].upper()}{label[1:]}: {meaning[0].lower()}{meaning[1:]}"


def evaluation_summary(found: Evaluation) -> list[Block]:
    """Return the most important numbers of an evaluation."""
    facts = []
    if "labels" in found:
        metrics = found["labels"]["metrics"]
        shown = ("balanced_accuracy", "accuracy", "roc_auc")
        if len(found["labels"]["classes"]) > 2:
            shown = ("accuracy", "macro_recall", "log_loss")
        facts += [(METRICS[name].label, measured(metrics[name])) for name in shown]
    if "bags" in found:
        criteria = CLASS_CRITERIA if len(found["bags"]["classes"]) > 2 else CRITERIA
        estimate = measured(found["bags"]["criteria"][ACCURACY])
        if "expected" in found:
            estimate = expected_range(found["expected"])
        facts.append((f"{criteria[ACCURACY].label}, from bags", estimate))
    return [Facts([*facts, ("rows", f"{found['n_rows']:,}")])]


def evaluation_lead(found: Evaluation) -> str:
    """Return what was evaluated, when and on what."""
    return (
        f"Evaluation of the model on rows of {found['rows']}, {when(found['created'])}. These must "
        "not be rows it was trained on."
    )


def label_lead(labels: LabelResults) -> str:
    """Return the rows of the classes, and which population the probabilities are for."""
    if len(labels["classes"]) > 2:
        shares = ", ".join(f"“{name}” {percent(s)}" for name, s in labels["class_shares"].items())
        return (
            f"{count(labels['n_rows'], 'row')} of {len(labels['classes'])} classes. Probabilities "
            f"are for a population with the shares {shares}."
        )
    positive = labels["classes"][1]
    prior = labels["class_shares"][positive["name"]]
    share = positive["n_rows"] / max(labels["n_rows"], 1)
    text = (
        f"{positive['n_rows']:,} of {count(labels['n_rows'], 'row')} are positive "
        f"(“{positive['name']}”). Probabilities are for a population with {percent(prior)} "
        "positives"
    )
    if abs(share - prior) < NEAR:
        return f"{text}."
    direction = "high" if prior > share else "low"
    return f"{text}; here it is {percent(share)}, so expect them too {direction} (--class-prior)."


def inspection_lead(found: Inspection) -> str:
    """Return what was inspected, and when."""
    return (
        f"The information in the {trained_on(found)}, before any training. Created "
        f"{when(found['created'])}."
    )
