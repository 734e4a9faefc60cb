"""The leaderboard, and the displays: they draw the numbers that they keep, and these are right."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier, bag_targets
from decorrupt.model_selection import (
    BagCalibrationDisplay,
    CalibrationBin,
    Leaderboard,
    LeaderboardDisplay,
    calibration_curve_from_proportions,
    group_rate_accuracy,
)
from decorrupt.model_selection.leaderboard import LeaderboardRow, choose
from decorrupt.model_selection.results import Result

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="module")
def model(bag_data):
    return CountLikelihoodClassifier(kernel="linear").fit(
        bag_data.X, bag_data.y, bags=bag_data.bags
    )


def test_the_curve_is_that_of_the_function(bag_data, model):
    data = bag_data
    options = {"bags": data.bags, "n_bins": 4}
    display = BagCalibrationDisplay.from_estimator(model, data.X, data.y, **options)
    chances = model.predict_proba(data.X, class_prior=data.y.mean())[:, 1]
    assert display.bins == calibration_curve_from_proportions(data.y, chances, **options)
    points = display.ax_.containers[0].lines[0]
    np.testing.assert_allclose(
        points.get_xdata(orig=False), [one.predicted for one in display.bins]
    )
    np.testing.assert_allclose(points.get_ydata(orig=False), [one.share for one in display.bins])


def test_bars_are_two_standard_errors():
    (ax,) = mpl.pyplot.figure().subplots(squeeze=False).ravel()
    display = BagCalibrationDisplay([CalibrationBin(0, 1, 9, 0.4, 0.5, 0.1)]).plot(ax)
    assert display.figure_ is ax.figure
    (bar,) = ax.collections[0].get_segments()
    np.testing.assert_allclose(bar, [[0.4, 0.3], [0.4, 0.7]])


def test_three_classes_in_a_pipeline_and_names_with_dollars():
    rng = np.random.default_rng(0)
    votes = rng.choice(["$a$", "b$", "c"], 240)
    bags = np.arange(240) // 12
    X = rng.normal(size=(240, 3)) + 3 * pd.get_dummies(votes).to_numpy()
    y = bag_targets(bags, pd.crosstab(bags, votes, normalize="index"))
    model = make_pipeline(StandardScaler(), CountLikelihoodClassifier(kernel="linear"))
    model.fit(X, y, countlikelihoodclassifier__bags=bags)
    display = BagCalibrationDisplay.from_estimator(model, X, y, bags=bags, label="b$")
    display.figure_.canvas.draw()  # would read b$ as mathematics
    assert display.ax_.get_ylabel() == "share of b$"
    with pytest.raises(ValueError, match="'red' is not a class of the model"):
        BagCalibrationDisplay.from_estimator(model, X, y, bags=bags, label="red")


def test_the_leaderboard_is_drawn_with_its_baseline():
    row = {"method": "a", "params": {"kernel": "rbf"}, "score": -1.0, "std_error": 0.25}
    row |= {"seconds": 1.0, "chosen": True, "weight": 1.0}
    other = row | {"method": "b", "params": {}, "score": -2.0, "chosen": False, "weight": 0.0}
    baselines = [{"method": "group_rate", "balanced_accuracy": 0.5}]
    baselines.append({"method": "constant", "score": -3.0, "std_error": 0.1})
    search = type("Search", (), {"leaderboard_": Leaderboard([row, other], baselines=baselines)})
    ax = LeaderboardDisplay.from_estimator(search).ax_
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a kernel=rbf", "b"]
    bars, chosen, rest = ax.collections
    np.testing.assert_allclose(bars.get_segments()[0], [[-1.25, 0], [-0.75, 0]])
    np.testing.assert_allclose(chosen.get_offsets(), [[-1.0, 0]])
    np.testing.assert_allclose(rest.get_offsets(), [[-2.0, 1]])
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), -3.0)
    assert len(LeaderboardDisplay.from_estimator(search, n_rows=1).names) == 1


# --- the leaderboard is a table


def result(method, score, **params):
    nothing = np.empty(0)
    return Result(method, params, score, 0.5, None, nothing, np.array([1.0, 2.0]), nothing, nothing)


def test_rows_are_kernels_at_their_best_the_heaviest_first():
    results = [
        result("a", 1.0, C=1, reg_strength=0.1),
        result("a", 2.0, C=1, reg_strength=0.2),
        result("b", 3.0),
        result("a", 0.0, C=2),
    ]
    table = Leaderboard.of(results, [0.1, 0.2, 0.65, 0.05], [results[2], results[1]])
    assert len(table) == 3
    assert list(table) == [
        LeaderboardRow("b", {}, 3.0, 0.5, 3.0, True, 0.65),
        LeaderboardRow("a", {"C": 1, "reg_strength": 0.2}, 2.0, 0.5, 6.0, True, 0.1 + 0.2),
        LeaderboardRow("a", {"C": 2}, 0.0, 0.5, 3.0, False, 0.05),
    ]
    assert table[1].params["C"] == 1
    assert table[-1] == table[2]
    expected = pd.DataFrame(list(table), columns=LeaderboardRow._fields)
    pd.testing.assert_frame_equal(table.to_frame(), expected)
    head, best, _, other, rule = str(table).splitlines()
    assert head.split()[:3] == ["method", "weight", "score"]
    assert best.startswith("* b ")
    assert other.endswith("C=2")
    assert rule.startswith("* part of the model")


def test_the_best_score_is_chosen_of_equal_ones_the_first():
    results = [result("a", 1.0), result("b", 1.4), result("c", 1.4)]
    assert choose(results).method == "b"


# --- baselines


def test_group_rate_accuracy_is_that_of_its_predictions():
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(30), 20)
    labels = rng.random(600) < rng.random(30)[bags]
    y = (np.bincount(bags, labels) / 20)[bags]
    expected = balanced_accuracy_score(labels, y > labels.mean())
    assert group_rate_accuracy(y, bags=bags) == pytest.approx(expected)


def test_group_rate_accuracy_of_three_classes():
    # Bag 0 has both rows of class 0; the others are shared equally by two bags.
    shares = np.repeat([[0.5, 0.25, 0.25], [0, 0.5, 0.5]], 4, axis=0)
    assert group_rate_accuracy(shares, bags=[0] * 4 + [1] * 4) == pytest.approx((1 + 2 / 3) / 3)


def test_baselines_are_on_the_leaderboard(bag_data):
    d = bag_data
    options = {"kernels": ("linear",), "reg_strengths": (0.01,), "check_assumptions": False}
    model = AutoLabelProportionsClassifier(random_state=0, **options).fit(d.X, d.y, bags=d.bags)
    constant, own = model.leaderboard_.baselines
    assert constant["method"] == "constant"
    assert constant["score"] < model.leaderboard_[0].score
    assert own == {
        "method": "group_rate",
        "balanced_accuracy": group_rate_accuracy(d.y, bags=d.bags),
    }
    assert "baseline constant: score" in str(model.leaderboard_)
    assert "clearly show that the model is better than guessing" in model.leaderboard_.notes[-1]
