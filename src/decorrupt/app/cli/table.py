"""decorrupt table: the table of groups and outcomes from the totals of places."""

from __future__ import annotations

from typing import Annotated

import typer

from decorrupt.app.cli.conventions import (
    FAILED,
    Force,
    Json,
    Output,
    Quiet,
    Seed,
    Sql,
    Verbose,
    page_section,
    shown,
)
from decorrupt.app.cli.options import CountNoise, ReportPage, open_table, refuse_existing
from decorrupt.app.cli.pages import check_pages, make_page
from decorrupt.app.tables import TableError, check_tables, split_names


def table(
    places: Annotated[
        str,
        typer.Argument(help="Table of places; - is CSV on standard input.", metavar="PLACES"),
    ],
    *,
    groups: Annotated[
        str,
        typer.Option(
            "--groups",
            help="Columns with the people of each group, or a side of a long table.",
            metavar="COLUMNS",
        ),
    ],
    outcomes: Annotated[
        str,
        typer.Option(
            "--outcomes",
            help="Columns with the people of each outcome, or the other side.",
            metavar="COLUMNS",
        ),
    ],
    place_column: Annotated[
        str | None, typer.Option("--place-column", help="Name of each place.", metavar="COLUMN")
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--other",
            help="Outcome to add for people without one, such as abstention.",
            metavar="NAME",
        ),
    ] = None,
    count_noise: CountNoise = None,
    sql: Sql = None,
    report: ReportPage = None,
    seed: Seed = 0,
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Estimate the table of groups and outcomes from totals of places.

    Example: decorrupt table places.csv --groups white,black --outcomes dem,rep,abstain
    --report table.html

    Example: decorrupt table votes.csv --groups party --outcomes candidate

    A wide table has one row per place and one column per group and outcome; a long table has the
    columns place, side, option and votes, and --groups and --outcomes name a side each. A name with
    a comma is in double quotes: --outcomes '"Ardern, Jacinda",other'. Prints a
    verdict, what speaks against the table, and the rates with 95 % intervals; with -v also bounds,
    Goodman's regression and the signs behind the verdict. Noise (--count-noise) is that of the
    outcomes; groups must be exact.
    """
    say = Output(json_output, quiet)
    refuse_existing(report, force=force, inputs=(places,))
    check_tables(places)
    check_pages(report)
    data = open_table(places, sql)
    from decorrupt.app.pages.table_document import table_document
    from decorrupt.app.training.inexact_counts import make_noise
    from decorrupt.app.training.margins import read_margins, report_table
    from decorrupt.documents import to_html
    from decorrupt.ecological import EcologicalInference

    margins = read_margins(
        data, split_names(groups), split_names(outcomes), place_column=place_column
    )
    say.tell(data.notes)
    noise = None if count_noise is None else make_noise(count_noise)
    model = EcologicalInference(random_state=seed, other=other, count_noise=noise)
    try:
        model.fit(margins.groups, margins.outcomes)
    except ValueError as error:
        raise TableError(_with_options(str(error))) from error
    found = report_table(model, model.check())
    document = table_document(found, is_narrow=True)
    has_page = report is None or make_page(
        lambda: to_html(table_document(found)), report, force=force
    )
    page = [page_section(report)] if report and has_page else []
    say.result(found, [*shown(document, verbose=verbose), *page])
    if not has_page:
        raise typer.Exit(FAILED)


def _with_options(message: str) -> str:
    """Return a message of the library with the options of the command line."""
    for argument, name in (("other='abstention'", "--other abstention"), ("count_noise", "noise")):
        message = message.replace(argument, name)
    return message
