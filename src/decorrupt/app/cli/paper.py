"""decorrupt paper: run or resume the experiments of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from decorrupt.app.cli.conventions import (
    FAILED,
    INTERRUPTED,
    Config,
    Force,
    Jobs,
    Output,
    Quiet,
    Verbose,
    option,
    split_names,
)
from decorrupt.app.cli.options import refuse_existing, write_page
from decorrupt.app.cli.text import line

if TYPE_CHECKING:
    from decorrupt.reproduction import Plan, Session


def paper(
    plan: Annotated[
        str | None,
        typer.Argument(
            help="TOML file of data sets, bag sizes, methods and repetitions; the paper's by "
            "default.",
            metavar="PLAN",
        ),
    ] = None,
    output: Annotated[
        str,
        option(
            "--output",
            "-o",
            help="Records; new runs are appended, finished runs are kept.",
            metavar="FILE",
        ),
    ] = "records.jsonl",
    quick: Annotated[
        bool, option("--quick", help="Two data sets, three bag sizes, two repetitions.")
    ] = False,
    datasets: Annotated[
        str | None, option("--datasets", help="Only these, comma-separated.", metavar="NAMES")
    ] = None,
    bag_sizes: Annotated[
        str | None, option("--bag-sizes", help="Only these, comma-separated.", metavar="SIZES")
    ] = None,
    methods: Annotated[
        str | None, option("--methods", help="Only these, comma-separated.", metavar="NAMES")
    ] = None,
    repetitions: Annotated[
        int | None, option("--repetitions", help="Stop after this many.", min=1)
    ] = None,
    data_home: Annotated[
        str | None,
        option(
            "--data-home", help="Directory of the data sets; else $DECORRUPT_DATA.", metavar="DIR"
        ),
    ] = None,
    report: Annotated[
        str | None,
        option("--report", help="Also write the report: *.html, *.md or *.json.", metavar="FILE"),
    ] = None,
    jobs: Jobs = -1,
    config: Config = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Run the experiments of the paper and record every run, or resume an earlier call.

    `decorrupt report` shows the records. The whole plan takes hours, --quick minutes.

    Example: decorrupt paper --quick -o records.jsonl --report report.html
    """
    say = Output(quiet=quiet)
    form = _checked_form(report, force)
    chosen = _plan(plan, quick).narrowed(
        datasets=split_names(datasets),
        bag_sizes=_whole_numbers(bag_sizes),
        methods=split_names(methods),
        repetitions=repetitions,
    )
    from decorrupt.reproduction import run_session

    try:
        session = run_session(chosen, output, n_jobs=jobs, data_home=data_home)
    except KeyboardInterrupt:
        say.warn([f"stopped; the finished runs are in {output}, and the same command resumes"])
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        raise typer.BadParameter(str(error)) from error
    if report and form:
        _write_report(output, report, form, force)
    say.result(None, line(_in_words(session, output, report)))
    raise typer.Exit(FAILED if session.failed else 0)


def _plan(path: str | None, quick: bool) -> Plan:
    from decorrupt.reproduction import Plan

    if path and quick:
        raise typer.BadParameter("give either --quick or PLAN")
    return Plan.read(path) if path else Plan.shipped("quick" if quick else "paper")


def _whole_numbers(text: str | None) -> list[int]:
    try:
        return [int(name) for name in split_names(text)]
    except ValueError:
        raise typer.BadParameter(f"--bag-sizes: {text!r} are not whole numbers") from None


def _checked_form(report: str | None, force: bool) -> str | None:
    """Find out before hours of work whether the report can be written."""
    if report is None:
        return None
    from decorrupt.documents import format_of

    refuse_existing(report, force=force)
    return format_of(report)


def _write_report(records: str, report: str, form: str, force: bool) -> None:
    from decorrupt.reproduction.report import format_report, read_finished_run

    write_page(format_report(read_finished_run(records), form), report, force=force)


def _in_words(session: Session, output: str, report: str | None) -> str:
    lines = [f"{session.n_run} runs, {len(session.failed)} failed; records: {output}"]
    lines += [f"report: {report}"] if report else []
    lines += ["the same command tries the failed runs again"] if session.failed else []
    return "\n".join(lines)
