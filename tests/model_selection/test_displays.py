"""The displays draw the numbers that they keep, and these are right."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import CountLikelihoodClassifier, bag_targets
from decorrupt.model_selection import (
    BagCalibrationDisplay,
    CalibrationBin,
    Leaderboard,
    LeaderboardDisplay,
    calibration_curve_from_proportions,
)

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
