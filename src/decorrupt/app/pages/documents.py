"""Documents about a model, its evaluation, and data before training.

They take the typed records of :mod:`decorrupt.app.training.results` and no estimator. Pages, the
terminal and markdown show the same sections. A section without content is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from decorrupt.app.pages.data_section import bag_blocks, bag_table, column_blocks, data_blocks
from decorrupt.app.pages.performance import (
    bag_results,
    importance_blocks,
    label_results,
    label_tables,
)
from decorrupt.app.pages.provenance import (
    leaderboard_table,
    limit_blocks,
    method_blocks,
    origin_blocks,
    when,
)
from decorrupt.app.pages.verdict_section import (
    MORE_BAGS,
    accuracy_section,
    after_evaluation,
    after_training,
    against_section,
    check_section,
    evaluation_section,
    verdict_section,
)
from decorrupt.app.pages.wording import BAGS, HELD_OUT, SOURCES, label_lead, listed
from decorrupt.app.training.model_card import ModelCard, class_names
from decorrupt.app.training.results import Evaluation, HeldOutResults, Inspection, Verdict
from decorrupt.app.training.verdict import AVOID, CHECK, USABLE
from decorrupt.documents import Block, Document, Section, Text

# Before training, the verdict is about the data.
OF_DATA = {
    USABLE: "a model can be trained",
    CHECK: "a model can be trained, but check it with labels",
}
OTHER_ROWS = "These must not be rows that the model was trained on."


def model_document(
    card: ModelCard,
    model: str,
    held_out: HeldOutResults | None = None,
    more: Sequence[Section] = (),
) -> Document:
    """Return the document of a model.

    Parameters
    ----------
    card : ModelCard
        The model's card.
    model : str
        The name of its file, for the next command.
    held_out : HeldOutResults, optional
        Its results on held-out rows, if it has just been trained.
    more : sequence of Section
        Sections of a demonstration, after the verdict.
    """
    sections = [
        verdict_section(card["verdict"], *after_training(card["verdict"], card, model)),
        accuracy_section(card),
        against_section(card["warnings"], card["verdict"]),
        *more,
        check_section(card),
        *_held_out(card, held_out),
        _folded("data", "The data", data_blocks(card)),
        _folded("columns-used", "Columns", column_blocks(card["columns"], card["left_out"])),
        *_about_model(card),
    ]
    title = f"A model trained on {_trained_on(card['situation'])}"
    return _document(title, _model_lead(card), sections)


def evaluation_document(found: Evaluation, card: ModelCard, model: str) -> Document:
    """Return the document of a model evaluated on rows it was not trained on."""
    sections = []
    if "verdict" in found:
        next_step = after_evaluation(found["verdict"], card, model)
        sections.append(verdict_section(found["verdict"], *next_step))
    bag_column = card.get("bag_column", "bag")
    sections += [
        evaluation_section(found, bag_column),
        against_section(found["warnings"], found.get("verdict")),
    ]
    if "labels" in found:
        labels, lead = found["labels"], Text(label_lead(found["labels"]))
        sections += [
            Section("labels", "With true labels", [lead, *label_tables(labels, "labels")]),
            _folded("measures", "Measures and calibration", label_results(labels, "labels")),
        ]
    if "bags" in found:
        results = found["bags"]
        sections += [
            check_section(found),
            _folded("bags", "Without labels, bag by bag", bag_results(results, BAGS, "bags")),
            _folded("importance", "Feature importance", importance_blocks(results, "bags")),
            _folded("data", "The bags", bag_blocks(found["bag_summary"])),
        ]
    sections += _about_model(card)
    about = (
        f"Evaluation of the model on {found['n_rows']:,} rows of {found['rows']}, "
        f"{when(found['created'])}. {OTHER_ROWS}"
    )
    return _document(f"Evaluation of {found['model']}", about, sections)


def inspection_document(found: Inspection, command: str) -> Document:
    """Return the document of data before training; `command` trains a model on them."""
    sections = [
        verdict_section(found["verdict"], _next_step(found["verdict"]), command, OF_DATA),
        against_section(found["warnings"], found["verdict"]),
        Section("data", "The data", data_blocks(found)),
        check_section(found),
        _folded("columns-used", "Columns", column_blocks(found["columns"], found["left_out"])),
    ]
    if "bag_details" in found:
        table = bag_table(found["bag_details"])
        sections.append(_folded("bags", "The bags one by one", [table]))
    lead = (
        f"What the {_trained_on(found['situation'])} contain, before any training. Created "
        f"{when(found['created'])}."
    )
    return _document(f"Inspection of {found['rows']}", lead, sections)


def _next_step(verdict: Verdict) -> str:
    if verdict["word"] == AVOID:
        return f"{MORE_BAGS} To train all the same:"
    return "Next: train a model."


def _held_out(card: ModelCard, held_out: HeldOutResults | None) -> list[Section]:
    if held_out is None:
        return []
    method, kind = card["method"], SOURCES if "sources" in card else BAGS
    name = "bags" if method["held_out"] == "whole bags" else "rows"
    lead = Text(f"{HELD_OUT[method['held_out']]}; no true label was used.")
    return [
        _folded(
            "held-out",
            f"Results on held-out {name}",
            [lead, *bag_results(held_out, kind, "held-out")],
        ),
        _folded("importance", "Feature importance", importance_blocks(held_out, "model")),
    ]


def _about_model(card: ModelCard) -> list[Section]:
    return [
        _folded("methods", "Methods compared", [*method_blocks(card), leaderboard_table(card)]),
        _folded("limits", "What it must not be used for", limit_blocks(card)),
        _folded("origin", "Settings and versions", origin_blocks(card)),
    ]


def _model_lead(card: ModelCard) -> str:
    classes = class_names(card)
    data = "labels from several sources, each with its own noise rates"
    if "bags" in card:
        data = "groups of rows, called bags, of which only the shares of the classes are known"
    names = " or ".join(f"“{name}”" for name in classes) if len(classes) == 2 else listed(classes)
    return f"This model classifies rows as {names}. It was trained on {data}."


def _trained_on(situation: str) -> str:
    return "noisy labels" if situation == "sources" else "label proportions"


def _folded(name: str, title: str, blocks: Sequence[Block]) -> Section:
    return Section(name, title, blocks, folded=True)


def _document(title: str, lead: str, sections: Sequence[Section]) -> Document:
    return Document(title, lead, [section for section in sections if section.blocks])
