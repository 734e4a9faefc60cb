"""Print pip constraints with the lowest versions that pyproject.toml allows.

    python tools/minimum_versions.py > minimum.txt

Dependencies and extras of users are pinned to their lowest version, tools of developers to that of
constraints.txt.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOR_DEVELOPERS = {"dev", "docs", "test"}
FRAMES = {"polars", "pyarrow"}  # users may pass their frames; only the tests require them
# Newer versions deprecate what the lowest versions of typer, matplotlib and scikit-learn use.
OF_THEIR_TIME = {"click": "8.1.8", "pyparsing": "3.1.4", "pytest": "8.4.2"}


def requirements(project):
    """Return the requirements of users: {name: lowest version}."""
    lines = list(project["dependencies"])
    for extra, listed in project["optional-dependencies"].items():
        if extra not in FOR_DEVELOPERS:
            lines += listed
        lines += [line for line in listed if line.partition(">=")[0] in FRAMES]
    found = {}
    for line in lines:
        if match := re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", line):
            found[normal(match[1])] = match[2]
        elif not line.startswith("decorrupt["):
            raise SystemExit(f"pyproject.toml: {line!r} is not of the form name>=version")
    return found


def normal(name):
    """Return the name of a package as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main():
    """Print one constraint per line."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lowest = requirements(project)
    pinned = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    others = {normal(name): version for name, version in pinned} | lowest | OF_THEIR_TIME
    others["distributed"] = lowest["dask"]  # dask requires its own version of it
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in sorted(others.items()))


if __name__ == "__main__":
    main()
