"""The report's document, made from the summary dict."""

from __future__ import annotations

from typing import Any

from decorrupt.documents import (
    Block,
    Document,
    Facts,
    Section,
    Table,
    Text,
    count,
    number,
    signed,
)
from reproduction.report.comparison_section import agreement_blocks, comparison_blocks
from reproduction.report.details_section import (
    choice_blocks,
    cost_blocks,
    data_blocks,
    environment_blocks,
    failure_blocks,
    left_out_blocks,
)
from reproduction.report.summary import MAIN_METRIC, columns_of
from reproduction.report.tables_section import curve_blocks, table_blocks

TITLE = "Learning from label proportions: the paper’s experiments, run again"
LEAD = (
    "Scott and Zhang (2019), “Learning from Multiple Corrupted Sources, with Application to "
    "Learning from Label Proportions”, Tables 1 and 2: their numbers beside those of our own runs."
)
INTRODUCTION = (
    "The task: train a classifier for two classes, for example forged and genuine banknotes, "
    "without the label of any single row. Only groups of rows, called bags, and the proportion of "
    "positive rows in each bag are known. Larger bags give less information.",
    "The experiment: each of seven public data sets is split at random, 80 % of the rows for "
    "training and 20 % for testing. The training rows are divided into bags of 2, 4, 8, 16, 32 or "
    "64; rows that do not fill a bag are left out. Each method gets the rows, the bags and the "
    "proportions, but no labels. It selects its settings by cross-validation over whole bags, and "
    "then classifies the test rows. This is repeated with new splits and bags, which are the same "
    "for all methods that we ran. The paper used five repetitions.",
    "The measure: balanced accuracy is the mean of the recalls of the two classes; 0.5 is "
    "guessing, 1 is perfect. Accuracy (Table 2) is the share of test rows classified correctly. A "
    "cell is one combination of data set and bag size; there are 42.",
)


def experiment_document(summary: dict[str, Any]) -> Document:
    """Return the report of :func:`~reproduction.report.summary.summarise_run`'s dict."""
    sections = [
        Section("experiment", "Experiment", _introduction(summary)),
        Section("in-short", "In short", _headline(summary)),
        Section("table-1", "Table 1: balanced accuracy", table_blocks(summary, MAIN_METRIC)),
        Section("curves", "Balanced accuracy against bag size", curve_blocks(summary)),
        Section("comparison", "Comparison of the methods", comparison_blocks(summary)),
        Section("agreement", "Agreement with the paper", agreement_blocks(summary)),
        Section("table-2", "Table 2: accuracy", table_blocks(summary, "accuracy")),
        Section("cost", "Cost", cost_blocks(summary)),
        Section("chosen", "Selected settings", choice_blocks(summary)),
        Section("failed", "Failed and missing runs", failure_blocks(summary)),
        Section("left-out", "Rows left out", left_out_blocks(summary)),
        Section("data", "Data sets", data_blocks(summary)),
        Section("environment", "Environment", environment_blocks(summary)),
    ]
    return Document(TITLE, LEAD, sections)


def _introduction(summary: dict[str, Any]) -> list[Block]:
    methods = [(column.label, column.meaning) for column in columns_of(summary) if column.meaning]
    table = Table("methods", "The methods", ["method", "meaning"], methods, sortable=False)
    return [*map(Text, INTRODUCTION), table]


def _headline(summary: dict[str, Any]) -> list[Block]:
    means = summary["tables"][MAIN_METRIC]["means"]
    facts = [
        (
            f"{column.label}, mean of {count(means[column.key]['n_cells'], 'cell')}",
            _mean(means[column.key]),
        )
        for column in columns_of(summary)
        if column.key in means and column.key in ("auto", "corrected_loss", "supervised")
    ]
    extent = (
        f"From {count(summary['n_done'], 'finished run')}; "
        f"{count(len(summary['failures']), 'run')} failed. “Published” after the automatic choice "
        "is the best of the three published methods in each cell; which one that is was not known "
        "in advance."
    )
    return [Facts(facts), *_against_best(summary["headline"]), Text(extent, "faint")]


def _mean(found: dict[str, Any]) -> str:
    text = number(found["mean"])
    if found["difference"] is None:
        return text
    return f"{text} (published {number(found['mean'] - found['difference'])})"


def _against_best(headline: dict[str, Any]) -> list[Block]:
    if not headline["n_cells"]:
        return []
    text = (
        f"The automatic choice is at least as good as the best of the three published numbers in "
        f"{headline['n_at_least']} of {count(headline['n_cells'], 'cell')}."
    )
    below = ", ".join(
        f"{cell['dataset']} {cell['bag_size']} ({signed(cell['difference'])})"
        for cell in headline["below"]
    )
    return [Text(f"{text} Below it: {below}." if below else text)]
