"""Options of several commands, and readers of the tables they name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

import typer

from decorrupt.app.cli.conventions import (
    FAILED,
    MINUS,
    Output,
    about_file,
    print_error_line,
)
from decorrupt.app.tables import split_names

if TYPE_CHECKING:
    from decorrupt.app.training.bag_columns import BagColumns
    from decorrupt.app.training.columns import Features
    from decorrupt.app.training.roles import BagRows
    from decorrupt.app.training.source_roles import SourceRows
    from decorrupt.app.training.table import Table

BagsArgument = Annotated[
    str | None,
    typer.Argument(help="Table of bags; without it, their columns are in ROWS.", metavar="BAGS"),
]
BagColumn = Annotated[
    str | None, typer.Option("--bag-column", help="Bag of each row.", metavar="COLUMN")
]
ProportionColumn = Annotated[
    str | None,
    typer.Option(
        "--proportion-column", help="Proportion of positives in each bag.", metavar="COLUMN"
    ),
]
CountColumn = Annotated[
    str | None,
    typer.Option("--count-column", help="Number of positives in each bag.", metavar="COLUMN"),
]
ProportionColumns = Annotated[
    str | None,
    typer.Option(
        "--proportion-columns",
        help="Proportions of several classes: one column per class, comma-separated.",
        metavar="COLUMNS",
    ),
]
CountColumns = Annotated[
    str | None,
    typer.Option(
        "--count-columns",
        help="Counts of several classes: one column per class, comma-separated.",
        metavar="COLUMNS",
    ),
]
CountNoise = Annotated[
    str | None,
    typer.Option(
        "--count-noise",
        help="Noise in the counts: laplace:SCALE, gaussian:DEVIATION or geometric:EPSILON.",
        metavar="NOISE",
    ),
]
WeightColumn = Annotated[
    str | None,
    typer.Option("--weight-column", help="How many rows each row represents.", metavar="COLUMN"),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label-column", help="Label of each row.", metavar="COLUMN")
]
PositiveLabel = Annotated[
    str | None,
    typer.Option(
        "--positive-label",
        help="Positive labels, comma-separated; all others are negative.",
        metavar="LABEL",
    ),
]
SourceColumn = Annotated[
    str | None,
    typer.Option("--source-column", help="Source of each label.", metavar="COLUMN"),
]
NoiseRatesFile = Annotated[
    str | None,
    typer.Option(
        "--noise-rates",
        help="Table with the columns source, flip_pos, flip_neg and optionally class_prior.",
        metavar="FILE",
    ),
]
DropColumns = Annotated[
    str | None,
    typer.Option("--drop", help="Columns not to learn from.", metavar="COLUMNS"),
]

ReportPage = Annotated[
    str | None, typer.Option("--report", help="Page to write, *.html.", metavar="FILE")
]


SHOWN_COLUMNS = 5


class BagOptions(TypedDict):
    """The options that name the columns of bags."""

    bag_column: str | None
    proportion_column: str | None
    count_column: str | None
    proportion_columns: str | None
    count_columns: str | None
    count_noise: NotRequired[str | None]  # of `fit` and `inspect`


class TrainingOptions(BagOptions):
    """The options of `fit` and `inspect` that name tables and columns."""

    rows: str
    bags: str | None
    sql: str | None
    weight_column: str | None
    label_column: str | None
    positive_label: str | None
    method: NotRequired[str]  # of `fit`
    source_column: str | None
    noise_rates: str | None
    drop: str | None


def open_table(source: str, sql: str | None = None) -> Table:
    """Return a table with the name it has in messages."""
    from decorrupt.app.tables import read_table
    from decorrupt.app.training.table import Table

    frame = read_table(source, sql=sql)
    return Table(frame, table_name(source), notes=frame.attrs.pop("notes"))


def table_name(source: str) -> str:
    """Return the name of a table in messages."""
    return "standard input" if source == MINUS else source


def read_training_data(
    given: TrainingOptions, say: Output
) -> tuple[BagRows | SourceRows, Features]:
    """Return rows in bags or rows with noisy labels, and the columns to learn from.

    `inspect` and `fit` read with this function only, after `check_training`, so that they refuse
    the same input with the same message. Every table is opened once, here.
    """
    from decorrupt.app.training.columns import choose_features
    from decorrupt.app.training.roles import BagRows
    from decorrupt.app.training.row_weights import merge_rows, weigh_rows
    from decorrupt.app.training.source_roles import read_sources

    rates = given["noise_rates"]
    table = open_table(given["rows"], given["sql"])
    in_bags = given["label_column"] is None
    table = weigh_rows(table, given["weight_column"], in_bags=in_bags)
    data: BagRows | SourceRows
    if given["label_column"] is None:
        columns = bag_columns(given)
        data = read_bag_rows(table, given["bags"], columns, takes_ranges=True)
        if data.are_named and given["positive_label"]:
            raise typer.BadParameter(
                "--positive-label cannot be used where classes have names: they are those of "
                "--proportion-columns or --count-columns"
            )
    else:
        data = read_sources(
            table,
            None if rates is None else open_table(rates),
            label_column=given["label_column"],
            source_column=given["source_column"],
            positive_label=given["positive_label"],
        )
    features = choose_features(
        data.table.frame, roles=data.roles, drop=split_names(given["drop"]), table=table.name
    )
    if isinstance(data, BagRows):
        data = merge_rows(data, features, given.get("method"))
    say.tell((*table.notes, *data.notes))
    say.warn(features.warnings)
    return data, features


def bag_columns(given: BagOptions) -> BagColumns:
    """Return the columns that describe bags."""
    from decorrupt.app.training.bag_columns import BagColumns

    return BagColumns(
        bag=given["bag_column"] or "",
        proportion=given["proportion_column"],
        count=given["count_column"],
        proportions=split_names(given["proportion_columns"]),
        counts=split_names(given["count_columns"]),
        count_noise=given.get("count_noise"),
    )


def read_bag_rows(
    rows: Table,
    bags: str | None,
    columns: BagColumns,
    *,
    takes_ranges: bool = False,
) -> BagRows:
    """Return rows in bags; `takes_ranges`: counts can be cells such as ``<5``."""
    from decorrupt.app.training.roles import read_bags

    table = None if bags is None else open_table(bags)
    return read_bags(rows, table, columns, takes_ranges=takes_ranges)


def left_out_in_words(features: Features) -> list[str]:
    """Return one line about the columns that are not used although no option excludes them."""
    names = list(features.left_out)
    if not names:
        return []
    shown = ", ".join(names[:SHOWN_COLUMNS]) + (", …" if len(names) > SHOWN_COLUMNS else "")
    return [f"columns that are not used: {shown} (-v shows why)"]


def refuse_existing(*paths: str | None, force: bool, inputs: Sequence[str | None] = ()) -> None:
    """Fail before the work starts if an output exists, is named twice, or cannot be written.

    Parameters
    ----------
    *paths : str or None
        The outputs.
    force : bool
        Whether files that exist may be replaced.
    inputs : sequence of str or None
        Files that are read, and may not be replaced in any case.

    Raises
    ------
    FileExistsError, BadParameter
    """
    from decorrupt.atomic import check_writable

    named: set[Path] = set()
    for path in paths:
        if path is None or path == MINUS:
            continue
        if Path(path).resolve() in named:
            raise FileExistsError(f"{path} is named for two outputs: choose another name for one")
        named.add(Path(path).resolve())
        if any(_is_same_file(path, one) for one in inputs):
            raise FileExistsError(f"{path} is also an input: choose another name for the output")
        if Path(path).exists() and not force:
            raise FileExistsError(
                f"{path} exists: choose another name, or overwrite it with --force"
            )
        try:
            check_writable(path, force=force)
        except OSError as error:
            raise typer.BadParameter(about_file(error)) from None


def _is_same_file(path: str, other: str | None) -> bool:
    """Whether two names are those of one existing file, also through links."""
    if other is None or not Path(path).exists():
        return False
    source = Path(other).expanduser()
    return source.exists() and source.samefile(path)


def check_folder(folder: str) -> None:
    """Raise BadParameter if files cannot be written to a folder, or it cannot be made."""
    path = Path(folder).absolute()
    nearest = next(place for place in (path, *path.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise typer.BadParameter(f"{folder}: {error.strerror}") from None


def save_model(model: Any, path: str, metadata: Mapping[str, Any], *, force: bool) -> None:
    """Save a trained model; if that fails, save it to a temporary file and name that file.

    Raises
    ------
    Exit
        With the exit code of a failure, if the model is in a temporary file.
    """
    from decorrupt.model_files import save

    try:
        save(model, path, dict(metadata), force=force)
    except Exception as error:
        said = about_file(error) if isinstance(error, OSError) else str(error)
        handle, other = tempfile.mkstemp(prefix="decorrupt-", suffix=Path(path).suffix)
        os.close(handle)
        try:
            save(model, other, dict(metadata), force=True)
        except Exception:
            Path(other).unlink()
            raise error from None
        print_error_line("error", f"{said}; the model is in {other} instead")
        raise typer.Exit(FAILED) from None


def write_page(page: str, path: str, *, force: bool) -> None:
    """Write an HTML page whole or not at all."""
    from decorrupt.app.tables import atomic_write

    with atomic_write(path, force=force) as temporary:
        Path(temporary).write_text(page, encoding="utf-8")
