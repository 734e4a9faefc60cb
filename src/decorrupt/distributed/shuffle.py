"""Rows by bag: one shuffle, after which no bag crosses a partition."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from decorrupt._typing import FloatArray
from decorrupt.distributed.engine import Engine

KEY, CODE, WEIGHT, KNOWN, COLUMN = "key", "code", "weight", "known", "row"
# A sparse row is two cells of bytes: the columns and the values of its entries.
COLUMNS, VALUES = "columns", "values"


@dataclass(frozen=True)
class CodedRows:
    """Rows with their bags, for a likelihood that needs whole bags.

    Attributes
    ----------
    rows : array or CSR matrix of shape (n_rows, n_columns)
        X.
    codes : ndarray of int, shape (n_rows,)
        The number of each row's bag in the whole data set.
    known : ndarray of shape (n_rows, n_known)
        What is known about the counts of each row's bag.
    weights : ndarray of shape (n_rows,)
        How many rows each row represents.
    """

    rows: Any
    codes: NDArray[np.intp]
    known: FloatArray
    weights: FloatArray


@contextmanager
def scratch_folder(engine: Engine) -> Iterator[Path]:
    """Yield a folder for partitions that do not fit in memory; it is removed at the end.

    It is in Dask's ``temporary_directory`` if that is set. All workers must see it.
    """
    parent = engine.dask.config.get("temporary_directory", None)
    with tempfile.TemporaryDirectory(prefix="decorrupt-", dir=parent) as folder:
        yield Path(folder)


def rows_by_bag(
    engine: Engine,
    coded: Sequence[Any],
    is_whole: NDArray[np.bool_],
    like: CodedRows,
    n_parts: int,
    folder: Path,
) -> list[Any]:
    """Return tasks of :class:`CodedRows` in which every whole bag is in one partition.

    Parameters
    ----------
    engine : Engine
        Where the tasks will run.
    coded : sequence of Delayed
        :class:`CodedRows` or None.
    is_whole : ndarray of bool, shape (n_bags,)
        Whether a bag must not cross partitions. The rows of other bags stay together by block.
    like : CodedRows
        Without rows; the columns and dtypes of all of them.
    n_parts : int
        Number of partitions.
    folder : Path
        For the temporary files of a shuffle by Dask's threads; a cluster's workers have their own.
    """
    import dask.dataframe as dd

    delayed = engine.dask.delayed
    known = delayed(is_whole)
    frames = [delayed(_to_frame)(task, known, number, like) for number, task in enumerate(coded)]
    meta = _to_frame(None, is_whole, 0, like)
    table = dd.from_delayed(frames, meta=meta, verify_meta=False)
    with engine.as_current(), engine.dask.config.set(temporary_directory=str(folder)):
        # Dask chooses the kind of shuffle by the scheduler.
        parts = table.shuffle(on=KEY, npartitions=n_parts, ignore_index=True).to_delayed()
    return [delayed(_from_frame)(part, like) for part in parts]


def spill(engine: Engine, parts: Sequence[Any], folder: Path, like: CodedRows) -> list[Any]:
    """Write the partitions as Parquet files, and return tasks that read them.

    Raises
    ------
    OSError
        If they cannot be written; the message names the folder.
    """
    delayed = engine.dask.delayed
    paths = [folder / f"{number}.parquet" for number in range(len(parts))]
    try:
        engine.compute(
            [delayed(_write)(part, path) for part, path in zip(parts, paths, strict=True)]
        )
    except OSError as error:
        raise OSError(
            f"the rows sorted by bag cannot be written to the scratch folder {folder} ({error}): "
            "make space there, or choose another folder with Dask's setting temporary_directory"
        ) from error
    return [delayed(_read)(path, like) for path in paths]


def _to_frame(coded: CodedRows | None, is_whole: Any, number: int, like: CodedRows) -> Any:
    """Return the rows as a data frame, with the column that the shuffle keeps together."""
    import pandas as pd

    coded = like if coded is None else coded
    key = np.where(is_whole[coded.codes], coded.codes, -1 - number)
    columns = {KEY: key, CODE: coded.codes, WEIGHT: coded.weights}
    columns |= {f"{KNOWN}{k}": values for k, values in enumerate(coded.known.T)}
    if issparse(coded.rows):
        columns |= _sparse_columns(coded.rows)
    else:
        columns |= {f"{COLUMN}{k}": column for k, column in enumerate(coded.rows.T)}
    return pd.DataFrame(columns)


def _sparse_columns(rows: Any) -> dict[str, Any]:
    import pandas as pd
    import pyarrow as pa

    cuts = rows.indptr[1:-1]
    binary = pd.ArrowDtype(pa.large_binary())

    def cells(values: NDArray[Any]) -> Any:
        pieces = np.split(values, cuts) if rows.shape[0] else []
        return pd.array([piece.tobytes() for piece in pieces], dtype=binary)

    return {COLUMNS: cells(rows.indices.astype(np.int64)), VALUES: cells(rows.data)}


def _from_frame(frame: Any, like: CodedRows) -> CodedRows:
    known = frame[[name for name in frame.columns if name.startswith(KNOWN)]].to_numpy()
    if issparse(like.rows):
        rows = _sparse_rows(frame, like.rows)
    else:
        rows = frame[[n for n in frame.columns if n.startswith(COLUMN)]].to_numpy(like.rows.dtype)
    return CodedRows(rows, frame[CODE].to_numpy(), known, frame[WEIGHT].to_numpy())


def _sparse_rows(frame: Any, like: Any) -> Any:
    indices = [np.frombuffer(cell, dtype=np.int64) for cell in frame[COLUMNS]]
    values = [np.frombuffer(cell, dtype=like.dtype) for cell in frame[VALUES]]
    indptr = np.append(0, np.cumsum([len(cell) for cell in indices], dtype=np.int64))
    entries = np.concatenate([*values, np.empty(0, like.dtype)])
    columns = np.concatenate([*indices, np.empty(0, np.int64)])
    return csr_matrix((entries, columns, indptr), shape=(len(frame), like.shape[1]))


def _write(coded: CodedRows, path: Path) -> None:
    everyone = np.zeros(coded.codes.max(initial=0) + 1, dtype=bool)
    _to_frame(coded, everyone, 0, coded).to_parquet(path)


def _read(path: Path, like: CodedRows) -> CodedRows:
    import pandas as pd

    return _from_frame(pd.read_parquet(path), like)
