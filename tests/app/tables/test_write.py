import gzip
import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import OutputExistsError, TableError, read_table, write_table

FRAME = pd.DataFrame(
    {
        "id": ["007", "=cmd()", 'say "hi", you'],
        "score": [0.1 + 0.2, np.nan, -1e-300],
        "count": [1, 2, 3],
        "flag": [True, False, True],
        "note": ["line\nbreak", None, "ü\r"],
    }
)
NAMES = ["a.csv", "a.csv.gz", "a.tsv", "a.jsonl", "a.ndjson.gz", "a.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_back(tmp_path, name):
    path = str(tmp_path / name)
    write_table(FRAME, path)
    pd.testing.assert_frame_equal(read_table(path), FRAME)


@pytest.mark.parametrize("name", NAMES)
def test_chunks_make_one_table(tmp_path, name):
    path = str(tmp_path / name)
    write_table((FRAME.iloc[[k]] for k in range(3)), path)
    pd.testing.assert_frame_equal(read_table(path), FRAME)


def test_formulas_in_texts_can_be_neutralised(tmp_path):
    cells = ["=1+1", "+4", "-2+3", "@a", "\tx", "\rx", "a=b", "'=1", "-", None]
    numbers = [-1.5, *range(len(cells) - 1)]
    frame = pd.DataFrame({"=t": cells, "n": numbers})
    for name in ("a.csv", "a.tsv", "a.parquet"):
        write_table([frame, frame], str(tmp_path / name), neutralise=True)
    expected = ["'=1+1", "'+4", "'-2+3", "'@a", "'\tx", "'\rx", "a=b", "'=1", "-"]
    for name in ("a.csv", "a.tsv"):
        written = read_table(str(tmp_path / name))
        assert written["'=t"].dropna().tolist() == expected * 2
        assert written["n"].tolist() == numbers * 2
    assert read_table(str(tmp_path / "a.parquet"))["=t"].dropna().tolist() == cells[:-1] * 2
    assert frame["=t"].dropna().tolist() == cells[:-1]


def test_json_has_null_and_no_nan(tmp_path):
    path = tmp_path / "a.jsonl"
    write_table(FRAME, str(path))
    second = json.loads(path.read_text().splitlines()[1], parse_constant=pytest.fail)
    assert second == {"id": "=cmd()", "score": None, "count": 2, "flag": False, "note": None}


def test_the_same_rows_make_the_same_gzip_file(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(FRAME, str(tmp_path / name))
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b'"id","score",')


def test_standard_output(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=buffer, flush=lambda: None))
    write_table([FRAME[["count", "note"]].iloc[:1], FRAME[["count", "note"]].iloc[2:]], "-")
    assert buffer.getvalue().decode() == 'count,note\n1,"line\nbreak"\n3,"ü\r"\n'


def test_an_existing_file_stays_unless_forced(tmp_path):
    path = str(tmp_path / "a.csv")
    write_table(FRAME, path)
    before = (tmp_path / "a.csv").read_bytes()
    with pytest.raises(OutputExistsError, match="exists"):
        write_table(FRAME.iloc[:1], path)
    assert (tmp_path / "a.csv").read_bytes() == before
    write_table(FRAME.iloc[:1], path, force=True)
    assert len(read_table(path)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_source_leaves_the_old_file(tmp_path, name):
    path = tmp_path / name
    write_table(FRAME, str(path))
    before = path.read_bytes()

    def failing():
        yield FRAME
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_table(failing(), str(path), force=True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("frames", "name", "message"),
    [
        (FRAME, "a.xlsx", "must end in .csv"),
        ([], "a.csv", "no frame"),
        ([FRAME, FRAME[["id"]]], "a.csv", "all frames must have"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "a.csv", "different names"),
        (pd.DataFrame({"a": ["\ud800"]}, dtype=object), "a.csv", "UTF-8"),
        (pd.DataFrame({"a": ["\ud800"]}, dtype=object), "a.jsonl", "UTF-8"),
    ],
)
def test_what_cannot_be_written(tmp_path, frames, name, message):
    with pytest.raises(TableError, match=message):
        write_table(frames, str(tmp_path / name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_be_rewritten_from_its_own_stream(tmp_path, name):
    from decorrupt.app.tables import stream_table

    path = str(tmp_path / name)
    write_table(FRAME, path)
    write_table(stream_table(path, chunk_rows=1), path, force=True)
    pd.testing.assert_frame_equal(read_table(path), FRAME)
