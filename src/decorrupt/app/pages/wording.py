"""The model pages' standing sentences, and how they write numbers with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from decorrupt.documents.document import Cell
from decorrupt.documents.numbers import count, number

# Longest lists a page shows; a table of thousands helps nobody and makes the file heavy.
MOST_COLUMNS, MOST_BAGS, MOST_POINTS, MOST_BARS, MOST_NAMES = 100, 20, 600, 20, 20


LONGEST_NAME = 40


class Kind(NamedTuple):
    """How the groups of rows with a known share of positives are called."""

    one: str
    many: str
    known: str
    """Where the known share comes from."""


BAGS = Kind("bag", "bags", "the known share of positives")
SOURCES = Kind("group", "groups", "the share of positives that the sources’ rates of error imply")

HELD_OUT = {
    "whole bags": "Whole bags were left out of training in turn, and then predicted",
    "rows of every bag": "Some rows of every bag were left out of training in turn, and then "
    "predicted",
    "rows": "Some rows of every source were left out of training in turn, and then predicted",
}
# Name, what it means, which way is better: for bags and sources without labels, and by labels.
CRITERIA = {
    "corrected_accuracy": (
        "estimated balanced accuracy",
        "The mean of two shares: of the positives recognised, and of the negatives recognised. "
        "Guessing gives 0.5, perfection 1. Estimated from known shares of positives, without a "
        "label; on few rows the estimate can leave 0 to 1.",
        "higher is better",
    ),
    "corrected_risk": (
        "estimated balanced sigmoid risk",
        "The same as an error, with unsure decisions counted in part. A half is no better than "
        "guessing.",
        "lower is better",
    ),
    "proportion_risk": (
        "error in the share of positives",
        "By how much the share of rows called positive misses the known share, on average.",
        "lower is better",
    ),
    "count_log_likelihood": (
        "log-likelihood of counts, per row",
        "How well the predicted probabilities explain the numbers of positives counted in the "
        "bags. Only differences between models mean something.",
        "higher is better",
    ),
}
METRICS = {
    "accuracy": ("accuracy", "The share of rows decided rightly.", "higher is better"),
    "balanced_accuracy": (
        "balanced accuracy",
        "The mean of two shares: of the positives recognised, and of the negatives recognised. "
        "Guessing gives 0.5, perfection 1.",
        "higher is better",
    ),
    "roc_auc": (
        "area under the ROC curve",
        "How often a positive row has a higher probability than a negative one. Guessing gives "
        "0.5, perfection 1.",
        "higher is better",
    ),
    "brier": (
        "Brier score",
        "The mean squared difference between probability and truth; 0 is perfect.",
        "lower is better",
    ),
    "log_loss": (
        "log loss",
        "The same, but sure errors cost much more; 0 is perfect.",
        "lower is better",
    ),
}
# The library's names of methods, and what they do.
METHODS = {
    "mean_map": (
        "mean map",
        "Works out the averages of both classes from the averages of the bags, which is all that "
        "logistic regression needs of the labels. Quick, and always one best answer.",
    ),
    "corrected_loss": (
        "corrected loss",
        "Reads bags as samples whose labels are wrong at known rates, and corrects the loss so "
        "that it is right on average.",
    ),
    "corrected_loss_pairs": (
        "corrected loss, bags in pairs",
        "The corrected loss as first published: a rich bag is paired with a poor one.",
    ),
    "count_likelihood": (
        "count likelihood",
        "Makes the numbers of positives counted in the bags as likely as can be.",
    ),
    "set_classification": ("set classification", "Learns to tell the bags apart."),
    "proportion_matching": (
        "proportion matching",
        "Makes the predicted share of positives of each bag agree with the known one.",
    ),
    "invcal": ("InvCal", "A regression on the averages of the bags (Rüping 2010)."),
    "alternating_psvm": (
        "∝SVM",
        "Guesses labels that agree with the bags, trains on them, guesses again (Yu et al. 2013).",
    ),
    "corrected": (
        "corrected loss",
        "Corrects the loss for the rates at which each source errs, so that it is right on "
        "average, and trusts better sources more.",
    ),
    "forward": ("forward likelihood", "Makes the noisy labels as likely as can be."),
}


def present(found: Any) -> Any:
    """Return nested dicts and lists without entries of None, which are as good as absent."""
    if isinstance(found, Mapping):
        return {key: present(value) for key, value in found.items() if value is not None}
    return [present(value) for value in found] if isinstance(found, list) else found


def method_label(name: str) -> str:
    """Return what a method is called in sentences."""
    return METHODS.get(name, (name,))[0]


def measured(value: Mapping[str, Any] | None, decimals: int = 3) -> str:
    """Return value ± standard error, a dash if there is none."""
    if value is None or value.get("value") is None:
        return "—"
    text = number(value["value"], decimals)
    std_error = value.get("std_error")
    return text if std_error is None else f"{text} ± {number(std_error, decimals)}"


def number_cell(value: float | None, decimals: int = 3) -> Cell:
    """Return a number as a cell that sorts by its full value."""
    if value is None:
        return None
    return {"text": number(value, decimals), "sort": f"{value:.9g}"}


def measured_cell(value: Mapping[str, Any] | None, decimals: int = 3) -> Cell:
    """Return value ± standard error as a cell."""
    if value is None or value.get("value") is None:
        return None
    return {"text": measured(value, decimals), "sort": f"{value['value']:.9g}"}


def percent(share: float, decimals: int = 1) -> str:
    """Return a share of one as percent."""
    return f"{100 * share:.{decimals}f}\N{NO-BREAK SPACE}%"


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return names in quotation marks, the first few if there are many."""
    more = len(names) - most
    text = ", ".join(f"“{name}”" for name in names[:most])
    return f"{text} and {more:,} more" if more > 0 else text


def sentence(text: str) -> str:
    """Return a message as a sentence: a capital in front, a full stop behind."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def name_cell(name: Any) -> Cell:
    """Return a name of the user’s as a cell; a long one is cut, and whole on hovering."""
    text = " ".join(str(name).split()) or "(no name)"
    if len(text) <= LONGEST_NAME:
        return text
    return {"text": f"{text[: LONGEST_NAME - 1]}…", "note": text}


def shown_of(n_shown: int, n_all: int, thing: str) -> str:
    """Return "12 columns", or how many of them are shown."""
    return count(n_all, thing) if n_shown == n_all else f"{n_shown:,} of {count(n_all, thing)}"
