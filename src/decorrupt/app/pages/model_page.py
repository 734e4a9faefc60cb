"""Pages about a model, its evaluation, and data before training: one HTML file each.

They take the plain dicts of :mod:`decorrupt.app.training.results` and no estimator. A page leaves
out what its dict does not have, and the heading too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decorrupt.app.pages.data_section import bag_blocks, column_blocks, data_blocks, telling_blocks
from decorrupt.app.pages.inspection_section import advice_blocks, convexity_blocks, picture_blocks
from decorrupt.app.pages.introduction import (
    evaluation_in_short,
    evaluation_lead,
    inspection_lead,
    kind_of,
    label_lead,
    model_in_short,
    model_lead,
    taught_by,
    unseen,
)
from decorrupt.app.pages.performance import bag_judgement, importance_blocks, label_judgement
from decorrupt.app.pages.provenance import (
    ceiling_blocks,
    diagnostic_blocks,
    leaderboard_blocks,
    limit_blocks,
    made_blocks,
    method_blocks,
    warning_blocks,
)
from decorrupt.app.pages.wording import BAGS, HELD_OUT, MOST_BAGS, present
from decorrupt.documents.document import Block, Document, Section, Text, to_html

Found = Mapping[str, Any]
Part = tuple[str, str, Sequence[Block]]


def render_model(card: Found, held_out: Found | None = None, test: Found | None = None) -> str:
    """Return the page of a model that has just been trained.

    Parameters
    ----------
    card : mapping
        :class:`decorrupt.app.training.results.ModelCard`.
    held_out : mapping, optional
        :class:`decorrupt.app.training.results.HeldOutResults`.
    test : mapping, optional
        Measures on labelled test rows by model, as of a demonstration:
        ``{"n_rows": …, "trained on …": {"accuracy": {"value": …, "std_error": …}, …}, …}``.
    """
    card = present(card)
    held_out = {"criteria": card.get("criteria"), **present(held_out or {})}
    way = HELD_OUT.get((card.get("method") or {}).get("held_out", ""), "")
    includes = (card.get("method") or {}).get("std_error_includes", "")
    judged = _led(
        f"{way}; no true label was used. {includes}".rstrip() if way else "",
        bag_judgement(held_out, kind_of(card), "held-out"),
    )
    parts: list[Part] = [
        ("in-short", "In short", model_in_short(card, held_out)),
        ("warnings", "Warnings", warning_blocks(card)),
        ("data", "The data", data_blocks(card)),
        ("methods", "Methods compared", leaderboard_blocks(card)),
        ("ceiling", "Beside a model that was told the labels", ceiling_blocks(present(test or {}))),
        ("held-out", f"On {unseen(card)} it had not seen", judged),
        ("importance", "Which columns it leans on", importance_blocks(held_out, "model")),
        ("columns-used", "Columns", column_blocks(card)),
        ("diagnostics", "Diagnostics", diagnostic_blocks(card.get("diagnostics"))),
        ("limits", "What it must not be used for", limit_blocks(card)),
        ("made", "How it was made", [*method_blocks(card), *made_blocks(card)]),
    ]
    title = f"A model learned from {taught_by(card)}"
    return _page(title, model_lead(card), parts)


def render_evaluation(found: Found, card: Found | None = None) -> str:
    """Return the page of a model measured on rows it was not trained on.

    Parameters
    ----------
    found : mapping
        :class:`decorrupt.app.training.results.Evaluation`.
    card : mapping, optional
        The model's card, as for :func:`render_model`.
    """
    found, card = present(found), present(card or {})
    labels, bags = found.get("labels") or {}, found.get("bags") or {}
    without = _led(
        "Judged by the bags’ known shares of positives. They must not be bags the model was "
        "trained on.",
        bag_judgement(bags, BAGS, "bags") if bags else [],
    )
    parts: list[Part] = [
        ("in-short", "In short", evaluation_in_short(found)),
        ("warnings", "Warnings", warning_blocks(found)),
        ("labels", "By true labels", _led(label_lead(labels), label_judgement(labels, "labels"))),
        ("bags", "Without labels, bag by bag", without),
        ("importance", "Which columns it leans on", importance_blocks(bags, "bags")),
        ("data", "The bags", bag_blocks(found.get("bag_summary"))),
        ("model", "The model", [*method_blocks(card), *leaderboard_blocks(card)]),
        ("training-warnings", "Warnings when it was trained", warning_blocks(card)),
        ("limits", "What it must not be used for", limit_blocks(card)),
        ("made", "How the model was made", made_blocks(card)),
    ]
    return _page(f"{found.get('model') or 'A model'}, evaluated", evaluation_lead(found), parts)


def render_inspection(found: Found) -> str:
    """Return the page of data before training.

    Parameters
    ----------
    found : mapping
        :class:`decorrupt.app.training.results.Inspection`.
    """
    found = present(found)
    parts: list[Part] = [
        ("in-short", "In short", advice_blocks(found)),
        ("warnings", "Warnings", warning_blocks(found)),
        ("data", "The data", data_blocks(found)),
        (
            "bags",
            "The bags one by one",
            [*picture_blocks(found), *telling_blocks(found, MOST_BAGS)],
        ),
        ("columns-used", "Columns", column_blocks(found)),
        ("convexity", "Has training one best answer?", convexity_blocks(found)),
    ]
    name = found.get("rows") or "The rows"
    return _page(f"{name}: what is in the data", inspection_lead(found), parts)


def _page(title: str, lead: str, parts: Sequence[Part]) -> str:
    sections = [Section(name, heading, blocks) for name, heading, blocks in parts if blocks]
    return to_html(Document(title, lead, sections))


def _led(text: str, blocks: Sequence[Block]) -> Sequence[Block]:
    return [Text(text), *blocks] if text and blocks else blocks
