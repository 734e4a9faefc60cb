"""The automatic choice."""

import numpy as np
import pytest

from decorrupt import AutoLabelProportionsClassifier, MeanMapClassifier
from decorrupt.model_selection import WithinBagKFold
from decorrupt.model_selection.auto import DEFAULT_KERNELS
from decorrupt.model_selection.candidates import CANDIDATES
from decorrupt.model_selection.grids import reg_strength_scale

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::decorrupt.exceptions.NegativeRiskWarning",
        "ignore::decorrupt.exceptions.DroppedBagsWarning",
    ),
]
QUICK = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 3, "random_state": 0}


def test_chooses_a_good_model_and_says_how(bag_data):
    d = bag_data
    model = AutoLabelProportionsClassifier(**QUICK).fit(d.X, d.y, bags=d.bags)
    assert model.score(d.X, d.labels) > 0.88
    rows = list(model.leaderboard_)
    kernels = {row.params["kernel"] for row in rows}
    assert kernels == set(DEFAULT_KERNELS) - {"pca8_rbf"}  # two columns: the same as pca_rbf
    weights = [row.weight for row in rows]
    assert weights == sorted(weights, reverse=True)
    assert rows[0].chosen
    assert {row.method for row in rows} == {"mean_map", "count_likelihood"}
    assert "± std error" in str(model.leaderboard_)
    assert model.predict_proba(d.X).mean(axis=0)[1] == pytest.approx(d.y.mean(), abs=0.05)


def test_every_method_can_be_named(bag_data):
    d = bag_data
    names = set(CANDIDATES)
    model = AutoLabelProportionsClassifier(
        candidates=sorted(names), check_assumptions=False, **QUICK
    )
    model.fit(d.X, d.y, bags=d.bags)
    assert {row.method for row in model.leaderboard_} == names
    assert sum(row.weight for row in model.leaderboard_) == pytest.approx(1)
    assert model.score(d.X, d.labels) > 0.88


def test_kernels_are_tried_in_named_methods_only(bag_data):
    d = bag_data
    model = AutoLabelProportionsClassifier(
        candidates=["mean_map", ("own", MeanMapClassifier(kernel="linear"))],
        kernels=["linear"],
        ensemble="best",
        **QUICK,
    ).fit(d.X, d.y, bags=d.bags)
    named, own = sorted(model.leaderboard_)
    assert named.params["kernel"] == "linear"
    assert own.params.keys() == {"reg_strength"}
    assert named.score == pytest.approx(own.score)
    assert model.best_estimator_.kernel == "linear"
    assert model.best_estimator_.coef_.shape == (d.X.shape[1],)


def test_the_kernel_that_predicts_bags_better_wins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    bags = np.arange(1200) // 6
    for labels, kernel in ((X.sum(axis=1) > 0, "linear"), ((X**2).sum(axis=1) > 1.4, "rbf")):
        y = (np.bincount(bags, labels) / 6)[bags]
        model = AutoLabelProportionsClassifier(candidates=["count_likelihood"], random_state=0)
        model.fit(X, y, bags=bags)
        assert model.best_params_["kernel"].endswith(kernel)  # rbf, or on components
        assert model.score(X, labels) > 0.95


@pytest.mark.parametrize(
    ("n_rows", "scale"), [(10, 1), (9_999, 1), (10_000, 0.1), (99_999, 0.1), (100_000, 0.01)]
)
def test_the_default_penalties_fall_with_the_number_of_rows(n_rows, scale):
    assert reg_strength_scale(n_rows) == pytest.approx(scale)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"candidates": "all"}, "candidates='all' must be a list of one or more values"),
        ({"candidates": ["svm"]}, "unknown candidate 'svm'.*mean_map"),
        ({"candidates": []}, r"candidates=\[\] must be a list"),
        ({"candidates": [MeanMapClassifier(), MeanMapClassifier()]}, "different methods"),
        ({"ensemble": "vote"}, "unknown ensemble 'vote': choose one of average, best"),
        ({"kernels": "linear"}, "kernels='linear' must be a list of one or more values"),
        ({"kernels": []}, r"kernels=\[\] must be a list"),
        ({"kernels": ["gauss"]}, "unknown kernel 'gauss'.*linear"),
        ({"kernel_gammas": "scale"}, "kernel_gammas='scale' must be a list"),
        ({"reg_strengths": ()}, r"reg_strengths=\(\) must be a list"),
    ],
)
def test_messages(bag_data, params, message):
    with pytest.raises(ValueError, match=message):
        AutoLabelProportionsClassifier(**params).fit(bag_data.X, bag_data.y, bags=bag_data.bags)


def test_two_bags_are_split_by_rows():
    rng = np.random.default_rng(0)
    bags = np.repeat([0, 1], 60)
    y = np.array([0.2, 0.8])[bags]
    labels = np.concatenate([np.arange(60) < 12, np.arange(60) < 48])
    X = rng.normal(size=(120, 2)) + 2 * labels[:, None]
    model = AutoLabelProportionsClassifier(kernels=("linear",), random_state=0)
    with pytest.raises(ValueError, match=r"split inside the bags with cv=WithinBagKFold\(\)"):
        model.fit(X, y, bags=bags)
    model.set_params(cv=WithinBagKFold()).fit(X, y, bags=bags)
    assert model.score(X, labels.astype(int)) > 0.85
