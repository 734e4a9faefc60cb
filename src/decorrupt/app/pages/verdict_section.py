"""The first sections of a document: the verdict, the accuracy to expect, and what is against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from decorrupt.app.pages.wording import measured, sentence
from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.results import (
    AssumptionChecks,
    Evaluation,
    ExpectedAccuracy,
    Verdict,
)
from decorrupt.app.training.verdict import AVOID, CHECK, HALF_WIDTH, USABLE
from decorrupt.app.training.words import (
    accuracy_words,
    chances_sentence,
    classes_sentence,
    measure_name,
    method_sentence,
)
from decorrupt.documents import Block, Command, Facts, Section, Table, Text, number
from decorrupt.glossary import METRICS

TONES = {USABLE: "good", CHECK: "unsure", AVOID: "bad"}
FROM_POSTERIOR = (
    "Estimated without labels, from the posterior of a model of the class probabilities."
)
MORE_BAGS = "Next: collect more bags, or bags whose shares differ more."
BALANCED = (
    "The mean of two rates: the share of positives that are recognised and the share of negatives "
    "that are recognised. Guessing gives 0.5, perfection 1."
)
MEAN_RECALL = (
    "The mean over the classes of the share of their rows that are recognised. Guessing gives "
    "1 / number of classes, perfection 1."
)
ESTIMATED = "The interval takes the estimated noise rates as known."


def verdict_section(
    verdict: Verdict, next_step: str, command: str, words: Mapping[str, str] = {}
) -> Section:
    """Return the verdict, the main reason and the next command; `words`: other words for it."""
    word = words.get(verdict["word"], verdict["word"])
    text = sentence(f"{word}: {verdict['why']}")
    blocks: list[Block] = [Text(text, TONES[verdict["word"]]), Text(next_step)]
    return Section("verdict", "Verdict", [*blocks, *([Command(command)] if command else [])])


def after_training(
    verdict: Verdict, card: ModelCard, model: str, rows: str = "new rows"
) -> tuple[str, str]:
    """Return the next step with a model, and its command; `rows` are those to label."""
    if verdict["word"] == USABLE:
        until = (
            f" Before it decides about single cases, check it on about {verdict['n_labels']:,} "
            "labelled rows in all."
        )
        return (
            f"Next: predict new rows.{until if verdict['n_labels'] else ''}",
            f"decorrupt predict {model} new_rows.csv -o predictions.csv",
        )
    if verdict["word"] == AVOID:
        return MORE_BAGS, "decorrupt inspect new_rows.csv new_bags.csv"
    # Bags without names of classes have 0 and 1; the labels may have other names.
    is_unnamed = card["situation"] == "bags" and list(card["class_shares"]) == ["0", "1"]
    positive = " --positive-label LABEL" if is_unnamed else ""
    wanted = f"about {verdict['n_labels']:,} {rows}, which shows the accuracy to ±{HALF_WIDTH:g}"
    if not verdict["n_labels"]:
        wanted = (
            f"more rows: the accuracy is known to ±{HALF_WIDTH:g}, which is too near to guessing"
        )
    return (
        f"Next: label {wanted}.",
        f"decorrupt evaluate {model} labelled_rows.csv --label-column label{positive}",
    )


def after_evaluation(verdict: Verdict, card: ModelCard, model: str) -> tuple[str, str]:
    """Return the next step after an evaluation with labels, and its command if there is one."""
    if verdict["word"] == AVOID:
        return MORE_BAGS, ""
    return after_training(verdict, card, model, "rows in all")


def accuracy_section(card: ModelCard) -> Section:
    """Return the accuracy to expect beside that of guessing."""
    blocks = expected_blocks(
        card["expected"], card.get("bag_column", ""), len(card["class_shares"])
    )
    if card.get("noise_rates") == "estimated":
        blocks.append(Text(ESTIMATED, "faint"))
    return Section("accuracy", "Accuracy to expect", blocks)


def expected_blocks(
    expected: ExpectedAccuracy, bag_column: str, n_classes: int, name: str = ""
) -> list[Block]:
    """Return an accuracy to expect under its name, the evidence for it, and the baselines."""
    facts = [
        (name or measure_name(n_classes), accuracy_words(expected)),
        ("evidence that it is better than guessing", expected["evidence"]),
        ("guessing", f"{expected['guessing']:.3g}"),
    ]
    if "group_rate" in expected:
        own = f"{expected['group_rate']:.3f} (for known bags only)"
        facts.append((f"guessing by {bag_column}", own))
    meaning = BALANCED if n_classes == 2 else MEAN_RECALL
    return [Facts(facts), Text(f"{FROM_POSTERIOR} {meaning}", "faint")]


def against_section(warnings: Sequence[str], verdict: Verdict | None) -> Section:
    """Return the warnings that the verdict does not contain."""
    why = verdict["why"] if verdict is not None else ""
    texts = [text for text in dict.fromkeys(warnings) if text != why]
    notes = [Text(sentence(text), "note") for text in texts]
    return Section("against", "What speaks against it", notes)


def check_section(found: Mapping[str, object]) -> Section:
    """Return the tests of the assumptions in words, and their p-values."""
    checks: AssumptionChecks | None = found.get("assumptions")  # type: ignore[assignment]
    if checks is None:
        return Section("assumptions", "Assumption checks", [])
    words = (classes_sentence, chances_sentence, method_sentence)
    rows = [
        ["(A) rows of a class look the same in every bag", _p_value(checks["classes_p_value"])],
        [
            "(B) rows with equal columns have equal chances in every bag",
            _p_value(checks["chances_p_value"]),
        ],
    ]
    caption = "Tests of the assumptions. Below 0.05 the bags contradict the assumption."
    table = Table("checks", caption, ["assumption", "p-value"], rows, sortable=False)
    texts = [Text(sentence(own(checks))) for own in words]
    return Section("assumptions", "Assumption checks", [*texts, table], folded=True)


def _p_value(value: float | None) -> str:
    return "not testable with these bags" if value is None else number(value)


def evaluation_section(found: Evaluation, bag_column: str) -> Section:
    """Return the most important numbers of an evaluation."""
    blocks: list[Block] = []
    if "labels" in found:
        metrics, classes = found["labels"]["metrics"], found["labels"]["classes"]
        shown = ("balanced_accuracy", "accuracy", "roc_auc")
        if len(found["labels"]["classes"]) > 2:
            shown = ("accuracy", "macro_recall", "log_loss")
        facts = [(METRICS[name].label, measured(metrics[name])) for name in shown]
        n_rows, most = found["labels"]["n_rows"], max(classes, key=lambda one: one["n_rows"])
        facts.append((f"accuracy of always “{most['name']}”", number(most["n_rows"] / n_rows)))
        if "combined" in found:
            name = f"{measure_name(len(classes))} from labels and training data together"
            facts.append((name, measured(found["combined"])))
        blocks.append(Facts([*facts, ("labelled rows", f"{n_rows:,}")]))
    if "expected" in found:
        n_classes = len(found["bags"]["classes"])
        blocks += expected_blocks(
            found["expected"],
            bag_column,
            n_classes,
            f"{measure_name(n_classes)} from the shares of these bags, without labels",
        )
    return Section("accuracy", "Accuracy", blocks)
