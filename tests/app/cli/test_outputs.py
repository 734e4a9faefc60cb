"""Outputs that cannot be written are refused before the work; a finished model is never lost."""

import json
import os
from pathlib import Path

import pytest

from decorrupt import atomic, load
from decorrupt.app.cli import pages


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


# --- --report writes the page


@pytest.fixture
def broken(monkeypatch):
    """A page of which no part can be rendered."""

    def render(_):
        raise KeyError("no such\ntemplate")

    monkeypatch.setattr("decorrupt.documents.to_html", render, raising=False)


def warns_of(page, done):
    lines = [line for line in done.err.splitlines() if str(page) in line]
    return len(lines) == 1 and lines[0].startswith("warning: ") and "KeyError" in lines[0]


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.usefixtures("broken")
def test_a_page_that_fails_leaves_the_model(command, files, tmp_path, quiet):
    page, model = tmp_path / "m.html", tmp_path / "m.skops"
    page.write_text("an older page")
    assert command(*files.fit, "--report", page, "-o", model, *quiet).code == 2
    assert not model.exists()
    page.unlink()
    done = command(*files.fit, "--report", page, "-o", model, *quiet)
    assert done.code == 1
    assert warns_of(page, done)
    assert f"  model: {model}\n" in done.out
    assert str(page) not in done.out
    assert not page.exists()
    assert command("predict", model, files.test).code == 0


@pytest.mark.usefixtures("broken", "quick_demo")
def test_a_page_that_fails_leaves_the_results_of_other_commands(command, files, tmp_path):
    page = tmp_path / "model.html"
    done = command("demo", "--data", "wine", "-o", tmp_path, "--json")
    assert (done.code, warns_of(page, done)) == (1, True)
    assert json.loads(done.out)["page"] is None
    assert command("explain", tmp_path / "model.skops").code == 0
    for name in (["evaluate", files.model], ["inspect"]):
        done = command(*name, *files.given, "--report", page)
        assert (done.code, warns_of(page, done)) == (1, True)
        assert done.out.startswith("Verdict\n")


def test_where_pages_cannot_be_made_it_is_said_before_the_work(
    command, files, tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "can_make_pages", lambda: False)
    done = command(*files.fit, "--report", tmp_path / "m.html", "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "decorrupt[cli]" in done.err
    assert list(tmp_path.iterdir()) == []
