"""Run all benchmarks: ``make bench`` writes RESULTS.md, ``make bench-quick`` only judges.

Each script runs in its own process with one thread. A script that is not listed in QUICK takes too
long for ``--quick``. Give names of scripts (without ``bench_``) to run only these, and to replace
only their sections of RESULTS.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from measuring import Figure

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "RESULTS.md"
QUICK = ("growth", "search", "supervised")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
# For the package reproduction.
FROM_CHECKOUT = {"PYTHONPATH": os.pathsep.join([str(FOLDER.parent), os.getenv("PYTHONPATH", "")])}
VERSIONS = ("numpy", "scipy", "scikit-learn", "joblib")


def names() -> list[str]:
    """Return the benchmarks that exist, by name."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def machine() -> list[str]:
    """Return what the figures depend on; no names of hosts or people."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in VERSIONS),
        "one thread per benchmark",
    ]


def measured(name: str, *, quick: bool) -> tuple[str, list[Figure], int, float]:
    """Run one script; return its description, figures, exit code and seconds."""
    script = FOLDER / f"bench_{name}.py"
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        command = [sys.executable, str(script), "--json", str(out), *["--quick"] * quick]
        code = subprocess.run(command, env=os.environ | ONE_THREAD | FROM_CHECKOUT).returncode
        figures = [Figure(**one) for one in json.loads(out.read_text())] if out.exists() else []
    description = script.read_text().split('"""')[1].strip()
    # A script that stopped before it wrote its figures has failed, whatever its code.
    return description, figures, code if figures else code or 1, time.perf_counter() - start


def as_markdown(name: str, description: str, figures: list[Figure], seconds: float) -> list[str]:
    """Return the section of one script."""
    lines = [f"## {name}", "", description, ""]
    lines += ["| figure | value | bar | | |", "|---|---:|---:|---|---|"]
    for one in figures:
        judged = "" if not one.bar else "met" if one.is_met() else "**missed**"
        lines.append(f"| {one.what} | {one.value:.4g} | {one.bar} | {judged} | {one.note} |")
    load = f"load at the end {os.getloadavg()[0]:.1f} processes"
    return [*lines, "", f"`python benchmarks/bench_{name}.py`, {seconds:.0f} s, {load}", ""]


def sections() -> dict[str, list[str]]:
    """Return the sections of RESULTS.md by name, without those of scripts that no longer exist."""
    found: dict[str, list[str]] = {}
    for part in RESULTS.read_text().split("\n## ")[1:] if RESULTS.exists() else []:
        lines = f"## {part}".splitlines()
        found[lines[0].removeprefix("## ")] = [*lines, ""] if lines[-1] else lines
    return {name: lines for name, lines in found.items() if name in names()}


def write_results(found: dict[str, list[str]]) -> None:
    """Write RESULTS.md, with the sections in order."""
    lines = ["# Benchmarks", ""]
    lines += ["Written by `make bench`. Every figure is a ratio within one run.", ""]
    lines += [f"- {line}" for line in machine()] + [""]
    RESULTS.write_text("\n".join(lines + [line for name in sorted(found) for line in found[name]]))
    print(f"wrote {RESULTS.relative_to(FOLDER.parent)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(names()))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    chosen = options.names or (QUICK if options.quick else names())
    found, missed = sections(), []
    for name in chosen:
        print(f"== {name}", flush=True)
        description, figures, code, seconds = measured(name, quick=options.quick)
        found[name] = as_markdown(name, description, figures, seconds)
        missed += [name] if code else []
        # After every script: a full run takes long and may be interrupted.
        if not options.quick:
            write_results(found)
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
