"""``python -m decorrupt.reproduction PLAN RECORDS``: run a plan, or go on where it stopped."""

from __future__ import annotations

import argparse
import sys

from decorrupt.reproduction.plan import Plan
from decorrupt.reproduction.session import run_sitting


def main(arguments: list[str] | None = None) -> int:
    """Run the plan; return 1 if any cell failed, 2 if the plan cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m decorrupt.reproduction", description=__doc__)
    parser.add_argument("plan", help="a TOML file, such as my_plan.toml")
    parser.add_argument("records", help="JSON lines, appended to; finished cells are not run again")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="cells at a time")
    parser.add_argument("--methods", nargs="+", default=(), help="only these of the plan's methods")
    parser.add_argument("--repetitions", type=int, help="stop after this many")
    given = parser.parse_args(arguments)
    try:
        plan = Plan.read(given.plan)
        plan = plan.narrowed(methods=given.methods, repetitions=given.repetitions)
        sitting = run_sitting(plan, given.records, n_jobs=given.jobs)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 — a command line speaks
        return 2
    print(f"{sitting.n_run} cells run, {len(sitting.failed)} failed", file=sys.stderr)  # noqa: T201
    return 1 if sitting.failed else 0


if __name__ == "__main__":
    sys.exit(main())
