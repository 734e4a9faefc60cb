"""The sources of the site: every public name has a page, and every link of llms.txt a source."""

import importlib
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import decorrupt

DOCS = Path(__file__).parents[2] / "docs"
# Packages for users: each of their names has a page.
FOR_USERS = (
    "baselines",
    "exceptions",
    "theory",
    "torch",
)
# What these export is also for the other packages; their estimators have a page.
BUILDING_BLOCKS = (
    "assumptions",
    "corruption",
    "datasets",
    "distributed",
    "estimators",
    "features",
    "losses",
    "meta",
    "model_files",
    "model_selection",
    "noise_rates",
    "observed",
    "risks",
    "solvers",
)
# Base classes, and what other estimators fit.
INTERNAL = (
    "BagClassifier",
    "CorrectedRiskClassifier",
    "KernelClassifier",
    "ObservedClassifier",
    "ScoreClassifier",
    "SourceClassifier",
    "WeightedSourcesClassifier",
)


def documented():
    """Return every name of the reference, with its module."""
    found, module = set(), ""
    for page in sorted((DOCS / "api").glob("*.rst")):
        for line in page.read_text().splitlines():
            if match := re.match(r"\.\. currentmodule:: (.*)", line):
                module = match[1]
            elif match := re.match(r"(?:   |\.\. data:: )(\w+)$", line):
                found.add(f"{module}.{match[1]}")
    return found


def test_every_public_name_is_in_the_reference():
    names = {f"decorrupt.{name}" for name in decorrupt.__all__} - {
        f"decorrupt.{package}" for package in (*FOR_USERS, *BUILDING_BLOCKS)
    }
    assert names <= documented()


@pytest.mark.parametrize("package", FOR_USERS)
def test_every_name_of_a_subpackage_is_in_the_reference(package):
    module = importlib.import_module(f"decorrupt.{package}")
    found = documented()
    for name in module.__all__:
        assert {f"decorrupt.{name}", f"decorrupt.{package}.{name}"} & found, name


@pytest.mark.parametrize("package", BUILDING_BLOCKS)
def test_every_estimator_is_in_the_reference(package):
    module, found = importlib.import_module(f"decorrupt.{package}"), documented()
    for name in module.__all__:
        kind = getattr(module, name)
        is_estimator = isinstance(kind, type) and issubclass(kind, BaseEstimator)
        if is_estimator and name not in INTERNAL:
            assert {f"decorrupt.{name}", f"decorrupt.{package}.{name}"} & found, name


def test_the_reference_lists_only_what_exists():
    for entry in documented():
        module, _, name = entry.rpartition(".")
        if name != "building_blocks":  # the second page, in the table of contents
            assert name in dir(importlib.import_module(module)), entry  # imports no PyTorch


def test_the_links_of_llms_txt_are_pages():
    links = re.findall(r"\]\(([^)]+)\.html\)", (DOCS / "llms.txt").read_text())
    assert len(links) > 15
    for link in links:
        assert [file for file in (".md", ".rst") if (DOCS / f"{link}{file}").exists()], link


def test_every_gallery_example_has_a_title_and_finds_something():
    examples = sorted((DOCS.parent / "examples").glob("plot_*.py"))
    assert len(examples) >= 8
    for file in examples:
        text = file.read_text()
        assert re.match(r'r?"""\n[^\n]+\n=+\n\n', text), f"{file.name} has no title"
        assert text.count("\n# %%\n") >= 3, f"{file.name} has no steps"


def test_every_figure_of_an_example_is_finished_in_its_cell():
    """The gallery takes a picture after each cell, and closes the figure."""
    for file in (DOCS.parent / "examples").glob("plot_*.py"):
        for cell in file.read_text().split("\n# %%\n"):
            n_made = len(re.findall(r"plt\.(?:figure|subplots)\(", cell))
            assert cell.count("plt.show()") == n_made, f"{file.name}: {cell.splitlines()[0]}"
