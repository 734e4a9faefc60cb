"""Sections about data before any training: advice, plots of the bags, convexity."""

from __future__ import annotations

from decorrupt.app.pages.plots import gain_plot, spread_plot
from decorrupt.app.pages.wording import expected_range, sentence
from decorrupt.app.training.results import BagDetails, Convexity, Inspection
from decorrupt.documents.document import Block, Facts, Figure, Panels, Text
from decorrupt.documents.numbers import count, number
from decorrupt.glossary import method_label


def advice_blocks(found: Inspection) -> list[Block]:
    """Return which method fits and which accuracy to expect."""
    advice, outlook = found["advice"], found["outlook"]
    facts = [("recommended method", f"--method {advice['method']}")]
    if "effective_sample_size" in outlook:
        worth = f"{outlook['effective_sample_size']:,.0f} labels"
        facts.insert(0, ("the data are worth about", worth))
    texts = [sentence(advice["reason"]), sentence(outlook["words"])]
    if "quick_fit" in outlook:
        n_classes = len(found["bags"]["classes"])
        measure = "mean recall" if n_classes > 2 else "balanced accuracy"
        facts.append((f"{measure} of a quick model", expected_range(outlook["quick_fit"])))
        guess = f"1 / {n_classes}" if n_classes > 2 else "0.5"
        texts.append(
            f"The quick model, {method_label(outlook['quick_fit']['method'])}, was evaluated on "
            f"held-out bags. Guessing gives {guess}, perfection 1. A full fit is often better."
        )
    return [Facts(facts), *map(Text, texts)]


def bag_plot_blocks(details: BagDetails) -> list[Block]:
    """Return the distribution of the proportions, and how much each bag contributes to V."""
    bags = details["shares"]
    proportions = [bag["proportion"] for bag in bags]
    above = sum(proportion > 0.5 for proportion in proportions)
    words = (
        f"{count(len(bags), 'bag')}, proportions from {number(min(proportions))} to "
        f"{number(max(proportions))}; {above:,} of them above 0.5."
    )
    gain = f"{details['n_informative']:,} of {count(len(bags), 'bag')} contribute 90 % of V."
    return [
        Panels(
            [
                Figure(
                    spread_plot(proportions, "spread", words),
                    f"Bags are more informative the more their proportions differ. {words}",
                    "Proportions of the bags",
                ),
                Figure(
                    gain_plot([bag["share"] for bag in bags], "gain", gain),
                    f"{gain} Dotted: if all bags contributed equally.",
                    "Informative bags",
                ),
            ]
        )
    ]


def convexity_blocks(convexity: Convexity) -> list[Block]:
    """Return whether the corrected loss is convex on these bags."""
    floor = f" It is convex from reg_strength {convexity['floor']:.3g} on."
    if convexity["superbag"]:
        text = "Yes: the corrected loss is convex on these bags for every regularisation strength."
    elif convexity["exists"]:
        text = (
            "Possibly: some proportions are below 0.5 and some above, so that a convex form of the "
            f"corrected loss exists (convex='project' in Python). Without it:{floor}"
        )
    else:
        text = (
            "Not for the corrected loss in general: all proportions are on the same side of 0.5."
            f"{floor}"
        )
    return [Text(text), Text("The mean map is always convex.", "faint")]
