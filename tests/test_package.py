"""The package as a newcomer meets it."""

import re
import tomllib
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
@pytest.mark.parametrize("example", README_EXAMPLES, ids=["bags"])
def test_the_readmes_examples_run(example, capsys):
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 — our own text
    assert "0." in capsys.readouterr().out


def test_the_architecture_page_names_what_exists():
    folders = (ROOT / "src", ROOT / "reproduction")
    source = "\n".join(file.read_text() for one in folders for file in one.rglob("*.py"))
    page = (ROOT / "docs" / "contribute" / "architecture.md").read_text()
    names = {name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", page)}
    assert not [name for name in names if name != "py" and name not in source]


def test_the_version_is_the_same_everywhere():
    version = decorrupt.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version: "{version}"\n' in (ROOT / "conda" / "recipe.yaml").read_text()
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] == version


def test_every_change_is_of_a_kind_that_the_changelog_has():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = {file.name for file in (ROOT / settings["directory"]).iterdir()} - {"README.md"}
    assert not [name for name in names if not re.fullmatch(rf"\+[\w-]+\.({kinds})\.md", name)]


def test_the_changelog_has_the_place_for_new_versions():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    assert (ROOT / settings["filename"]).read_text().count(settings["start_string"]) == 1


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {one.replace("_", "-").replace(">=", " >=") for one in project["dependencies"]}
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    assert {line.strip(" -").replace("_", "-") for line in run.splitlines()[1:]} == wanted
