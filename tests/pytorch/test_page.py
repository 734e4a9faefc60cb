"""The how-to about networks; the other pages are run without PyTorch."""

from pathlib import Path

from helpers.page_code import run_page

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "networks.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(PAGE)
