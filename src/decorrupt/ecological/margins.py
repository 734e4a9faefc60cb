"""The margins of every place: how many people of each group, how many of each outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray

# Standard deviations of the noise of a place's total.
MOST_NOISE = 6.0


@dataclass(frozen=True, eq=False)
class Margins:
    """Counts of groups and outcomes in every place, with equal totals.

    Parameters
    ----------
    groups : ndarray of shape (n_places, n_groups)
        N: people of each group.
    outcomes : ndarray of shape (n_places, n_outcomes)
        K: people with each outcome; noisy ones need not sum to the people of the place.
    group_names, outcome_names, place_names : tuple of str
        What to call them.
    """

    groups: FloatArray
    outcomes: FloatArray
    group_names: tuple[str, ...]
    outcome_names: tuple[str, ...]
    place_names: tuple[str, ...]

    @property
    def sizes(self) -> FloatArray:
        """People of each place."""
        return np.asarray(self.groups.sum(axis=1))

    @property
    def common_rates(self) -> FloatArray:
        """The share of each outcome among all people."""
        shares = np.maximum(self.outcomes.sum(axis=0), 0.5)
        return np.asarray(shares / shares.sum())

    def take(self, places: NDArray[np.intp]) -> Margins:
        """Return the margins of some places."""
        names = tuple(self.place_names[b] for b in places)
        return replace(
            self, groups=self.groups[places], outcomes=self.outcomes[places], place_names=names
        )


def read_margins(
    groups: Any, outcomes: Any, *, other: str | None = None, is_noisy: bool = False
) -> Margins:
    """Return the checked margins.

    Totals of a place that differ by no more than rounding explains (half a person per option, and
    1 % of the people) are made equal: the largest group takes the difference.

    Parameters
    ----------
    groups, outcomes : array-like or data frame of shape (n_places, n_options)
        Counts; frames keep the names of their columns, pandas frames the index as names of places.
    other : str, optional
        The name of an outcome to add: the people of a place without an outcome.
    is_noisy : bool
        Whether the outcomes contain noise; they may then be fractional or below 0.

    Raises
    ------
    ValueError
        If counts are negative or fractional, totals differ, a place, group or outcome is empty,
        or there are fewer than two groups, two outcomes or two places, or fewer places than
        options; the message names what is wrong.
    """
    outcomes = in_order_of(groups, outcomes, "outcomes")
    groups, outcomes = _frame(groups, "groups"), _frame(outcomes, "outcomes")
    exact = "; noise in groups is not supported" if is_noisy else ""
    people, places = _counts(groups, "groups", is_noisy=False, hint=exact)
    votes, _ = _counts(outcomes, "outcomes", is_noisy=is_noisy)
    if len(people) != len(votes):
        raise ValueError(
            f"groups has {len(people)} places and outcomes {len(votes)}: give one row per place"
        )
    names = _names(groups, "group", people.shape[1]), _names(outcomes, "outcome", votes.shape[1])
    margins = Margins(people, votes, *names, places)
    if other is not None:
        margins = _with_other(margins, other, is_noisy=is_noisy)
    _check_shape(margins, is_noisy=is_noisy)
    return margins if is_noisy else _with_equal_totals(margins)


def in_order_of(groups: Any, table: Any, argument: str) -> Any:
    """Return the rows of a pandas frame in the order of the places of `groups`.

    Raises
    ------
    ValueError
        If both have an index and the places differ.
    """
    has_index = hasattr(groups, "reindex") and hasattr(table, "reindex")
    if not has_index or len(groups) != len(table) or groups.index.equals(table.index):
        return table
    only = groups.index.symmetric_difference(table.index)
    if len(only) or not groups.index.is_unique:
        name = only[0] if len(only) else groups.index[groups.index.duplicated()][0]
        raise ValueError(
            f"groups and {argument} have different places in their index, for example {name!r}: "
            "give both the same, or arrays, whose rows are matched by position"
        )
    return table.loc[groups.index]


def _frame(table: Any, argument: str) -> Any:
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        frame = np.asarray(frame)
        if frame.ndim != 2:
            raise ValueError(f"{argument} has shape {frame.shape}: give one row per place")
    return frame


def _names(frame: Any, kind: str, number: int) -> tuple[str, ...]:
    if isinstance(frame, nw.DataFrame):
        return tuple(str(name) for name in frame.columns)
    return tuple(f"{kind} {k}" for k in range(number))


def _counts(
    frame: Any, argument: str, *, is_noisy: bool, hint: str = ""
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the counts as whole numbers, and the names of the places."""
    values = frame.to_numpy() if isinstance(frame, nw.DataFrame) else frame
    try:
        counts = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{argument} must be counts, but contains text") from None
    native = nw.to_native(frame, pass_through=True)
    index = getattr(native, "index", range(len(counts)))
    places = tuple(str(name) for name in index)
    names = _names(frame, argument[:-1], counts.shape[1])
    wrong = ~np.isfinite(counts)
    if not is_noisy:
        wrong |= (counts < 0) | (counts != np.round(counts))
    for place, column in np.argwhere(wrong)[:1]:
        right = "a finite number" if is_noisy else "a whole number of people, at least 0"
        raise ValueError(
            f"{argument}: place {places[place]!r} has {counts[place, column]:g} in "
            f"{names[column]!r}, which must be {right}{hint}"
        )
    return counts, places


def _with_other(margins: Margins, other: str, *, is_noisy: bool) -> Margins:
    left = margins.sizes - margins.outcomes.sum(axis=1)
    too_many = left < -_rounding(margins)
    if too_many.any() and not is_noisy:
        _refuse_totals(margins, int(np.argmax(too_many)), f"{other!r} would be negative")
    if other in margins.outcome_names:
        raise ValueError(f"other={other!r} is already an outcome: give another name")
    outcomes = np.column_stack([margins.outcomes, left if is_noisy else np.maximum(left, 0)])
    return replace(margins, outcomes=outcomes, outcome_names=(*margins.outcome_names, other))


def _check_shape(margins: Margins, *, is_noisy: bool) -> None:
    n_places = len(margins.groups)
    if n_places < 2:
        number = "is one place" if n_places else "are no places"
        raise ValueError(f"there {number}: a table needs the margins of two or more")
    sides = (
        ("group", margins.groups, margins.group_names),
        ("outcome", margins.outcomes, margins.outcome_names),
    )
    for kind, counts, names in sides:
        if len(names) < 2:
            raise ValueError(f"there is one {kind}, {names[0]!r}: the table needs two or more")
        if len(set(names)) < len(names):
            raise ValueError(f"two {kind}s have the same name: {', '.join(names)}")
        for k in np.flatnonzero(counts.sum(axis=0) <= 0)[:1]:
            if kind == "outcome" and is_noisy:  # noise can hide a rare one
                break
            raise ValueError(f"{kind} {names[k]!r} has no people in any place: leave it out")
        if len(names) > n_places:
            raise ValueError(
                f"there are {len(names)} {kind}s and {n_places} places: merge rare {kind}s until "
                "there are at least as many places"
            )
    for place in np.flatnonzero(margins.sizes == 0)[:1]:
        if margins.outcomes[place].any() and not is_noisy:
            _refuse_totals(margins, int(place), "the totals must be equal")
        raise ValueError(f"place {margins.place_names[place]!r} has no people: leave it out")


def _rounding(margins: Margins) -> FloatArray:
    """Return the difference between the totals of a place that rounding explains."""
    n_options = margins.groups.shape[1] + margins.outcomes.shape[1]
    return np.asarray(np.minimum(n_options / 2, 0.01 * margins.sizes))


def check_noisy_totals(margins: Margins, noise_variance: FloatArray) -> None:
    """Raise ValueError if totals differ by more than the noise of the outcomes explains."""
    missing = margins.outcomes.sum(axis=1) - margins.sizes
    variance = margins.outcomes.shape[1] * noise_variance
    for place in np.flatnonzero(np.abs(missing) > _rounding(margins) + MOST_NOISE * variance**0.5):
        _refuse_totals(margins, int(place), "the difference is more than count_noise explains")
    if abs(missing.sum()) > _rounding(margins).sum() + MOST_NOISE * variance.sum() ** 0.5:
        raise ValueError(
            f"there are {margins.sizes.sum():g} people in groups and {margins.outcomes.sum():g} in "
            "outcomes: the difference is more than count_noise explains"
        )


def _with_equal_totals(margins: Margins) -> Margins:
    missing = margins.outcomes.sum(axis=1) - margins.sizes
    for place in np.flatnonzero(np.abs(missing) > _rounding(margins))[:1]:
        hint = "" if missing[place] > 0 else "; other='abstention' adds an outcome for the rest"
        _refuse_totals(margins, int(place), f"the totals must be equal{hint}")
    groups = margins.groups.copy()
    groups[np.arange(len(groups)), groups.argmax(axis=1)] += missing
    return replace(margins, groups=groups)


def _refuse_totals(margins: Margins, place: int, why: str) -> NoReturn:
    raise ValueError(
        f"place {margins.place_names[place]!r} has {margins.sizes[place]:g} people in groups and "
        f"{margins.outcomes[place].sum():g} in outcomes: {why}"
    )
