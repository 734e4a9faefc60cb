"""Fuzzing of the readers: a TableError of one line, or a frame with all rows."""

import csv
import gzip
import io
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from decorrupt.app.tables import TableError, read_table, write_table
from decorrupt.app.tables.cells import insert_cells
from decorrupt.app.tables.inference import cell_kind, count_kinds

ENDINGS = [".csv", ".tsv", ".csv.gz", ".jsonl", ".parquet", ".sqlite", ".duckdb"]
NEEDS_SQL = {".sqlite", ".duckdb"}
FORMULAS = st.sampled_from(["=cmd|' /C calc'!A0", "@SUM(1+1)", "+1+1", "-2+3", "=1+1", "007", "NA"])
CELLS = st.one_of(
    FORMULAS,
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    st.integers(-(10**22), 10**22).map(str),
    st.floats().map(repr),
    st.sampled_from(["$5", "€ 1.234,50", "-1,234 £", "15%", "12,5 %", "1,234,567", "1.2,3€"]),
    st.sampled_from(["", "true", "False", "nan", "?", " 1", '"', "a,b", "x\r\ny", "1e400"]),
)


def read_bytes(content, ending, sql=None):
    """Return the frame, or None after a proper TableError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{ending}")
        path.write_bytes(content)
        try:
            return read_table(
                str(path), sql=sql or ("select * from t" if ending in NEEDS_SQL else None)
            )
        except TableError as error:
            message = str(error)
    assert "\n" not in message
    assert path.name in message
    return None


@pytest.mark.parametrize("ending", ENDINGS)
@given(content=st.binary(max_size=200))
@settings(max_examples=60)
def test_random_bytes(ending, content):
    frame = read_bytes(content, ending)
    assert frame is None or len(frame)


@given(
    records=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=6)
    )
)
@settings(max_examples=50)
@example(records=[['"'], [""]])
@example(records=[["a\nb", "\r"], [" ", "x"]])
def test_every_record_of_a_csv_is_a_row_and_no_cell_is_lost(records):
    buffer = io.StringIO(newline="")
    header = [f"name{k}" for k in range(len(records[0]))]
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([header, *records])
    frame = read_bytes(buffer.getvalue().encode(), ".csv")
    assert frame is not None
    assert len(frame) == len(records)
    for k, name in enumerate(header):
        for cell, value in zip((record[k] for record in records), frame[name], strict=True):
            _check_same(cell, value)


@given(
    records=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
@settings(max_examples=50)
def test_a_file_that_duckdb_reads_equals_one_that_python_reads(records, quoting):
    """DuckDB refuses mixed line endings, so Python reads the second file."""
    records = [tuple(cell.replace("\r", "") for cell in record) for record in records]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n", quoting=quoting).writerows([("a", "b"), *records])
    header, rows = buffer.getvalue().split("\n", 1)
    frames = [read_bytes(f"{header}{end}{rows}\n".encode(), ".csv") for end in ("\n", "\r\n")]
    pd.testing.assert_frame_equal(*frames)


@given(
    cells=st.lists(CELLS | st.text(st.sampled_from("0123456789+-.,eE nNaATtRrUu\t")), min_size=1)
)
@settings(max_examples=50)
def test_duckdb_and_python_find_the_same_kinds_of_cells(cells):
    with duckdb.connect() as connection:
        insert_cells(connection, [[cell] for cell in cells], 1)
        assert count_kinds(connection, 1) == [Counter(map(cell_kind, cells))]


def _check_same(cell, value):
    if isinstance(value, str):
        assert value == cell
    elif pd.isna(value):
        assert cell.strip(" \t\n\r\f\v").lower() in ("", "na", "n/a", "nan", "null", "none", "?")
    elif isinstance(value, (bool, np.bool_)):
        assert str(value).lower() == cell.strip().lower()
    else:
        signs = cell.maketrans("", "", "$€£¥%, ")
        number = int(cell) if isinstance(value, (int, np.integer)) else float(cell.translate(signs))
        assert value == (number / 100 if "%" in cell else number)


@given(content=st.text(st.sampled_from('ab1.,;"\n\r\t |'), max_size=60))
@settings(max_examples=100)
def test_strange_punctuation(content):
    """As many rows as the standard library's reader finds, or an error."""
    content = content.lstrip("\r\n")
    frame = read_bytes(content.encode(), ".csv")
    if frame is None:
        return
    found = {count_records(content, delimiter, len(frame.columns)) for delimiter in ",;\t|: "}
    assert len(frame) + 1 in found


def count_records(content, delimiter, n_columns):
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    try:
        return sum(1 for record in reader if record or n_columns == 1)
    except csv.Error:
        return None


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    frame = pd.DataFrame({"k": range(300), "x": np.linspace(0, 1, 300), "s": ["ä,b"] * 300})
    for name in ("a.csv", "a.csv.gz", "a.jsonl", "a.parquet"):
        write_table(frame, str(folder / name))
    for name, connect in (("a.sqlite", sqlite3.connect), ("a.duckdb", duckdb.connect)):
        connection = connect(str(folder / name))
        connection.execute("create table t(k bigint, x double, s text)")
        connection.executemany("insert into t values (?, ?, ?)", frame.to_numpy().tolist())
        connection.commit()
        connection.close()
    return {"".join(path.suffixes): path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet", ".sqlite", ".duckdb"])
@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=25)
def test_cut_files(whole_files, ending, share):
    """A text truncated at a line's end is a shorter table; any other truncation is an error."""
    whole = whole_files[ending]
    cut = whole[: int(share * len(whole))]
    frame = read_bytes(cut, ending)
    if frame is None:
        return
    if ending in (".csv", ".jsonl"):
        assert len(frame) >= cut.count(b"\n") - (ending == ".csv")
    else:
        assert len(frame) == 300  # only what follows the data was cut


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet", ".sqlite", ".duckdb"])
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
@settings(max_examples=25)
def test_damaged_files(whole_files, ending, place, byte):
    damaged = bytearray(whole_files[ending])
    damaged[int(place * len(damaged))] ^= byte
    frame = read_bytes(bytes(damaged), ending)
    if ending == ".csv.gz" and frame is not None:
        assert len(frame) == 300


@given(
    text=st.text(max_size=30),
    encoding=st.sampled_from(["latin-1", "cp1252", "utf-16", "utf-32", "utf-16-le", "shift_jis"]),
)
@settings(max_examples=50)
def test_odd_encodings(text, encoding):
    content = f"a,b\n1,x\n2,{text}\n".encode(encoding, errors="ignore")
    frame = read_bytes(content, ".csv")
    if frame is not None and encoding == "utf-16":
        assert frame["b"].iloc[0] == "x"


@given(length=st.integers(1, 3_000_000), quoted=st.booleans())
@settings(max_examples=8)
def test_huge_fields(length, quoted):
    field = '"' + "y," * (length // 2) + '"' if quoted else "y" * length
    frame = read_bytes(f"a,b\n1,{field}\n2,z\n".encode(), ".csv")
    assert frame is not None
    assert frame["b"].fillna("").str.len().tolist() == [length // 2 * 2 if quoted else length, 1]


@given(sql=st.text(max_size=30))
@settings(max_examples=60)
def test_random_queries(sql):
    assert read_bytes(b"a,b\n1,2\n", ".csv", sql or " ") is None or sql


def test_gzip_of_nonsense():
    assert read_bytes(gzip.compress(b"\xff\xfe"), ".csv.gz") is None
    assert read_bytes(b"\x1f\x8b", ".csv.gz") is None
