import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from decorrupt.atomic import OutputExistsError, atomic_write

OLD, NEW = b"old " * 50_000, b"new " * 80_000


def test_writes_what_the_block_wrote_and_nothing_else(tmp_path):
    with atomic_write(tmp_path / "a.txt") as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("hello")
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "hello"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_refuses_to_overwrite_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OutputExistsError, match=r"a\.txt exists") as caught, atomic_write(path):
        pytest.fail("the block must not run")
    assert isinstance(caught.value, FileExistsError)
    assert path.read_text() == "old"


def test_force_replaces_and_keeps_the_mode(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_write(path, force=True) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_an_error_inside_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path, force=True) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(OutputExistsError), atomic_write(path) as temporary:  # noqa: PT012
        temporary.write_text("mine")
        path.write_text("somebody else's")
    assert path.read_text() == "somebody else's"
    assert len(list(tmp_path.iterdir())) == 1


def test_follows_a_symbolic_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link, force=True) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_works_without_hard_links(tmp_path, monkeypatch):
    def no_link(*_):
        raise OSError(1, "not here")

    monkeypatch.setattr(os, "link", no_link)
    with atomic_write(tmp_path / "a.txt") as temporary:
        temporary.write_text("hello")
    assert (tmp_path / "a.txt").read_text() == "hello"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", [".", "pipe"])
def test_never_replaces_what_is_not_a_file(tmp_path, force, name):
    os.mkfifo(tmp_path / "pipe")
    message, path = "not a regular file", tmp_path / name
    with pytest.raises(OutputExistsError, match=message), atomic_write(path, force=force):
        pytest.fail("the block must not run")


def test_names_a_missing_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match="no directory"), atomic_write(tmp_path / "x" / "a"):
        pytest.fail("the block must not run")


WRITER = """
import sys
from decorrupt.atomic import atomic_write
print("ready", flush=True)
while True:
    for content in (b"new " * 80_000, b"old " * 50_000):
        with atomic_write(sys.argv[1], force=True) as temporary:
            with temporary.open("wb") as file:
                for start in range(0, len(content), 10_000):
                    file.write(content[start : start + 10_000])
                    file.flush()
"""


def test_killing_the_writer_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(OLD)
    dice = random.Random(0)  # noqa: S311
    for _ in range(12):
        command = [sys.executable, "-c", WRITER, str(path)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603
        writer.stdout.readline()
        time.sleep(dice.uniform(0.0, 0.03))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert path.read_bytes() in (OLD, NEW)
    named = [file for file in Path(tmp_path).iterdir() if not file.name.startswith(".")]
    assert named == [path]
