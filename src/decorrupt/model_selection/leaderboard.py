"""Comparison of methods: the choice and the table of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from decorrupt.model_selection.results import Result

# Parameters over which a row of the leaderboard is the best, and its weight the sum.
WITHIN_ROW = ("reg_strength", "starts")
CHOSEN = "* part of the model, with its weight"


def choose(results: Sequence[Result]) -> Result:
    """Return the result with the best score; of equal ones the first."""
    return max(results, key=lambda result: result.score)


def _row_key(result: Result) -> str:
    shown = {name: value for name, value in result.params.items() if name not in WITHIN_ROW}
    return repr((result.method, shown))


def describe_params(params: Mapping[str, Any]) -> str:
    """Return "name=value" pairs, numbers with three significant digits."""
    return ", ".join(f"{name}={_describe(value)}" for name, value in params.items())


def _describe(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "+".join(map(_describe, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


class LeaderboardRow(NamedTuple):
    """A method and kernel with the best penalty; `weight` and `seconds` are sums over all."""

    method: str
    params: dict[str, Any]
    score: float
    std_error: float
    seconds: float
    chosen: bool
    weight: float = np.nan


@dataclass(repr=False)
class Leaderboard:
    """Table of methods and kernels with their best penalty, the largest weight first.

    Supports ``len``, indexing, iteration over :class:`LeaderboardRow`, and ``print``.

    Attributes
    ----------
    rows : list of dict
        The rows as plain dicts, for files.
    baselines : list of dict
        "constant", the pooled class shares for every row, with its score ± standard error on the
        same held-out bags; "group_rate", the rate of each row's own bag, with its balanced
        accuracy. A row of a new bag has no rate of its own: there it is the constant.
    notes : list of str
        What the bags satisfy, which methods were not compared and why, and whether the chosen one
        is better than the constant.
    """

    rows: list[dict[str, Any]]
    baselines: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        results: Sequence[Result],
        weights: ArrayLike,
        chosen: Sequence[Result],
        **options: Any,
    ) -> Leaderboard:
        """Return the table of these results, with the weight of each."""
        groups: dict[str, list[tuple[Result, float]]] = {}
        for result, weight in zip(results, np.asarray(weights).tolist(), strict=True):
            groups.setdefault(_row_key(result), []).append((result, weight))
        members, rows = {id(result) for result in chosen}, []
        for group in groups.values():
            best = choose([result for result, _ in group])
            row = LeaderboardRow(
                best.method,
                best.params,
                best.score,
                best.std_error,
                seconds=sum(float(result.fold_seconds.sum()) for result, _ in group),
                chosen=any(id(result) in members for result, _ in group),
                weight=sum(weight for _, weight in group),
            )
            rows.append(row)
        rows.sort(key=lambda row: (-row.weight, -row.score))
        return cls([row._asdict() for row in rows], **options)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LeaderboardRow]:
        return (LeaderboardRow(**row) for row in self.rows)

    def __getitem__(self, place: int) -> LeaderboardRow:
        return LeaderboardRow(**self.rows[place])

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas as pd  # imported where it is needed: it takes half a second

        return pd.DataFrame(self.rows)

    def __repr__(self) -> str:
        head = (
            f"  {'method':<20} {'weight':>6} {'score':>9}  {'± std error':<12} {'seconds':>7}  "
            "parameters"
        )
        lines = [
            f"{'*' if row.chosen else ' '} {row.method:<20} {row.weight:>6.3f} {row.score:>9.4f}  "
            f"± {row.std_error:<10.4f} {row.seconds:>7.1f}  {describe_params(row.params)}"
            for row in self
        ]
        return "\n".join([head, *lines, CHOSEN, *self._remarks()])

    def _remarks(self) -> list[str]:
        found = []
        for one in self.baselines:
            if "score" in one:
                score = f"score {one['score']:.4f} ± {one['std_error']:.4f}"
            else:
                score = f"balanced accuracy {one['balanced_accuracy']:.3f} in known bags"
            found.append(f"baseline {one['method']}: {score}")
        return [*found, *self.notes]
