"""What the strict build of the site (`make docs-quick`) does not see in its sources.

The build fails on names of the reference that do not exist, links without a target, pages in no
table of contents and examples without a title.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import runpy
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import decorrupt

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS.parent / "examples"
GALLERY = sorted(EXAMPLES.glob("plot_*.py"))
# Packages for users: each of their names has a page. Of the others every estimator has one.
FOR_USERS = ("baselines", "ecological", "exceptions", "theory", "torch")
# What other estimators fit, and base classes.
INTERNAL = re.compile(r"(CorrectedRisk|Kernel|Observed|Score)Classifier|KernelModel")
REFERENCE = runpy.run_path(str(DOCS / "api_reference.py"))
FOR_READERS = [name for group in REFERENCE["USERS"] for name in group.names]
LISTED = {
    name
    for group in (*REFERENCE["USERS"], *REFERENCE["BUILDING_BLOCKS"])
    for name in (*group.names, *group.constants)
}
# Those of the application export nothing to users.
PACKAGES = [
    found.name
    for found in pkgutil.iter_modules(decorrupt.__path__)
    if found.ispkg and found.name not in ("app", "documents")
]
FORMULA = re.compile(r"[Σλ‖²∈⟨⟩σρπγμφℓ√½∝=]|min_")


def needs_a_page(package, name):
    if package in FOR_USERS:
        return True
    kind = getattr(importlib.import_module(f"decorrupt.{package}"), name)
    is_estimator = isinstance(kind, type) and issubclass(kind, BaseEstimator)
    return is_estimator and not INTERNAL.fullmatch(name)


def test_every_public_name_is_in_the_reference():
    modules = {name for name in decorrupt.__all__ if inspect.ismodule(getattr(decorrupt, name))}
    assert set(decorrupt.__all__) - modules <= LISTED


@pytest.mark.parametrize("package", PACKAGES)
def test_names_of_a_package_are_in_the_reference(package):
    for name in importlib.import_module(f"decorrupt.{package}").__all__:
        if needs_a_page(package, name):
            assert {name, f"{package}.{name}"} & LISTED, name


@pytest.mark.parametrize("name", [name for name in FOR_READERS if "torch." not in name])
def test_the_first_line_of_a_name_is_plain(name):
    module, _, last = f"decorrupt.{name}".rpartition(".")
    first = inspect.getdoc(getattr(importlib.import_module(module), last)).partition("\n\n")[0]
    assert first.endswith(".")
    assert not FORMULA.search(first), first


def test_the_links_of_llms_txt_are_pages():
    links = re.findall(r"\]\(([^)]+)\.html\)", (DOCS / "llms.txt").read_text())
    assert len(links) > 15
    for link in set(links) - {"api/index"}:  # made from docs/api_reference.py
        assert [file for file in (".md", ".rst") if (DOCS / f"{link}{file}").exists()], link


def test_every_example_is_in_one_section_of_the_gallery():
    listed = re.findall(r"\.\./examples/(plot_\w+\.py)", (DOCS / "examples.rst").read_text())
    assert sorted(listed) == [file.name for file in GALLERY]


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_a_gallery_example_runs_alone_and_shows_its_figures(file):
    """Readers download one file. The gallery takes a picture after each cell."""
    text = file.read_text()
    steps = list(ast.walk(ast.parse(text)))
    names = {s.module or "" for s in steps if isinstance(s, ast.ImportFrom)}
    names |= {a.name for s in steps if isinstance(s, ast.Import) for a in s.names}
    siblings = {other.stem for other in EXAMPLES.glob("*.py")}
    assert not siblings & {name.partition(".")[0] for name in names}
    for cell in text.split("\n# %%\n"):
        n_made = len(re.findall(r"plt\.(?:figure|subplots)\(", cell))
        assert cell.count("plt.show()") == n_made, cell.splitlines()[0]


# --- length


# Most words of a page, its code included.
LIMITS = {"learn": 500, "howto": 450, "understand": 900}
PAGES = [page for section in LIMITS for page in sorted((DOCS / section).glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_short(page):
    n_words, limit = len(page.read_text().split()), LIMITS[page.parent.name]
    assert n_words <= limit, f"{n_words} words, at most {limit}"
