"""The sdist holds everything its own tests read, and nothing that was made while working."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READ_BY_TESTS = ("benchmarks", "docs", "examples", "results", "src", "tests", "tools")
MADE = {"__pycache__", "_build", "gallery", "generated", "out"}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        return {name.partition("/")[2] for name in tar.getnames()}


@pytest.mark.parametrize("folder", READ_BY_TESTS)
def test_every_file_that_tests_read_is_packed(packed, folder):
    files = [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()]
    wanted = {path.as_posix() for path in files if not MADE & set(path.parts)}
    assert wanted
    assert wanted <= packed


@pytest.mark.parametrize("name", ["Makefile", "README.md", "constraints.txt", "pyproject.toml"])
def test_top_level_files_are_packed(packed, name):
    assert name in packed


def test_no_environment_is_packed(packed):
    assert not [name for name in packed if name.startswith((".venv", "out/", ".git/"))]
