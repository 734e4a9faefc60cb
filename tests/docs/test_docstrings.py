"""The docstrings of methods: every parameter, relatives and an example."""

import inspect
import re

import pytest

from helpers.estimators import ALL, name_of

METHODS = [
    model
    for model in ALL
    if type(model).__module__.startswith(
        ("decorrupt.estimators", "decorrupt.baselines", "decorrupt.meta")
    )
]


def documented(kind):
    """Return the parameters that the docstring describes."""
    text = inspect.getdoc(kind)
    body = text.split("Parameters\n----------\n")[1].split("Attributes\n----------\n")[0]
    # A long list of values continues after a backslash.
    lines = re.findall(r"^(\w[\w, ]*) :", body, re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


@pytest.mark.parametrize("model", METHODS, ids=name_of)
def test_docstring(model):
    kind = type(model)
    text = inspect.getdoc(kind)
    for section in ("Attributes", "See Also", "Examples"):
        assert f"\n{section}\n---" in text, section
    assert documented(kind) == list(inspect.signature(kind).parameters)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_no_estimator_has_more_than_16_parameters(model):
    assert len(inspect.signature(type(model)).parameters) <= 16
