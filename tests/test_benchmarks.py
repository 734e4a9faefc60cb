"""The scheme of the benchmarks: bars, exponents, and scripts that all follow it."""

import ast
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def load(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def measuring(monkeypatch):
    return load("measuring", monkeypatch)


@pytest.mark.parametrize(
    ("value", "bars", "slack", "is_met"),
    [
        (1.2, {"at_most": 1.2}, 1.0, True),
        (1.3, {"at_most": 1.2}, 1.0, False),
        (1.79, {"at_most": 1.2}, 1.5, True),
        (1.9, {"at_most": 1.2}, 1.5, False),
        (12.0, {"at_least": 12.0}, 1.0, True),
        (11.0, {"at_least": 12.0}, 1.0, False),
        (8.0, {"at_least": 12.0}, 1.5, True),
        (7.9, {"at_least": 12.0}, 1.5, False),
        (99.0, {}, 1.0, True),
        (float("nan"), {"at_most": 1.2}, 1.5, False),
    ],
)
def test_a_figure_is_judged_by_its_bar(measuring, value, bars, slack, is_met):
    assert measuring.Figure("a / b", value, **bars).is_met(slack) is is_met


def test_exponents_are_slopes_of_logarithms(measuring):
    sizes = np.array([10, 100, 1000])
    assert measuring.exponent(sizes, 3.0 * sizes**1.25) == pytest.approx(1.25)


def test_each_function_has_its_shortest_time_and_a_result(measuring):
    calls = []
    found = measuring.seconds_of(lambda: calls.append("a") or 1, lambda: calls.append("b") or 2)
    assert calls == ["a", "b"] * 3
    assert [result for _, result in found] == [1, 2]
    assert all(seconds >= 0 for seconds, _ in found)


def test_every_script_has_a_description_and_measures(monkeypatch):
    load("measuring", monkeypatch)
    runner = load("run", monkeypatch)
    assert set(runner.QUICK) < set(runner.names())
    for name in runner.names():
        tree = ast.parse((FOLDER / f"bench_{name}.py").read_text())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert ast.get_docstring(tree), name
        assert "measure" in functions, name


def test_the_machine_is_described_without_its_name(monkeypatch):
    load("measuring", monkeypatch)
    runner = load("run", monkeypatch)
    text = " ".join(runner.machine())
    assert "cores" in text
    assert "numpy" in text
    assert runner.platform.node() not in text.split()
