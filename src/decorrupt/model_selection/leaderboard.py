"""Candidates compared: scores with standard errors, and the rule of choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.model_selection.criteria import Estimate, weighted_mean
from decorrupt.model_selection.held_out import HeldOut
from decorrupt.model_selection.scorers import BagScorer


@dataclass(frozen=True)
class Entry:
    """One configuration's score; greater is better, and −∞ if nothing was predicted.

    `by_bag` holds each held-out bag's share of it, where the criterion is a mean over bags: it
    makes the comparison of two entries a paired one.
    """

    held_out: HeldOut
    score: float
    std_error: float
    by_bag: FloatArray | None
    bag_sizes: FloatArray

    @property
    def method(self) -> str:
        """The method's name."""
        return self.held_out.name

    @property
    def params(self) -> dict[str, Any]:
        """What was set on it."""
        return self.held_out.params

    @classmethod
    def of(cls, held_out: HeldOut, strata: Strata, scorer: BagScorer) -> Entry:
        """Score a configuration on all rows that were held out, over the folds together."""
        predictions = held_out.predictions(scorer)
        rows = np.flatnonzero(~np.isnan(predictions))
        if not len(rows):
            return cls(held_out, -np.inf, np.nan, None, np.empty(0))
        tested = strata.take(rows)
        sizes = tested.sizes.astype(float)
        if scorer.takes_log_odds:
            by_bag = scorer.by_bag(predictions[rows], tested)
            return cls(held_out, *weighted_mean(by_bag, sizes), by_bag, sizes)
        return cls(held_out, *scorer.score(predictions[rows], tested), None, sizes)

    def shortfall(self, best: Entry) -> Estimate:
        """Return by how much this falls short of the best, and the standard error of that."""
        if self.by_bag is None or best.by_bag is None:
            return Estimate(best.score - self.score, best.std_error)
        return weighted_mean(best.by_bag - self.by_bag, self.bag_sizes)


def best_by_method(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Return every method at its best parameters."""
    best: dict[str, Entry] = {}
    for entry in entries:
        if entry.method not in best or entry.score > best[entry.method].score:
            best[entry.method] = entry
    return best


def choose(entries: Sequence[Entry], preference: Sequence[str]) -> Entry:
    """Return the first in `preference` of the methods within one standard error of the best."""
    best = best_by_method(entries)
    top = max(best.values(), key=lambda entry: entry.score)
    for name in preference:
        gap, std_error = best[name].shortfall(top)
        if gap <= std_error:
            return best[name]
    return top


def describe_params(params: Mapping[str, Any]) -> str:
    """Return name=value, numbers to three figures."""
    return ", ".join(f"{name}={_describe(value)}" for name, value in params.items())


def _describe(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "+".join(map(_describe, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@dataclass
class Leaderboard:
    """The methods at their best parameters, the best score first; ``print`` it for a table.

    Attributes
    ----------
    rows : list of dict
        With the keys method, params, score, std_error, seconds (of all its configurations) and
        chosen; ``pandas.DataFrame(leaderboard.rows)`` makes a frame of it.
    """

    rows: list[dict[str, Any]]

    @classmethod
    def of(cls, entries: Sequence[Entry], preference: Sequence[str]) -> Leaderboard:
        """Make the table."""
        chosen = choose(entries, preference).method
        ranked = sorted(best_by_method(entries).values(), key=lambda entry: -entry.score)
        return cls(
            [
                {
                    "method": entry.method,
                    "params": entry.params,
                    "score": entry.score,
                    "std_error": entry.std_error,
                    "seconds": sum(e.held_out.seconds for e in entries if e.method == entry.method),
                    "chosen": entry.method == chosen,
                }
                for entry in ranked
            ]
        )

    def __str__(self) -> str:
        lines = [f"  {'method':<20} {'score':>9}  {'± std error':<12} {'seconds':>7}  parameters"]
        for row in self.rows:
            params = describe_params(row["params"])
            lines.append(
                f"{'*' if row['chosen'] else ' '} {row['method']:<20} {row['score']:>9.4f}  "
                f"± {row['std_error']:<10.4f} {row['seconds']:>7.1f}  {params}"
            )
        return "\n".join(
            [*lines, "* chosen: the most stable within one standard error of the best"]
        )
