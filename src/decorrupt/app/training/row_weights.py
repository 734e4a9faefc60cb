"""Rows that represent many: a column of weights, and equal rows as one row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import Features, need_columns
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.table import Table, as_numbers

# Equal rows are merged if at most this share of the rows is left: otherwise it saves little.
MOST_LEFT = 0.1
# Their labels or trees are those of single rows, so that merged rows would change the model.
OF_SINGLE_ROWS = ("alternating-psvm", "em")
MOST_REPEATED = 1_000_000


def weigh_rows(table: Table, column: str | None, *, in_bags: bool = False) -> Table:
    """Return the table with its weights, without their column and rows that represent none.

    Raises TableError if a weight is not a number of at least 0, or all are 0; `in_bags`: if one is
    not whole, because the classes of bags are counted.
    """
    if column is None:
        return table
    need_columns(table.frame, [column], table.name, "--weight-column")
    weights = as_numbers(table, column, "a number of rows")
    for row in np.flatnonzero(weights < 0)[:1]:
        raise TableError(
            f"{table.place(row)}: column {column!r} contains {weights[row]:g}: a row represents at "
            "least 0 rows"
        )
    kept = weights > 0
    if not kept.any():
        raise TableError(f"{table.name}: column {column!r} contains zeros only")
    whole = np.rint(weights)
    for row in np.flatnonzero(whole != weights)[: int(in_bags)]:
        raise TableError(
            f"{table.place(row)}: column {column!r} contains {weights[row]:g}: a row in a bag "
            "represents a whole number of rows"
        )
    weights = whole.astype(np.intp) if (whole == weights).all() else weights
    frame = table.frame.drop(columns=column)[kept].reset_index(drop=True)
    return replace(table, frame=frame, weights=weights[kept])


def repeat_rows(table: Table, column: str | None) -> Table:
    """Return every row as often as its weight says, for an evaluation of single rows."""
    table = weigh_rows(table, column)
    if table.weights is None:
        return table
    if table.weights.dtype.kind == "f" or table.weights.sum() > MOST_REPEATED:
        raise TableError(
            f"{table.name}: column {column!r} must contain whole numbers with a sum of at most "
            f"{MOST_REPEATED:,}: every row is evaluated so many times"
        )
    rows = np.repeat(np.arange(len(table.frame)), table.weights)
    return replace(table, frame=table.frame.iloc[rows].reset_index(drop=True), weights=None)


def merge_rows(rows: BagRows, features: Features, method: str | None = None) -> BagRows:
    """Return equal rows of a bag as one row that represents them, if they are many.

    Parameters
    ----------
    rows : BagRows
        Rows in bags.
    features : Features
        The columns in which rows must be equal.
    method : str or None
        The method, if it is named.
    """
    frame, observed, names = rows.table.frame, rows.observed, features.names
    most = MOST_LEFT * len(frame)
    if method in OF_SINGLE_ROWS or max(one.n_distinct for one in features.columns) > most:
        return rows
    same = frame.groupby(names, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    key = same * observed.n_bags + observed.row_bag
    place = pd.factorize(key)[0]
    first = np.unique(place, return_index=True)[1]  # in their order, on which folds depend
    if len(first) > most:
        return rows
    ones = np.ones(len(frame), dtype=np.intp)
    weights = ones if observed.weights is None else observed.weights
    merged = np.bincount(place, weights).astype(weights.dtype)
    table = replace(rows.table, frame=frame.iloc[first].reset_index(drop=True), weights=merged)
    note = f"equal rows of a bag were merged: {len(first):,} represent {len(frame):,}"
    return replace(
        rows,
        table=table,
        observed=replace(observed, row_bag=observed.row_bag[first], weights=merged),
        notes=(*rows.notes, note),
    )
