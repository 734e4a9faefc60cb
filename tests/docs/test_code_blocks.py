"""Every code block of the documentation runs, and prints what the page shows."""

import ast
import importlib.util
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest
import typer

import decorrupt
from decorrupt.app.cli.app import app
from helpers.page_code import blocks, run_page

DOCS = Path(__file__).parents[2] / "docs"
MADE = {"_build", "gallery", "generated"}
NEEDS_TORCH = DOCS / "howto" / "networks.md"  # tests/pytorch/test_page.py runs it
ALL_PAGES = sorted(
    page for page in DOCS.rglob("*.md") if not MADE & set(page.relative_to(DOCS).parts)
)
PAGES = [page for page in ALL_PAGES if page != NEEDS_TORCH and blocks(page)]


# Dask's own reader of Parquet files uses what pandas 4 will remove.
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
@pytest.mark.parametrize("file", PAGES, ids=[str(page.relative_to(DOCS)) for page in PAGES])
def test_the_code_of_a_page_runs(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for table in (DOCS.parent / "examples" / "wards").glob("*.csv"):
        shutil.copy(table, tmp_path)
    run_page(file)


def test_blocks_that_are_only_shown_import_what_exists():
    """Recipes for other engines, such as Spark, which the tests do not install."""
    shown = re.compile(r"^```{code-block} python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    found = [
        (step.module, alias.name)
        for page in ALL_PAGES
        for code in shown.findall(page.read_text())
        for step in ast.walk(ast.parse(code))
        if isinstance(step, ast.ImportFrom) and step.module.startswith("decorrupt")
        for alias in step.names
    ]
    assert found
    for module, name in found:
        assert hasattr(import_module(module), name), f"{module}.{name}"


def test_no_page_shows_a_comparison_instead_of_a_number():
    shown = re.compile(r"^\(?(True|False)\b", re.MULTILINE)
    sessions = [(p.name, text) for p in ALL_PAGES for kind, text, _ in blocks(p) if kind == "pycon"]
    assert not [name for name, text in sessions if shown.search(text)]


# --- the cheat sheet names what exists


COMMANDS = typer.main.get_command(app).commands


def load_script():
    spec = importlib.util.spec_from_file_location("sheet", DOCS / "make_cheat_sheet.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SHEET = load_script()
CARDS = (*SHEET.HAVE, *SHEET.VERDICTS, *SHEET.WARNINGS)
TYPED = " ".join(line.rstrip("\\") for card in CARDS for line in card.code)


@pytest.mark.parametrize("name", list(SHEET.sheets()))
def test_the_files_are_those_that_the_script_makes(name):
    assert (DOCS / "figures" / name).read_text() == SHEET.sheets()[name]


def test_every_command_has_its_options():
    calls = re.findall(
        r"decorrupt (\w+)((?:(?!decorrupt ).)*)", TYPED.partition("from decorrupt")[0]
    )
    assert len(calls) == 8
    for command, rest in calls:
        known = {flag for option in COMMANDS[command].params for flag in option.opts}
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", rest)) <= known, command


def test_the_page_has_the_commands_as_text():
    page = (DOCS / "learn" / "cheat_sheet.md").read_text()
    for card in SHEET.HAVE:
        assert "\n".join(card.code) in page, card.head


def test_every_class_and_function_exists():
    told = " ".join([TYPED, *(card.text for card in CARDS)])
    kinds = r"\b[A-Z]\w+(?:Classifier|Inference|Scaler)\b"
    names = set(re.findall(rf"{kinds}|estimate_noise_rates_from_\w+|bag_targets", told))
    assert len(names) == 8
    assert names <= set(decorrupt.__all__)
