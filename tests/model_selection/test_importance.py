"""The sample of held-out rows on which columns are shuffled."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from decorrupt import AutoLabelProportionsClassifier, AutoSourcesClassifier, MeanMapClassifier
from decorrupt.model_selection import bag_folds, bag_permutation_importance, fold_models
from decorrupt.model_selection.folds import source_folds
from decorrupt.observed import Observed
from helpers.bags import rows_in_bags

MAX_ROWS = 4000


class Recorder:
    """A model that notes the rows it is asked about; its score is the column `signal`."""

    first = None

    def decision_function(self, rows):
        self.first = rows if self.first is None else self.first
        return rows["signal"].to_numpy()

    def predict_proba(self, rows):
        self.first = rows if self.first is None else self.first
        positive = 1 / (1 + np.exp(-rows["signal"].to_numpy()))
        return np.column_stack([1 - positive, positive])


def data(n_bags, size, seed=0):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), size)
    labels = rng.random(len(bags)) < np.linspace(0.1, 0.9, n_bags)[bags]
    signal = rng.normal(size=len(bags)) + 3 * labels
    rows = pd.DataFrame({"signal": signal - 1.5, "row": np.arange(len(bags))})
    shares = np.bincount(bags, labels) / size
    return rows, rows_in_bags(bags, shares)


def importance(models, tests, rows, observed, **options):
    models = list(zip(models, tests, strict=True))
    y, bags = observed.row_proportions[:, 1], observed.row_bag
    return bag_permutation_importance(models, rows, y, bags=bags, max_rows=MAX_ROWS, **options)


def asked_rows(models):
    return [model.first["row"].to_numpy() for model in models]


@pytest.mark.parametrize(("n_bags", "size", "n_folds"), [(6, 1000, 5), (22, 400, 5), (3, 3000, 1)])
def test_every_fold_keeps_whole_bags(n_bags, size, n_folds):
    rows, observed = data(n_bags, size)
    models = [Recorder() for _ in range(n_folds)]
    tests = [np.flatnonzero(observed.row_bag % n_folds == k) for k in range(n_folds)]
    found = importance(models, tests, rows, observed)
    assert [one.column for one in found] == ["signal", "row"]
    n_taken = 0
    for asked, test in zip(asked_rows(models), tests, strict=True):
        assert len(asked)
        assert set(asked) <= set(test)
        assert (np.bincount(observed.row_bag[asked]) % size == 0).all()
        n_taken += len(asked)
    # A bag per fold, or two of a single fold, may exceed the budget; more never does.
    assert n_taken <= max(MAX_ROWS, max(2, n_folds) * size)


def test_bags_spread_over_the_folds_stay_whole():
    rows, observed = data(4, 2000)
    models = [Recorder() for _ in range(2)]
    tests = [np.flatnonzero(np.arange(8000) % 2 == k) for k in range(2)]
    importance(models, tests, rows, observed)
    asked = np.concatenate(asked_rows(models))
    assert sorted(np.bincount(observed.row_bag[asked], minlength=4)) == [0, 0, 2000, 2000]


def test_of_large_sources_rows_are_taken_and_every_stratum_stays():
    """Two strata of 5,000 rows each: a whole one would be all there is room for."""
    rows, observed = data(2, 5000)
    models = [Recorder() for _ in range(2)]
    tests = [np.flatnonzero(np.arange(10000) % 2 == k) for k in range(2)]
    found = importance(models, tests, rows, observed, scoring="corrected_accuracy")
    asked = np.concatenate(asked_rows(models))
    assert len(asked) == MAX_ROWS
    assert set(observed.row_bag[asked]) == {0, 1}
    assert found[0].column == "signal"
    assert found[0].drop > 0.2


def test_few_rows_are_all_used():
    rows, observed = data(10, 20)
    models = [Recorder() for _ in range(2)]
    tests = [np.flatnonzero(observed.row_bag % 2 == k) for k in range(2)]
    importance(models, tests, rows, observed)
    assert sorted(np.concatenate(asked_rows(models))) == list(range(200))


def test_arrays_give_what_frames_give():
    rows, observed = data(10, 20)
    rows["row"] %= 7  # which tells nothing
    y, bags = observed.row_proportions[:, 1], observed.row_bag
    found = []
    for X in (rows, rows.to_numpy()):
        model = MeanMapClassifier(kernel="linear", reg_strength=0.1).fit(X, y, bags=bags)
        found.append(bag_permutation_importance(model, X, y, bags=bags))
    in_frame, in_array = found
    assert [rows.columns[one.column] for one in in_array] == [one.column for one in in_frame]
    drops = [[one[1:] for one in columns] for columns in found]
    np.testing.assert_allclose(*drops)


def test_rows_are_shuffled_in_a_copy():
    rows, observed = data(10, 20)
    before = rows.copy()
    importance([Recorder()], [np.arange(200)], rows, observed)
    pd.testing.assert_frame_equal(rows, before)


@pytest.mark.parametrize("candidates", [None, ["corrected_loss"]], ids=["default", "calibrated"])
def test_the_heaviest_member_is_refitted_on_folds(bag_data, candidates):
    d = bag_data
    options = {"kernels": ("linear",), "cv": 3, "check_assumptions": False, "random_state": 0}
    search = AutoLabelProportionsClassifier(candidates=candidates, **options)
    search.fit(d.X, d.y, bags=d.bags)
    observed = Observed.from_bags(d.y, d.bags)
    folds = bag_folds(observed, n_splits=3, random_state=0)
    models = fold_models(search.estimators_[0], d.X, observed, folds)
    assert [rows.tolist() for _, rows in models] == [test.tolist() for _, test in folds]
    for (model, _), (train, test) in zip(models, folds, strict=True):
        alone = clone(search.estimators_[0]).fit(d.X[train], d.y[train], bags=d.bags[train])
        np.testing.assert_allclose(
            model.decision_function(d.X[test]), alone.decision_function(d.X[test])
        )
    found = bag_permutation_importance(models, d.X, observed)
    assert all(one.drop > 0 for one in found)


def test_the_heaviest_member_of_sources_is_refitted_on_folds(source_data):
    d = source_data
    search = AutoSourcesClassifier(kernels=("linear",), cv=3, random_state=0)
    search.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    noisy = Observed.from_sources(d.noisy, d.sources, d.rates)
    models = fold_models(search.estimators_[0], d.X, noisy, source_folds(noisy, 3, 0))
    assert len(models) == 3
    assert all(model.score(d.X[rows], d.labels[rows]) > 0.8 for model, rows in models)
