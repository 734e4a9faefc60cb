"""Make the cheat sheet: ``python docs/make_cheat_sheet.py`` writes two SVG of the same content.

docs/figures/cheat_sheet.svg has two columns, for a page of paper or a desktop;
cheat_sheet_narrow.svg has one, for a phone.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import NamedTuple
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent / "figures"
COLUMN, GAP, MARGIN = 400, 16, 12  # widths in SVG units: 390 pixels of a phone are one column
LINE, CODE_LINE, PAD = 18, 17, 12
TEXT_WIDTH, CODE_WIDTH = 54, 50  # characters per line
STYLE = """
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1c2733 }
.title { font-size: 22px; font-weight: 700 } .head { font-size: 15px; font-weight: 600 }
.section { font-size: 16px; font-weight: 700; fill: #0b6299 }
.code { font: 11.5px ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre }
.name { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; font-weight: 700; fill: #a84a00 }
.page { fill: #fff } .card { fill: #f4f7fa; stroke: #d3dce5 } .strip { fill: #e4ebf2 }
"""


class Card(NamedTuple):
    """A heading, code lines below it, and what to know or do; `section` opens a new part."""

    head: str
    code: tuple[str, ...]
    text: str
    section: str = ""


HAVE = (
    Card(
        "Shares or counts of groups",
        (
            "decorrupt inspect rows.csv groups.csv",
            "decorrupt fit rows.csv groups.csv \\",
            "  -o model.skops --report model.html",
        ),
        "One table of rows, one of groups; the common column and the share are guessed. "
        "Groups with equal shares contain nothing.",
        section="What you have → what to type",
    ),
    Card(
        "Counts of several classes",
        (
            "decorrupt fit voters.csv precincts.csv \\",
            "  --count-columns red,green,blue -o model.skops",
        ),
        "One column per class. You need at least as many different groups as classes.",
    ),
    Card(
        "Counts with secrets: “<5”, or noise",
        (
            "decorrupt fit rows.csv groups.csv \\",
            "  --count-column cases --count-noise laplace:2 \\",
            "  -o model.skops",
        ),
        "Give counts as they were released. Noise that you do not state is taken for information.",
    ),
    Card(
        "Labels of sources that err",
        (
            "decorrupt fit rows.csv --label-column label \\",
            "  --source-column who --noise-rates rates.csv \\",
            "  -o model.skops",
        ),
        "rates.csv: source, flip_pos, flip_neg. Unknown? Check some labels of each source "
        "(estimate_noise_rates_from_audit). Without --noise-rates they are estimated.",
    ),
    Card(
        "Totals of groups and of outcomes per place",
        (
            "decorrupt table places.csv --groups old,young \\",
            "  --outcomes yes,no --report table.html",
        ),
        "No columns of single people. Estimates how each group decided, with intervals and a "
        "verdict. Python: EcologicalInference.",
    ),
    Card(
        "A model, and new rows",
        (
            "decorrupt predict model.skops new.csv --proba \\",
            "  -o predictions.csv",
            "decorrupt evaluate model.skops checked.csv \\",
            "  --label-column label",
        ),
        "Verdict “check it with labels”: label the number of rows it asks for, then evaluate.",
    ),
    Card(
        "Python",
        (
            "from decorrupt import (",
            "    AutoLabelProportionsClassifier, bag_targets)",
            "model = AutoLabelProportionsClassifier()",
            "model.fit(X, bag_targets(ward, share), bags=ward)",
            "model.predict_proba(X_new)",
        ),
        "Sources: AutoSourcesClassifier().fit(X, y, sources=…, noise_rates=…). A row with a label "
        "of its own is a bag of one row. Forests: EMClassifier.",
    ),
)
WARNINGS = (
    Card(
        "WeakEvidenceWarning",
        (),
        "The groups contain too little; classes may even be swapped. Get more groups, smaller "
        "ones, or ones whose shares differ more. Check that shares are joined to the right groups.",
        section="Warning → what to do",
    ),
    Card(
        "BagAssumptionWarning",
        (),
        "Groups differ in more than their share. Keep the columns that explain it, and use the "
        "automatic choice or CountLikelihoodClassifier(bag_effect='estimate').",
    ),
    Card(
        "OneClassWarning",
        (),
        "Every row gets the same class. Scale the columns, lower reg_strength, or use "
        "decision='balanced'.",
    ),
    Card(
        "UnscaledColumnsWarning",
        (),
        "One column decides all distances. Put a TailScaler before the classifier.",
    ),
    Card(
        "RoundedCountsWarning",
        (),
        "No whole count rounds to this share. Do the shares belong to these rows? If they contain "
        "noise: count_noise.",
    ),
    Card(
        "ContradictedRatesWarning",
        (),
        "The labels do not fit the stated rates. Is flip_pos first? Do sources see different "
        "populations (source_priors)?",
    ),
    Card(
        "NegativeRiskWarning",
        (),
        "The model fits noise. Raise reg_strength, or set risk_correction='abs'.",
    ),
    Card(
        "NonConvexRiskWarning",
        (),
        "The solver stopped at a point that is not a minimum. Raise reg_strength above "
        "diagnostics_.convexity_floor.",
    ),
)
VERDICTS = (
    Card(
        "“do not use”",
        (),
        "No better than the class shares. Another method will not help; other groups or some "
        "labels will.",
        section="Verdict → what to do",
    ),
    Card(
        "“check it with labels”",
        (),
        "A good sign, not a proof. Label some rows at random and run decorrupt evaluate.",
    ),
    Card("“usable”", (), "Predict. Look at the page again when the data change."),
)


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Return a line of text at this place."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>'


def draw_card(card: Card, x: float, y: float) -> tuple[list[str], float]:
    """Return the parts of a card whose upper left corner is here, and where the next begins."""
    parts: list[str] = []
    if card.section:
        parts.append(text(x, y + 16, card.section, "section"))
        y += 28
    lines = wrap(card.text, TEXT_WIDTH, break_on_hyphens=False)
    code_height = len(card.code) * CODE_LINE + PAD if card.code else 0
    height = 26 + code_height + len(lines) * LINE + PAD / 2
    parts.append(
        f'<rect class="card" x="{x}" y="{y:g}" width="{COLUMN}" height="{height:g}" rx="6"/>'
    )
    kind = "name" if card.head.endswith("Warning") else "head"
    parts.append(text(x + PAD, y + 20, card.head, kind))
    if card.code:
        parts.append(
            f'<rect class="strip" x="{x + PAD / 2}" y="{y + 28:g}" width="{COLUMN - PAD}" '
            f'height="{code_height - PAD / 2:g}" rx="4"/>'
        )
    for k, line in enumerate(card.code):
        parts.append(text(x + PAD, y + 42 + k * CODE_LINE, line, "code"))
    for k, line in enumerate(lines):
        parts.append(text(x + PAD, y + 40 + code_height + k * LINE, line))
    return parts, y + height + 8


def draw_sheet(columns: list[list[Card]]) -> str:
    """Return the SVG with these columns of cards."""
    parts, bottom = [text(MARGIN, 34, "decorrupt on one page", "title")], 0.0
    for number, cards in enumerate(columns):
        x, y = MARGIN + number * (COLUMN + GAP), 50.0
        for card in cards:
            drawn, y = draw_card(card, x, y)
            parts += drawn
        bottom = max(bottom, y)
    width = 2 * MARGIN + len(columns) * (COLUMN + GAP) - GAP
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom:g}" role="img" '
        f'aria-label="Cheat sheet"><style>{STYLE}</style><rect class="page" width="100%" '
        'height="100%"/>'
    )
    return "\n".join([opening, *parts, "</svg>\n"])


def sheets() -> dict[str, str]:
    """Return the name and the content of each file."""
    return {
        "cheat_sheet.svg": draw_sheet([[*HAVE], [*WARNINGS, *VERDICTS]]),
        "cheat_sheet_narrow.svg": draw_sheet([[*HAVE, *WARNINGS, *VERDICTS]]),
    }


if __name__ == "__main__":
    for name, content in sheets().items():
        (FOLDER / name).write_text(content)
