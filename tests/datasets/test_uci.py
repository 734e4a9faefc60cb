"""Data sets of UCI: which file is read, what is refused, and what the files hold."""

import gc
import gzip
import hashlib
import io
import os
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from decorrupt.datasets import UCI_NAMES, fetch_uci, uci

CONTENT = b"a,b,label\n1,2.5,x\n3,4.0,y\n5,6.0,x\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Three directories that do not exist yet, in the order in which they are searched."""
    home, shared, cache = (tmp_path / name for name in ("home", "shared", "cache"))
    monkeypatch.setenv("DECORRUPT_DATA", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return home, shared, cache / "decorrupt"


@pytest.fixture
def toy(monkeypatch):
    """A synthetic data set whose UCI file has the label first and spaces between cells."""
    source = uci.Source(
        n_features=2,
        positive_classes=("x",),
        reference="Nobody (2000). Toy",
        page="https://doi.org/10.0/toy",
        sha256=sha256(CONTENT),
        raw=uci.RawFile("1/toy.zip", "toy.data", ("a", "b"), label_first=True),
    )
    monkeypatch.setitem(uci.UCI_SOURCES, "toy", source)
    return source


class Archives(HTTPServer):
    """UCI's place, on this machine: every request is answered with `reply`, or not found."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.reply, self.asked = None, []


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.send_response(404 if self.server.reply is None else 200)
        self.end_headers()
        self.wfile.write(self.server.reply or b"")

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """Nothing in this file leaves the machine; a test sets `reply` to be answered."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Archives() as server:
        monkeypatch.setattr(uci, "ARCHIVES", f"http://127.0.0.1:{server.server_port}/")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    gc.collect()  # a connection left open fails the test that left it, not a later one


def pack(content):
    return gzip.compress(content, mtime=0)


def put(folder, data, name="toy.csv.gz"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return path


def archive(text, member="toy.data"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(member, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data"), [("toy.csv.gz", pack(CONTENT)), ("toy.csv", CONTENT)], ids=["gzip", "plain"]
)
def test_parsing(toy, places, name, data):
    put(places[0], data, name)
    data = fetch_uci("toy", data_home=places[0])
    assert data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert data.y.tolist() == [1, 0, 1]
    assert data.feature_names == ("a", "b")
    assert data.positive_classes == ("x",)
    assert np.isin(data.original_classes, data.positive_classes).tolist() == (data.y == 1).tolist()
    assert "10.0/toy" in data.citation
    assert "CC BY 4.0" in data.citation


def test_first_place_wins(toy, places, monkeypatch):
    home, shared, cache = places
    for place in (cache, shared, home):  # from the last to the first
        put(place, pack(CONTENT))
        for later in places[places.index(place) + 1 :]:
            put(later, b"damaged")
        assert len(fetch_uci("toy", data_home=home).X) == 3
    with pytest.raises(OSError, match="damaged"):
        fetch_uci("toy")  # without data_home the next place is asked
    monkeypatch.delenv("DECORRUPT_DATA")
    with pytest.raises(OSError, match="decorrupt"):
        fetch_uci("toy")


def test_cache_of_a_user_without_xdg(toy, tmp_path, places, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    put(tmp_path / ".cache" / "decorrupt", pack(CONTENT))
    assert len(fetch_uci("toy").X) == 3


@pytest.mark.parametrize(
    "damaged", [b"not gzip", pack(CONTENT)[:-9], pack(CONTENT + b"7,8,x\n")], ids=len
)
def test_a_wrong_sum_is_refused(toy, places, damaged, network):
    path = put(places[0], damaged)
    with pytest.raises(OSError) as caught:
        fetch_uci("toy", data_home=places[0])
    assert str(path) in str(caught.value)
    assert "damaged" in str(caught.value)
    assert not network.asked


def test_another_version_is_refused_with_both_sums(toy, places):
    other = CONTENT + b"7,8,x\n"
    put(places[0], other, "toy.csv")
    with pytest.raises(OSError, match=f"{toy.sha256}.*{sha256(other)}"):
        fetch_uci("toy", data_home=places[0])


def test_the_same_text_packed_otherwise_is_accepted(toy, places):
    put(places[0], gzip.compress(CONTENT, compresslevel=1, mtime=5))
    assert len(fetch_uci("toy", data_home=places[0]).X) == 3


@pytest.mark.parametrize("name", ["banknote", "sports", "adult"])
@pytest.mark.parametrize("download", [True, False])
def test_a_missing_file_says_where_it_should_be(name, download, places, network):
    with pytest.raises(OSError) as caught:
        fetch_uci(name, data_home=places[0], download_if_missing=download)
    message = str(caught.value)
    for place in places:
        assert str(place / f"{name}.csv.gz") in message
    assert uci.UCI_SOURCES[name].page in message
    assert f"{uci.UCI_SOURCES[name].n_features} features" in message
    assert "'label'" in message
    assert ("404" in message) == (download and name == "banknote")
    assert len(network.asked) == (download and name == "banknote")


RAW = "x   1 2.5 \r\n\r\ny   3 4\r\nx   5 6"


@pytest.mark.parametrize("given_home", [True, False])
def test_download_is_rewritten_checked_and_kept(toy, places, network, given_home):
    network.reply = archive(RAW)
    home = places[0] if given_home else None
    assert fetch_uci("toy", data_home=home).X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert network.asked == ["/1/toy.zip"]
    kept = places[0 if given_home else 2]
    assert [(path.name, path.read_bytes()) for path in kept.iterdir()] == [("toy.csv", CONTENT)]
    fetch_uci("toy", data_home=home)
    assert len(network.asked) == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (archive(RAW.replace("6", "7")), "does not match"),
        (archive("x"), "does not match"),
        (archive(""), "does not match"),
        (archive(RAW, member="other"), "toy.data"),
        (b"<html>moved</html>", "not a zip file"),
    ],
    # Not the bytes: an archive contains its time, and every worker must collect the same names.
    ids=["changed", "short", "empty", "other member", "no archive"],
)
def test_another_download_is_refused_and_not_kept(toy, places, network, reply, message):
    network.reply = reply
    with pytest.raises(OSError, match=message):
        fetch_uci("toy")
    assert list(places[2].iterdir()) == []


def test_an_interrupted_download_leaves_nothing(toy, places, network, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    network.reply = archive(RAW)
    monkeypatch.setattr(uci, "tidy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_uci("toy")
    assert list(places[2].iterdir()) == []


def test_without_pooch_the_error_names_the_extra(toy, places, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(OSError, match=r"toy\.csv\.gz.*pip install 'decorrupt\[datasets\]'"):
        fetch_uci("toy")
    put(places[1], pack(CONTENT))
    assert len(fetch_uci("toy").X) == 3  # reading needs no extra


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"'iris'.*banknote.*wireless"):
        fetch_uci("iris")


@pytest.mark.parametrize("name", UCI_NAMES)
def test_table_is_consistent(name):
    source = uci.UCI_SOURCES[name]
    assert source.raw is None or len(source.raw.features) == source.n_features
    assert source.page.startswith("https://")
    assert len(source.sha256) == 64


@pytest.fixture
def real_files():
    folder = os.environ.get("DECORRUPT_DATA")
    if not folder:
        pytest.skip("DECORRUPT_DATA is not set: the directory of the UCI files")
    return Path(folder)


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
def test_real_files_have_the_published_rows_and_priors(real_files, name, shape, n_pos):
    data = fetch_uci(name, download_if_missing=False)
    assert data.X.shape == shape
    assert data.y.sum() == n_pos
    assert set(data.y.tolist()) == {0, 1}
    assert len(data.feature_names) == shape[1]
    if name not in ("adult", "german_categorical"):
        assert data.X.dtype == float
        assert np.isfinite(data.X).all()


def test_categorical_columns_stay_codes(real_files):
    data = fetch_uci("german_categorical")
    kinds = {
        name: {type(value) for value in column}
        for name, column in zip(data.feature_names, data.X.T, strict=True)
    }
    assert kinds["purpose"] == {str}
    assert kinds["age"] == {float}
    assert data.X[0, :2].tolist() == ["A11", 6.0]


def test_missing_values_are_nan(real_files):
    data = fetch_uci("adult")
    missing = (data.X != data.X).sum(axis=0)  # NaN alone differs from itself
    found = dict(zip(data.feature_names, missing.tolist(), strict=True))
    # The counts that UCI's page and others give.
    assert {name: n for name, n in found.items() if n} == {
        "workclass": 2799,
        "occupation": 2809,
        "native_country": 857,
    }
    assert {type(value) for value in data.X[:, 0]} == {float}


@pytest.mark.parametrize("name", [name for name in UCI_NAMES if uci.UCI_SOURCES[name].raw])
def test_uci_s_form_of_the_real_files_becomes_the_tidy_form(real_files, name):
    """Undo the rewriting by other code, and see it done again to the last byte."""
    raw = uci.UCI_SOURCES[name].raw
    content = gzip.decompress((real_files / f"{name}.csv.gz").read_bytes())
    rows = [line.split(",") for line in content.decode().replace(".0,", ",").split()[1:]]
    if raw.label_first:
        rows = [row[-1:] + row[:-1] for row in rows]
    text = "\r\n".join((raw.separator or "   ").join(row) for row in rows)
    assert uci.tidy(text, raw) == content


@pytest.mark.parametrize(
    ("name", "separator", "end", "published"),
    [  # sums that others published of the files in UCI's archives
        ("banknote", ",", "", "d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9"),
        (
            "wireless",
            "\t",
            "\r\n",
            "2ae62faa28071e47b875d6bb64175238574a8d1366d1b64ab355bc1c87220294",
        ),
    ],
)
def test_download_of_uci_s_very_file(
    real_files, network, tmp_path, monkeypatch, name, separator, end, published
):
    lines = gzip.decompress((real_files / f"{name}.csv.gz").read_bytes()).decode().split()[1:]
    text = "\r\n".join(line.replace(".0,", ",").replace(",", separator) for line in lines) + end
    assert sha256(text.encode()) == published
    expected = fetch_uci(name).X
    monkeypatch.delenv("DECORRUPT_DATA")
    network.reply = archive(text, uci.UCI_SOURCES[name].raw.member)
    np.testing.assert_array_equal(fetch_uci(name, data_home=tmp_path).X, expected)
    assert len(network.asked) == 1
