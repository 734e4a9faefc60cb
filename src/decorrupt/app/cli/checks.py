"""Checks of options and files before the scientific libraries are loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from decorrupt.app.cli.conventions import MINUS

if TYPE_CHECKING:
    from decorrupt.app.cli.options import TrainingOptions
    from decorrupt.app.training.bag_columns import BagColumns

MODEL_ENDING = ".skops"
# Options for what is known about bags.
BAG_VALUES = (
    "proportion_column",
    "count_column",
    "proportion_columns",
    "count_columns",
    "count_noise",
)
# Options that make sense in one of the two situations only.
ONLY_FOR_BAGS = ("bags", *BAG_VALUES)
ONLY_FOR_SOURCES = ("source_column", "noise_rates")


def check_file(path: str) -> None:
    """Raise FileNotFoundError unless there is such a file."""
    if not Path(path).is_file():
        raise FileNotFoundError(2, "no such file", path)


def check_model_ending(path: str) -> None:
    """Raise BadParameter unless a file to write is named as a model."""
    if Path(path).suffix.lower() != MODEL_ENDING:
        raise typer.BadParameter(f"--output {path!r}: a model's name must end in {MODEL_ENDING}")


def is_of_bags(given: TrainingOptions) -> bool:
    """Return whether the options describe bags or sources; refuse those of the other situation."""
    of_bags = given["label_column"] is None
    has_bags = bool(given["bag_column"] or (of_bags and given["bags"]))
    if has_bags != of_bags:
        raise typer.BadParameter("give either --bag-column (bags) or --label-column (sources)")
    situation, foreign = ("bags", ONLY_FOR_SOURCES) if of_bags else ("sources", ONLY_FOR_BAGS)
    for name in foreign:
        if given.get(name):
            shown = "the table BAGS" if name == "bags" else "--" + name.replace("_", "-")
            raise typer.BadParameter(f"{shown} cannot be used for training on {situation}")
    return of_bags


def check_training(given: TrainingOptions) -> bool:
    """Check the options of `fit` and `inspect` before data are read; return is_of_bags.

    The names of columns are checked in the tables that were read.
    """
    from decorrupt.app.cli.options import bag_columns
    from decorrupt.app.tables import check_tables

    check_tables(given["rows"], given["bags"])
    of_bags = is_of_bags(given)
    check_tables(given["noise_rates"])
    if of_bags:
        check_bags(given["rows"], given["bags"], bag_columns(given))
    return of_bags


def check_bags(rows: str, bags: str | None, columns: BagColumns) -> None:
    """Raise unless the options describe bags."""
    if bags == MINUS and rows == MINUS:
        raise typer.BadParameter("rows and bags cannot both come from standard input")
    columns.check(has_table=bags is not None)
