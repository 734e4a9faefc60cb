"""Common sentences of the model pages, and the format of numbers with standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from decorrupt.app.training.results import LabelResults, Measured
from decorrupt.documents import Cell, count, number

# Longest lists a page shows; a table of thousands helps nobody and makes the file heavy.
MOST_COLUMNS, MOST_BAGS, MOST_POINTS, MOST_BARS, MOST_NAMES = 100, 20, 600, 20, 20

LONGEST_NAME = 40
# A smaller difference between two shares of positives is not worth a remark.
NEAR = 0.05
PLUS_MINUS = "± is one standard error; the true value is rarely more than two away."


class Kind(NamedTuple):
    """Words for groups of rows with a known proportion, and where it comes from."""

    one: str
    known: str


BAGS = Kind("bag", "the known proportions of the bags")
SOURCES = Kind("group", "the proportions that follow from the noise rates of the sources")

HELD_OUT = {
    "whole bags": "Whole bags were held out in turn, and predicted by a model trained on the rest",
    "rows of every bag": "Some rows of every bag were held out in turn, and predicted by a model "
    "trained on the rest",
    "rows": "Some rows of every source were held out in turn, and predicted by a model trained on "
    "the rest",
}


def measured(value: Measured, decimals: int = 3) -> str:
    """Return value ± standard error, or a dash if there is no value."""
    text, std_error = number(value["value"], decimals), value["std_error"]
    if value["value"] is None or std_error is None:
        return text
    return f"{text} ± {number(std_error, decimals)}"


def number_cell(value: float | None, decimals: int = 3) -> Cell:
    """Return a number as a cell that sorts by its full value."""
    if value is None:
        return None
    return {"text": number(value, decimals), "sort": f"{value:.9g}"}


def measured_cell(value: Measured, decimals: int = 3) -> Cell:
    """Return value ± standard error as a cell."""
    if value["value"] is None:
        return None
    return {"text": measured(value, decimals), "sort": f"{value['value']:.9g}"}


def percent(share: float, decimals: int = 1) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.{decimals}f}\N{NO-BREAK SPACE}%"


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return names in quotation marks, the first few if there are many."""
    more = len(names) - most
    text = ", ".join(f"“{name}”" for name in names[:most])
    return f"{text} and {more:,} more" if more > 0 else text


def sentence(text: str) -> str:
    """Return a message as a sentence: a capital in front, a full stop behind."""
    text = text.strip()
    if "." not in text.split(" ")[0]:  # not the name of a file
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", "!", "?")) else ".")


def name_cell(name: str) -> Cell:
    """Return a name from the data as a cell; a long one is cut, and shown whole on hovering."""
    text = " ".join(name.split()) or "(no name)"
    if len(text) <= LONGEST_NAME:
        return text
    return {"text": f"{text[: LONGEST_NAME - 1]}…", "note": text}


def shown_of(n_shown: int, n_all: int, thing: str) -> str:
    """Return "12 columns", or how many of them are shown."""
    return count(n_all, thing) if n_shown == n_all else f"{n_shown:,} of {count(n_all, thing)}"


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
