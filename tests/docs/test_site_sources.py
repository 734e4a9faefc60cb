"""What the strict build of the site (`make docs-quick`) does not see in its sources.

The build fails on names of the reference that do not exist, links without a target, pages in no
table of contents and examples without a title.
"""

import ast
import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import decorrupt

DOCS = Path(__file__).parents[2] / "docs"
# Packages for users: each of their names has a page.
FOR_USERS = (
    "baselines",
    "ecological",
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
)


REFERENCE = runpy.run_path(str(DOCS / "api_reference.py"))
FOR_READERS = [name for group in REFERENCE["USERS"] for name in group.names]
FORMULA = re.compile(r"[Σλ‖²∈⟨⟩σρπγμφℓ√½∝=]|min_")


def documented():
    """Return every name of the reference, with its module."""
    groups = [*REFERENCE["USERS"], *REFERENCE["BUILDING_BLOCKS"]]
    return {f"decorrupt.{name}" for group in groups for name in [*group.names, *group.constants]}


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


def test_the_automatic_choice_comes_first():
    assert FOR_READERS[:2] == ["AutoLabelProportionsClassifier", "AutoSourcesClassifier"]


@pytest.mark.parametrize("name", [name for name in FOR_READERS if "torch." not in name])
def test_the_first_line_of_a_name_is_plain(name):
    module, _, last = f"decorrupt.{name}".rpartition(".")
    first = inspect.getdoc(getattr(importlib.import_module(module), last)).partition("\n\n")[0]
    assert first.endswith(".")
    assert not FORMULA.search(first), first


def test_no_name_is_listed_twice():
    assert len(FOR_READERS) == len(set(FOR_READERS))


def test_the_links_of_llms_txt_are_pages():
    links = re.findall(r"\]\(([^)]+)\.html\)", (DOCS / "llms.txt").read_text())
    assert len(links) > 15
    for link in set(links) - {"api/index"}:  # made from docs/api_reference.py
        assert [file for file in (".md", ".rst") if (DOCS / f"{link}{file}").exists()], link


def test_every_example_is_in_one_section_of_the_gallery():
    listed = re.findall(r"\.\./examples/(plot_\w+\.py)", (DOCS / "examples.rst").read_text())
    assert sorted(listed) == sorted(f.name for f in (DOCS.parent / "examples").glob("plot_*.py"))


def test_every_gallery_example_runs_alone():
    """Readers download one file; nothing beside it can be imported."""
    files = sorted((DOCS.parent / "examples").glob("*.py"))
    siblings = {file.stem for file in files}
    for file in files:
        if file.name.startswith("plot_"):
            steps = list(ast.walk(ast.parse(file.read_text())))
            names = {s.module or "" for s in steps if isinstance(s, ast.ImportFrom)}
            names |= {a.name for s in steps if isinstance(s, ast.Import) for a in s.names}
            assert not siblings & {name.partition(".")[0] for name in names}, file.name


def test_every_figure_of_an_example_is_finished_in_its_cell():
    """The gallery takes a picture after each cell, and closes the figure."""
    for file in (DOCS.parent / "examples").glob("plot_*.py"):
        for cell in file.read_text().split("\n# %%\n"):
            n_made = len(re.findall(r"plt\.(?:figure|subplots)\(", cell))
            assert cell.count("plt.show()") == n_made, f"{file.name}: {cell.splitlines()[0]}"
