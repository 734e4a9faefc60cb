"""Reading rows in bags with known shares or counts of named classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.roles import (
    BagRows,
    Table,
    as_numbers,
    check_shares,
    group_codes,
    join_bags,
    one_per_bag,
)
from decorrupt.corruption import Strata, check_class_strata, check_strata, two_classes

# Per class: shares may be rounded to two decimals. They are rescaled to the sum 1.
SUM_TOL = 0.005
EXACT = 1e-9


def read_class_bags(rows: Table, bags: Table | None, columns: BagColumns) -> BagRows:
    """Return rows with the class shares of their bags, from the same table or a table of bags.

    Shares must sum to 1 within SUM_TOL per class and are divided by their sum, and so are counts.
    Two classes become one share, of the second class.

    Parameters
    ----------
    rows : Table
        One row per instance.
    bags : Table, optional
        One row per bag, or with `columns.class_name` one row per bag and class; there a class
        that is not listed for a bag has the share or count 0. None: the columns are in `rows`.
    columns : BagColumns
        Columns of the tables.

    Raises
    ------
    TableError
        Naming file, column, bag and class.
    """
    need_columns(rows.frame, [columns.bag], rows.name, "--bag-column")
    ids, row_bag = group_codes(rows, columns.bag)
    are_counts = bool(columns.count or columns.counts)
    holder, classes = bags or rows, list(columns.proportions or columns.counts)
    what = "a count" if are_counts else "a proportion"
    if columns.class_name is not None:
        holder, classes = _one_row_per_bag(holder, columns, what)
    option = "--count-columns" if are_counts else "--proportion-columns"
    need_columns(holder.frame, classes, holder.name, option)
    values = np.column_stack([as_numbers(holder, name, what) for name in classes])
    said: list[str] = []
    if bags is None:
        by_class = zip(classes, values.T, strict=True)
        shares = np.column_stack(
            [one_per_bag(rows, name, column, ids, row_bag) for name, column in by_class]
        )
    else:
        shares, said = join_bags(rows, holder, columns.bag, values, ids, row_bag)
    strata = rows.strata(ids, row_bag, shares)
    if are_counts:
        said += _check_counts(holder.name, classes, strata)
    else:
        _check_sums(holder.name, classes, strata)
    strata = replace(strata, proportions=shares / shares.sum(axis=1, keepdims=True))
    strata = _learnable(holder.name, classes, strata)
    roles = tuple(name for name in columns.names if name in rows.frame.columns)
    return BagRows(rows, strata, roles, tuple(said), tuple(classes))


def _one_row_per_bag(bags: Table, columns: BagColumns, what: str) -> tuple[Table, list[str]]:
    """Return a long table as a wide one, and its classes; classes that are not listed have 0."""
    value, class_name = str(columns.proportion or columns.count), str(columns.class_name)
    option = "--proportion-column" if columns.proportion else "--count-column"
    named = {"--bag-column": columns.bag, "--class-column": class_name, option: value}
    for own, name in named.items():
        need_columns(bags.frame, [name], bags.name, own)
    ids, bag = group_codes(bags, columns.bag, "name a bag")
    classes, kind = group_codes(bags, class_name, "name a class")
    if len(classes) < 2:
        raise TableError(
            f"{bags.name}: column {class_name!r} contains one class only, {classes[0]!r}"
        )
    values, first = as_numbers(bags, value, what), np.full((len(ids), len(classes)), -1)
    for row, place in enumerate(zip(bag.tolist(), kind.tolist(), strict=True)):
        if first[place] >= 0:
            raise TableError(
                f"{bags.name}, row {row + 1}: class {classes[place[1]]!r} of bag "
                f"{ids[place[0]]!r} is already in row {first[place] + 1}"
            )
        first[place] = row
    found = np.where(first >= 0, values[first], 0.0)
    frame = pd.DataFrame(found, columns=classes)
    names = sort_classes(classes.tolist())
    frame = frame[names]
    if columns.bag in names:
        raise TableError(f"{bags.name}: a class has the name of the bag column, {columns.bag!r}")
    frame.insert(0, columns.bag, ids)
    return Table(frame, bags.name), names


def sort_classes(names: Iterable[str]) -> list[str]:
    """Return classes in order: numbers by value, then other names alphabetically."""
    return sorted(names, key=_as_number)


def _as_number(name: str) -> tuple[float, str]:
    return (float(name), name) if name.lstrip("-").isdecimal() else (np.inf, name)


def _check_sums(table: str, classes: Sequence[str], strata: Strata) -> None:
    for name, shares in zip(classes, strata.proportions.T, strict=True):
        check_shares(table, name, strata.ids, shares)
    sums, tol = strata.proportions.sum(axis=1), SUM_TOL * len(classes)
    wrong = np.flatnonzero(np.abs(sums - 1) > tol + EXACT)
    if len(wrong):
        raise TableError(
            f"{table}: the shares of bag {strata.ids[wrong[0]]!r} sum to {sums[wrong[0]]:g}: those "
            f"of all classes ({_listed(classes)}) must sum to 1 (within {tol:g})"
        )


def _check_counts(table: str, classes: Sequence[str], strata: Strata) -> list[str]:
    """Return a warning if counts do not sum to the numbers of rows."""
    counts, sizes = strata.proportions, strata.sizes
    wrong = np.argwhere((counts < 0) | (counts != np.round(counts)))
    if len(wrong):
        bag, kind = wrong[0]
        raise TableError(
            f"{table}: the count of class {classes[kind]!r} is {counts[bag, kind]:g} for bag "
            f"{strata.ids[bag]!r}: a count must be a whole number of at least 0"
        )
    sums: FloatArray = counts.sum(axis=1)
    if (sums == 0).any():
        bag = strata.ids[np.flatnonzero(sums == 0)[0]]
        raise TableError(f"{table}: all counts of bag {bag!r} are 0: its shares are unknown")
    apart = np.flatnonzero(sums != sizes)
    if not len(apart):
        return []
    bag = apart[0]
    return [
        f"in {len(apart)} of {len(sums)} bags the counts do not sum to the number of rows (the "
        f"first is {strata.ids[bag]!r}: {sums[bag]:g} and {sizes[bag]}): they are used as shares"
    ]


def _learnable(table: str, classes: Sequence[str], strata: Strata) -> Strata:
    """Return the strata, with one share for two classes; raise if a class cannot be learned."""
    try:
        if len(classes) > 2:
            check_class_strata(strata.sizes, strata.proportions, list(classes))
        strata = two_classes(strata)
        if strata.n_classes is None:
            check_strata(strata.sizes, strata.proportions)
    except ValueError as error:
        raise TableError(f"{table}: {error}") from None
    return strata


def match_classes(rows: BagRows, classes: Sequence[str], *, are_named: bool) -> BagRows:
    """Return bags whose classes are in the order of a model's classes.

    Parameters
    ----------
    rows : BagRows
        Bags to evaluate the model on.
    classes : sequence of str
        The model's classes.
    are_named : bool
        Whether the user named them; two classes need no names.

    Raises
    ------
    TableError
        If the bags have other classes than the model; the message names the class.
    """
    if not rows.classes:
        if len(classes) > 2:
            raise TableError(
                f"the model has {len(classes)} classes ({_listed(classes)}): give the shares of "
                "all of them, with --proportion-columns, --count-columns or --class-column"
            )
        return rows
    unknown = [name for name in rows.classes if name not in classes]
    lost = [name for name in classes if name not in rows.classes]
    if unknown or lost:
        problem = (
            f"there is no class {unknown[0]!r}" if unknown else f"class {lost[0]!r} is missing"
        )
        where = "in the model, whose classes are" if unknown else "in the bags; the model has"
        hint = "" if are_named else "; name its classes with --positive-label in 'fit'"
        raise TableError(f"{problem} {where} {_listed(classes)}{hint}")
    order = [rows.classes.index(name) for name in classes]
    shares = rows.strata.proportions
    is_swapped = order == [1, 0]  # two classes have one share, of the second class
    sorted_shares = shares[:, order] if shares.ndim == 2 else 1 - shares if is_swapped else shares
    strata = replace(rows.strata, proportions=sorted_shares)
    return replace(rows, strata=strata, classes=tuple(classes))


def _listed(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
