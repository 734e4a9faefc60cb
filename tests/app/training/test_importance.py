"""The sample of held-out rows on which columns are shuffled."""

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.training import importance
from decorrupt.app.training.importance import permutation_importance
from decorrupt.corruption import Strata


class Recorder:
    """A model that notes the rows it is asked about; its score is the column `signal`."""

    def __init__(self):
        self.asked = []

    def decision_function(self, rows):
        self.asked.append(len(rows))
        self.first = rows if len(self.asked) == 1 else self.first
        return rows["signal"].to_numpy()

    def predict_proba(self, rows, class_prior):  # noqa: ARG002 — the scale is no matter
        positive = 1 / (1 + np.exp(-rows["signal"].to_numpy()))
        return np.column_stack([1 - positive, positive])


def data(n_bags, size, seed=0):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), size)
    labels = rng.random(len(bags)) < np.linspace(0.1, 0.9, n_bags)[bags]
    signal = rng.normal(size=len(bags)) + 3 * labels
    rows = pd.DataFrame({"signal": signal - 1.5, "row": np.arange(len(bags))})
    shares = np.bincount(bags, labels) / size
    return rows, Strata(np.arange(n_bags).astype(str), bags, shares)


def asked_rows(models):
    return [model.first["row"].to_numpy() for model in models]


@pytest.mark.parametrize(("n_bags", "size", "n_folds"), [(6, 1000, 5), (22, 400, 5), (3, 3000, 1)])
def test_every_fold_keeps_whole_bags(n_bags, size, n_folds):
    rows, strata = data(n_bags, size)
    models = [Recorder() for _ in range(n_folds)]
    tests = [np.flatnonzero(strata.row_stratum % n_folds == k) for k in range(n_folds)]
    found, criterion = permutation_importance(
        list(zip(models, tests, strict=True)), rows, strata, 0.5, counts=True
    )
    assert criterion == "count_log_likelihood"
    assert [row["column"] for row in found] == ["signal", "row"]
    n_taken = 0
    for asked, test in zip(asked_rows(models), tests, strict=True):
        assert len(asked)
        assert set(asked) <= set(test)
        assert (np.bincount(strata.row_stratum[asked]) % size == 0).all()
        n_taken += len(asked)
    # A bag per fold, or two of a single fold, may exceed the budget; more never does.
    assert n_taken <= max(importance.MOST_ROWS, max(2, n_folds) * size)


def test_bags_spread_over_the_folds_stay_whole():
    rows, strata = data(4, 2000)
    models = [Recorder() for _ in range(2)]
    tests = [np.flatnonzero(np.arange(8000) % 2 == k) for k in range(2)]
    permutation_importance(list(zip(models, tests, strict=True)), rows, strata, 0.5, counts=True)
    asked = np.concatenate(asked_rows(models))
    assert sorted(np.bincount(strata.row_stratum[asked], minlength=4)) == [0, 0, 2000, 2000]


def test_of_large_sources_rows_are_taken_and_every_stratum_stays():
    """Two strata of 5,000 rows each: a whole one would be all there is room for."""
    rows, strata = data(2, 5000)
    models = [Recorder() for _ in range(2)]
    tests = [np.flatnonzero(np.arange(10000) % 2 == k) for k in range(2)]
    found, _ = permutation_importance(
        list(zip(models, tests, strict=True)), rows, strata, 0.5, counts=False
    )
    asked = np.concatenate(asked_rows(models))
    assert len(asked) == importance.MOST_ROWS
    assert set(strata.row_stratum[asked]) == {0, 1}
    assert found[0]["column"] == "signal"
    assert found[0]["drop"] > 0.2


def test_few_rows_are_all_used():
    rows, strata = data(10, 20)
    models = [Recorder() for _ in range(2)]
    tests = [np.flatnonzero(strata.row_stratum % 2 == k) for k in range(2)]
    permutation_importance(list(zip(models, tests, strict=True)), rows, strata, 0.5, counts=True)
    assert sorted(np.concatenate(asked_rows(models))) == list(range(200))
