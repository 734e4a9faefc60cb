"""Pages about a model, its evaluation, and data before training: one HTML file each.

They take the typed records of :mod:`decorrupt.app.training.results` and no estimator. A section
without content is left out with its heading.
"""

from __future__ import annotations

from collections.abc import Sequence

from decorrupt.app.pages.assumption_section import assumption_blocks
from decorrupt.app.pages.data_section import (
    bag_blocks,
    column_blocks,
    data_blocks,
    informative_blocks,
)
from decorrupt.app.pages.inspection_section import (
    advice_blocks,
    bag_plot_blocks,
    convexity_blocks,
)
from decorrupt.app.pages.introduction import (
    evaluation_lead,
    evaluation_summary,
    inspection_lead,
    kind_of,
    label_lead,
    model_lead,
    model_summary,
    trained_on,
    unseen,
)
from decorrupt.app.pages.performance import bag_results, importance_blocks, label_results
from decorrupt.app.pages.provenance import (
    comparison_blocks,
    diagnostic_blocks,
    leaderboard_blocks,
    limit_blocks,
    method_blocks,
    origin_blocks,
    warning_blocks,
)
from decorrupt.app.pages.wording import BAGS, HELD_OUT
from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.results import Comparison, Evaluation, HeldOutResults, Inspection
from decorrupt.documents.document import Block, Document, Section, Text, to_html

Part = tuple[str, str, Sequence[Block]]


def render_model(
    card: ModelCard,
    held_out: HeldOutResults,
    test: Comparison | None = None,
    more: Sequence[Part] = (),
) -> str:
    """Return the page of a model that has just been trained.

    Parameters
    ----------
    card : ModelCard
        The model's card.
    held_out : HeldOutResults
        Its results on held-out rows.
    test : Comparison, optional
        Results of several models on labelled test rows, as of a demonstration.
    more : sequence of (name, heading, blocks)
        Sections of a demonstration, after the summary.
    """
    method = card["method"]
    lead = f"{HELD_OUT[method['held_out']]}; no true label was used. {method['std_error_includes']}"
    words = assumption_blocks(card.get("assumptions", []), card.get("expected"))
    parts: list[Part] = [
        ("assumptions", "What the bags satisfy", words),
        ("summary", "Summary", model_summary(card, held_out)),
        *more,
        ("warnings", "Warnings", warning_blocks(card["warnings"])),
        ("data", "The data", data_blocks(card)),
        ("methods", "Methods compared", leaderboard_blocks(card)),
        ("comparison", "Comparison with a model trained on labels", comparison_blocks(test)),
        (
            "held-out",
            f"Results on held-out {unseen(card)}",
            [Text(lead.rstrip()), *bag_results(held_out, kind_of(card), "held-out")],
        ),
        ("importance", "Feature importance", importance_blocks(held_out, "model")),
        ("columns-used", "Columns", column_blocks(card["columns"], card["left_out"])),
        ("diagnostics", "Diagnostics", diagnostic_blocks(card["diagnostics"])),
        ("limits", "What it must not be used for", limit_blocks(card)),
        ("origin", "Settings and versions", [*method_blocks(card), *origin_blocks(card)]),
    ]
    return _page(f"A model trained on {trained_on(card)}", model_lead(card), parts)


def render_evaluation(found: Evaluation, card: ModelCard) -> str:
    """Return the page of a model evaluated on rows it was not trained on."""
    words = assumption_blocks(found.get("assumptions", []), found.get("expected"))
    parts: list[Part] = [
        ("assumptions", "What the bags satisfy", words),
        ("summary", "Summary", evaluation_summary(found)),
        ("warnings", "Warnings", warning_blocks(found["warnings"])),
    ]
    if "labels" in found:
        lead = Text(label_lead(found["labels"]))
        parts.append(
            ("labels", "With true labels", [lead, *label_results(found["labels"], "labels")])
        )
    if "bags" in found:
        lead = Text(
            "Evaluated with the known proportions of bags. These must not be bags the model was "
            "trained on."
        )
        results = found["bags"]
        parts += [
            ("bags", "Without labels, bag by bag", [lead, *bag_results(results, BAGS, "bags")]),
            ("importance", "Feature importance", importance_blocks(results, "bags")),
            ("data", "The bags", bag_blocks(found["bag_summary"])),
        ]
    parts += [
        ("model", "The model", [*method_blocks(card), *leaderboard_blocks(card)]),
        ("training-warnings", "Warnings in training", warning_blocks(card["warnings"])),
        ("limits", "What it must not be used for", limit_blocks(card)),
        ("origin", "Settings and versions of the model", origin_blocks(card)),
    ]
    return _page(f"Evaluation of {found['model']}", evaluation_lead(found), parts)


def render_inspection(found: Inspection) -> str:
    """Return the page of data before training."""
    words = assumption_blocks(found.get("assumptions", []), found["outlook"].get("quick_fit"))
    parts: list[Part] = [
        ("assumptions", "What the bags satisfy", words),
        ("summary", "Summary", advice_blocks(found)),
        ("warnings", "Warnings", warning_blocks(found["warnings"])),
        ("data", "The data", data_blocks(found)),
    ]
    columns = ("columns-used", "Columns", column_blocks(found["columns"], found["left_out"]))
    if "bag_details" in found:
        details = found["bag_details"]
        bags = [*bag_plot_blocks(details), *informative_blocks(details)]
        convexity = convexity_blocks(details["convexity"])
        parts += [
            ("bags", "The bags one by one", bags),
            columns,
            ("convexity", "Is the objective convex?", convexity),
        ]
    else:
        parts.append(columns)
    return _page(f"Inspection of {found['rows']}", inspection_lead(found), parts)


def _page(title: str, lead: str, parts: Sequence[Part]) -> str:
    sections = [Section(name, heading, blocks) for name, heading, blocks in parts if blocks]
    return to_html(Document(title, lead, sections))
