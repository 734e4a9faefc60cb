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

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_values import sort_classes
from decorrupt.app.training.columns import choose_features, need_columns
from decorrupt.app.training.preprocess import as_text, make_preprocessor, prepare
from decorrupt.app.training.results import BagSummary, BagTablesSummary
from decorrupt.app.training.source_roles import read_label_names, read_labels
from decorrupt.app.training.summary import summarize_bags
from decorrupt.app.training.table import Table
from decorrupt.datasets import design_bags, make_bags
from decorrupt.observed import Observed

# Labels with more values than this are not classes of one table.
MOST_CLASSES = 100


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
    design: int | None = None,
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
        See :func:`decorrupt.app.training.source_roles.read_labels`. Without `positive_label`,
        more than two labels are classes. The table of bags has one column of shares per class; of
        two classes the positive one is the last.
    bag_size, sizes, by, proportions
        How bags are made; all rows of a bag have the same values in the columns `by`.
    design : int or None
        The smallest number of rows of bags that contain the most information, see
        :func:`decorrupt.datasets.design_bags`; `by` is then the column of scores, or empty for the
        first principal component of all columns.
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
    score, by = ([], by) if design is None else (by, [])
    table, n_without_bag = _with_bags(table, by, drop=drop_missing)
    names = read_label_names(table, label_column)
    classes = sort_classes(set(names.tolist()))
    several = len(classes) > 2 and positive_label is None
    if several:
        codes_of = {name: code for code, name in enumerate(classes)}
        labels = np.array([codes_of[name] for name in names])
    else:
        found = read_labels(table, label_column, positive_label)
        labels, classes = found.is_pos.astype(int), [found.negative, found.positive]
    _check_names(table, classes, bag_column if len(by) != 1 else by[0])
    if len(by) != 1 and bag_column in table.frame.columns and bag_column not in by:
        raise TableError(
            f"{table.name}: there is already a column {bag_column!r}: choose another --bag-column"
        )
    is_test = np.zeros(len(labels), dtype=bool)
    order = np.random.default_rng(seed).permutation(len(is_test))
    is_test[order[: round(test_share * len(order))]] = True
    kept = np.flatnonzero(~is_test)
    frame = table.frame.iloc[kept].reset_index(drop=True)
    bag_names, codes = None, None
    if by:
        bag_names, codes = np.unique(_bag_names(frame, by), return_inverse=True)
    elif design is not None:
        codes = _designed(Table(frame, table.name), score, label_column, design)
    if several and proportions is not None:
        raise TableError("--proportions is for two classes: name one with --positive-label")
    try:
        made = make_bags(
            # Which rows form a bag does not depend on their labels unless `proportions` are given.
            np.arange(len(kept)) % 2 if several else labels[kept],
            bag_size=bag_size,
            sizes=sizes,
            proportions=proportions,
            by=codes,
            random_state=seed,
        )
    except ValueError as error:
        raise TableError(f"{table.name}: {error}") from None
    ids = np.arange(1, len(made.sizes) + 1).astype(object) if bag_names is None else bag_names
    column = by[0] if len(by) == 1 else bag_column
    rows = frame.iloc[made.rows].drop(columns=label_column).reset_index(drop=True)
    if len(by) != 1:
        rows = rows.drop(columns=list(by))
        rows.insert(0, column, ids[made.bags])
    bags = pd.DataFrame({column: ids, "rows": made.sizes})
    shares = class_shares(labels[kept][made.rows], made.bags, len(classes))
    bags[classes] = shares
    summary = BagTablesSummary(
        bags=_summary(table.name, Observed(np.array(classes), ids, made.bags, shares)),
        n_left_out=made.n_left_out,
        n_without_bag=n_without_bag,
        n_test=int(is_test.sum()),
    )
    if design is not None and not several:
        summary["random_information"] = _random_information(made.sizes, shares[:, 1])
    return BagTables(rows, bags, table.frame[is_test], summary)


def _designed(table: Table, score: Sequence[str], label_column: str, size: int) -> NDArray[np.intp]:
    """Return the bag of each row, designed by a column of scores or by all columns."""
    if score:
        values = pd.to_numeric(table.frame[score[0]], errors="coerce").to_numpy(dtype=float)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise TableError(
                f"{table.name}: column {score[0]!r} of --by has no number in "
                f"{len(wrong)} rows (first: row {wrong[0] + 1} of those to divide), but --design "
                "needs a score for every row"
            )
        matrix: Any = values[:, None]
    else:
        features = choose_features(table.frame, roles=(label_column,))
        prepared = prepare(table.frame, features.columns, table=table.name)
        matrix = make_preprocessor(features.columns, len(prepared)).fit_transform(prepared)
    try:
        return design_bags(matrix, values if score else None, size=size)
    except ValueError as error:
        raise TableError(f"{table.name}: {error}") from None


def _random_information(sizes: NDArray[np.intp], proportions: FloatArray) -> float:
    """Return E[V] = (M − 1)·p(1 − p)·n/(n − 1) of random bags with the same rows and sizes."""
    n_rows, share = sizes.sum(), float(np.average(proportions, weights=sizes))
    return float((len(sizes) - 1) * share * (1 - share) * n_rows / (n_rows - 1))


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


def _check_names(table: Table, classes: Sequence[str], bag_column: str) -> None:
    """Raise TableError if a class cannot be the name of a column."""
    if len(classes) > MOST_CLASSES:
        raise TableError(
            f"{table.name}: the labels have {len(classes)} different values, more than "
            f"{MOST_CLASSES} classes: give the positive label with --positive-label"
        )
    taken = [name for name in classes if name in (bag_column, "rows")]
    if taken:
        raise TableError(f"{table.name}: class {taken[0]!r} has the name of a column of the bags")


def class_shares(labels: NDArray[np.intp], bags: NDArray[np.intp], n_classes: int) -> FloatArray:
    """Return the shares of the classes in each bag, one row per bag."""
    counts = np.zeros((bags.max() + 1, n_classes))
    np.add.at(counts, (bags, labels), 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _summary(name: str, observed: Observed) -> BagSummary:
    try:
        return summarize_bags(observed)
    except ValueError as error:
        raise TableError(f"{name}: {error}") from None
