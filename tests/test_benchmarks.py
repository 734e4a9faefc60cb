"""The scheme of the benchmarks: bars, exponents, records, and scripts that all follow it."""

import ast
import importlib.util
import sys
from pathlib import Path

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
    ("value", "bars", "quick", "is_met"),
    [
        (1.2, {"at_most": 1.2}, False, True),
        (1.3, {"at_most": 1.2}, False, False),
        (1.79, {"at_most": 1.2}, True, True),
        (1.9, {"at_most": 1.2}, True, False),
        (1.9, {"at_most": 1.2, "quick_limit": 2.0}, True, True),
        (7.9, {"at_least": 12.0}, True, False),
        (5.0, {"at_least": 12.0, "quick_limit": 5.0}, True, True),
        (float("nan"), {"at_most": 1.2}, True, False),
    ],
)
def test_a_figure_is_judged_by_its_bar(measuring, value, bars, quick, is_met):
    assert measuring.Figure("a / b", value, **bars).is_met(quick=quick) is is_met


def test_records_are_run_once_and_refusals_are_kept(monkeypatch, tmp_path):
    records = load("records", monkeypatch)
    path, called = tmp_path / "records.jsonl", []

    def run(method):
        called.append(method)
        if method == "c":
            raise ValueError("too few bags")
        return {"accuracy": 0.5} if method == "a" else [{"accuracy": 0.1}, {"accuracy": 0.2}]

    cells = [{"method": method} for method in "abc"]
    for _ in range(2):
        records.complete(path, cells, run)
    assert called == ["a", "b", "c"]
    assert records.read(path) == [
        {"method": "a", "accuracy": 0.5},
        {"method": "b", "accuracy": 0.1},
        {"method": "b", "accuracy": 0.2},
        {"method": "c", "refused": "too few bags"},
    ]


def test_means_are_over_the_splits_that_all_methods_have(monkeypatch):
    records = load("records", monkeypatch)
    rows = [("a", 0, 0.5), ("a", 1, 0.7), ("b", 1, 0.9), ("c", 1, None)]
    found = [{"method": m, "split": k, "accuracy": value} for m, k, value in rows]
    assert records.common_means(found, "accuracy", "ab") == [1, 0.7, 0.9]
    assert records.common_means(found, "accuracy", "a") == [2, 0.6]
    assert records.common_means(found, "accuracy", "ac") == [1, 0.7, "—"]
    assert records.common_means(found, "accuracy", "ad") is None


def test_every_script_has_a_description_and_measures(monkeypatch):
    load("measuring", monkeypatch)
    runner = load("run", monkeypatch)
    assert set(runner.QUICK) < set(runner.names())
    for name in runner.names():
        tree = ast.parse((FOLDER / f"bench_{name}.py").read_text())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert ast.get_docstring(tree), name
        assert "measure" in functions, name
