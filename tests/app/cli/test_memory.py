"""Tables that do not fit in memory are refused before they are read."""

from decorrupt import features
from decorrupt.app.cli import memory


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(command, files, monkeypatch):
    monkeypatch.setattr(memory, "LARGE_FILE", 10)
    monkeypatch.setattr(features, "machine_memory", lambda: 1000)
    done = command("fit", files.rows, files.bags, *files.in_bags, "-o", "never.skops")
    assert done.code == 2
    assert "this machine has" in done.err
    assert "decorrupt.distributed" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_folder_is_refused(command, files):
    done = command("fit", files.folder, *files.in_bags, "-o", "never.skops")
    assert done.code == 2
    assert "is a folder" in done.err
    assert "Data larger than memory" in done.err


def test_the_page_that_the_message_names_exists():
    from pathlib import Path

    page = Path(__file__).parents[3] / "docs" / "howto" / "larger_than_memory.md"
    title = page.read_text(encoding="utf-8").splitlines()[0]
    assert title.removeprefix("# ") in memory.ADVICE
