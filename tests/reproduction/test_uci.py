"""Data sets of UCI: which file is read, what is refused, and what the files hold."""

import gzip
import hashlib
import os

import numpy as np
import pytest

from reproduction import uci
from reproduction.uci import UCI_SOURCES, read_uci

CONTENT = b"a,b,label\n1,2.5,x\n3,4.0,y\n5,6.0,x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty directory of data, in which "toy" may be put."""
    monkeypatch.setenv("DECORRUPT_DATA", str(tmp_path))
    page, total = "https://doi.org/10.0/toy", hashlib.sha256(CONTENT).hexdigest()
    toy = uci.Source(2, ("x",), "Nobody (2000). Toy", page, total)
    monkeypatch.setitem(UCI_SOURCES, "toy", toy)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("toy.csv.gz", gzip.compress(CONTENT)),
        ("toy.csv.gz", gzip.compress(CONTENT, compresslevel=1, mtime=5)),
        ("toy.csv", CONTENT),
    ],
    ids=["gzip", "packed otherwise", "plain"],
)
def test_parsing(folder, name, content):
    (folder / name).write_bytes(content)
    data = read_uci("toy")
    assert data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert data.y.tolist() == [1, 0, 1]
    assert data.feature_names == ("a", "b")
    assert data.original_classes.tolist() == ["x", "y", "x"]


def test_another_file_is_refused(folder):
    (folder / "toy.csv").write_bytes(CONTENT + b"7,8,x\n")
    with pytest.raises(OSError, match=r"toy\.csv is not the file .*sha256 differs"):
        read_uci("toy")


def test_a_missing_file_says_where_it_should_be(folder):
    with pytest.raises(OSError, match=rf"toy\.csv\.gz is not in .*{folder.name}.*10\.0/toy"):
        read_uci("toy")


@pytest.fixture
def _real_files():
    if not os.environ.get("DECORRUPT_DATA"):
        pytest.skip("DECORRUPT_DATA is not set: the directory of the UCI files")


@pytest.mark.usefixtures("_real_files")
@pytest.mark.parametrize(
    ("name", "shape", "n_pos"),
    [
        ("adult", (48842, 14), 11687),
        ("banknote", (1372, 4), 762),
        ("cardiotocography", (2126, 21), 471),
        ("cnae", (1080, 856), 120),
        ("contraceptive", (1473, 9), 629),
        ("german", (1000, 24), 300),
        ("german_categorical", (1000, 20), 300),
        ("sports", (1000, 59), 635),
        ("wireless", (2000, 7), 500),
    ],
)
def test_real_files_have_the_published_rows_and_priors(name, shape, n_pos):
    data = read_uci(name)
    assert data.X.shape == shape
    assert UCI_SOURCES[name].n_features == len(data.feature_names) == shape[1]
    assert data.y.sum() == n_pos
    assert set(data.y.tolist()) == {0, 1}
    if name not in ("adult", "german_categorical"):
        assert data.X.dtype == float
        assert np.isfinite(data.X).all()
