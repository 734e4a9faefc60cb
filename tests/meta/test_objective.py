"""The count likelihood as an objective: gradients, and the conventions of both libraries."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from sklearn.metrics import balanced_accuracy_score

from decorrupt import (
    LaplaceNoise,
    count_objective,
    label_posterior,
)
from decorrupt.observed import Observed
from decorrupt.risks import count_log_likelihood


@pytest.mark.parametrize("kind", ["exact", "range", "noise"])
def test_gradients_are_those_of_the_log_likelihood(kind, bag_data):
    rows = slice(0, 60)
    y, bags = bag_data.y[rows], bag_data.bags[rows]
    upper = np.minimum(y + 0.2, 1) if kind == "range" else None
    noise = LaplaceNoise(1.5) if kind == "noise" else None
    scores = np.random.default_rng(0).normal(size=60)
    objective = count_objective(y, bags, upper=upper, count_noise=noise)
    gradient, hessian = objective(y, scores)
    assert_allclose(hessian, expit(scores) * expit(-scores))

    def loss(f):
        found = label_posterior(expit(f), y, bags=bags, upper=upper, count_noise=noise)
        return -found.log_likelihood.sum()

    step = 1e-5 * np.eye(60)
    numeric = [(loss(scores + e) - loss(scores - e)) / 2e-5 for e in step]
    assert_allclose(gradient, numeric, atol=1e-6)


def test_several_classes_in_both_layouts():
    rng = np.random.default_rng(1)
    shares = np.repeat(rng.multinomial(5, [0.2, 0.3, 0.5], size=8) / 5, 5, axis=0)
    bags, scores = np.repeat(np.arange(8), 5), rng.normal(size=(40, 3))
    objective = count_objective(shares, bags)
    gradient, hessian = objective(None, scores)
    prob = softmax(scores, axis=1)
    expected = prob - label_posterior(prob, shares, bags=bags).posterior
    assert_allclose(gradient, expected, atol=1e-12)
    assert_allclose(hessian, prob * (1 - prob))
    flat, _ = objective(None, scores.ravel(order="F"))
    assert_allclose(flat.reshape(40, 3, order="F"), gradient)


def test_the_objective_is_for_its_own_rows():
    with pytest.raises(ValueError, match=r"made for 3 rows and got 2 scores"):
        count_objective([0.5, 0.5, 1], [0, 0, 1])(None, np.zeros(2))


def test_lightgbms_own_class_takes_the_objective(bag_data):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    d = bag_data
    model = lightgbm.LGBMRegressor(
        objective=count_objective(d.y, d.bags), n_estimators=40, n_jobs=1, verbose=-1
    ).fit(d.X, d.y)
    raw = model.booster_.predict(d.X)  # predict of the class warns in LightGBM 4.6
    assert balanced_accuracy_score(d.labels, raw > 0) > 0.85
    observed = Observed.from_bags(d.y, d.bags)
    before = count_log_likelihood(np.full(600, d.y.mean()), observed).sum()
    assert count_log_likelihood(expit(raw), observed).sum() > before + 50


def test_xgboosts_own_class_takes_the_objective(bag_data):
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    d = bag_data
    model = xgboost.XGBRegressor(
        objective=count_objective(d.y, d.bags), n_estimators=40, base_score=0.0, n_jobs=1
    ).fit(d.X, d.y)
    raw = model.predict(d.X, output_margin=True)
    assert balanced_accuracy_score(d.labels, raw > 0) > 0.85
