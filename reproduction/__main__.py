"""``python -m reproduction run`` and ``report``: the paper's experiments, and what they show."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from decorrupt.documents import count
from reproduction.plan import Plan
from reproduction.records import DONE, read_checked
from reproduction.report import check_format, format_report
from reproduction.run import run_plan

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


def main(arguments: list[str] | None = None) -> int:
    """Return 1 if a cell failed, 2 for wrong usage, plans, records or data, 130 if interrupted."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.command(given))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG_USAGE


def _run(given: argparse.Namespace) -> int:
    axes = {name: getattr(given, name) for name in ("datasets", "bag_sizes", "methods")}
    plan = Plan.read(given.plan).narrowed(repetitions=given.repetitions, **axes)
    try:
        records = run_plan(plan, given.output, n_jobs=given.jobs)
    except KeyboardInterrupt:
        finished = f"the finished runs are in {given.output}"
        print(f"stopped; {finished}, and the same command resumes", file=sys.stderr)
        return INTERRUPTED
    n_failed = sum(record["status"] != DONE for record in records)
    print(f"{count(len(records), 'run')}, {n_failed} failed; records: {given.output}")
    return FAILED if n_failed else 0


def _report(given: argparse.Namespace) -> int:
    ending = check_format(given.output) if given.output else ".md"
    text = format_report(read_checked(given.records), ending)
    if given.output:
        Path(given.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reproduction", description="The paper's experiments and their report."
    )
    commands = parser.add_subparsers(required=True, metavar="run|report")
    run = commands.add_parser("run", help="run a plan, or resume it")
    plans = "paper (default), quick, convex_psvm, learners, or a TOML file"
    run.add_argument("plan", nargs="?", default="paper", help=plans)
    output = "records to append to (default: %(default)s)"
    run.add_argument("-o", "--output", metavar="FILE", default="records.jsonl", help=output)
    some: dict[str, Any] = {"nargs": "+", "default": (), "help": "run only these of the plan"}
    run.add_argument("--datasets", metavar="NAME", **some)
    run.add_argument("--bag-sizes", metavar="SIZE", type=int, **some)
    run.add_argument("--methods", metavar="NAME", **some)
    run.add_argument("--repetitions", metavar="N", type=int, help="run at most this many")
    jobs = "cells to run in parallel (default: as many as cores)"
    run.add_argument("-j", "--jobs", metavar="N", type=int, default=-1, help=jobs)
    run.set_defaults(command=_run)
    report = commands.add_parser("report", help="compare records with the published numbers")
    report.add_argument("records", help="the file that `run` has written")
    output = "*.html, *.md or *.json; without it, markdown on stdout"
    report.add_argument("-o", "--output", metavar="FILE", help=output)
    report.set_defaults(command=_report)
    return parser


if __name__ == "__main__":
    sys.exit(main())
