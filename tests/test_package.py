"""The package as a newcomer meets it."""

import re
from pathlib import Path

import pytest

import decorrupt

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_there_and_documented():
    for name in decorrupt.__all__:
        assert getattr(decorrupt, name).__doc__, name


def test_the_front_door_is_small():
    assert len(decorrupt.__all__) <= 45


README_EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("example", README_EXAMPLES, ids=["bags", "sources"])
def test_the_readmes_examples_run(example, capsys):
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 — our own text
    assert "0." in capsys.readouterr().out


def test_the_architecture_page_names_what_exists():
    folders = (ROOT / "src", ROOT / "reproduction")
    source = "\n".join(file.read_text() for one in folders for file in one.rglob("*.py"))
    page = (ROOT / "docs" / "architecture.md").read_text()
    names = {name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", page)}
    assert not [name for name in names if name != "py" and name not in source]


def test_the_version_is_the_same_everywhere():
    version = decorrupt.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] == version
