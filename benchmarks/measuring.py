"""Shared parts of the benchmarks: timing, figures with their bars, and the command line.

A script defines ``measure(quick)``, which yields figures, and ends with ``run(measure)``. Alone it
prints its figures; ``run.py`` collects those of all scripts. Every figure is a ratio within one
run, or an exponent. Times are processor times on one thread, because other processes then disturb
them least; the runs of the two sides of a ratio alternate.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

# A quick run fails if a figure is worse than its bar by more than half: it has fewer repetitions.
QUICK_SLACK = 1.5


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes
    ----------
    what : str
        What is measured.
    value : float
        The ratio or exponent.
    at_most, at_least : float or None
        The bar; without one the figure is shown but not judged.
    note : str
        What the reader needs beside the number, such as accuracies.
    """

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    def is_met(self, slack: float = 1.0) -> bool:
        """Return whether the value is within `slack` times its bar."""
        if self.at_most is not None:
            return self.value <= self.at_most * slack
        return self.at_least is None or self.value >= self.at_least / slack

    @property
    def bar(self) -> str:
        """The bar as text."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return "" if self.at_least is None else f"≥ {self.at_least:,g}"

    def __str__(self) -> str:
        judged = "" if not self.bar else "met" if self.is_met() else "MISSED"
        return f"{self.what:<58} {self.value:>9.4g} {self.bar:>9} {judged:<7} {self.note}".rstrip()


def seconds_of(*functions: Callable[[], Any], repeats: int = 3) -> list[tuple[float, Any]]:
    """Return the shortest processor time and the result of each function, run in turn."""
    best = [(np.inf, None)] * len(functions)
    for _ in range(repeats):
        for index, function in enumerate(functions):
            start = time.process_time()
            result = function()
            best[index] = min((time.process_time() - start, result), best[index], key=_seconds)
    return best


def _seconds(pair: tuple[float, Any]) -> float:
    return pair[0]


def exponent(sizes: Iterable[float], values: Iterable[float]) -> float:
    """Return the p of the least-squares fit log value = p·log size + constant."""
    return float(np.polyfit(np.log(list(sizes)), np.log(list(values)), 1)[0])


def bagged(X: Any, labels: Any, bag_size: int, seed: int = 0) -> tuple[Any, Any]:
    """Return y and bags of random bags with the proportions of these labels."""
    bags = np.random.default_rng(seed).permutation(len(X)) // bag_size
    return (np.bincount(bags, labels) / np.bincount(bags))[bags], bags


def run(measure: Callable[[bool], Iterable[Figure]]) -> None:
    """Print the figures of a script and exit with 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, bars 1.5 times as wide")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    figures = []
    with threadpool_limits(1):
        for figure in measure(options.quick):
            print(figure, flush=True)
            figures.append(figure)
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures]))
    slack = QUICK_SLACK if options.quick else 1.0
    sys.exit(0 if all(figure.is_met(slack) for figure in figures) else 1)
