"""Reading all table formats, and the errors for defective files."""

import gzip
import io
import json
import sqlite3
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError, read_table, stream_table

FRAME = pd.DataFrame(
    {
        "age": [31, 42, 53],
        "income": [1.5, np.nan, -2.25],
        "city": ["Bonn", "=1+1", None],
        "member": [True, False, True],
    }
)


@pytest.fixture
def write(tmp_path):
    def write_bytes(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write_bytes


def csv_text(delimiter=","):
    return FRAME.to_csv(index=False, sep=delimiter)


def lines(frame):
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return "".join(json.dumps(record) + "\n" for record in records)


def database(path, connect):
    connection = connect(str(path))
    connection.execute("create table people(age bigint, income double, city text, member boolean)")
    rows = FRAME.astype(object).where(FRAME.notna(), None).to_numpy().tolist()
    connection.executemany("insert into people values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return str(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":", "^"])
def test_csv_with_any_delimiter(write, delimiter):
    pd.testing.assert_frame_equal(read_table(write("a.csv", csv_text(delimiter))), FRAME)


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "A.CSV", "a.csv.gz", "a.txt.gz"])
def test_endings_of_csv(write, name):
    content = csv_text("\t").encode()
    packed = gzip.compress(content) if name.endswith("gz") else content
    pd.testing.assert_frame_equal(read_table(write(name, packed)), FRAME)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_even_mixed(write, ending):
    content = f"a,b{ending}1,x\n2,y{ending}3,z"
    assert read_table(write("a.csv", content)).to_dict("list") == {
        "a": [1, 2, 3],
        "b": ["x", "y", "z"],
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_are_read(write, encoding):
    frame = read_table(write("a.csv", "größe,Ωmega\n1,zwölf ☃\n".encode(encoding)))
    assert frame.to_dict("list") == {"größe": [1], "Ωmega": ["zwölf ☃"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,x\n2,é\n".encode("latin-1"), r"line 3: byte 0xe9 is not UTF-8"),
        ("a,b\n1,é\n".encode("utf-16-le"), r"line 1: a NUL character.*byte order mark"),
        ("a,b\n1,é\n".encode("utf-32"), "UTF-32"),
        ("a,b\n1,é\n".encode("utf-16")[:-1], "UTF-16"),
        ("a,b\n1,é".encode()[:-1], "middle of a UTF-8 character"),
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3\n", "line 3: 1 fields where the header has 2"),
        (b"a,b\n1,2\n\n3,4,5\n", "line 4: 3 fields where the header has 2"),
        (b"a,b\n1,2\n3,4,\n", "line 3: 3 fields"),
        (b'a,b\n1,2\n3,"x\n5,6\n', "line 3: a quoted field is not closed"),
        (b'a,b\n1,"x"y\n', "line 2: text after the closing quote"),
        (b'a,b\n1,"x\n\ny"\n3\n', "line 5: 1 fields where the header has 2"),
        (b"a,b\n" + b"1,\n" * 50_000 + b"1,2,\n", "line 50002: 3 fields"),
        (b"a,a\n1,2\n", "2 columns are called 'a'"),
        (b"a,,c\n1,2,3\n", "column 2 of 3 has no name"),
        (b"5.1,3.5,setosa\n4.9,3.0,setosa\n", "line 1: the number 5.1.*header line is missing"),
        (b"a,b\n1,\x00\n", "line 2: a NUL character"),
        (b"a,b\n1," + b"x" * 10_000_001 + b"\n", "line 2: a field of more than 10,000,000"),
    ],
)
def test_what_cannot_be_read_is_named(write, content, message):
    path = write("a.csv", content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert path in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(TableError, match=message):
        list(stream_table(path))


def test_a_cut_or_damaged_gzip_file_is_no_shorter_table(write):
    rows = "a,b\n" + "".join(f"{k},{k * k}\n" for k in range(5000))
    packed = gzip.compress(rows.encode())
    with pytest.raises(TableError, match="truncated or damaged gzip"):
        read_table(write("a.csv.gz", packed[: len(packed) // 2]))
    with pytest.raises(TableError, match="gzip"):
        read_table(write("b.csv.gz", packed[:-8] + b"\0" * 8))


def test_one_text_far_down_makes_the_column_text(write):
    content = "a,b\n" + "1,2\n" * 60_000 + "oops,2\n" + "1,2\n" * 10
    frame = read_table(write("a.csv", content))
    assert len(frame) == 60_011
    assert frame["a"].iloc[60_000] == "oops"
    assert frame["a"].iloc[0] == "1"
    assert frame["b"].dtype == "int64"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], [1, 2]),
        ([" 1 ", "+2"], [1, 2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1e3", ".5", "-7."], [1000.0, 0.5, -7.0]),
        (["1", "NA", "?", "n/a"], [1.0, np.nan, np.nan, np.nan]),
        (["DE", "NA"], ["DE", "NA"]),
        (["007", "7"], ["007", "7"]),
        (["0", "-0.0"], [0.0, -0.0]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["123456789012345678", "1"], [123456789012345678, 1]),
        (["123456789012345678", "NA"], ["123456789012345678", "NA"]),
        ([" " * 20 + "7", "1"], [7, 1]),
        (["1_000", "2"], ["1_000", "2"]),
        (["1,5", "2"], ["1,5", "2"]),
        (["TRUE", "false"], [True, False]),
        ([" true", "FALSE\t"], [True, False]),
        (["yes", "no"], ["yes", "no"]),
        (["t", "f"], ["t", "f"]),
        (["true", "1"], ["true", "1"]),
        (["2020-01-02", "2021-01-01"], ["2020-01-02", "2021-01-01"]),
        (["=cmd()", "@x", "-1+2"], ["=cmd()", "@x", "-1+2"]),
        (["#1", "# two"], ["#1", "# two"]),
        (["0x10", "1"], ["0x10", "1"]),
        (["١٢", "1"], ["١٢", "1"]),
        (["inf", "1"], [np.inf, 1.0]),
        (["NA", "?"], [np.nan, np.nan]),
        (['say "hi"', "a\nb"], ['say "hi"', "a\nb"]),
        (["$52,345.12", "-$3", "$-4.5", "NA"], [52345.12, -3.0, -4.5, np.nan]),
        (["€ 12", "1,234\u00a0€", "7", "1.5"], [12.0, 1234.0, 7.0, 1.5]),
        (["€ 1.234", "€ 12,50"], ["€ 1.234", "€ 12,50"]),  # another decimal mark
        (["1,234,567", "1,234", "5"], [1234567.0, 1234.0, 5.0]),
        (["45.1%", "5 %", "", "-.5%"], [0.451, 0.05, np.nan, -0.005]),
        (["45%", "45"], ["45%", "45"]),
        (["$5", "inf"], ["$5", "inf"]),
        (["$5", "5%"], ["$5", "5%"]),
        (["$", "1"], ["$", "1"]),
        (["$+-5", "1"], ["$+-5", "1"]),
    ],
)
def test_types_of_csv_cells(write, cells, expected):
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in cells)
    frame = read_table(write("a.csv", "x,k\n" + "".join(f"{cell},0\n" for cell in quoted)))
    np.testing.assert_array_equal(frame["x"].tolist(), expected)
    assert isinstance(frame["x"].tolist()[0], type(expected[0]))


def test_booleans_with_gaps(write):
    frame = read_table(write("a.csv", "x,k\ntrue,1\n,2\nNA,3\n"))
    assert frame["x"].dtype == "boolean"
    assert frame["x"].isna().tolist() == [False, True, True]


def test_a_column_of_nothing_is_numeric_and_empty_lines_count_in_one_column(write):
    assert read_table(write("a.csv", "x,k\n,1\n,2\n"))["x"].isna().all()
    found = read_table(write("b.csv", "x\n1\n\n3\n\n"))["x"]
    assert found.isna().tolist() == [False, True, False, True]


def test_names_that_differ_by_case_only(write):
    path = write("a.csv", "a,A\n1,2\n")
    assert read_table(path).to_dict("list") == {"a": [1], "A": [2]}
    with pytest.raises(TableError, match="in different case"):
        read_table(path, sql="select * from rows")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('a,b\n1, "\n2, "\n', [' "', ' "']),  # two cells, not one of two lines
        ('a,b\n1, "x"\n', [' "x"']),
        ('a,b\r\n1,"x\ny"\r\n2,z\r\n', ["x\ny", "z"]),
        ('a,b\r1,"x\r\ny"\n2,z\r\n', ["x\r\ny", "z"]),
        ('\n\na,b\n1,"x\ny"\n', ["x\ny"]),
        ('a,"b\n"\n1,x\n2,\n', ["x", None]),
        ('a,b\n1,x"y\n2,5\'10"\n', ['x"y', "5'10\""]),
        ("a,b\n1,\n\n\n2,\\\n", [None, "\\"]),
    ],
)
def test_what_duckdb_would_read_otherwise_or_refuse(write, content, expected):
    for name, data in (("a.csv", content.encode()), ("a.csv.gz", gzip.compress(content.encode()))):
        frame = read_table(write(name, data))
        assert frame["a"].tolist() == list(range(1, len(expected) + 1))
        assert frame.iloc[:, 1].astype(object).where(frame.iloc[:, 1].notna(), None).tolist() == (
            expected
        )


def test_delimiters_are_found_in_spite_of_texts(write):
    assert read_table(write("a.csv", "a;b\n1,5;x, y\n2,5;z\n")).columns.tolist() == ["a", "b"]
    assert read_table(write("b.csv", "ns:name\nx\ny\nz\n")).columns.tolist() == ["ns:name"]
    assert read_table(write("c.csv", "first name\nAda\nMary Ann Lee\n")).shape == (2, 1)
    assert read_table(write("d.txt", "a b\n1 2\n")).columns.tolist() == ["a", "b"]
    assert read_table(write("e.csv", "a;" + "b" * 2_000_000 + "\n1;2\n")).shape == (1, 2)
    assert read_table(write("f.csv", "a;b\n1;" + "y" * 200_000 + "\n")).shape == (1, 2)
    with pytest.raises(TableError, match="line 2: 1 fields"):
        read_table(write("g.csv", "a;b\n1\n"))


def test_json_lines(write):
    pd.testing.assert_frame_equal(read_table(write("a.jsonl", lines(FRAME))), FRAME)
    packed = gzip.compress(lines(FRAME).encode())
    pd.testing.assert_frame_equal(read_table(write("a.ndjson.gz", packed)), FRAME)


def test_json_keys_may_come_late_and_kinds_may_mix(write):
    content = '{"a": 1}\n\n{"b": [1, 2], "a": "x"}\n{"c": 9007199254740993}\n{"d": ""}\n'
    frame = read_table(write("a.jsonl", content))
    assert frame.columns.tolist() == ["a", "b", "c", "d"]
    assert frame["a"].tolist()[:2] == ["1", "x"]
    assert frame["b"].iloc[1] == "[1, 2]"
    assert frame["c"].iloc[2] == "9007199254740993"  # as a float it would be another number
    assert frame["d"].iloc[3] == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": 2\n', "line 2: not JSON"),
        ('{"a": 1}\n[1]\n', "line 2: expected a JSON object"),
        ('{"a": 1, "a": 2}\n', "line 1: not JSON .*'a' occurs twice"),
        ('{"a": ' + "[" * 100_000 + "\n", "line 1: nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}\n", "line 1: not JSON"),
        ('{"a": "\\ud800"}\n', "line 1: half a surrogate"),
        ('{"": 1}\n', "no name"),
        ("{}\n", "no columns"),
        ("\n", "no columns"),
    ],
)
def test_json_lines_that_cannot_be_read(write, content, message):
    with pytest.raises(TableError, match=message):
        read_table(write("a.jsonl", content))


@pytest.mark.parametrize("module", [sqlite3, duckdb], ids=lambda module: module.__name__)
def test_databases(tmp_path, module):
    path = database(tmp_path / f"a.{module.__name__.removesuffix('3')}", module.connect)
    frame = read_table(path, sql="select age, income, city from people order by age")
    pd.testing.assert_frame_equal(frame, FRAME.drop(columns="member"))
    with pytest.raises(TableError, match="give a query with sql"):
        read_table(path)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("delete from people", "not authorized"),
        ("attach '/tmp/other.db' as other", "not authorized"),
        ("pragma table_info(people)", "not authorized"),
        ("select * from nobody", "no such table"),
        ("select 1; select 2", "one statement"),
        ("select age, age from people", "2 columns are called 'age'"),
        ("select x'00ff' as b", "column 'b' of row 1 contains bytes"),
        ("select * from people where age > 100", "no rows"),
        ("", "must be a query"),
    ],
)
def test_sqlite_queries_that_fail(tmp_path, sql, message):
    path = database(tmp_path / "a.db", sqlite3.connect)
    with pytest.raises(TableError, match=message):
        read_table(path, sql=sql)
    connection = sqlite3.connect(path)
    assert connection.execute("select count(*) from people").fetchone() == (3,)
    connection.close()


def test_parquet_with_every_kind_of_column(tmp_path):
    path = tmp_path / "odd [1]*.parquet"
    typed = FRAME.assign(
        when=pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        parts=[[1], [2, 3], None],
        maybe=pd.array([1, None, 3], dtype="Int64"),
        flag=pd.array([True, None, False], dtype="boolean"),
    )
    typed.to_parquet(path)
    frame = read_table(str(path))
    pd.testing.assert_frame_equal(frame[list(FRAME)], FRAME)
    assert frame["when"].iloc[0].startswith("2020-01-01")
    assert frame["parts"].iloc[1] == "[2, 3]"
    assert frame["maybe"].tolist()[::2] == [1.0, 3.0]
    assert frame["flag"].dtype == "boolean"


def test_parquet_names(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    nested = pa.array([{"u": 1, "v": {"w": 2}}])
    table = pa.table([pa.array([1]), nested, pa.array([3])], names=["a", "b", "A"])
    pq.write_table(table, tmp_path / "a.parquet")
    assert read_table(str(tmp_path / "a.parquet")).columns.tolist() == ["a", "b", "A"]
    table = pa.table([pa.array([1]), pa.array([3])], names=["a", "a"])
    pq.write_table(table, tmp_path / "b.parquet")
    with pytest.raises(TableError, match="2 columns are called 'a'"):
        read_table(str(tmp_path / "b.parquet"))


def test_a_folder_name_does_not_become_a_column(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    FRAME.to_parquet(folder / "a.parquet")
    assert read_table(str(folder / "a.parquet")).columns.tolist() == FRAME.columns.tolist()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_query_of_a_file(tmp_path, write, name):
    contents = {"a.csv": csv_text(), "a.jsonl": lines(FRAME)}
    if name in contents:
        write(name, contents[name])
    else:
        FRAME.to_parquet(tmp_path / name)
    sql = "select upper(city) as town, sum(age) as years from rows group by 1 order by years;"
    frame = read_table(str(tmp_path / name), sql=sql)
    assert frame["town"].tolist()[:2] == ["BONN", "=1+1"]
    assert frame["years"].tolist() == [31, 42, 53]
    assert frame["years"].dtype == "int64"


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/*')",
        "copy rows to '/tmp/decorrupt-stolen.csv'",
        "attach '/tmp/decorrupt-other.db'",
        "install httpfs",
        "set enable_external_access = true",
        "select 1 as a; select 2 as a",
        "drop view rows",
        "select * from secret_frame",
        "selec t",
        "",
    ],
)
def test_a_query_stays_in_its_file(write, sql):
    secret_frame = FRAME  # DuckDB can read the caller's variables unless this is disabled
    assert len(secret_frame)
    with pytest.raises(TableError) as caught:
        read_table(write("a.csv", csv_text()), sql=sql)
    assert "\n" not in str(caught.value)


def test_a_view_inside_a_duckdb_file_cannot_read_other_files(tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("secret\n1\n")
    connection = duckdb.connect(str(tmp_path / "a.duckdb"))
    connection.execute(f"create view spy as select * from read_csv('{other}')")  # noqa: S608
    connection.close()
    with pytest.raises(TableError, match="disabled"):
        read_table(str(tmp_path / "a.duckdb"), sql="select * from spy")


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(csv_text().encode())))
    pd.testing.assert_frame_equal(read_table("-"), FRAME)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(TableError, match="standard input, line 2"):
        read_table("-")


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.xlsx", "must end in .csv"), ("a", "must end in"), ("a.parquet.gz", "must end in")],
)
def test_unknown_endings(write, name, message):
    with pytest.raises(TableError, match=message):
        read_table(write(name, b"x"))


def test_chunks_have_the_same_types_and_all_rows_in_order(write):
    rows = "".join(
        f"{k},{'' if k == 99_999 else k},{'true' if k % 2 else ''}\n" for k in range(100_000)
    )
    path = write("a.csv", "k,x,b\n" + rows)
    chunks = list(stream_table(path, chunk_rows=30_000))
    assert len(chunks) > 3
    assert max(map(len, chunks)) <= 30_000
    assert len({tuple(map(str, chunk.dtypes)) for chunk in chunks}) == 1
    pd.testing.assert_frame_equal(pd.concat(chunks), read_table(path))


def test_small_chunks_and_bad_ones(write):
    path = write("a.csv", csv_text())
    assert [len(chunk) for chunk in stream_table(path, chunk_rows=2)] == [2, 1]
    with pytest.raises(ValueError, match="at least 1"):
        next(stream_table(path, chunk_rows=0))


def test_streams_of_queries(tmp_path):
    path = database(tmp_path / "a.duckdb", duckdb.connect)
    sql = "select r as r, case when r = 4999 then null else r end as gap from range(5000) t(r)"
    chunks = list(stream_table(path, sql=sql, chunk_rows=1000))
    assert {str(chunk["gap"].dtype) for chunk in chunks} == {"float64"}
    assert pd.concat(chunks)["r"].tolist() == list(range(5000))


def test_an_abandoned_stream_leaves_no_files(write, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stream = stream_table(write("a.csv", csv_text()), chunk_rows=1)
    next(stream)
    stream.close()
    assert not list(tmp_path.glob("decorrupt-*"))


def test_a_cut_parquet_file_is_named_and_our_own_folder_is_not(tmp_path):
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    pd.DataFrame({"age": range(100)}).to_parquet(whole)
    cut.write_bytes(whole.read_bytes()[:-50])
    with pytest.raises(TableError, match=r"cut\.parquet") as caught:
        read_table(str(cut))
    assert "rows.parquet" not in str(caught.value)
