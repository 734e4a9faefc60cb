"""What is in the data before any training, in words and two pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decorrupt.app.pages.plots import gain_plot, spread_plot
from decorrupt.app.pages.wording import measured, sentence
from decorrupt.documents.document import Block, Facts, Figure, Panels, Text
from decorrupt.documents.numbers import count, number

Found = Mapping[str, Any]


def advice_blocks(found: Found) -> list[Block]:
    """Return which method fits and what can be hoped for."""
    advice, hope = found.get("advice") or {}, found.get("hope") or {}
    facts = []
    if hope.get("effective_sample_size") is not None:
        facts.append(("the data are worth about", f"{hope['effective_sample_size']:,.0f} labels"))
    if advice.get("method"):
        facts.append(("method that fits", f"--method {advice['method']}"))
    if hope.get("quick_fit"):
        facts.append(("balanced accuracy of a quick model", measured(hope["quick_fit"])))
    texts = [sentence(text) for text in (advice.get("reason"), hope.get("words")) if text]
    if hope.get("quick_fit"):
        texts.append(
            "The quick model is a mean map, judged on bags it had not seen, ± standard error; "
            "guessing gives 0.5, perfection 1. A full fit is often better."
        )
    return [*([Facts(facts)] if facts else []), *map(Text, texts)]


def picture_blocks(found: Found) -> list[Block]:
    """Return the spread of the bags' shares, and which part of what is known a few bags hold."""
    bags = found.get("bag_shares") or []
    if not bags:
        return []
    shares = [bag["proportion"] for bag in bags]
    beyond = sum(share > 0.5 for share in shares)
    words = (
        f"{count(len(bags), 'bag')}, shares from {number(min(shares))} to {number(max(shares))}; "
        f"{beyond:,} of them above a half."
    )
    matter = found.get("matter", len(bags))
    held = f"{matter:,} of {count(len(bags), 'bag')} hold 90 % of what the shares tell."
    spread = spread_plot(shares, "spread", words)
    gain = gain_plot([bag["share"] for bag in bags], "gain", held)
    return [
        Panels(
            [
                Figure(
                    spread,
                    f"Bags tell the more, the further their shares lie apart. {words}",
                    "Shares of positives",
                ),
                Figure(
                    gain,
                    f"{held} Dotted: if every bag told as much as any other.",
                    "Which bags matter",
                ),
            ]
        )
    ]


def convexity_blocks(found: Found) -> list[Block]:
    """Return whether training the corrected loss has one best answer."""
    convex = found.get("convex")
    if not convex:
        return []
    floor = f"from reg_strength {convex['floor']:.3g} on" if convex.get("floor") else ""
    if convex.get("superbag"):
        text = "Yes, whatever the settings: the corrected loss is convex on these bags."
    elif convex.get("exists"):
        text = (
            "Possibly: some bags lie below a half and some above, so that a convex form of the "
            "corrected loss exists (convex='project' in Python)."
        )
        text += f" As it stands it is surely convex {floor}." if floor else ""
    else:
        text = "Not for the corrected loss as it stands: no bag lies on the other side of a half."
        text += f" It is surely convex {floor}." if floor else ""
    return [Text(text), Text("The mean map always has one best answer.", "faint")]
