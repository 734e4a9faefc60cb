"""Writing frames to tables; the file's extension gives the format, and writes are atomic."""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_name and sql_text

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from decorrupt.app.tables.engine import sql_text
from decorrupt.app.tables.names import TableError, one_line
from decorrupt.app.tables.sources import ending
from decorrupt.atomic import atomic_write

if TYPE_CHECKING:
    import pandas as pd

STDOUT = "-"
SPREADSHEET = (".csv", ".tsv")
FORMULA = re.compile(r"[=+@-].|[\t\r\n]", re.DOTALL)
Chunks = Iterator["pd.DataFrame"]


def write_table(
    frame_or_chunks: pd.DataFrame | Iterable[pd.DataFrame],
    path: str,
    *,
    force: bool = False,
    neutralise: bool = False,
) -> None:
    """Write a frame, or frames one after another, to one table.

    Parameters
    ----------
    frame_or_chunks : DataFrame or iterable of DataFrame
        The rows; the index is not written. All frames must have the same columns.
    path : str
        A file with the extension ``.csv`` or ``.tsv``, ``.jsonl`` or ``.ndjson`` (each also with
        ``.gz``) or ``.parquet``; "-" is standard output, as CSV.
    force : bool, default=False
        Whether an existing file may be replaced.
    neutralise : bool, default=False
        Whether texts and column names in CSV that a spreadsheet program would run as a formula,
        because they begin with "=", "+", "-", "@", a tab or a line ending, get a single quote in
        front. Numbers do not change; nor does a single sign, which is a label in some data.

    Raises
    ------
    TableError
        If the extension is unknown, or a value cannot be written in this format.
    OutputExistsError
        If the file exists and `force` is not set.

    Notes
    -----
    Without `neutralise`, reading the file gives every value unchanged. Parquet and JSON lines are
    always unchanged, because no program runs them as formulas.

    Missing values are empty cells in CSV and null elsewhere; floats keep all their digits.
    """
    chunks = _checked(frame_or_chunks)
    if neutralise and (path == STDOUT or ending(Path(path)) in SPREADSHEET):
        chunks = map(_neutralised, chunks)
    if path == STDOUT:
        _write_stdout(chunks)
        return
    kind = ending(Path(path))
    if kind not in WRITERS:
        raise TableError(
            f"{path}: unknown kind of table; the name must end in {', '.join(WRITERS)}"
        )
    with atomic_write(Path(path).expanduser(), force=force) as temporary:
        try:
            WRITERS[kind](chunks, temporary, path)
        except UnicodeEncodeError as error:
            raise TableError(f"{path}: a text cannot be written as UTF-8 ({error})") from None


def _checked(frame_or_chunks: Any) -> Chunks:
    """Yield the frames; raise a TableError if one has other columns than the first."""
    chunks = [frame_or_chunks] if hasattr(frame_or_chunks, "columns") else frame_or_chunks
    names = None
    for chunk in chunks:
        found = [str(name) for name in chunk.columns]
        if names is None:
            names = found
            if len(set(names)) < len(names) or not names:
                raise TableError(f"columns of a table need different names, got {names}")
        elif found != names:
            raise TableError(f"all frames must have the columns {names}, got {found}")
        yield chunk
    if names is None:
        raise TableError("there is no frame to write")


def _neutralised(chunk: pd.DataFrame) -> pd.DataFrame:
    texts = chunk.select_dtypes(include=["object", "string"]).columns
    chunk = chunk.assign(**{name: chunk[name].map(_harmless) for name in texts})
    return chunk.rename(columns=_harmless)


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def _write_csv(chunks: Chunks, file: IO[str], separator: str) -> None:
    for k, chunk in enumerate(chunks):
        how = {"index": False, "header": k == 0, "sep": separator, "lineterminator": "\n"}
        text = chunk.to_csv(**how)
        if "\r" in text:  # a line ending that pandas does not quote
            text = chunk.to_csv(**how, quoting=csv.QUOTE_NONNUMERIC)
        file.write(text)


def _write_stdout(chunks: Chunks) -> None:
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        _write_csv(chunks, sys.stdout, ",")
        return
    sys.stdout.flush()
    text = io.TextIOWrapper(buffer, encoding="utf-8", newline="", write_through=True)
    try:
        _write_csv(chunks, text, ",")
        text.flush()
    finally:
        text.detach()  # standard output stays open


@contextmanager
def _text_file(temporary: Path, path: str) -> Iterator[IO[str]]:
    if not path.lower().endswith(".gz"):
        with temporary.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    # No name and no time in the gzip header: the same rows give the same bytes.
    with (
        temporary.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as file,
    ):
        yield file


def _delimited_file(chunks: Chunks, temporary: Path, path: str) -> None:
    with _text_file(temporary, path) as file:
        _write_csv(chunks, file, "\t" if ending(Path(path)) == ".tsv" else ",")


def _json_lines_file(chunks: Chunks, temporary: Path, path: str) -> None:
    with _text_file(temporary, path) as file:
        for chunk in chunks:
            names = [str(name) for name in chunk.columns]
            present = chunk.notna().to_numpy()
            values = zip(*(chunk.iloc[:, k].tolist() for k in range(len(names))), strict=True)
            for row, is_there in zip(values, present, strict=True):
                cells = [
                    value if there else None for value, there in zip(row, is_there, strict=True)
                ]
                file.write(
                    json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False) + "\n"
                )


def _parquet_file(chunks: Chunks, temporary: Path, path: str) -> None:
    import duckdb

    with duckdb.connect(":memory:", config={"python_enable_replacements": False}) as connection:
        try:
            for k, chunk in enumerate(chunks):
                connection.register("chunk", chunk)
                order = "CREATE TABLE written AS" if k == 0 else "INSERT INTO written"
                connection.execute(f"{order} SELECT * FROM chunk")
                connection.unregister("chunk")
            connection.execute(
                f"COPY written TO {sql_text(str(temporary))} (FORMAT parquet, COMPRESSION zstd, "
                "USE_TMP_FILE false)"  # it is a temporary file already
            )
        except duckdb.Error as error:
            # DuckDB names the file that it writes, the temporary one.
            message = one_line(error).replace(str(temporary), path)
            raise TableError(f"{path}: {message}") from None


WRITERS: dict[str, Callable[[Chunks, Path, str], None]] = {
    ".csv": _delimited_file,
    ".tsv": _delimited_file,
    ".jsonl": _json_lines_file,
    ".ndjson": _json_lines_file,
    ".parquet": _parquet_file,
}
