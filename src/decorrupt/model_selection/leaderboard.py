"""Comparison of methods: the choice and the table of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from decorrupt.extras import import_pandas
from decorrupt.model_selection.results import Result


def best_by_method(results: Sequence[Result]) -> dict[str, Result]:
    """Return the best result of every method."""
    best: dict[str, Result] = {}
    for result in results:
        if result.method not in best or result.score > best[result.method].score:
            best[result.method] = result
    return best


def choose(results: Sequence[Result], preference: Sequence[str] = ()) -> Result:
    """Return the first method in `preference` within one standard error of the best.

    Without `preference`, return the best.
    """
    best = best_by_method(results)
    top = max(best.values(), key=lambda result: result.score)
    for name in preference:
        gap, std_error = best[name].shortfall(top)
        if gap <= std_error:
            return best[name]
    return top


def describe_params(params: Mapping[str, Any]) -> str:
    """Return "name=value" pairs, numbers with three significant digits."""
    return ", ".join(f"{name}={_describe(value)}" for name, value in params.items())


def _describe(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "+".join(map(_describe, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


class LeaderboardRow(NamedTuple):
    """A method with its best parameters; `seconds` is the time of all its configurations."""

    method: str
    params: dict[str, Any]
    score: float
    std_error: float
    seconds: float
    chosen: bool


@dataclass(repr=False)
class Leaderboard:
    """Table of the methods with their best parameters, the best score first.

    Supports ``len``, indexing, iteration over :class:`LeaderboardRow`, and ``print``.

    Attributes
    ----------
    rows : list of dict
        The rows as plain dicts, for files.
    rule : str
        The rule by which the method was chosen.
    baselines : list of dict
        "constant", the pooled class shares for every row, with its score ± standard error on the
        same held-out bags; "group_rate", the rate of each row's own bag, with its balanced
        accuracy. A row of a new bag has no rate of its own: there it is the constant.
    notes : list of str
        What the bags satisfy, which methods were not compared and why, and whether the chosen one
        is better than the constant.
    """

    rows: list[dict[str, Any]]
    rule: str = "the most stable within one standard error of the best"
    baselines: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, results: Sequence[Result], chosen: Result, **options: Any) -> Leaderboard:
        """Return the table of these results."""
        seconds = dict.fromkeys((result.method for result in results), 0.0)
        for result in results:
            seconds[result.method] += float(result.fold_seconds.sum())
        ranked = sorted(best_by_method(results).values(), key=lambda result: -result.score)
        rows = [
            LeaderboardRow(
                result.method,
                result.params,
                result.score,
                result.std_error,
                seconds[result.method],
                result is chosen,
            )
            for result in ranked
        ]
        return cls([row._asdict() for row in rows], **options)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LeaderboardRow]:
        return (LeaderboardRow(**row) for row in self.rows)

    def __getitem__(self, place: int) -> LeaderboardRow:
        return LeaderboardRow(**self.rows[place])

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed (``pip install 'decorrupt[cli]'``).
        """
        return import_pandas("to_frame()").DataFrame(self.rows)

    def __repr__(self) -> str:
        head = f"  {'method':<20} {'score':>9}  {'± std error':<12} {'seconds':>7}  parameters"
        lines = [
            f"{'*' if row.chosen else ' '} {row.method:<20} {row.score:>9.4f}  "
            f"± {row.std_error:<10.4f} {row.seconds:>7.1f}  {describe_params(row.params)}"
            for row in self
        ]
        return "\n".join([head, *lines, f"* chosen: {self.rule}", *self._remarks()])

    def _remarks(self) -> list[str]:
        found = []
        for one in self.__dict__.get("baselines", []):  # files of earlier versions have none
            if "score" in one:
                score = f"score {one['score']:.4f} ± {one['std_error']:.4f}"
            else:
                score = f"balanced accuracy {one['balanced_accuracy']:.3f} in known bags"
            found.append(f"baseline {one['method']}: {score}")
        return [*found, *self.__dict__.get("notes", [])]
