"""Shared parts of the benchmarks: timing, figures with their bars, and the command line.

A script defines ``measure(quick)``, which yields figures, and ends with ``run(measure)``. Alone it
prints its figures; ``run.py`` collects those of all scripts. Every figure is a ratio within one
run, or an exponent. Times are processor times on one thread, because other processes then disturb
them least; the runs of the two sides of a ratio alternate.

A full run judges the aims: every figure against its bar. A quick run guards against regressions: it
fails if a figure is worse than 1.5 times its bar or, where the bar is not met today, 1.5 times what
was measured (its `quick_limit`). A script that fails in a quick run is measured once more.
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

# A quick run fails if a figure is worse than its bar by more than half: it has smaller sizes.
QUICK_SLACK = 1.5
# The shortest of a few short runs varies too much: they are repeated until every function has had
# this many seconds, or all of them together have had so many.
ENOUGH_SECONDS, MOST_SECONDS = 1.0, 10.0


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
    quick_limit : float or None
        What a quick run allows in place of the bar and its slack.
    """

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""
    quick_limit: float | None = None

    def is_met(self, *, quick: bool = False) -> bool:
        """Return whether the value is within its bar or, in a quick run, its limit."""
        slack = QUICK_SLACK if quick else 1.0
        limit = self.quick_limit if quick else None
        if self.at_most is not None:
            return self.value <= (self.at_most * slack if limit is None else limit)
        if self.at_least is not None:
            return self.value >= (self.at_least / slack if limit is None else limit)
        return True

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
    """Return the shortest processor time and a result of each function.

    The functions run in turn, `repeats` times or more often if they are short.
    """
    times: list[list[float]] = [[] for _ in functions]
    results = [None] * len(functions)
    while len(times[-1]) < repeats or _are_short(times):
        for index, function in enumerate(functions):
            start = time.process_time()
            results[index] = function()
            times[index].append(time.process_time() - start)
    return list(zip(map(min, times), results, strict=True))


def _are_short(times: list[list[float]]) -> bool:
    spent = [sum(some) for some in times]
    return min(spent) < ENOUGH_SECONDS and sum(spent) < MOST_SECONDS


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
    parser.add_argument("--quick", action="store_true", help="small sizes, wider bars")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    is_met, figures = measured_figures(measure, quick=options.quick)
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures]))
    sys.exit(0 if is_met else 1)


def measured_figures(
    measure: Callable[[bool], Iterable[Figure]], *, quick: bool
) -> tuple[bool, list[Figure]]:
    """Print the figures; return whether all are met, and the figures of the last attempt."""
    is_met, figures = False, []
    for attempt in range(2 if quick else 1):
        if attempt:
            print("missed; a quick run is short, so it is measured once more", flush=True)
        figures = []
        with threadpool_limits(1):
            for figure in measure(quick):
                print(figure, flush=True)
                figures.append(figure)
        is_met = all(figure.is_met(quick=quick) for figure in figures)
        if is_met:
            break
    return is_met, figures
