"""The paper's data sets: which file is read, what is refused, and what the files hold."""

import gzip
import hashlib
import io
import os
import zipfile
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from decorrupt.datasets import UCI_NAMES, fetch_uci, uci

CONTENT = b"a,b,label\n1,2.5,x\n3,4.0,y\n5,6.0,x\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Three empty directories, in the order in which they are looked at."""
    home, shared, cache = (tmp_path / name for name in ("home", "shared", "cache"))
    monkeypatch.setenv("DECORRUPT_DATA", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return home, shared, cache / "decorrupt"


@pytest.fixture
def toy(monkeypatch):
    """A made-up data set whose UCI file has the label first and spaces between cells."""
    source = uci.Source(
        n_features=2,
        positive_classes=("x",),
        reference="Nobody (2000). Toy",
        page="https://doi.org/10.0/toy",
        file_sha256=sha256(pack(CONTENT)),
        content_sha256=sha256(CONTENT),
        raw=uci.RawFile("1/toy.zip", "toy.data", ("a", "b"), label_first=True),
    )
    monkeypatch.setitem(uci.SOURCES, "toy", source)
    return source


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """Nothing in this file reaches the network; a test sets `reply` to be answered."""
    asked = []

    def urlopen(url, timeout):
        asked.append(url)
        if urlopen.reply is None:
            raise URLError("no network")
        return io.BytesIO(urlopen.reply)

    urlopen.reply, urlopen.asked = None, asked
    monkeypatch.setattr(uci.urllib.request, "urlopen", urlopen)
    return urlopen


def pack(content):
    return gzip.compress(content, mtime=0)


def put(folder, data, name="toy"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv.gz"
    path.write_bytes(data)
    return path


def archive(text, member="toy.data"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(member, text)
    return buffer.getvalue()


def test_parsing(toy, places):
    put(places[0], pack(CONTENT))
    data = fetch_uci("toy", data_home=places[0])
    assert data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert data.y.tolist() == [1, 0, 1]
    assert data.feature_names == ("a", "b")
    assert data.positive_classes == ("x",)
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
    for part in (str(path), toy.file_sha256, sha256(damaged)):
        assert part in str(caught.value)
    assert not network.asked


def test_the_same_text_packed_otherwise_is_accepted(toy, places):
    put(places[0], gzip.compress(CONTENT, compresslevel=1, mtime=5))
    assert len(fetch_uci("toy", data_home=places[0]).X) == 3


@pytest.mark.parametrize("name", ["banknote", "sports"])
@pytest.mark.parametrize("download", [True, False])
def test_a_missing_file_says_where_it_should_be(name, download, places, network):
    with pytest.raises(OSError) as caught:
        fetch_uci(name, data_home=places[0], download_if_missing=download)
    message = str(caught.value)
    for place in places:
        assert str(place / f"{name}.csv.gz") in message
    assert uci.SOURCES[name].page in message
    assert f"{uci.SOURCES[name].n_features} features" in message
    assert "'label'" in message
    assert ("no network" in message) == (download and name == "banknote")
    assert len(network.asked) == (download and name == "banknote")


RAW = "x   1 2.5 \r\n\r\ny   3 4\r\nx   5 6"


@pytest.mark.parametrize("given_home", [True, False])
def test_download_is_rewritten_checked_and_kept(toy, places, network, given_home):
    network.reply = archive(RAW)
    home = places[0] if given_home else None
    assert fetch_uci("toy", data_home=home).X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert network.asked == ["https://archive.ics.uci.edu/static/public/1/toy.zip"]
    kept = places[0 if given_home else 2]
    assert [path.name for path in kept.iterdir()] == ["toy.csv.gz"]
    fetch_uci("toy", data_home=home)
    assert len(network.asked) == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (archive(RAW.replace("6", "7")), "not the one known"),
        (archive("x"), "not the one known"),
        (archive(""), "not the one known"),
        (archive(RAW, member="other"), "toy.data"),
        (b"<html>moved</html>", "not a zip file"),
    ],
)
def test_another_download_is_refused_and_not_kept(toy, places, network, reply, message):
    network.reply = reply
    with pytest.raises(OSError, match=message):
        fetch_uci("toy")
    assert not any(place.exists() for place in places)


def test_an_interrupted_write_leaves_nothing(toy, places, network, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    network.reply = archive(RAW)
    monkeypatch.setattr(uci.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_uci("toy")
    assert list(places[2].iterdir()) == []


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"'iris'.*banknote.*wireless"):
        fetch_uci("iris")


@pytest.mark.parametrize("name", UCI_NAMES)
def test_table_is_consistent(name):
    source = uci.SOURCES[name]
    assert source.raw is None or len(source.raw.features) == source.n_features
    assert source.page.startswith("https://")
    assert len(source.file_sha256) == len(source.content_sha256) == 64


@pytest.fixture
def real_files():
    folder = os.environ.get("DECORRUPT_DATA")
    if not folder:
        pytest.skip("DECORRUPT_DATA is not set: the directory of the UCI files")
    return Path(folder)


@pytest.mark.parametrize(
    ("name", "shape", "n_pos"),
    [
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
def test_real_files_have_the_paper_s_rows_and_priors(real_files, name, shape, n_pos):
    data = fetch_uci(name, download_if_missing=False)
    assert data.X.shape == shape
    assert data.y.sum() == n_pos
    assert set(data.y.tolist()) == {0, 1}
    assert len(data.feature_names) == shape[1]
    if name != "german_categorical":
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


@pytest.mark.parametrize("name", [name for name in UCI_NAMES if uci.SOURCES[name].raw])
def test_uci_s_form_of_the_real_files_becomes_the_tidy_form(real_files, name):
    """Undo the rewriting by other code, and see it done again to the last byte."""
    raw = uci.SOURCES[name].raw
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
    network.reply = archive(text, uci.SOURCES[name].raw.member)
    np.testing.assert_array_equal(fetch_uci(name, data_home=tmp_path).X, expected)
    assert len(network.asked) == 1
