"""``python -m decorrupt.reproduction PLAN RECORDS``: run a plan, or resume it."""

from __future__ import annotations

import argparse
import sys

from decorrupt.reproduction.plan import Plan
from decorrupt.reproduction.session import run_session


def main(arguments: list[str] | None = None) -> int:
    """Run the plan; return 1 if a cell failed, 2 if the plan is invalid or cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m decorrupt.reproduction", description=__doc__)
    parser.add_argument("plan", help="a TOML file, such as my_plan.toml")
    parser.add_argument("records", help="JSON lines file to append to; finished cells are skipped")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="number of cells run in parallel")
    parser.add_argument(
        "--methods", nargs="+", default=(), help="run only these methods of the plan"
    )
    parser.add_argument("--repetitions", type=int, help="run at most this many repetitions")
    given = parser.parse_args(arguments)
    try:
        plan = Plan.read(given.plan)
        plan = plan.narrowed(methods=given.methods, repetitions=given.repetitions)
        session = run_session(plan, given.records, n_jobs=given.jobs)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 — command-line output
        return 2
    print(f"{session.n_run} cells run, {len(session.failed)} failed", file=sys.stderr)  # noqa: T201
    return 1 if session.failed else 0


if __name__ == "__main__":
    sys.exit(main())
