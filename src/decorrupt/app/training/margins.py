"""Margins of places from a table: wide, one row per place, or long, one row per count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np
import pandas as pd

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.results import plain
from decorrupt.app.training.table import Table, as_numbers, group_codes
from decorrupt.ecological import EcologicalInference, TableCheck

PLACE, SIDE, OPTION, VOTES = LONG_COLUMNS = ("place", "side", "option", "votes")


@dataclass(frozen=True)
class PlaceMargins:
    """The counts of both sides, one row per place."""

    groups: pd.DataFrame
    outcomes: pd.DataFrame


class TableReport(TypedDict):
    """The result of `decorrupt table`; rates and intervals are shares of the group."""

    verdict: str
    reasons: list[str]
    groups: list[str]
    outcomes: list[str]
    n_places: int
    n_people: int
    table: list[list[float]]
    rates: list[list[float]]
    rates_low: list[list[float]]
    rates_high: list[list[float]]
    bounds_low: list[list[float]]
    bounds_high: list[list[float]]
    goodman: list[list[float]]
    is_noisy: bool
    check: dict[str, float]
    composition: str


def read_margins(
    table: Table,
    groups: Sequence[str],
    outcomes: Sequence[str],
    *,
    place_column: str | None = None,
) -> PlaceMargins:
    """Return the margins of all places.

    Parameters
    ----------
    table : Table
        One row per place and a column per group and outcome; or the columns place, side, option
        and votes, with a row per count.
    groups, outcomes : sequence of str
        Columns; of a long table one side each.
    place_column : str, optional
        The column with the names of the places; in a wide table they are numbered without it.
    """
    for option, names in (("--groups", groups), ("--outcomes", outcomes)):
        if not names:
            raise TableError(f"{option} names no column")
    for name in groups:
        if name in outcomes:
            raise TableError(f"{name!r} is in --groups and in --outcomes: it is one or the other")
    is_long = len(groups) == len(outcomes) == 1 and set(LONG_COLUMNS[1:]) <= set(
        table.frame.columns
    )
    if is_long:
        sides = [_side(table, side, place_column or PLACE) for side in (groups[0], outcomes[0])]
        both = sides[0].align(sides[1], join="outer", axis=0, fill_value=0)
    else:
        both = (
            _wide(table, groups, "--groups", place_column),
            _wide(table, outcomes, "--outcomes", place_column),
        )
    return PlaceMargins(*both)


def _wide(
    table: Table, names: Sequence[str], option: str, place_column: str | None
) -> pd.DataFrame:
    need_columns(table.frame, names, table.name, option)
    counts = pd.DataFrame({name: as_numbers(table, name, "a number of people") for name in names})
    if place_column is None:
        counts.index = pd.RangeIndex(1, len(counts) + 1)
        return counts
    need_columns(table.frame, [place_column], table.name, "--place-column")
    ids, codes = group_codes(table, place_column, "belong to a place")
    for row in np.flatnonzero(pd.Series(codes).duplicated())[:1]:
        raise TableError(
            f"{table.place(row)}: place {ids[codes[row]]!r} is already in row "
            f"{codes.tolist().index(codes[row]) + 1}: a wide table has one row per place"
        )
    return counts.set_axis(ids[codes], axis=0)


def _side(table: Table, side: str, place_column: str) -> pd.DataFrame:
    need_columns(table.frame, [place_column], table.name, "--place-column")
    sides, codes = group_codes(table, SIDE, "belong to a side")
    if side not in sides:
        raise TableError(
            f"{table.name}: column {SIDE!r} has no rows of {side!r}: it contains "
            f"{', '.join(sides.tolist())}"
        )
    places, place = group_codes(table, place_column, "belong to a place")
    options, option = group_codes(table, OPTION, "belong to an option")
    frame = pd.DataFrame(
        {
            PLACE: places[place],
            OPTION: options[option],
            VOTES: as_numbers(table, VOTES, "a number of people"),
        }
    )[sides[codes] == side]
    if frame.duplicated([PLACE, OPTION]).any():
        first = frame[frame.duplicated([PLACE, OPTION])].iloc[0]
        raise TableError(
            f"{table.name}: place {first[PLACE]!r} has two rows for {first[OPTION]!r}: is it a "
            "table of several elections? --sql selects one"
        )
    return frame.pivot_table(index=PLACE, columns=OPTION, values=VOTES, fill_value=0)


def report_table(model: EcologicalInference, check: TableCheck) -> TableReport:
    """Return all numbers of a table."""
    low, high = model.interval(function="rates")
    people = model.group_counts_.sum(axis=0)[:, None]
    shares = ("expected_error", "distance", "explained", "halves_differ", "rates_differ")
    signs = (*shares, "overdispersion")
    found: dict[str, Any] = {
        "verdict": check.verdict,
        "reasons": check.reasons,
        "groups": model.group_names_,
        "outcomes": model.outcome_names_,
        "n_places": len(model.place_names_),
        "n_people": int(people.sum()),
        "table": model.table_,
        "rates": model.rates_,
        "rates_low": low,
        "rates_high": high,
        "bounds_low": model.bounds_[0] / people,
        "bounds_high": model.bounds_[1] / people,
        "goodman": model.goodman_,
        "is_noisy": model.count_noise is not None,
        "composition": check.composition,
        "check": {
            name: getattr(check, name) for name in (*signs, "composition_p_value", "undetermined")
        },
    }
    return cast(TableReport, plain(found))
