"""One pass over the blocks: the bags with their sizes and proportions, and the columns of X."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, factorize, strata_from_bags
from decorrupt.corruption.class_shares import SHARE_TOL
from decorrupt.corruption.strata import BagTable, class_range_ends
from decorrupt.distributed.blocks import Block, Blocks
from decorrupt.distributed.engine import Engine
from decorrupt.estimators.inputs import read_class_labels


@dataclass(frozen=True)
class ColumnSummary:
    """Number of rows, and mean and Σ(x − mean)² of each column; summaries of blocks add up.

    Attributes
    ----------
    number : int
        The partition.
    n_rows, n_bytes : int
        Rows, and bytes of X.
    dtype : dtype
        Of X.
    is_sparse : bool
        Whether X is sparse.
    mean, squares : ndarray of shape (n_columns,)
        In double precision.
    """

    number: int
    n_rows: int
    n_bytes: int
    dtype: Any
    is_sparse: bool
    mean: FloatArray
    squares: FloatArray

    @property
    def n_columns(self) -> int:
        """Columns of X."""
        return len(self.mean)

    @property
    def variance(self) -> float:
        """The mean of the columns' variances."""
        return float(self.squares.mean() / self.n_rows)

    def mean_squared_norm(self, *, centred: bool) -> float:
        """Return the mean of ‖x − mean‖² over the rows, or of ‖x‖²; 1 if it is 0."""
        total = self.squares.sum() / self.n_rows
        return float(total if centred else total + self.mean @ self.mean) or 1.0


def summarise_columns(block: Block) -> ColumnSummary:
    """Return the summary of X; raise ValueError if a value is missing or infinite."""
    rows = block.rows
    n_rows = rows.shape[0]
    values = rows.data if issparse(rows) else rows
    if not np.isfinite(values).all():
        _refuse_not_finite(block)
    mean = np.asarray(rows.sum(axis=0, dtype=float)).ravel() / max(n_rows, 1)
    if issparse(rows):
        squares = np.asarray(rows.multiply(rows).sum(axis=0, dtype=float)).ravel()
        squares = squares - n_rows * mean**2
        n_bytes = rows.data.nbytes + rows.indices.nbytes
    else:
        squares = np.var(rows, axis=0, dtype=float) * n_rows if n_rows else np.zeros(len(mean))
        n_bytes = rows.nbytes
    return ColumnSummary(
        block.number, n_rows, n_bytes, rows.dtype, issparse(rows), mean, np.asarray(squares)
    )


def _refuse_not_finite(block: Block) -> None:
    rows = block.rows.tocoo() if issparse(block.rows) else block.rows
    if issparse(rows):
        bad = int(np.flatnonzero(~np.isfinite(rows.data))[0])
        row, column, value = rows.row[bad], rows.col[bad], rows.data[bad]
    else:
        row, column = np.argwhere(~np.isfinite(rows))[0]
        value = rows[row, column]
    raise ValueError(
        f"X contains {value} in partition {block.number}, row {row}, column {column}: fill in or "
        "drop missing and infinite values first"
    )


def add_columns(summaries: Sequence[ColumnSummary]) -> ColumnSummary:
    """Return the summary of all rows.

    Raises
    ------
    ValueError
        If there are no rows, or partitions differ in width or dtype.
    """
    filled = [summary for summary in summaries if summary.n_rows]
    if not filled:
        raise ValueError("X has no rows")
    first = total = filled[0]
    for other in filled[1:]:
        for what in ("n_columns", "dtype", "is_sparse"):
            if getattr(first, what) != getattr(other, what):
                raise ValueError(
                    f"X has {what}={getattr(first, what)} in partition {first.number} and "
                    f"{what}={getattr(other, what)} in partition {other.number}: all partitions "
                    "must have the same columns and dtype"
                )
        total = _add(total, other)
    return total


def _add(one: ColumnSummary, other: ColumnSummary) -> ColumnSummary:
    """Return the summary of both (Chan, Golub and LeVeque 1983)."""
    n_rows = one.n_rows + other.n_rows
    apart = other.mean - one.mean
    mean = one.mean + apart * (other.n_rows / n_rows)
    squares = one.squares + other.squares + apart**2 * (one.n_rows * other.n_rows / n_rows)
    n_bytes = one.n_bytes + other.n_bytes
    return ColumnSummary(one.number, n_rows, n_bytes, one.dtype, one.is_sparse, mean, squares)


@dataclass(frozen=True)
class BlockBags:
    """The bags of one block, in the order of :func:`decorrupt.corruption.factorize`."""

    number: int
    ids: NDArray[Any]
    sizes: NDArray[np.intp]
    proportions: FloatArray


def summarise_bags(
    block: Block, *, is_noisy: bool = False, has_upper: bool = False
) -> BlockBags | None:
    """Return the bags of a block; None if it has no rows.

    Parameters
    ----------
    block : Block
        The data.
    is_noisy : bool
        Whether proportions can be below 0 or above 1.
    has_upper : bool
        Whether the last half of the targets' columns are the upper ends of ranges.
    """
    if not block.rows.shape[0]:
        return None
    if block.targets.dtype.kind not in "fiub":
        raise ValueError(
            f"with bags, y must contain proportions (numbers in [0, 1]), got {block.targets.dtype}"
        )
    try:
        if has_upper:
            strata = _range_ends(block)
        else:
            strata = strata_from_bags(block.ids, block.targets, is_noisy=is_noisy)
    except ValueError as error:
        raise ValueError(f"partition {block.number}: {error}") from None
    return BlockBags(block.number, strata.ids, strata.sizes, strata.proportions)


def _range_ends(block: Block) -> Strata:
    """Return the bags of a block; their proportions are the lower and then the upper ends."""
    halves = zip(("y", "upper"), np.split(block.targets, 2, axis=1), strict=True)
    lower, upper = (
        class_range_ends(block.ids, half, name)
        if half.shape[1] > 1
        else strata_from_bags(block.ids, half[:, 0], name=name)
        for name, half in halves
    )
    return replace(lower, proportions=np.column_stack([lower.proportions, upper.proportions]))


def merge_bags(
    found: Sequence[BlockBags | None], name: str = "y"
) -> tuple[BagTable, list[NDArray[np.intp]]]:
    """Return the table of all bags, and for every block the numbers of its bags.

    Parameters
    ----------
    found : sequence
        The bags of each block.
    name : str
        The arguments that contain the proportions, for messages.

    Raises
    ------
    ValueError
        If the proportion of a bag differs between partitions, or the number of classes.
    """
    filled = [bags for bags in found if bags is not None]
    widths = {bags.proportions.shape[1:] for bags in filled}
    if len(widths) > 1:
        raise ValueError(f"y has different numbers of columns in the partitions: {sorted(widths)}")
    ids, codes = factorize(join_ids([bags.ids for bags in filled]), "bags")
    shares = np.concatenate([bags.proportions for bags in filled])
    sizes = np.bincount(codes, np.concatenate([bags.sizes for bags in filled])).astype(np.intp)
    lowest = np.full((len(ids), *shares.shape[1:]), np.inf)
    np.minimum.at(lowest, codes, shares)
    parts = np.repeat([bags.number for bags in filled], [len(bags.ids) for bags in filled])
    _refuse_different(name, ids, codes, shares, lowest, parts)
    ends = iter(np.split(codes, np.cumsum([len(bags.ids) for bags in filled])))
    none = np.empty(0, dtype=np.intp)
    return BagTable.of(ids, lowest, sizes), [none if b is None else next(ends) for b in found]


def _refuse_different(
    name: str,
    ids: NDArray[Any],
    codes: NDArray[np.intp],
    shares: FloatArray,
    lowest: FloatArray,
    parts: NDArray[np.intp],
) -> None:
    apart = np.abs(shares - lowest[codes]).reshape(len(codes), -1).max(axis=1) > SHARE_TOL
    for entry in np.flatnonzero(apart)[:1]:
        same = np.flatnonzero(codes == codes[entry])
        other = same[np.abs(shares[same] - shares[entry]).reshape(len(same), -1).max(axis=1) > 0][0]
        raise ValueError(
            f"{name} differs within bag {ids.tolist()[codes[entry]]!r}: {shares[other].tolist()} "
            f"in partition {parts[other]}, {shares[entry].tolist()} in partition {parts[entry]}; "
            "all rows of a bag must have the same proportion"
        )


def join_ids(several: Sequence[NDArray[Any]]) -> Any:
    """Return one array of the ids; numbers and strings are not converted into each other."""
    kinds = {ids.dtype.kind for ids in several}
    if len(kinds) > 1 and not kinds <= {"i", "u", "f"}:
        return np.concatenate([ids.astype(object) for ids in several])
    return np.concatenate(several)


@dataclass(frozen=True)
class BlockCells:
    """Rows of a block by source and label; one source if none are given."""

    sources: NDArray[Any]
    classes: NDArray[Any]
    counts: NDArray[np.intp]


def summarise_cells(block: Block) -> BlockCells | None:
    """Return the sources and labels of a block; None if it has no rows."""
    if not block.rows.shape[0]:
        return None
    if block.targets.ndim != 1:
        raise ValueError(
            f"y should contain one label per row, got shape {block.targets.shape}. If it contains "
            "the shares of the classes, pass bags= as well"
        )
    try:
        classes, label = factorize(block.targets, "y")
        ids = np.zeros(len(label), dtype=int) if block.ids is None else block.ids
        sources, source = factorize(ids, "sources")
    except ValueError as error:
        raise ValueError(f"partition {block.number}: {error}") from None
    shape = len(sources), len(classes)
    counts = np.bincount(
        np.ravel_multi_index((source, label), shape), minlength=shape[0] * shape[1]
    )
    return BlockCells(sources, classes, counts.reshape(shape))


def merge_cells(found: Sequence[BlockCells | None]) -> BlockCells:
    """Return the rows of all blocks by source and label, both in sorted order."""
    filled = [cells for cells in found if cells is not None]
    sources, source = factorize(join_ids([cells.sources for cells in filled]), "sources")
    classes, label = factorize(join_ids([cells.classes for cells in filled]), "y")
    read_class_labels(classes)  # raises if these are not labels of at least two classes
    counts = np.zeros((len(sources), len(classes)), dtype=np.intp)
    for cells in filled:
        n_sources, n_classes = cells.counts.shape
        here, source = source[:n_sources], source[n_sources:]
        there, label = label[:n_classes], label[n_classes:]
        np.add.at(counts, np.ix_(here, there), cells.counts)
    return BlockCells(sources, classes, counts)


def bag_codes(block: Block) -> NDArray[np.intp]:
    """Return the bag of each row, as a number in the order of the block's distinct ids."""
    return factorize(block.ids, "bags")[1]


def cell_codes(
    block: Block, classes: NDArray[Any], sources: NDArray[Any] | None
) -> NDArray[np.intp]:
    """Return the cell of each row: its class, or its source and its noisy label."""
    cell = _positions(block.targets, classes)
    return cell if sources is None else _positions(block.ids, sources) * len(classes) + cell


def _positions(values: Any, known: NDArray[Any]) -> NDArray[np.intp]:
    ids, codes = factorize(values, "y or sources")
    place = {value: number for number, value in enumerate(known.tolist())}
    found = np.array([place[value] for value in ids.tolist()], dtype=np.intp)
    return found[codes]


@dataclass(frozen=True)
class Data:
    """What the first pass found.

    Attributes
    ----------
    blocks : Blocks
        The data.
    columns : ColumnSummary
        Rows, columns and their means.
    table : BagTable
        Bags, or cells of sources and labels.
    bags_of : list of ndarray of int
        The bags of each block, as numbers in `table`.
    codes_of : callable
        Numbers the bags of a block.
    block_rows : list of int
        Rows of each block.
    cells : BlockCells or None
        Rows by source and label, if there are no bags.
    upper : ndarray or None
        The upper ends of the bags' ranges; the proportions of `table` are then the lower ends.
    """

    blocks: Blocks
    columns: ColumnSummary
    table: BagTable
    bags_of: list[NDArray[np.intp]]
    codes_of: Any
    block_rows: list[int]
    cells: BlockCells | None = None
    upper: FloatArray | None = None


def summarise_blocks(engine: Engine, blocks: Blocks, of_block: Any) -> tuple[Any, list[int], Any]:
    """Return the columns of X, the rows of each block, and ``of_block(block)`` of each block."""
    summarise = engine.dask.delayed(_summarise)
    found = engine.compute([summarise(block, of_block) for block in blocks.tasks])
    columns = [one for one, _ in found]
    return add_columns(columns), [one.n_rows for one in columns], [other for _, other in found]


def _summarise(block: Block, of_block: Any) -> tuple[ColumnSummary, Any]:
    return summarise_columns(block), of_block(block)


def read_cells(engine: Engine, blocks: Blocks, table_of: Any) -> Data:
    """Return the data of rows with labels; ``table_of(cells)`` is the table of their cells."""
    columns, block_rows, found = summarise_blocks(engine, blocks, summarise_cells)
    cells = merge_cells(found)
    table = table_of(cells)
    sources = cells.sources if blocks.has_ids else None
    codes_of = partial(cell_codes, classes=cells.classes, sources=sources)
    bags_of = [np.arange(len(table.ids) if rows else 0) for rows in block_rows]
    return Data(blocks, columns, table, bags_of, codes_of, block_rows, cells)


def read_bags(engine: Engine, blocks: Blocks, *, is_noisy: bool) -> Data:
    """Return the data of rows in bags."""
    summarise = partial(summarise_bags, is_noisy=is_noisy, has_upper=blocks.has_upper)
    columns, block_rows, found = summarise_blocks(engine, blocks, summarise)
    table, bags_of = merge_bags(found, "y or upper" if blocks.has_upper else "y")
    data = Data(blocks, columns, table, bags_of, bag_codes, block_rows)
    if not blocks.has_upper:
        return data
    lower, upper = np.split(table.proportions, 2, axis=1)
    if lower.shape[1] == 1:
        lower, upper = lower[:, 0], upper[:, 0]
    return replace(data, table=replace(table, proportions=lower), upper=upper)
