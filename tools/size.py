"""Print what the source weighs, and fail where it weighs more than its budget.

    python tools/size.py            lines, files, share of import lines and longest file per package
    python tools/size.py --walks    also: how many functions and files some calls walk through

The budgets are in `[tool.decorrupt.size]` of `pyproject.toml`. They only ever fall: a package
that needs room takes it from another. Lines are counted as `ruff format` leaves them.
"""

import argparse
import ast
import contextlib
import io
import sys
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "decorrupt"
GENERATED = {"_build", "api", "gallery"}  # of docs: written by Sphinx
HIDDEN_FRAMES = {"<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<module>"}


@dataclass
class Weight:
    """What a group of Python files weighs."""

    lines: int = 0
    files: int = 0
    imports: int = 0
    longest: int = 0

    def add(self, path: Path) -> None:
        """Add one file."""
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        self.lines += lines
        self.files += 1
        self.longest = max(self.longest, lines)
        self.imports += sum(
            node.end_lineno - node.lineno + 1
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import | ast.ImportFrom)
        )


def packages() -> dict[str, Weight]:
    """Return the weight of each package of the source; "root" for the files beside the packages."""
    weights: dict[str, Weight] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        folders = path.relative_to(SOURCE).parts[:-1]
        weights.setdefault(folders[0] if folders else "root", Weight()).add(path)
    return weights


def total(paths) -> Weight:
    """Return the weight of some files together."""
    weight = Weight()
    for path in paths:
        weight.add(path)
    return weight


def words_of_documentation() -> int:
    """Return the number of words in the pages of docs."""
    pages = (ROOT / "docs").rglob("*.md")
    written = (page for page in pages if not GENERATED & set(page.relative_to(ROOT / "docs").parts))
    return sum(len(page.read_text(encoding="utf-8").split()) for page in written)


def walk(call) -> tuple[int, int]:
    """Return how many of our functions and files a call runs through, imports excluded."""
    call()
    seen = set()

    def profile(frame, event, _):
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(str(SOURCE))
            and code.co_name not in HIDDEN_FRAMES
        ):
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(seen), len({file for file, _ in seen})


def walks() -> dict[str, tuple[int, int]]:
    """Return functions and files of four calls on 240 rows in 30 bags."""
    import numpy as np

    import decorrupt as dc

    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 3)) + label[:, None]
    bags = np.arange(240) // 8
    share = (np.bincount(bags, label) / 8)[bags]
    sources = np.where(np.arange(240) % 2, "a", "b")
    rates = {"a": (0.1, 0.2), "b": (0.3, 0.1)}
    count = dc.CountLikelihoodClassifier(random_state=0)
    corrupted = dc.CorruptedSourcesClassifier(random_state=0)
    automatic = dc.AutoLabelProportionsClassifier(random_state=0)
    calls = {
        "count_likelihood": lambda: count.fit(X, share, bags=bags),
        "corrupted_sources": lambda: corrupted.fit(X, label, sources=sources, noise_rates=rates),
        "automatic_choice": lambda: automatic.fit(X, share, bags=bags),
        "predict": lambda: count.predict(X),
    }
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        return {name: walk(call) for name, call in calls.items()}


def print_packages(weights: dict[str, Weight], budgets: dict[str, int]) -> None:
    """Print one line per package."""
    print(f"{'':18} {'lines':>7} {'budget':>7} {'files':>6} {'imports':>8} {'longest':>8}")
    for name, weight in weights.items():
        share = f"{weight.imports / weight.lines:.1%}"
        row = f"{weight.lines:7,} {budgets.get(name, 0):7,} {weight.files:6} {share:>8}"
        print(f"{name:18} {row} {weight.longest:8}")


def main() -> int:
    """Print the tables; return 1 if a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--walks", action="store_true", help="count what some calls run through")
    with_walks = parser.parse_args().walks
    budgets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["decorrupt"]["size"]
    of_packages, source = packages(), total(SOURCE.rglob("*.py"))
    lines = of_packages | {"source": source}
    print_packages(lines, budgets["lines"])
    tests = total((ROOT / "tests").rglob("*.py"))
    scripts = list((ROOT / "benchmarks").glob("*.py"))
    reached = {
        "lines": {name: weight.lines for name, weight in lines.items()} | {"tests": tests.lines},
        "files": {"source": source.files, "benchmarks": len(scripts)},
        "words": {"docs": words_of_documentation()},
        "functions": {name: functions for name, (functions, _) in walks().items()}
        if with_walks
        else {},
    }
    exceeded = False
    for unit, values in reached.items():
        for name, value in values.items():
            budget = budgets[unit].get(name, 0)
            if unit != "lines" or name == "tests":
                print(f"{name:18} {value:7,} {budget:7,} {unit}")
            if value > budget:
                exceeded = True
                print(f"{name} has {value:,} {unit}; its budget is {budget:,}", file=sys.stderr)
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
