"""``python -m decorrupt.experiments PLAN RECORDS``: run a plan, or go on where it stopped."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from decorrupt.experiments.plan import Plan
from decorrupt.experiments.records import DONE, latest, read_records
from decorrupt.experiments.run import run_plan


def main(arguments: list[str] | None = None) -> int:
    """Run the plan; return 1 if any cell failed, 2 if the plan cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m decorrupt.experiments", description=__doc__)
    parser.add_argument("plan", help="a TOML file, such as plans/paper.toml")
    parser.add_argument("records", help="JSON lines, appended to; finished cells are not run again")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="cells at a time")
    parser.add_argument("--methods", nargs="+", help="only these of the plan's methods")
    parser.add_argument("--repetitions", type=int, help="stop after this many")
    given = parser.parse_args(arguments)
    try:
        plan = _narrowed(Plan.read(given.plan), given.methods, given.repetitions)
        n_run = run_plan(plan, given.records, n_jobs=given.jobs)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 — a command line speaks
        return 2
    failed = [r for r in latest(read_records(given.records)) if r["status"] != DONE]
    print(f"{n_run} cells run, {len(failed)} failed", file=sys.stderr)  # noqa: T201
    return 1 if failed else 0


def _narrowed(plan: Plan, methods: list[str] | None, repetitions: int | None) -> Plan:
    if methods:
        plan = replace(plan, methods=tuple(methods))
    if repetitions is not None:
        plan = replace(plan, repetitions=min(repetitions, plan.repetitions))
    return plan


if __name__ == "__main__":
    sys.exit(main())
