"""Reading rows in bags with known shares or counts of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from decorrupt.app.tables import TableError, listed
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.bag_shares import observe_classes, observe_positives
from decorrupt.app.training.bag_values import join_bags, one_per_bag, read_values
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.guess import class_names, guess_columns
from decorrupt.app.training.table import Table, group_codes
from decorrupt.observed import Observed, as_targets, check_bags

# If more than this share of the rows has no bag, the column is probably not that of the bag.
MAX_LOST = 0.5


@dataclass(frozen=True)
class BagRows:
    """Rows in bags of known class shares.

    Attributes
    ----------
    table : Table
        The rows that have a bag, with all their columns; the index is that of all rows.
    observed : Observed
        The bags; `ids` are their names as text, `classes` the names of the classes.
    roles : tuple of str
        Columns of the rows' table that are not features.
    warnings : tuple of str
        Warnings about the join.
    notes : tuple of str
        How the table of bags was read, and which columns were guessed.
    are_named : bool
        Whether the tables name the classes; otherwise they are two, and options can name them.
    """

    table: Table
    observed: Observed
    roles: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    are_named: bool = False

    @property
    def classes(self) -> list[str]:
        """Names of the classes; of two the second is the positive one."""
        names: list[str] = self.observed.classes.tolist()
        return names


def read_bags(
    rows: Table, bags: Table | None, columns: BagColumns, *, takes_ranges: bool = False
) -> BagRows:
    """Return rows with the class shares of their bags, from the same table or a table of bags.

    One column is the share or the number of positives. One column per class: shares must sum to 1
    within SUM_TOL per class and are divided by their sum, and so are counts. Rows without a value
    in the column of the bag are left out, with a note.

    Parameters
    ----------
    rows : Table
        One row per instance.
    bags : Table, optional
        One row per bag, joined on the bag's column. None: the columns are in `rows`.
    columns : BagColumns
        Columns of the tables; with a table of bags, those that are not named are guessed.
    takes_ranges : bool
        Whether counts can be cells such as ``<5`` or ``0–4``.

    Raises
    ------
    TableError
        Naming file, column, row, bag or class: if a column or a bag is missing, a bag is listed
        twice, a value is not a share or count, the bags do not distinguish the classes, or most
        rows have no bag.
    """
    columns.check(has_table=bags is not None)
    notes: list[str] = []
    if bags is not None:
        columns, notes = guess_columns(columns, rows, bags)
        notes = [*bags.notes, *notes]
    need_columns(rows.frame, [columns.bag], rows.name, "--bag-column")
    rows, said_of_rows = _rows_in_bags(rows, columns.bag)
    notes = [*notes, *said_of_rows]
    ids, row_bag = group_codes(rows, columns.bag)
    values = read_values(bags or rows, columns, takes_ranges=takes_ranges)
    said: list[str] = []
    if bags is None:
        ends = one_per_bag(rows, values, ids, row_bag)
    else:
        ends, said = join_bags(rows, values, columns.bag, ids, row_bag)
    names = values.names if columns.names_classes else class_names(values.names[0])
    table = rows.observed(ids, row_bag, np.zeros((len(ids), len(names))), names)
    observe = observe_classes if columns.names_classes else observe_positives
    try:
        observed, own = observe(values, columns, table, *ends.swapaxes(0, 1))
        check_bags(observed.sizes, as_targets(observed.proportions), names)
    except TableError:
        raise
    except ValueError as error:  # about the values, without the name of the table
        column = "" if columns.names_classes else f"column {values.names[0]!r}: "
        raise TableError(f"{values.table.name}: {column}{error}") from None
    roles = tuple(name for name in columns.names if name in rows.frame.columns)
    return BagRows(
        rows, observed, roles, (*said, *own), tuple(notes), are_named=columns.names_classes
    )


def _rows_in_bags(rows: Table, bag_column: str) -> tuple[Table, list[str]]:
    """Return the rows with a bag, with their own index, and a note about the others."""
    has_bag = rows.frame[bag_column].notna().to_numpy()
    n_rows, n_lost = len(has_bag), int(np.sum(~has_bag))
    if not n_lost:
        return rows, []
    where = f"{rows.name}: column {bag_column!r} is empty in {n_lost:,} of {n_rows:,} rows"
    if n_lost > MAX_LOST * n_rows:
        raise TableError(f"{where}: most rows belong to no bag")
    weights = None if rows.weights is None else rows.weights[has_bag]
    kept = replace(rows, frame=rows.frame[has_bag], weights=weights)
    return kept, [f"{where}, which belong to no bag and are not used"]


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
    if not rows.are_named:
        if len(classes) > 2:
            raise TableError(
                f"the model has {len(classes)} classes ({listed(classes)}): give the shares of "
                "all of them, with --proportion-columns or --count-columns"
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
        raise TableError(f"{problem} {where} {listed(classes)}{hint}")
    order = [rows.classes.index(name) for name in classes]
    shares = rows.observed.proportions[:, order]
    observed = replace(rows.observed, proportions=shares, classes=np.array(classes))
    return replace(rows, observed=observed)
