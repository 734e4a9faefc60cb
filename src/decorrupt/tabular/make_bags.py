"""A labelled table cut into bags; the labels end here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from decorrupt.corruption import Strata
from decorrupt.datasets import make_bags
from decorrupt.tables import TableError
from decorrupt.tabular.columns import need_columns
from decorrupt.tabular.roles import Table, group_codes
from decorrupt.tabular.source_roles import read_labels
from decorrupt.tabular.summary import summarize_bags


@dataclass(frozen=True)
class BagTables:
    """What an experiment needs: rows without labels, bags, and rows held out with theirs.

    Attributes
    ----------
    rows, bags, test : DataFrame
        `test` has the label and is empty if nothing was held out.
    summary : dict
        bags (a BagSummary), n_left_out, n_test.
    """

    rows: pd.DataFrame
    bags: pd.DataFrame
    test: pd.DataFrame
    summary: dict[str, Any]


def cut_into_bags(
    table: Table,
    *,
    label_column: str,
    positive_label: str | None = None,
    bag_size: int | None = None,
    sizes: tuple[int, int] | None = None,
    by: str | None = None,
    proportions: tuple[float, float] | None = None,
    bag_column: str = "bag",
    test_share: float = 0.0,
    seed: int = 0,
) -> BagTables:
    """Return bags of the table's rows; see :func:`decorrupt.datasets.make_bags` for the ways.

    Parameters
    ----------
    table : Table
        Labelled rows.
    label_column, positive_label : str
        See :func:`decorrupt.tabular.source_roles.read_labels`.
    bag_size, sizes, by, proportions
        How bags are made; `by` is a column.
    bag_column : str
        The column to add; with `by` that column takes its place.
    test_share : float
        Share of the rows held out first, with their labels.
    seed : int
        Of all draws.

    Raises
    ------
    TableError
        If a column is missing or in the way, or no bags can be made.
    """
    labels = read_labels(table, label_column, positive_label)
    if by is None and bag_column in table.frame.columns:
        raise TableError(
            f"{table.name}: there is a column {bag_column!r} already: see --bag-column"
        )
    is_test = np.zeros(len(labels.is_pos), dtype=bool)
    order = np.random.default_rng(seed).permutation(len(is_test))
    is_test[order[: round(test_share * len(order))]] = True
    kept = np.flatnonzero(~is_test)
    frame = table.frame.iloc[kept].reset_index(drop=True)
    names, codes = None, None
    if by is not None:
        need_columns(frame, [by], table.name, "--by")
        names, codes = group_codes(Table(frame, table.name), by)
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
    column = bag_column if by is None else by
    rows = frame.iloc[made.rows].drop(columns=label_column).reset_index(drop=True)
    if by is None:
        rows.insert(0, column, ids[made.bags])
    counts = np.rint(made.proportions * made.sizes).astype(int)
    bags = pd.DataFrame(
        {column: ids, "rows": made.sizes, "count": counts, "proportion": made.proportions}
    )
    summary = {
        "bags": _summary(table.name, Strata(ids, made.bags, made.proportions)),
        "n_left_out": made.n_left_out,
        "n_test": int(is_test.sum()),
    }
    return BagTables(rows, bags, table.frame[is_test], summary)


def _summary(name: str, strata: Strata) -> Any:
    try:
        return summarize_bags(strata)
    except ValueError as error:
        raise TableError(f"{name}: {error}") from None
