"""Successive halving over configurations and bags."""

from dataclasses import replace

import numpy as np
import pytest

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.model_selection import halving
from decorrupt.model_selection.evaluation import Configuration
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.halving import promising, samples_of_bags
from decorrupt.model_selection.results import Result
from helpers.bags import rows_in_bags


def equal_bags(n_bags, size):
    return rows_in_bags(np.repeat(np.arange(n_bags), size), np.linspace(0, 1, n_bags))


def test_samples_are_nested_whole_bags_of_growing_size():
    data = equal_bags(2500, 8)
    samples = samples_of_bags(data, 0)
    assert [len(rows) for rows in samples] == [1024, 4096]
    assert np.isin(samples[0], samples[1]).all()
    for rows in samples:
        assert (np.bincount(data.row_bag[rows], minlength=2500) % 8 == 0).all()
        assert (np.diff(rows) > 0).all()


def test_few_rows_or_few_bags_are_not_sampled():
    assert samples_of_bags(equal_bags(250, 8), 0) == []
    assert samples_of_bags(equal_bags(60, 1000), 0) == []  # 40 bags are more than half of them


def result(method, by_bag, **params):
    by_bag, nothing = np.asarray(by_bag, dtype=float), np.empty(0)
    sizes = np.ones(len(by_bag), dtype=int)
    return Result(method, params, by_bag.mean(), 0.5, by_bag, sizes, np.ones(1), nothing, nothing)


def configurations():
    return [Configuration("count", None, {"kernel": k}, (0.1, 0.01)) for k in "abcd"]


def kept(results):
    return [one.params["kernel"] for one in promising(configurations(), results, 0)]


def test_a_clear_winner_leaves_two_and_a_tie_leaves_all():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=50)
    tied = [
        result("count", noise, kernel=kernel, reg_strength=value)
        for kernel in "dbca"  # in another order than the configurations
        for value in (0.1, 0.01)
    ]
    assert sorted(kept(tied)) == list("abcd")
    better = [result("count", noise + 1, kernel="c", reg_strength=0.1)]
    assert kept([*better, *tied])[0] == "c"
    assert len(kept([*better, *tied])) == 2


def test_criteria_without_weights_leave_the_better_half():
    results = [
        replace(result("count", [score], kernel=kernel, reg_strength=value), by_bag=None)
        for kernel, scores in {"a": (1, 2), "b": (9, 0), "c": (5, 4), "d": (3, 3)}.items()
        for score, value in zip(scores, (0.1, 0.01), strict=True)
    ]
    assert kept(results) == ["b", "c"]


def test_data_of_some_rows_have_the_same_folds():
    data = equal_bags(6, 2)
    folds = [(np.arange(4, 12), np.arange(4)), (np.arange(4), np.arange(4, 12))]
    X = np.arange(12.0)[:, None]
    taken = FoldedData(X, data, folds).take(np.array([2, 3, 8, 9]))
    assert taken.X.ravel().tolist() == [2, 3, 8, 9]
    assert taken.observed.proportions[:, 1] == pytest.approx([0.2, 0.8])
    (train, test), _ = taken.folds
    assert (train.tolist(), test.tolist()) == ([2, 3], [0, 1])


def test_the_choice_on_many_rows_compares_all_on_a_sample(monkeypatch):
    monkeypatch.setattr(halving, "FIRST_ROWS", 300)
    rng = np.random.default_rng(0)
    labels, bags = rng.integers(0, 2, 900), np.arange(900) // 5
    X = rng.normal(size=(900, 2)) + 2 * labels[:, None]
    y = (np.bincount(bags, labels) / 5)[bags]
    seen = []
    fit_feature_map = CountLikelihoodClassifier.fit_feature_map

    def counted(self, X, *kernel, **weights):
        seen.append((self.kernel, X.shape[0]))
        return fit_feature_map(self, X, *kernel, **weights)

    monkeypatch.setattr(CountLikelihoodClassifier, "fit_feature_map", counted)
    model = AutoLabelProportionsClassifier(
        kernels=("rbf", "linear", "knn", "pca_knn"),
        kernel_gammas=(1e-12,),  # sees no difference between rows
        reg_strengths=(1e-3,),
        candidates=["count_likelihood"],
        cv=3,
        check_assumptions=False,
        random_state=0,
    ).fit(X, y, bags=bags)
    assert {kernel for kernel, n_rows in seen if n_rows == 300} == set(model.kernels)
    left = {kernel for kernel, n_rows in seen if n_rows == 900}
    assert {row.params["kernel"] for row in model.leaderboard_} == left
    assert "linear" in left
    assert "rbf" not in left
    assert model.score(X, labels) > 0.85
    assert model.n_configurations_ == 4  # the sample excluded some
