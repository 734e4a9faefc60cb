"""Estimators as dataclasses whose shared parameters are declared and documented once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
SECTION = re.compile(r"(?m)^(\w[\w ]*)\n-+\n")
# An entry is a line without indentation, and the indented lines below it.
ENTRY = re.compile(r"(?m)^(\S.*)\n((?:[ \t]+.*\n|\n(?=[ \t]))*)")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(cls: Class) -> Class:
    """Make a keyword-only dataclass with scikit-learn's repr, hash and equality.

    The docstring's sections Parameters and Attributes get the entries of the base classes that it
    has not itself, so that `help` and the site show all of them.
    """
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    own = inspect.cleandoc(made.__doc__ or "")
    names = [each.name for each in fields(made)]
    for title in ("Parameters", "Attributes"):
        described: dict[str, str] = {}
        for base in [*reversed(made.__mro__[1:]), made]:
            doc = own if base is made else inspect.cleandoc(vars(base).get("__doc__") or "")
            for key, text in _entries(doc, title):
                described |= dict.fromkeys(key.split(", "), text)
        order = names if title == "Parameters" else described
        texts = dict.fromkeys(described[name] for name in order if name in described)
        own = _with_section(own, title, "".join(texts))
    made.__doc__ = own
    return made  # type: ignore[no-any-return]


def _entries(doc: str, title: str) -> Iterator[tuple[str, str]]:
    """Yield the names and the text of every entry of a section."""
    _, *sections = SECTION.split(doc + "\n")
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        if name == title:
            for entry in ENTRY.finditer(text):
                yield entry[1].split(" : ")[0], entry[0]


def _with_section(doc: str, title: str, text: str) -> str:
    """Return the docstring with the text of one section replaced."""
    head, *sections = SECTION.split(doc + "\n")
    titles, texts = sections[::2], sections[1::2]
    if text and title not in titles:
        place = titles.index("Parameters") + 1 if "Parameters" in titles else 0
        titles.insert(place, title)
        texts.insert(place, "")
    texts = [f"{text}\n" if name == title else old for name, old in zip(titles, texts, strict=True)]
    parts = [f"{name}\n{'-' * len(name)}\n{body}" for name, body in zip(titles, texts, strict=True)]
    return (head + "".join(parts)).rstrip() + "\n"
