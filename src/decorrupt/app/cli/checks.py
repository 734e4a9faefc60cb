"""Checks of options, files and columns before the scientific libraries are loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from decorrupt.app.cli.conventions import MINUS, split_names

if TYPE_CHECKING:
    from decorrupt.app.cli.options import TrainingOptions
    from decorrupt.app.training.bag_columns import BagColumns

MODEL_ENDING = ".skops"
# Options that make sense in one of the two situations only.
ONLY_FOR_BAGS = (
    "bags",
    "proportion_column",
    "count_column",
    "proportion_columns",
    "count_columns",
    "class_column",
    "upper_column",
    "count_noise",
    "negative_label",
)
ONLY_FOR_SOURCES = ("source_column", "noise_rates", "estimate_noise_rates")


def check_file(path: str) -> None:
    """Raise FileNotFoundError unless there is such a file."""
    if not Path(path).is_file():
        raise FileNotFoundError(2, "no such file", path)


def check_model_ending(path: str) -> None:
    """Raise BadParameter unless a file to write is named as a model."""
    if Path(path).suffix.lower() != MODEL_ENDING:
        raise typer.BadParameter(f"--output {path!r}: a model's name must end in {MODEL_ENDING}")


def check_columns(
    table: str | None, named: Mapping[str, Sequence[str] | None], sql: str | None = None
) -> None:
    """Raise TableError unless a table, if one is named, exists and has the columns named.

    Parameters
    ----------
    table : str or None
        The file.
    named : mapping
        {option: column, columns or None}.
    sql : str or None
        A query, whose columns are known only when it is run.
    """
    from decorrupt.app.tables import need_names, read_header

    if table is None:
        return
    header = read_header(table, sql=sql)
    for option, names in named.items() if header is not None else ():
        wanted = [names] if isinstance(names, str) else names or []
        need_names(header or [], wanted, table, option)


def is_of_bags(given: TrainingOptions) -> bool:
    """Return whether the options describe bags or sources; refuse those of the other situation."""
    of_bags = given["label_column"] is None
    if (given["bag_column"] is None) == of_bags:
        raise typer.BadParameter("give either --bag-column (bags) or --label-column (sources)")
    situation, foreign = ("bags", ONLY_FOR_SOURCES) if of_bags else ("sources", ONLY_FOR_BAGS)
    for name in foreign:
        if given.get(name):
            shown = "the table BAGS" if name == "bags" else "--" + name.replace("_", "-")
            raise typer.BadParameter(f"{shown} cannot be used for training on {situation}")
    return of_bags


def check_training(given: TrainingOptions) -> bool:
    """Check the options of `fit` and `inspect` that name tables and columns; return is_of_bags."""
    from decorrupt.app.cli.options import bag_columns

    rows, sql = given["rows"], given["sql"]
    named = {
        "--features": split_names(given["features"]),
        "--drop": split_names(given["drop"]),
        "--categorical": split_names(given["categorical"]),
    }
    check_columns(rows, named, sql)
    of_bags = is_of_bags(given)
    if of_bags:
        columns = bag_columns(given)
        check_bags(rows, given["bags"], sql, columns)
        if columns.names_classes and given.get("positive_label"):
            raise typer.BadParameter(
                "--positive-label cannot be used where classes have names: they are those of "
                "--proportion-columns, --count-columns or --class-column"
            )
    else:
        names = (given["label_column"], given["source_column"])
        check_sources(rows, sql, *names, given["noise_rates"], given["estimate_noise_rates"])
    return of_bags


def check_bags(rows: str, bags: str | None, sql: str | None, columns: BagColumns) -> None:
    """Raise unless the options describe bags and their tables have the columns."""
    if bags == MINUS and rows == MINUS:
        raise typer.BadParameter("rows and bags cannot both come from standard input")
    columns.check(has_table=bags is not None)
    own: dict[str, str | Sequence[str] | None] = {"--bag-column": columns.bag}
    check_columns(rows, own if bags else own | columns.values, sql)
    check_columns(bags, own | columns.values)


def check_sources(
    rows: str,
    sql: str | None,
    label_column: str | None,
    source_column: str | None,
    noise_rates: str | None,
    estimate: bool,
) -> None:
    """Raise unless the options describe sources and their tables have the columns."""
    if (noise_rates is None) != estimate:
        raise typer.BadParameter(
            "give either --noise-rates, a table of known rates, or --estimate-noise-rates"
        )
    check_columns(rows, {"--label-column": label_column, "--source-column": source_column}, sql)
    check_columns(noise_rates, {"--noise-rates": ("flip_pos", "flip_neg")})


def check_model_columns(model: str, rows: str, sql: str | None) -> None:
    """Raise unless there is such a model and the rows have the columns that it needs."""
    from decorrupt.app.tables import read_header

    check_file(model)
    header = read_header(rows, sql=sql)
    if header is None:
        return
    from decorrupt.app.training.model_card import need_model_columns
    from decorrupt.model_files import load_metadata

    columns = load_metadata(model).get("columns", [])
    need_model_columns(header, [(one["name"], one["kind"]) for one in columns], rows)
