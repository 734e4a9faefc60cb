"""The default rank: unchanged for few rows, and within the memory budget for many."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from decorrupt import CorrectedLossClassifier
from decorrupt.features import Kernel, budget_in_bytes, default_max_rank, fit_feature_map, maps
from decorrupt.features import memory_budget as module
from decorrupt.features.low_rank import largest_pivot_block
from oracles.dense_kernel import gram


def rows(n_rows, dtype=float):
    return np.random.default_rng(0).normal(size=(n_rows, 3)).astype(dtype)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1000, 1000), (2.5e9, 2.5e9), ("2GB", 2e9), ("500 mb", 5e8), ("1.5G", 1.5e9), ("7", 7)],
)
def test_budgets_in_bytes(given, expected):
    assert budget_in_bytes(given) == expected


@pytest.mark.parametrize("bad", [0, -5, "two", "2XB", "1.2.3GB", float("nan"), float("inf"), True])
def test_bad_budgets_are_refused(bad):
    with pytest.raises(ValueError, match=r"memory_budget=.*: give a number of bytes, a text"):
        budget_in_bytes(bad)
    with pytest.raises(ValueError, match="memory_budget="):
        CorrectedLossClassifier(kernel=Kernel(memory_budget=bad)).fit(rows(4), [0, 1, 0, 1])


def test_the_default_budget_is_a_quarter_of_the_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(module.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.get)
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(module, "CONTAINER_LIMIT", limit)
    assert budget_in_bytes(None) == 1_024_000
    limit.write_text("max\n")
    assert budget_in_bytes(None) == 1_024_000
    limit.write_text("2000000\n")
    assert budget_in_bytes(None) == 500_000
    monkeypatch.delattr(module.os, "sysconf")
    assert budget_in_bytes(None) == module.UNKNOWN_MEMORY / 4


def test_few_rows_have_the_rank_and_the_blocks_they_always_had():
    assert {default_max_rank(n) for n in (1, 500, 20_000)} == {2000}
    assert {largest_pivot_block(n) for n in (1, 500, 20_000)} == {256}
    ranks = [default_max_rank(n) for n in (20_001, 50_000, 200_000, 10**6, 10**7)]
    assert ranks == sorted(ranks, reverse=True)
    assert 4 * 200_000 * default_max_rank(200_000) < 0.81e9
    assert 4 * 10**6 * default_max_rank(10**6) < 2.5e9


def test_the_rank_follows_the_budget_and_the_error_is_reported(caplog):
    X, kernel = rows(300), Kernel("rbf", gamma=2.0)
    budget = 1.25 * 8 * 300 * 20
    with caplog.at_level(logging.WARNING, "decorrupt"):
        fitted = fit_feature_map(
            X, replace(kernel, rank_tol=1e-9, memory_budget=budget), random_state=0
        )
    assert fitted.rank == 20
    missing = 1 - np.sum(fitted.matrix**2) / 300
    assert fitted.error == pytest.approx(missing)
    assert "300 rows: the memory budget allows 20 kernel features instead of 2,000" in caplog.text
    chosen = fit_feature_map(X, replace(kernel, rank_tol=1e-9, max_rank=25, memory_budget=budget))
    assert chosen.rank == 25


def test_features_of_many_rows_are_in_single_precision(monkeypatch, caplog):
    monkeypatch.setattr(maps, "MANY_ROWS", 200)
    X, kernel = rows(300), Kernel("rbf", gamma=0.1)
    fitted = fit_feature_map(X, kernel, random_state=0)
    assert fitted.matrix.dtype == np.float32
    np.testing.assert_allclose(fitted.matrix @ fitted.matrix.T, gram(X, X, "rbf", 0.1), atol=0.05)
    assert fit_feature_map(X, replace(kernel, max_rank=9), random_state=0).matrix.dtype == float
    assert fit_feature_map(X, replace(kernel, rank_tol=0), random_state=0).matrix.dtype == float
    assert fit_feature_map(X[:200], kernel, random_state=0).matrix.dtype == float
    assert not caplog.text


def test_a_model_of_many_rows_predicts_as_one_in_double_precision(bag_data, monkeypatch):
    d = bag_data
    params = {"random_state": 0, "reg_strength": 0.01}
    double = CorrectedLossClassifier(**params).fit(d.X, d.y, bags=d.bags)
    monkeypatch.setattr(maps, "MANY_ROWS", 50)
    single = CorrectedLossClassifier(**params).fit(d.X, d.y, bags=d.bags)
    scores = single.decision_function(d.X)
    assert scores.dtype == float
    np.testing.assert_allclose(scores, double.decision_function(d.X), atol=0.05)


@pytest.mark.parametrize("block", [7, 299, 300])
def test_kernel_columns_in_blocks_of_rows(block, monkeypatch):
    X, kernel = rows(300), Kernel("laplacian", gamma=0.3)
    whole = fit_feature_map(X, replace(kernel, max_rank=12), random_state=0)
    monkeypatch.setattr(maps, "COLUMN_BLOCK_ROWS", block)
    blocked = fit_feature_map(X, replace(kernel, max_rank=12), random_state=0)
    np.testing.assert_allclose(blocked.matrix, whole.matrix, atol=1e-12)
