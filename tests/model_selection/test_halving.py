"""Successive halving over configurations and bags."""

from dataclasses import replace

import numpy as np
import pytest

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.model_selection import bag_folds, halving
from decorrupt.model_selection.evaluation import Configuration
from decorrupt.model_selection.folds import source_folds
from decorrupt.model_selection.halving import promising, samples_of_bags
from decorrupt.model_selection.results import Result
from decorrupt.observed import as_observed
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


# --- default folds


def test_whole_bags_are_held_out_where_there_are_enough():
    bags = np.repeat(np.arange(6), 5)
    folds = bag_folds(np.linspace(0, 1, 6)[bags], bags=bags, n_splits=3, random_state=0)
    assert len(folds) == 3
    for train, test in folds:
        assert not set(bags[train]) & set(bags[test])


def test_rows_of_every_bag_are_held_out_where_bags_are_few():
    bags = np.repeat([0, 1], 20)
    folds = bag_folds(np.array([0.2, 0.8])[bags], bags=bags, n_splits=4, random_state=0)
    assert len(folds) == 4
    assert all(len(set(bags[test])) == 2 for _, test in folds)


def test_too_few_rows_to_hold_any_out_are_said_to_be_too_few():
    with pytest.raises(ValueError, match="2 rows in 2 bags are too few"):
        bag_folds([0.2, 0.8], bags=["a", "b"])


def test_folds_of_sources_split_every_stratum():
    labels = np.repeat([0, 1], 10)
    noisy = as_observed(labels, noise_rates=(0.1, 0.1))
    for _, test in source_folds(noisy, 5, 0):
        assert np.bincount(labels[test]).tolist() == [2, 2]
    given = [(np.arange(10), np.arange(10, 20))]
    assert source_folds(noisy, given) == given
