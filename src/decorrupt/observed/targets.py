"""From one proportion per bag to one per row: `bag_targets`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt.observed.ids import factorize


def bag_targets(bags: Any, proportions: Any) -> Any:
    """Return one proportion per row, from one proportion per bag.

    y[j] is the proportion of row j's bag.

    With one share per bag and class, y has one column per class, and y is a data frame if the
    shares are one: its column names become `classes_`.

    Parameters
    ----------
    bags : array-like of shape (n_rows,)
        The bag of each row; any hashable ids.
    proportions : mapping, pandas Series or DataFrame, or array
        One proportion per bag, or one per class: a mapping to sequences, a DataFrame with a column
        per class, an array of shape (n_bags, n_classes). The index of a Series or DataFrame holds
        the bag ids. An array is read in the sorted order of the distinct ids, so that for bags
        numbered 0, 1, … entry k belongs to bag k.

    Returns
    -------
    ndarray of shape (n_rows,) or (n_rows, n_classes), or DataFrame with a column per class

    Raises
    ------
    ValueError
        If a bag has no proportion or more than one, the array's length is not the number of bags,
        or a table of several columns is not indexed by bag.

    Examples
    --------
    >>> from decorrupt import bag_targets
    >>> bag_targets(["north", "south", "north"], {"north": 0.25, "south": 0.5}).tolist()
    [0.25, 0.5, 0.25]
    >>> bag_targets([0, 1, 0], [[0.5, 0.3, 0.2], [0.0, 0.6, 0.4]]).tolist()
    [[0.5, 0.3, 0.2], [0.0, 0.6, 0.4], [0.5, 0.3, 0.2]]
    """
    ids, codes = factorize(bags, "bags")
    table: Any = None
    if hasattr(proportions, "columns"):
        proportions = table = _read_columns(proportions, ids)
    if hasattr(proportions, "index") and hasattr(proportions, "to_dict"):  # pandas
        index = proportions.index
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(
                f"proportions contain bag {twice!r} more than once: give one entry per bag"
            )
        # As arrays on both sides, so that dates compare with dates.
        proportions = dict(
            zip(np.asarray(index).tolist(), np.asarray(proportions).tolist(), strict=True)
        )
    if isinstance(proportions, Mapping):
        missing = [bag for bag in ids.tolist() if bag not in proportions]
        if missing:
            raise ValueError(
                f"proportions are missing for {len(missing)} of {len(ids)} bags; the first is "
                f"{missing[0]!r}"
            )
        _check_lengths(proportions, ids)
        if hasattr(table, "columns"):
            place = {bag: row for row, bag in enumerate(proportions)}
            return table.iloc[np.array([place[bag] for bag in ids.tolist()])[codes]]
        by_bag = np.array([proportions[bag] for bag in ids.tolist()], dtype=float)
    else:
        by_bag = np.asarray(proportions, dtype=float)
        if by_bag.ndim not in (1, 2) or len(by_bag) != len(ids):
            raise ValueError(
                f"proportions have shape {by_bag.shape} but there are {len(ids)} bags: "
                "give one proportion (or one row of shares) per bag, or a mapping from bag to it"
            )
    return by_bag[codes]


def _check_lengths(proportions: Mapping[Any, Any], ids: NDArray[Any]) -> None:
    first = ids.tolist()[0]
    for bag in ids.tolist():
        if np.shape(proportions[bag]) != np.shape(proportions[first]):
            raise ValueError(
                f"proportions of bag {bag!r} have shape {np.shape(proportions[bag])}, those of bag "
                f"{first!r} {np.shape(proportions[first])}: give one share per class for every bag"
            )


def _read_columns(table: Any, ids: NDArray[Any]) -> Any:
    """Return the one column, or the table itself if it has a column per class, indexed by bag."""
    names = list(table.columns)
    if len(names) == 1:
        return table[names[0]]
    if not hasattr(table, "index") or not set(np.asarray(table.index).tolist()) & set(ids.tolist()):
        raise ValueError(
            f"proportions have the columns {', '.join(map(repr, names))}: give the one column "
            "with the bags' proportions, or one column per class, indexed by bag, as in "
            "table.set_index('bag')"
        )
    return table
