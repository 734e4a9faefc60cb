"""The report's standing sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decorrupt.documents.numbers import signed

TITLE = "Learning from label proportions: the paper’s experiments, run again"
LEAD = (
    "Scott and Zhang (2019), “Learning from Multiple Corrupted Sources, with Application to "
    "Learning from Label Proportions”, Tables 1 and 2: their numbers beside those of our own runs."
)
INTRODUCTION = (
    "The task: tell two kinds of things apart, say forged from genuine banknotes, when no single "
    "one has been labelled. Known are only groups of them, called bags, and which share of each "
    "bag is of the first kind. The larger the bags, the less is known.",
    "The experiment: each of seven public data sets is split at random, 80 % of the rows for "
    "training and 20 % for the test. The training rows are cut into bags of 2, 4, 8, 16, 32 or 64; "
    "rows that fill no bag are left out. Each method gets the rows, the bags and the shares, "
    "never a row’s label, and chooses its settings by cross-validation over whole bags. Then it "
    "classifies the test rows. This is repeated with new splits and bags, the same for all our "
    "methods; the paper did so five times.",
    "The measure: balanced accuracy is the mean of two shares, of the first kind recognised and of "
    "the second kind recognised. Guessing gives 0.5, perfection 1. Accuracy, in Table 2, is the "
    "share of all test rows that were recognised. One pair of data set and bag size is called a "
    "cell; there are 42.",
)
SUSPECT = (
    "† The paper’s ∝SVM row of contraceptive repeats that of german, number by number, in both "
    "tables. It is shown and counted as printed, but it cannot be right."
)
HEADS = ("data set", "bag size")
MARKS = {"better": "▲", "worse": "▼", "same": "="}


def change(value: Mapping[str, Any]) -> str:
    """Return a difference with its mark, ▲, ▼ or =, so that no colour is needed."""
    return f"{MARKS[value['verdict']]} {signed(value['difference'])}"
