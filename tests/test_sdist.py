"""The sdist holds everything its own tests read; the wheel holds the package alone."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READ_BY_TESTS = (
    "benchmarks",
    "changes",
    "conda",
    "docs",
    "examples",
    "reproduction",
    "results",
    "src",
    "tests",
    "tools",
)
MADE = {"__pycache__", "_build", "api", "gallery", "out"}


# Every public name and the command line, with the wheel's package and without the checkout.
USE = """
import sys
folder, sys.modules["reproduction"] = sys.argv[1], None
sys.path.insert(0, folder)
import decorrupt
assert decorrupt.__file__.startswith(folder), decorrupt.__file__
for name in decorrupt.__all__:
    getattr(decorrupt, name)
from decorrupt.app.cli.app import run
sys.exit(run(["--help"]))
"""


def build(target, folder):
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    (archive,) = folder.iterdir()
    return archive


def test_the_sdist_has_every_file_that_tests_read_and_no_environment(tmp_path):
    with tarfile.open(build("sdist", tmp_path)) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    for folder in READ_BY_TESTS:
        files = [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()]
        wanted = {path.as_posix() for path in files if not MADE & set(path.parts)}
        assert wanted
        assert wanted <= packed
    assert {"Makefile", "README.md", "constraints.txt", "pyproject.toml"} <= packed
    assert not [name for name in packed if name.startswith((".venv", "out/", ".git/"))]


def test_the_wheel_has_the_package_alone_and_works(tmp_path):
    (tmp_path / "built").mkdir()
    with zipfile.ZipFile(build("wheel", tmp_path / "built")) as wheel:
        folders = {name.partition("/")[0] for name in wheel.namelist()}
        assert not [name for name in wheel.namelist() if "reproduction" in name]
        wheel.extractall(tmp_path / "installed")  # noqa: S202 — built here
    assert {name.partition("-")[0] for name in folders} == {"decorrupt"}
    command = [sys.executable, "-I", "-c", USE, str(tmp_path / "installed")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)  # noqa: S603 — our own code
    assert done.returncode == 0, done.stderr
