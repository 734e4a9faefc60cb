"""What the bags satisfy, and the accuracy to expect beside that of the baselines."""

from __future__ import annotations

from collections.abc import Sequence

from decorrupt.app.pages.wording import number_cell, sentence
from decorrupt.app.training.results import ExpectedAccuracy
from decorrupt.documents import Block, Cell, Table, Text
from decorrupt.glossary import method_label

BASIS = {
    "corrected": "Estimated from the proportions of held-out bags.",
    "model": "A rough guide from the model's own probabilities: in our experiments with two "
    "classes it was wrong by 0.04 on average and by up to 0.23. The range is from resampled "
    "bags. It is not a confidence interval: only labelled rows show the accuracy.",
}


def assumption_blocks(lines: Sequence[str], expected: ExpectedAccuracy | None) -> list[Block]:
    """Return what the bags satisfy in words, and the model beside the baselines."""
    texts: list[Block] = [Text(sentence(line)) for line in lines]
    return texts if expected is None else [*texts, _accuracies(expected)]


def _accuracies(expected: ExpectedAccuracy) -> Table:
    interval = f"{expected['low']:.3f} to {expected['high']:.3f}"
    rows: list[list[Cell]] = [
        [
            {"text": method_label(expected["method"]), "strong": True, "under": "this model"},
            number_cell(expected["value"]),
            interval,
        ],
        [
            {"text": "rate of the row's own bag", "under": "known bags only"},
            number_cell(expected["group_rate"]),
            "exact",
        ],
        [
            {"text": "constant", "under": "the same answer for all rows"},
            number_cell(expected["constant"]),
            "exact",
        ],
    ]
    several = expected["constant"] < 0.5
    measure = "mean recall" if several else "balanced accuracy"
    caption = (
        f"{measure.capitalize()} to expect, beside predictions without columns. "
        f"{BASIS[expected['basis']]}"
    )
    level = f"{expected['level']:.0%}"
    range_name = {"corrected": f"{level} interval", "model": f"{level} of resampled bags"}
    heads = ["prediction", measure, range_name[expected["basis"]]]
    return Table("expected-accuracy", caption, heads, rows, sortable=False)
