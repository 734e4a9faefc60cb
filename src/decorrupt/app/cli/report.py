"""decorrupt report: the records of the experiments of the paper as one page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from decorrupt.app.cli.checks import check_file
from decorrupt.app.cli.conventions import MINUS, Config, Force, Output, Quiet, option
from decorrupt.app.cli.options import refuse_existing, write_page


def report(
    records: Annotated[
        str, typer.Argument(help="Records written by `decorrupt paper`.", metavar="RECORDS")
    ],
    output: Annotated[
        str | None,
        option(
            "--output",
            "-o",
            help="File to write: *.html, *.md or *.json; - for stdout.",
            metavar="FILE",
        ),
    ] = None,
    markdown: Annotated[bool, option("--markdown", help="Write markdown.")] = False,
    json_output: Annotated[bool, option("--json", help="Write JSON: every number.")] = False,
    config: Config = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Compare the records of the experiments with the published numbers.

    One HTML file that needs no network: both tables, plots, tests, cost, choices and failures.
    Without -o, markdown and JSON go to standard output.

    Example: decorrupt report records.jsonl -o report.html
    """
    form = _form(output, markdown, json_output)
    refuse_existing(output, force=force)
    check_file(records)
    from decorrupt.reproduction.report import format_report, read_finished_run

    text = format_report(read_finished_run(records), form)
    if output is None or output == MINUS:
        sys.stdout.write(text)
        return
    write_page(text, output, force=force)
    Output(quiet=quiet).note(f"written: {output}")


def _form(output: str | None, markdown: bool, json_output: bool) -> str:
    """Return the format: by flag, else by the file's ending."""
    from decorrupt.documents import format_of

    if markdown and json_output:
        raise typer.BadParameter("give either --markdown or --json, not both")
    if markdown or json_output:
        return "markdown" if markdown else "json"
    if output is None:
        raise typer.BadParameter("give -o report.html, or --markdown or --json to print")
    return "html" if output == MINUS else format_of(output)
