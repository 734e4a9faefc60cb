"""Reading rows in bags with known shares or counts of named classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.roles import (
    BagRows,
    Table,
    check_shares,
    group_codes,
    join_bags,
    noise_in_words,
    one_per_bag,
    ranges_in_words,
    read_ends,
)
from decorrupt.app.training.vague_counts import make_noise
from decorrupt.corruption import Strata, check_class_strata, check_strata, two_classes
from decorrupt.corruption.strata import BagTable
from decorrupt.risks.bag_observations import observe_class_ranges, observe_noisy_classes
from decorrupt.risks.count import count_risk

# Per class: shares may be rounded to two decimals. They are rescaled to the sum 1.
SUM_TOL = 0.005
EXACT = 1e-9


def read_class_bags(
    rows: Table, bags: Table | None, columns: BagColumns, *, takes_ranges: bool = False
) -> BagRows:
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
    takes_ranges : bool
        Whether counts can be cells such as ``<5`` or ``0–4``.

    Raises
    ------
    TableError
        Naming file, column, bag and class.
    """
    need_columns(rows.frame, [columns.bag], rows.name, "--bag-column")
    ids, row_bag = group_codes(rows, columns.bag)
    are_counts = bool(columns.count or columns.counts)
    holder, classes = bags or rows, list(columns.proportions or columns.counts)
    read = partial(_read_ends, is_count=are_counts, takes_ranges=takes_ranges)
    if columns.class_name is not None:
        holder, classes, ends = _one_row_per_bag(holder, columns, read)
    else:
        option = "--count-columns" if are_counts else "--proportion-columns"
        need_columns(holder.frame, classes, holder.name, option)
        ends = np.stack([read(holder, name) for name in classes], axis=2)
    both = np.hstack(list(ends))
    said: list[str] = []
    if bags is None:
        by_column = zip(classes * 2, both.T, strict=True)
        both = np.column_stack([one_per_bag(rows, *one, ids, row_bag) for one in by_column])
    else:
        both, said = join_bags(rows, holder, columns.bag, both, ids, row_bag)
    lower, upper = np.hsplit(both, 2)
    strata, is_range = rows.strata(ids, row_bag, lower), (lower != upper).any(axis=1)
    try:
        if is_range.any():
            strata = _with_ranges(holder.name, classes, strata, upper, columns.count_noise)
            if strata.observed is not None:
                said.append(ranges_in_words(int((~strata.observed.is_exact).sum()), len(ids)))
        elif columns.count_noise is not None:
            strata = _with_noise(classes, strata, columns.count_noise, are_counts=are_counts)
            said.append(noise_in_words(columns.count_noise))
        else:
            strata, own = _exact(holder.name, classes, strata, are_counts=are_counts)
            said += own
        _check_learnable(classes, strata)
    except TableError:
        raise
    except ValueError as error:  # about the values, without the name of the table
        raise TableError(f"{holder.name}: {error}") from None
    roles = tuple(name for name in columns.names if name in rows.frame.columns)
    return BagRows(rows, strata, roles, tuple(said), tuple(classes))


def _read_ends(table: Table, name: str, *, is_count: bool, takes_ranges: bool) -> FloatArray:
    """Return the lower and the upper ends of a column, shape (2, n_rows)."""
    return np.stack(read_ends(table, (name, name), is_count=is_count, takes_ranges=takes_ranges))


def _one_row_per_bag(
    bags: Table, columns: BagColumns, read: Callable[[Table, str], FloatArray]
) -> tuple[Table, list[str], FloatArray]:
    """Return the bags of a long table, its classes, and their values, shape (2, n_bags, n_classes).

    Classes that are not listed for a bag have 0.
    """
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
    if columns.bag in classes:
        raise TableError(f"{bags.name}: a class has the name of the bag column, {columns.bag!r}")
    values, first = read(bags, value), np.full((len(ids), len(classes)), -1)
    for row, place in enumerate(zip(bag.tolist(), kind.tolist(), strict=True)):
        if first[place] >= 0:
            raise TableError(
                f"{bags.name}, row {row + 1}: class {classes[place[1]]!r} of bag "
                f"{ids[place[0]]!r} is already in row {first[place] + 1}"
            )
        first[place] = row
    names = sort_classes(classes.tolist())
    first = first[:, [classes.tolist().index(name) for name in names]]
    found = np.where(first >= 0, values[:, first], 0.0)
    return Table(pd.DataFrame({columns.bag: ids}), bags.name), names, found


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


def _exact(
    table: str, classes: Sequence[str], strata: Strata, *, are_counts: bool
) -> tuple[Strata, list[str]]:
    """Return the bags with their shares, of two classes that of the second, and warnings."""
    said: list[str] = []
    if are_counts:
        _check_whole(table, classes, strata)
        said = _check_count_sums(table, strata)
    else:
        _check_sums(table, classes, strata)
    shares = strata.proportions / strata.proportions.sum(axis=1, keepdims=True)
    return two_classes(replace(strata, proportions=shares)), said


def _with_ranges(
    table: str, classes: Sequence[str], strata: Strata, upper: FloatArray, count_noise: str | None
) -> Strata:
    """Return the bags with ranges of their counts, unless the other counts determine all."""
    if count_noise is not None:
        raise TableError("--count-noise cannot be combined with counts that are ranges")
    lower, sizes = strata.proportions, strata.sizes[:, None]
    _check_whole(table, classes, strata)
    upper = np.where(upper > lower, np.minimum(upper, sizes), upper)  # fewer than 5 of 3 rows
    ends = replace(strata, proportions=lower / sizes)
    shares, observed = observe_class_ranges(ends, upper / sizes, classes)
    if observed.is_exact.all():
        return shares
    if isinstance(strata, BagTable):
        raise TableError(
            "ranges of the counts of several classes cannot be used with --engine dask: use "
            "decorrupt.distributed.DaskCountLikelihoodClassifier from Python"
        )
    count_risk(shares, observations=observed)  # raises an error if too many counts are possible
    return replace(shares, observed=observed)


def _with_noise(
    classes: Sequence[str], strata: Strata, count_noise: str, *, are_counts: bool
) -> Strata:
    """Return the bags with noisy counts."""
    if len(classes) == 2:
        raise TableError(
            "--count-noise with two classes is the noise of one count: give that of the positive "
            "class with --count-column or --proportion-column"
        )
    unit = strata.sizes[:, None] if are_counts else 1
    reported = replace(strata, proportions=strata.proportions / unit)
    shares, observed = observe_noisy_classes(reported, make_noise(count_noise))
    return replace(shares, observed=observed)


def _check_whole(table: str, classes: Sequence[str], strata: Strata) -> None:
    counts = strata.proportions
    for bag, kind in np.argwhere((counts < 0) | (counts != np.round(counts)))[:1]:
        raise TableError(
            f"{table}: the count of class {classes[kind]!r} is {counts[bag, kind]:g} for bag "
            f"{strata.ids[bag]!r}: a count must be a whole number of at least 0"
        )


def _check_count_sums(table: str, strata: Strata) -> list[str]:
    """Return a warning if counts do not sum to the numbers of rows."""
    sums: FloatArray = strata.proportions.sum(axis=1)
    if (sums == 0).any():
        bag = strata.ids[np.flatnonzero(sums == 0)[0]]
        raise TableError(f"{table}: all counts of bag {bag!r} are 0: its shares are unknown")
    apart = np.flatnonzero(sums != strata.sizes)
    if not len(apart):
        return []
    bag = apart[0]
    return [
        f"in {len(apart)} of {len(sums)} bags the counts do not sum to the number of rows (the "
        f"first is {strata.ids[bag]!r}: {sums[bag]:g} and {strata.sizes[bag]}): they are used as "
        "shares"
    ]


def _check_learnable(classes: Sequence[str], strata: Strata) -> None:
    """Raise ValueError if a class cannot be learned."""
    if strata.n_classes is None:
        check_strata(strata.sizes, strata.proportions)
    else:
        check_class_strata(strata.sizes, strata.proportions, list(classes))


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
