import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt import AutoLabelProportionsClassifier
from decorrupt.model_selection import group_rate_accuracy


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
