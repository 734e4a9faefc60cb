"""The Python reference: index pages, without plumbing, with all parameters described.

Steps when the site is built. The groups of ``api_reference.py`` become index pages. Members of
estimators that only other code calls are left out. A list of names with "As in :class:`X`." in a
docstring is replaced with what the docstring of X says about each of them. A docstring without a
section See Also gets the neighbours of its name in the group.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from api_reference import BUILDING_BLOCKS, USERS, Group
from sklearn.base import BaseEstimator

# What users call on an estimator, besides scikit-learn's own methods.
FOR_USERS = {
    "decision_function",
    "evidence",
    "fit",
    "get_n_splits",
    "plot",
    "predict",
    "predict_proba",
    "score",
    "split",
    "to_local",
}
N_RELATIVES = 4  # in a section See Also that the docstring does not have
# Names, and below them "As in :class:`X`.", perhaps with further words.
REFERENCE = re.compile(
    r"^([\w, ]+)\n    As in :(?:class|func):`(?:[\w.]+\.)?(\w+)`[.;,]?(.*(?:\n    .*)*)",
    re.MULTILINE,
)
INTRODUCTIONS = {
    "index": (
        "Python",
        "Every class and function; most with an example. A name is imported as its page shows it,"
        " such as ``from decorrupt import MeanMapClassifier`` or ``from decorrupt.theory import"
        " information``. What new methods are made of is on a second page, :doc:`building_blocks`.",
    ),
    "building_blocks": (
        "Building blocks",
        "What methods are made of; :doc:`/contribute/add_a_method` uses them. These names can"
        " change between minor versions, with a note in the :doc:`/reference/changelog`.",
    ),
}


def write_index_pages(folder: Path) -> None:
    """Write both index pages; unchanged files keep their time, so that builds are quick."""
    folder.mkdir(exist_ok=True)
    for name, groups in (("index", USERS), ("building_blocks", BUILDING_BLOCKS)):
        title, text = INTRODUCTIONS[name]
        parts = [title, "=" * len(title), "", text, "", *map(group_text, groups)]
        if name == "index":
            parts.append(".. toctree::\n   :hidden:\n\n   building_blocks\n")
        page, file = "\n".join(parts), folder / f"{name}.rst"
        if not file.exists() or file.read_text() != page:
            file.write_text(page)


def group_text(group: Group) -> str:
    """Return a group as reStructuredText: a table of names per module, then the constants."""
    parts = [group.title, "-" * len(group.title), "", group.text, ""]
    for module, names in groupby(group.names, module_of):
        rows = "\n".join(f"   {name.rpartition('.')[2]}" for name in names)
        parts.append(f"{module}.. autosummary::\n   :toctree: generated\n\n{rows}\n")
    for name, text in group.constants.items():
        parts.append(f"{module_of(name)}.. data:: {name.rpartition('.')[2]}\n\n   {text}\n")
    return "\n".join(parts)


def module_of(name: str) -> str:
    """Return the directive that sets the module of a name."""
    module = ".".join(filter(None, ("decorrupt", name.rpartition(".")[0])))
    return f".. currentmodule:: {module}\n\n"


def plumbing() -> set[str]:
    """Return the public members of estimators that only other code calls."""
    kinds = [look_up(name) for group in USERS for name in group.names if "torch." not in name]
    estimators = [
        kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
    ]
    return {
        name
        for kind in estimators
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, property))
    } - FOR_USERS


def look_up(name: str) -> Any:
    """Return the object with this name of the reference."""
    module, _, last = f"decorrupt.{name}".rpartition(".")
    return getattr(import_module(module), last)


def expand_references(lines: list[str]) -> list[str]:
    """Replace a list of names and "As in :class:`X`." with the descriptions of X."""
    return REFERENCE.sub(described, "\n".join(lines)).split("\n")


def described(found: re.Match[str]) -> str:
    """Return the descriptions of the names that X has, and the reference for the others."""
    names, kind, more = found.groups()
    known = descriptions(kind)
    wanted = [name.strip() for name in names.split(",")]
    parts = list(dict.fromkeys(known[name] for name in wanted if name in known))
    others = [name for name in wanted if name not in known]
    if others:
        parts.append(found[0].replace(names, ", ".join(others), 1).removesuffix(more))
    if words := " ".join(more.split()):
        parts[-1] += f"\n    {words[0].upper()}{words[1:]}"
    return "\n".join(parts)


def descriptions(kind: str) -> dict[str, str]:
    """Return the entries of a class's docstring by name."""
    names = {name.rpartition(".")[2]: name for group in USERS for name in group.names}
    if kind not in names:
        return {}
    text = "\n".join(expand_references((inspect.getdoc(look_up(names[kind])) or "").split("\n")))
    entries = re.findall(r"^(\w[\w, ]*)( :.*(?:\n    .*)*)", text, re.MULTILINE)
    return {
        name.strip(): f"{names_}{body}".rstrip()
        for names_, body in entries
        for name in names_.split(",")
    }


def relatives(name: str) -> list[str]:
    """Return a section See Also with the neighbours of a name in its group."""
    short = name.removeprefix("decorrupt.")
    (group,) = [group for group in USERS if short in group.names] or [None]
    if group is None or len(group.names) == 1:
        return []
    place = group.names.index(short)
    first = max(0, min(place - N_RELATIVES // 2, len(group.names) - N_RELATIVES - 1))
    near = [other for other in group.names[first : first + N_RELATIVES + 1] if other != short]
    return ["", "See Also", "--------", *(f"decorrupt.{other}" for other in near), ""]


def setup(app: Any) -> dict[str, bool]:
    """Hide plumbing and describe all parameters."""
    hidden = plumbing()

    def hide(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
        return True if name in hidden else None

    def expand(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        lines[:] = expand_references(lines)
        if "See Also" not in lines:
            lines += relatives(name)

    app.connect("autodoc-skip-member", hide)
    app.connect("autodoc-process-docstring", expand, priority=100)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
