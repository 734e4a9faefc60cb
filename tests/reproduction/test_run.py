"""Plans are run cell by cell, resumed after a kill, and failures become records."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.toy_methods import broken, constant
from reproduction import run as run_module
from reproduction.methods import METHODS, Fitted, Method, Task
from reproduction.plan import Cell, Plan
from reproduction.records import read_records
from reproduction.run import run_cell, run_plan
from reproduction.split import split_into_bags

PLAN = Plan(("toy",), (4, 8), ("supervised", "mean_map"), repetitions=2)


def toy(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    if name != "toy":
        raise OSError(f"{name}.csv.gz is not there")
    return SimpleNamespace(X=rng.normal(size=(300, 2)) + 2 * y[:, None], y=y)


@pytest.fixture(autouse=True)
def _toy_data(monkeypatch):
    monkeypatch.setattr(run_module, "read_uci", toy)


def test_every_cell_is_recorded_and_a_second_run_has_nothing_to_do(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    assert len(run_plan(PLAN, path)) == 8
    records = read_records(path)
    assert all(record["status"] == "done" for record in records)
    for key in ("balanced_accuracy", "accuracy", "params", "criterion", "seconds", "peak_mb"):
        assert all(key in record for record in records), key
    assert min(record["balanced_accuracy"] for record in records) > 0.7
    monkeypatch.setattr(run_module, "read_uci", None)  # no data are asked for
    assert run_plan(PLAN, path) == []
    text = path.read_text()
    assert str(tmp_path) not in text
    assert os.uname().nodename not in text


def test_a_failing_cell_is_a_record_with_its_error_and_is_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    monkeypatch.setitem(METHODS, "mean_map", Method(broken))
    monkeypatch.setitem(METHODS, "supervised", Method(constant))
    first = run_plan(PLAN, path)
    assert [record["status"] for record in first] == 4 * ["done", "ArithmeticError: no luck"]
    monkeypatch.setitem(METHODS, "mean_map", Method(constant))
    assert [record["method"] for record in run_plan(PLAN, path)] == 4 * ["mean_map"]


def test_other_files_are_not_added_to(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader,\n")
    with pytest.raises(ValueError, match=r"letter\.txt: no records"):
        run_plan(PLAN, path)
    assert path.read_text() == "Dear reader,\n"


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="unknown method 'magic': choose among supervised"):
        run_plan(Plan(("toy",), (4,), ("magic",), 1), "unused")


def test_only_the_ceilings_see_labels(monkeypatch):
    seen = {}

    def spy(name):
        def train(task: Task) -> Fitted:
            seen[name] = task
            return Fitted(SimpleNamespace(predict=lambda X: np.zeros(len(X))), {}, 0.0)

        return train

    for name, method in METHODS.items():
        monkeypatch.setitem(METHODS, name, Method(spy(name), method.sees_labels))
        run_cell(Cell("toy", 8, name, 0))
    for name, task in seen.items():
        if METHODS[name].sees_labels:
            assert name.startswith("supervised")
            assert task.bags is None
        else:
            for bag in np.unique(task.bags):
                assert np.ptp(task.y[task.bags == bag]) == 0
    X = [task.X for task in seen.values()]
    assert all(np.array_equal(X[0], other) for other in X), "all methods see the same rows"


def test_rows_that_fill_no_bag_are_counted():
    data = toy("toy")
    split, labels = split_into_bags(data.X, data.y, 7, 0.2, seed=1)
    assert split.n_left_out == 240 % 7
    assert len(labels) == len(split.y) == 240 - 240 % 7
    np.testing.assert_allclose(split.y[:7], labels[:7].mean())
    assert abs(split.X.mean(axis=0)).max() < 0.05
