"""decorrupt predict: classes and probabilities of new rows, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from decorrupt.app.cli.checks import check_file
from decorrupt.app.cli.conventions import (
    MINUS,
    Force,
    Output,
    Quiet,
    Rows,
    Sql,
    Verbose,
)
from decorrupt.app.cli.options import refuse_existing, table_name
from decorrupt.app.tables import split_names

if TYPE_CHECKING:
    from decorrupt.app.training.predict import ClassShares, Predictor

ModelFile = Annotated[
    str, typer.Argument(help="Model file written by 'decorrupt fit'.", metavar="MODEL")
]
ClassPrior = Annotated[
    str | None,
    typer.Option(
        "--class-prior",
        help="Share of positives among these rows, or of each class: red=0.5,green=0.3,blue=0.2; "
        "by default the share in training.",
        metavar="SHARE",
    ),
]


def read_class_prior(text: str | None) -> ClassShares | None:
    """Return a share of positives, or {class: share}; raise BadParameter if it is neither."""
    if text is None:
        return None
    named = [part.rpartition("=") for part in split_names(text)]
    try:
        if not any(sign for _, sign, _ in named):
            return float(text)
        return {name.strip(): float(share) for name, _, share in named}
    except ValueError:
        raise typer.BadParameter(
            f"--class-prior {text!r} is not a share, or one per class: red=0.5,green=0.3,blue=0.2"
        ) from None


def predict(
    model: ModelFile,
    rows: Rows,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Table to write; - for CSV on stdout.", metavar="FILE"),
    ] = MINUS,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of the positive class.")
    ] = False,
    class_prior: ClassPrior = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep", help="Columns to copy into the output, comma-separated.", metavar="COLUMNS"
        ),
    ] = None,
    sql: Sql = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Predict the class of every row.

    Example: decorrupt predict model.skops new.csv --proba -o predictions.csv

    Columns are found by name, in any order. The output has one row per input row, in the same
    order. With --class-prior the prediction is the more probable class for these shares; without it
    the model's own decision, see --decision of 'fit'. Rows are processed in blocks.
    """
    say = Output(quiet=quiet)
    prior = read_class_prior(class_prior)
    refuse_existing(output, force=force, inputs=(model, rows))
    check_file(model)
    from decorrupt.app.tables import check_tables, write_table

    check_tables(rows)
    predictor = open_predictor(model)
    blocks = _blocks(predictor, rows, sql, split_names(keep), prior, proba=proba)
    write_table(blocks, output, force=force, neutralise=True)
    say.warn(predictor.warnings())


def open_predictor(model: str) -> Predictor:
    """Return a model file's predictor."""
    from decorrupt.app.training.predict import Predictor
    from decorrupt.model_files import load_with_metadata

    return Predictor.of(*load_with_metadata(model), model)


def _blocks(
    predictor: Predictor,
    rows: str,
    sql: str | None,
    keep: list[str],
    class_prior: ClassShares | None,
    *,
    proba: bool,
) -> Iterator[Any]:
    from decorrupt.app.tables import stream_table

    first_row = 1
    for frame in stream_table(rows, sql=sql):
        predictor.check_keep(frame, keep, table_name(rows))
        predictions = predictor.predict(
            frame, class_prior=class_prior, table=table_name(rows), first_row=first_row
        )
        yield predictor.table_of(frame, predictions, keep, proba=proba)
        first_row += len(frame)
