"""Outputs that cannot be written are refused before the work; a finished model is never lost."""

import os
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from decorrupt import atomic, load


@pytest.fixture
def no_training(monkeypatch):
    def fail(*_args, **_kwargs):
        pytest.fail("training began")

    monkeypatch.setattr("decorrupt.app.tables.read_table", fail)
    monkeypatch.setattr("decorrupt.app.training.demo.run_demo", fail)


@pytest.fixture
def locked(tmp_path, monkeypatch):
    """A directory in which no file can be created, also for root."""
    folder = tmp_path / "locked"
    folder.mkdir()
    true_open = os.open

    def refuse(path, flags, *rest, **named):
        is_written = flags & (os.O_WRONLY | os.O_RDWR)
        if is_written and folder in (Path(path), Path(path).parent):
            raise PermissionError(13, "Permission denied", str(path))
        return true_open(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    return folder


def outputs_of(files, output):
    fit = ("fit", *files.given)
    labels = ("--label-column", "label")
    return {
        "fit": (*fit, "-o", output / "m.skops"),
        "fit page": (*fit, "-o", files.folder / "new.skops", "--report", output / "m.html"),
        "inspect": ("inspect", *files.given, "--report", output / "i.html"),
        "predict": ("predict", files.model, files.test, "-o", output / "p.csv"),
        "evaluate": ("evaluate", files.model, files.test, *labels, "--report", output / "e.html"),
        "demo": ("demo", "-o", output / "out"),
    }


NAMES = ["fit", "fit page", "inspect", "predict", "evaluate", "demo"]


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize("name", NAMES)
def test_a_directory_without_permission_is_refused_at_once(command, files, locked, name):
    done = command(*outputs_of(files, locked)[name])
    assert done.code == 2
    assert done.err.startswith(f"error: {locked}")
    assert "Permission denied" in done.err
    assert done.err.count("\n") == 1
    assert ".part" not in done.err
    assert list(locked.iterdir()) == []


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "demo"])
def test_a_directory_that_does_not_exist_is_refused_at_once(command, files, tmp_path, name):
    done = command(*outputs_of(files, tmp_path / "none")[name])
    assert done.code == 2
    assert f"there is no directory {tmp_path / 'none'}" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_training")
def test_a_read_only_file_is_refused_at_once(command, files, tmp_path, monkeypatch):
    model = tmp_path / "m.skops"
    model.write_text("precious")
    model.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to it
    done = command("fit", *files.given, "-f", "-o", model)
    assert done.code == 2
    assert f"{model}: the file is read-only" in done.err
    assert model.read_text() == "precious"


@pytest.mark.usefixtures("no_training")
def test_the_folder_of_a_demo_may_not_be_a_file(command, tmp_path):
    (tmp_path / "out").write_text("")
    done = command("demo", "-o", tmp_path / "out" / "deeper")
    assert done.code == 2
    assert f"{tmp_path / 'out' / 'deeper'}: Not a directory" in done.err


def test_the_name_is_the_one_that_was_given(command, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = command("predict", files.model, files.test, "-o", "none/p.csv")
    assert done.err.startswith("error: none/p.csv: there is no directory none")


def test_a_model_that_cannot_be_saved_is_in_a_temporary_file(command, files, tmp_path, monkeypatch):
    true_flush, model = atomic._flush, tmp_path / "m.skops"

    def disk_full(path):
        if path.parent == tmp_path:
            raise OSError(28, "No space left on device")
        true_flush(path)

    monkeypatch.setattr(atomic, "_flush", disk_full)
    done = command(*files.fit, "-o", model, "-q")
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith(f"error: {model}: No space left on device; the model is in ")
    assert ".part" not in done.err
    rescued = Path(done.err.split("the model is in ")[1].removesuffix(" instead\n"))
    assert load(rescued)[-1].classes_.tolist() == [0, 1]
    rescued.unlink()
    assert list(tmp_path.iterdir()) == []


@contextmanager
def small_files(n_bytes):
    """No file of this process may be larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_a_table_that_grows_too_large_names_the_output(command, files, tmp_path):
    with small_files(1000):
        done = command("predict", files.model, files.test, "--proba", "-o", tmp_path / "p.jsonl")
    assert done.code == 1
    assert done.err == f"error: {tmp_path / 'p.jsonl'}: File too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def linked(files, tmp_path, monkeypatch):
    """A copy of the tables, and links to some of them."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "bags.csv", "test.csv", "model.skops"):
        (tmp_path / name).write_bytes((files.folder / name).read_bytes())
    (tmp_path / "link.skops").symlink_to("model.skops")
    (tmp_path / "link.csv").symlink_to("test.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("predict model.skops test.csv -o test.csv", "test.csv"),
        ("predict model.skops test.csv -o ./link.csv", "./link.csv"),
        ("predict model.skops link.csv -o test.csv", "test.csv"),
        ("predict link.skops test.csv -o model.skops", "model.skops"),
        ("evaluate model.skops test.csv --label-column label --report test.csv", "test.csv"),
        ("inspect rows.csv bags.csv --report bags.csv", "bags.csv"),
        ("fit rows.csv bags.csv -o m.skops --report rows.csv", "rows.csv"),
    ],
)
def test_an_output_that_is_an_input_is_refused(command, linked, arguments, name):
    before = {path: path.read_bytes() for path in linked.iterdir()}
    done = command(*arguments.split(), "-f")
    assert done.code == 2
    assert done.err.startswith(f"error: {name} is also an input")
    assert {path: path.read_bytes() for path in linked.iterdir()} == before
