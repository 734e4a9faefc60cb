"""Options of several commands, and readers of the tables they name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

import typer

from decorrupt.app.cli.conventions import MINUS, Output, option, split_names

if TYPE_CHECKING:
    from decorrupt.app.training.bag_columns import BagColumns
    from decorrupt.app.training.columns import Features
    from decorrupt.app.training.roles import BagRows
    from decorrupt.app.training.source_roles import SourceRows
    from decorrupt.app.training.table import Table

BagsArgument = Annotated[
    str | None,
    typer.Argument(
        help="Table with one row per bag, joined on the bag column; without it, the proportion or "
        "count is a column of ROWS.",
        metavar="BAGS",
    ),
]
BagColumn = Annotated[
    str | None, option("--bag-column", help="Column with the bag of each row.", metavar="COLUMN")
]
ProportionColumn = Annotated[
    str | None,
    option(
        "--proportion-column",
        help="Column with the proportion of positives per bag.",
        metavar="COLUMN",
    ),
]
CountColumn = Annotated[
    str | None,
    option("--count-column", help="Column with the number of positives per bag.", metavar="COLUMN"),
]
ProportionColumns = Annotated[
    str | None,
    option(
        "--proportion-columns",
        help="Columns with the proportions of several classes per bag, comma-separated; their "
        "names are those of the classes.",
        metavar="COLUMNS",
    ),
]
CountColumns = Annotated[
    str | None,
    option(
        "--count-columns",
        help="The same with the numbers of rows of several classes.",
        metavar="COLUMNS",
    ),
]
ClassColumn = Annotated[
    str | None,
    option(
        "--class-column",
        help="Column of BAGS with the class, if BAGS has one row per bag and class; a class that "
        "is not listed for a bag has the proportion 0.",
        metavar="COLUMN",
    ),
]
UpperColumn = Annotated[
    str | None,
    option(
        "--upper-column",
        help="Ranges: column with the largest proportion or count per bag; --proportion-column or "
        "--count-column is then the smallest. Cells such as <5 or 0-4 of --count-column and "
        "--count-columns are ranges without it.",
        metavar="COLUMN",
    ),
]
CountNoise = Annotated[
    str | None,
    option(
        "--count-noise",
        help="Noise that was added to the counts, of several classes to each: laplace:SCALE, "
        "gaussian:DEVIATION (in rows) or geometric:EPSILON.",
        metavar="NOISE",
    ),
]
LabelColumn = Annotated[
    str | None, option("--label-column", help="Column of labels.", metavar="COLUMN")
]
PositiveLabel = Annotated[
    str | None,
    option(
        "--positive-label",
        help="Positive labels, comma-separated; all others are negative.",
        metavar="LABEL",
    ),
]
SourceColumn = Annotated[
    str | None,
    option("--source-column", help="Column with the source of each label.", metavar="COLUMN"),
]
NoiseRatesFile = Annotated[
    str | None,
    option(
        "--noise-rates",
        help="Table with the columns source, flip_pos, flip_neg and optionally class_prior.",
        metavar="FILE",
    ),
]
EstimateNoiseRates = Annotated[
    bool, option("--estimate-noise-rates", help="Estimate the noise rates from the labels.")
]
FeatureColumns = Annotated[
    str | None,
    option(
        "--features",
        help="Columns to learn from, comma-separated; by default all without another role.",
        metavar="COLUMNS",
    ),
]
DropColumns = Annotated[
    str | None,
    option("--drop", help="Columns not to learn from, comma-separated.", metavar="COLUMNS"),
]
CategoricalColumns = Annotated[
    str | None,
    option(
        "--categorical",
        help="Columns to use as categories, comma-separated, such as numeric codes.",
        metavar="COLUMNS",
    ),
]

ReportPage = Annotated[
    str | None, option("--report", help="Page to write, *.html.", metavar="FILE")
]


class BagOptions(TypedDict):
    """The options that name the columns of bags."""

    bag_column: str | None
    proportion_column: str | None
    count_column: str | None
    proportion_columns: str | None
    count_columns: str | None
    class_column: str | None
    upper_column: NotRequired[str | None]  # of `fit` and `inspect`, like the noise
    count_noise: NotRequired[str | None]


class TrainingOptions(BagOptions):
    """The options of `fit` and `inspect` that name tables and columns."""

    rows: str
    name: NotRequired[str]  # of the rows in messages, if not that of the file
    bags: str | None
    sql: str | None
    decimal: str | None
    label_column: str | None
    positive_label: str | None
    negative_label: NotRequired[str | None]  # of `fit`
    source_column: str | None
    noise_rates: str | None
    estimate_noise_rates: bool
    features: str | None
    drop: str | None
    categorical: str | None


def open_table(source: str, sql: str | None = None, decimal: str | None = None) -> Table:
    """Return a table with the name it has in messages."""
    from decorrupt.app.tables import read_table
    from decorrupt.app.training.table import Table

    frame = read_table(source, sql=sql, decimal=decimal)
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
    from decorrupt.app.training.source_roles import read_sources

    decimal, rates = given["decimal"], given["noise_rates"]
    table = open_table(given["rows"], given["sql"], decimal)
    table = replace(table, name=given.get("name", table.name))
    data: BagRows | SourceRows
    if given["label_column"] is None:
        columns = bag_columns(given)
        data = read_bag_rows(table, given["bags"], columns, decimal, takes_ranges=True)
        if data.are_named and given["positive_label"]:
            raise typer.BadParameter(
                "--positive-label cannot be used where classes have names: they are those of "
                "--proportion-columns, --count-columns or --class-column"
            )
    else:
        data = read_sources(
            table,
            None if rates is None else open_table(rates, decimal=decimal),
            label_column=given["label_column"],
            source_column=given["source_column"],
            positive_label=given["positive_label"],
        )
    features = choose_features(
        table.frame,
        roles=data.roles,
        features=split_names(given["features"]) or None,
        drop=split_names(given["drop"]),
        categorical=split_names(given["categorical"]),
        table=table.name,
    )
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
        class_name=given["class_column"],
        upper=given.get("upper_column"),
        count_noise=given.get("count_noise"),
    )


def read_bag_rows(
    rows: Table,
    bags: str | None,
    columns: BagColumns,
    decimal: str | None = None,
    *,
    takes_ranges: bool = False,
) -> BagRows:
    """Return rows in bags; `takes_ranges`: counts can be cells such as ``<5``."""
    from decorrupt.app.training.roles import read_bags

    table = None if bags is None else open_table(bags, decimal=decimal)
    return read_bags(rows, table, columns, takes_ranges=takes_ranges)


def left_out_in_words(features: Features) -> list[str]:
    """Return a line for each column that is not used although no option excludes it."""
    return [f"column {name!r} is not used: {why}" for name, why in features.left_out.items()]


def refuse_existing(*paths: str | None, force: bool) -> None:
    """Fail before the work starts if an output exists or is named twice, or has no directory.

    Raises
    ------
    FileExistsError, FileNotFoundError
    """
    named: set[Path] = set()
    for path in paths:
        if path is None or path == MINUS:
            continue
        if Path(path).resolve() in named:
            raise FileExistsError(f"{path} is named for two outputs: choose another name for one")
        named.add(Path(path).resolve())
        if Path(path).exists() and not force:
            raise FileExistsError(
                f"{path} exists: choose another name, or overwrite it with --force"
            )
        if not Path(path).resolve().parent.is_dir():
            raise FileNotFoundError(2, "there is no such directory", str(Path(path).parent))


def write_page(page: str, path: str, *, force: bool) -> None:
    """Write an HTML page whole or not at all."""
    from decorrupt.app.tables import atomic_write

    with atomic_write(path, force=force) as temporary:
        Path(temporary).write_text(page, encoding="utf-8")
