"""The first pass over the blocks: the bags with their sizes and shares, and the columns of X.

Rows without bags have labels: the rows of a source with the same label are then a bag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Block, Blocks
from decorrupt.distributed.columns import ColumnSummary, add_columns, summarise_columns
from decorrupt.distributed.engine import Engine
from decorrupt.observed import check_whole, factorize, read_labels, shares_by_bag, whole_if_whole

LABELS = "labels"
# The source of all rows if none are given.
ONE_SOURCE = 0
# From a block to the ids of its bags, and the number of each row's bag among them.
KeysOf = Callable[[Block], tuple[NDArray[Any], NDArray[np.intp]]]


@dataclass(frozen=True)
class Data:
    """What the first pass found.

    Attributes
    ----------
    blocks : Blocks
        The data.
    columns : ColumnSummary
        Rows, columns and their means.
    keys_of : callable
        Numbers the bags of a block.
    bags_of : list of ndarray of int
        The bags of each block, as numbers in `ids`.
    ids : ndarray of shape (n_bags,)
        All bags; of labels, pairs of source and label.
    lengths, sizes : ndarray of shape (n_bags,)
        Their rows, once and as often as their weights say.
    lower, upper : ndarray of shape (n_bags,) or (n_bags, n_classes), or None
        The shares, or the ends of their ranges; None for labels.
    """

    blocks: Blocks
    columns: ColumnSummary
    keys_of: KeysOf
    bags_of: list[NDArray[np.intp]]
    ids: NDArray[Any]
    lengths: NDArray[np.intp]
    sizes: NDArray[Any]
    lower: FloatArray | None
    upper: FloatArray | None


def read_data(engine: Engine, blocks: Blocks, kind: str) -> Data:
    """Return what one pass over the blocks finds.

    Parameters
    ----------
    engine : Engine
        Where the pass runs.
    blocks : Blocks
        The data.
    kind : {"labels", "exact", "noisy", "range"}
        What y contains: labels, or shares as in :func:`decorrupt.observed.shares_by_bag`.
    """
    summarise = engine.dask.delayed(_summarise)
    found = engine.compute([summarise(block, kind) for block in blocks.tasks])
    columns = add_columns([own for own, _ in found])
    ids, lengths, sizes, shares, bags_of = _merge([bags for _, bags in found], blocks.ids)
    ends = [_one_share(part) for part in np.split(shares, 1 + blocks.has_upper, axis=1)]
    return Data(
        blocks,
        columns,
        _keys_of(kind),
        bags_of,
        ids,
        lengths,
        sizes,
        None if kind == LABELS else ends[0],
        ends[1] if blocks.has_upper else None,
    )


def _one_share(shares: FloatArray) -> FloatArray:
    return shares[:, 0] if shares.shape[1] == 1 else shares


def _keys_of(kind: str) -> KeysOf:
    return label_keys if kind == LABELS else bag_keys


def sources_and_labels(
    data: Data,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]]:
    """Return the source of every pair of source and label, the classes, and the pair's class."""
    sources = np.empty(len(data.ids), dtype=object)
    sources[:] = [source for source, _ in data.ids.tolist()]
    labels = [label for _, label in data.ids.tolist()]
    is_mixed = len({type(label) for label in labels}) > 1
    return sources, *read_labels(np.array(labels, dtype=object if is_mixed else None))


def bag_keys(block: Block) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the bags of a block, and the number of each row's bag."""
    return factorize(block.ids, "bags")


def label_keys(block: Block) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the pairs of source and label in a block, and the number of each row's pair."""
    if block.targets.ndim != 1:
        raise ValueError(
            f"y should contain one label per row, got shape {block.targets.shape}. If it contains "
            "the shares of the classes, pass bags= as well"
        )
    labels, codes = factorize(block.targets, "y")
    sources = [ONE_SOURCE]
    if block.ids is not None:
        of_block, source = factorize(block.ids, "sources")
        sources, codes = of_block.tolist(), source * len(labels) + codes
    present, codes = factorize(codes, "y")
    names = labels.tolist()
    pairs = np.empty(len(present), dtype=object)
    pairs[:] = [(sources[k // len(names)], names[k % len(names)]) for k in present.tolist()]
    return pairs, codes


@dataclass(frozen=True)
class _BlockBags:
    """The bags of one block; shares have one column, one per class, or twice that for ranges."""

    number: int
    ids: NDArray[Any]
    lengths: NDArray[np.intp]
    sizes: NDArray[Any]
    shares: FloatArray


def _summarise(block: Block, kind: str) -> tuple[ColumnSummary, _BlockBags | None]:
    columns = summarise_columns(block)
    if not columns.n_rows:
        return columns, None
    try:
        ids, codes = _keys_of(kind)(block)
        shares = _shares(block, ids, codes, kind)
    except ValueError as error:
        raise ValueError(f"partition {block.number}: {error}") from None
    sizes = np.bincount(codes, block.weights)
    return columns, _BlockBags(block.number, ids, np.bincount(codes), sizes, shares)


def _shares(block: Block, ids: NDArray[Any], codes: NDArray[np.intp], kind: str) -> FloatArray:
    if kind == LABELS:
        return np.empty((len(ids), 0))
    if block.targets.dtype.kind not in "fiub":
        raise ValueError(
            f"with bags, y must contain proportions (numbers in [0, 1]), got {block.targets.dtype}"
        )
    given = {"y": block.targets} | ({} if block.upper is None else {"upper": block.upper})
    parts = [shares_by_bag(ids, codes, y, kind, name) for name, y in given.items()]
    shares = np.column_stack(parts)
    is_mixed = np.any((shares > 0) & (shares < 1), axis=1)
    check_whole(block.weights, is_mixed[codes] if kind == "exact" else True)
    return shares


def _merge(
    found: Sequence[_BlockBags | None], column: str | None
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any], FloatArray, list[NDArray[np.intp]]]:
    """Return all bags, their lengths, sizes and shares, and the numbers of every block's bags.

    Raises
    ------
    ValueError
        If a bag with a share is in several partitions, or the numbers of shares differ.
    """
    filled = [bags for bags in found if bags is not None]
    widths = {bags.shares.shape[1] for bags in filled}
    if len(widths) > 1:
        raise ValueError(f"y has different numbers of columns in the partitions: {sorted(widths)}")
    ids, codes = factorize(_join([bags.ids for bags in filled]), "bags")
    n_bags = [len(bags.ids) for bags in filled]
    if widths != {0}:
        _refuse_split(ids, codes, np.repeat([bags.number for bags in filled], n_bags), column)
    lengths = np.bincount(codes, np.concatenate([bags.lengths for bags in filled])).astype(np.intp)
    sizes = whole_if_whole(np.bincount(codes, np.concatenate([bags.sizes for bags in filled])))
    shares = np.empty((len(ids), *widths))
    shares[codes] = np.concatenate([bags.shares for bags in filled])
    ends = iter(np.split(codes, np.cumsum(n_bags)))
    none = np.empty(0, dtype=np.intp)
    return ids, lengths, sizes, shares, [none if bags is None else next(ends) for bags in found]


def _refuse_split(
    ids: NDArray[Any], codes: NDArray[np.intp], parts: NDArray[np.intp], column: str | None
) -> None:
    """Raise ValueError if a bag is in several partitions."""
    for bag in np.flatnonzero(np.bincount(codes) > 1)[:1]:
        first, second = parts[codes == bag][:2]
        raise ValueError(
            f"bag {ids.tolist()[bag]!r} is in partition {first} and in partition {second}: all "
            "rows of a bag must be in one partition. A dataframe is arranged like this by "
            f"ddf.shuffle(on={column!r})"
        )


def _join(several: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return one array of the ids; numbers and strings are not converted into each other."""
    kinds = {ids.dtype.kind for ids in several}
    if len(kinds) > 1 and not kinds <= {"i", "u", "f"}:
        return np.concatenate([ids.astype(object) for ids in several])
    return np.concatenate(several)
