"""Making bags from a labelled table; the bags do not contain the labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.preprocess import as_text
from decorrupt.app.training.results import BagSummary, BagTablesSummary
from decorrupt.app.training.roles import Table
from decorrupt.app.training.source_roles import read_labels
from decorrupt.app.training.summary import summarize_bags
from decorrupt.corruption import Strata
from decorrupt.datasets import make_bags


@dataclass(frozen=True)
class BagTables:
    """Tables for an experiment: rows without labels, bags, and held-out rows with labels.

    Attributes
    ----------
    rows, bags, test : DataFrame
        `test` has the label and is empty if nothing was held out.
    summary : BagTablesSummary
        The bags, and the number of rows in no bag.
    """

    rows: pd.DataFrame
    bags: pd.DataFrame
    test: pd.DataFrame
    summary: BagTablesSummary


def cut_into_bags(
    table: Table,
    *,
    label_column: str,
    positive_label: str | None = None,
    bag_size: int | None = None,
    sizes: tuple[int, int] | None = None,
    by: Sequence[str] = (),
    drop_missing: bool = False,
    proportions: tuple[float, float] | None = None,
    bag_column: str = "bag",
    test_share: float = 0.0,
    seed: int = 0,
) -> BagTables:
    """Return bags made from the rows of a table; see :func:`decorrupt.datasets.make_bags`.

    Parameters
    ----------
    table : Table
        Labelled rows.
    label_column, positive_label : str
        See :func:`decorrupt.app.training.source_roles.read_labels`.
    bag_size, sizes, by, proportions
        How bags are made; all rows of a bag have the same values in the columns `by`.
    drop_missing : bool
        Drop rows without a value in a column of `by`, instead of refusing them.
    bag_column : str
        The column to add. A single column in `by` is kept instead; several columns are replaced
        with it.
    test_share : float
        Share of the rows held out first, with their labels.
    seed : int
        Random seed.

    Raises
    ------
    TableError
        If a column is missing, `bag_column` already exists, or no bags can be made.
    """
    need_columns(table.frame, by, table.name, "--by")
    table, n_without_bag = _with_bags(table, by, drop=drop_missing)
    labels = read_labels(table, label_column, positive_label)
    if len(by) != 1 and bag_column in table.frame.columns and bag_column not in by:
        raise TableError(
            f"{table.name}: there is already a column {bag_column!r}: choose another --bag-column"
        )
    is_test = np.zeros(len(labels.is_pos), dtype=bool)
    order = np.random.default_rng(seed).permutation(len(is_test))
    is_test[order[: round(test_share * len(order))]] = True
    kept = np.flatnonzero(~is_test)
    frame = table.frame.iloc[kept].reset_index(drop=True)
    names, codes = None, None
    if by:
        names, codes = np.unique(_bag_names(frame, by), return_inverse=True)
    try:
        made = make_bags(
            labels.is_pos[kept].astype(int),
            bag_size=bag_size,
            sizes=sizes,
            proportions=proportions,
            by=codes,
            random_state=seed,
        )
    except ValueError as error:
        raise TableError(f"{table.name}: {error}") from None
    ids = np.arange(1, len(made.sizes) + 1).astype(object) if names is None else names
    column = by[0] if len(by) == 1 else bag_column
    rows = frame.iloc[made.rows].drop(columns=label_column).reset_index(drop=True)
    if len(by) != 1:
        rows = rows.drop(columns=list(by))
        rows.insert(0, column, ids[made.bags])
    counts = np.rint(made.proportions * made.sizes).astype(int)
    bags = pd.DataFrame(
        {column: ids, "rows": made.sizes, "count": counts, "proportion": made.proportions}
    )
    summary = BagTablesSummary(
        bags=_summary(table.name, Strata(ids, made.bags, made.proportions)),
        n_left_out=made.n_left_out,
        n_without_bag=n_without_bag,
        n_test=int(is_test.sum()),
    )
    return BagTables(rows, bags, table.frame[is_test], summary)


def _with_bags(table: Table, by: Sequence[str], *, drop: bool) -> tuple[Table, int]:
    """Return the rows with a value in every column of `by`, and the number of other rows."""
    is_missing = table.frame[list(by)].isna()
    if not is_missing.to_numpy().any():
        return table, 0
    if not drop:
        column = next(name for name in by if is_missing[name].any())
        row = int(np.flatnonzero(is_missing[column])[0]) + 1
        raise TableError(
            f"{table.name}, row {row}: column {column!r} is empty, but every row must belong to a "
            "bag; --drop-missing-bags drops such rows"
        )
    lost = is_missing.any(axis=1)
    return Table(table.frame[~lost].reset_index(drop=True), table.name), int(lost.sum())


def _bag_names(frame: pd.DataFrame, by: Sequence[str]) -> NDArray[Any]:
    """Return each row's bag: its value, or several joined so that no two combinations are equal."""
    columns = [as_text(frame[name]) for name in by]
    if len(columns) == 1:
        return columns[0]
    names = io.StringIO()
    csv.writer(names, delimiter="/", lineterminator="\0").writerows(zip(*columns, strict=True))
    return np.array(names.getvalue().split("\0")[:-1], dtype=object)


def _summary(name: str, strata: Strata) -> BagSummary:
    try:
        return summarize_bags(strata)
    except ValueError as error:
        raise TableError(f"{name}: {error}") from None
