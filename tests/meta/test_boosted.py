"""Boosted trees on bags: gradients, conventions of both libraries, early stopping, saving."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from sklearn.metrics import balanced_accuracy_score

from decorrupt import (
    BoostedCountClassifier,
    LaplaceNoise,
    count_objective,
    label_posterior,
    load,
    save,
)
from decorrupt.meta.boosted import import_lightgbm
from decorrupt.observed import read_bags
from decorrupt.risks import count_log_likelihood

lightgbm = pytest.importorskip("lightgbm", reason="needs LightGBM, the extra 'boosting'")


def quick(**params):
    return BoostedCountClassifier(
        **{"n_estimators": 60, "cv": 3, "random_state": 0, "n_jobs": 1} | params
    )


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
    d = bag_data
    model = lightgbm.LGBMRegressor(
        objective=count_objective(d.y, d.bags), n_estimators=40, n_jobs=1, verbose=-1
    ).fit(d.X, d.y)
    raw = model.booster_.predict(d.X)  # predict of the class warns in LightGBM 4.6
    assert balanced_accuracy_score(d.labels, raw > 0) > 0.85
    observed = read_bags(d.y, d.bags)
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


def test_labels_are_lightgbms_own_binary_objective(bag_data):
    """Bags of one row: the gradients, and so the trees, are those of log loss."""
    d = bag_data
    ours = quick(early_stopping=False, n_estimators=10, subsample=1, colsample_bytree=1)
    ours.fit(d.X, d.labels)
    settings = ours.get_params() | {"verbose": -1, "min_data_in_bin": 1, "subsample_freq": 0}
    for name in ("cv", "decision", "count_noise", "early_stopping"):
        settings.pop(name)
    own = lightgbm.LGBMClassifier(**settings).fit(d.X, d.labels)
    expected = own.booster_.predict(d.X)
    assert_allclose(ours.predict_proba(d.X)[:, 1], expected, atol=1e-3)


def test_early_stopping_takes_the_best_round_on_held_out_bags(bag_data):
    d = bag_data
    model = quick(learning_rate=0.5, num_leaves=31, min_child_samples=5, n_estimators=150)
    model.fit(d.X, d.y, bags=d.bags)
    curve = model.held_out_log_likelihood_
    assert model.n_estimators_ == int(curve.argmax()) + 1 < 150
    assert len(curve) < 150  # it stopped
    assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.85
    refit = model.set_params(early_stopping=False, n_estimators=5).fit(d.X, d.y, bags=d.bags)
    assert refit.n_estimators_ == 5
    assert not hasattr(refit, "held_out_log_likelihood_")


def test_sources_and_several_classes(source_data):
    d = source_data
    model = quick(early_stopping=False).fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.88
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) + 3 * np.eye(3)[labels][:, :2]
    bags = np.arange(600) // 6
    y = pd.DataFrame(np.eye(3)[labels], columns=["a", "b", "c"]).groupby(bags).transform("mean")
    classes = quick(early_stopping=False).fit(X, y, bags=bags)
    assert (classes.predict(X) == np.array(["a", "b", "c"])[labels]).mean() > 0.85


def test_categories_text_and_missing_values(bag_data):
    d = bag_data
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"first [cm]": d.X[:, 0], "second": d.X[:, 1]})
    frame["colour"] = np.where(d.labels & (rng.random(600) < 0.8), "red", "blue")
    frame.loc[rng.random(600) < 0.2, "first [cm]"] = np.nan
    model = quick(early_stopping=False).fit(frame, d.y, bags=d.bags)
    expected = model.decision_function(frame)
    assert balanced_accuracy_score(d.labels, expected > 0) > 0.85
    # Categories keep their meaning in a table with other categories, in another order.
    part = frame[frame["colour"] == "red"]
    assert_allclose(model.decision_function(part), expected[(frame["colour"] == "red").to_numpy()])
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 — our own bytes
    assert_allclose(again.decision_function(frame), expected)


def test_a_model_file_contains_the_trees_as_text(bag_data, tmp_path):
    d = bag_data
    model = quick(early_stopping=False).fit(d.X, d.y, bags=d.bags)
    expected = model.decision_function(d.X)
    save(model, tmp_path / "model.skops")
    assert_allclose(load(tmp_path / "model.skops").decision_function(d.X), expected)
    assert model.model_text_.startswith("tree")


def test_without_lightgbm_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"decorrupt\[boosting\]"):
        import_lightgbm()


def test_rows_that_cannot_be_split_are_refused(bag_data):
    d = bag_data
    with pytest.raises(ValueError, match="no column of X varies"):
        quick().fit(np.zeros((len(d.y), 2)), d.y, bags=d.bags)
    dates = pd.DataFrame({"a": d.X[:, 0], "day": pd.Timestamp("2020-01-01")})
    with pytest.raises(ValueError, match="column 'day' of X contains dates"):
        quick().fit(dates, d.y, bags=d.bags)


def test_text_of_polars_frames_is_as_that_of_pandas(bag_data):
    d = bag_data
    town = np.where(d.X[:, 1] > 0, "A", "B")
    frame = pd.DataFrame({"a": d.X[:, 0], "town": town})
    scores = [
        quick(n_estimators=5).fit(X, d.y, bags=d.bags).decision_function(X)
        for X in (frame, pl.from_pandas(frame))
    ]
    assert_allclose(*scores)


@pytest.mark.parametrize("n_estimators", [1, 3])
def test_weight_m_is_the_row_repeated_m_times(n_estimators, bag_data):
    """Few values per column have the same bins; later trees differ more and more."""
    weights = np.random.default_rng(5).integers(1, 4, len(bag_data.y))
    X, bags, person = bag_data.X.round(1), bag_data.bags, np.repeat(np.arange(600), weights)
    y = (np.bincount(bags, weights * bag_data.labels) / np.bincount(bags, weights))[bags]
    params = {"n_estimators": n_estimators, "early_stopping": False, "subsample": 1.0}
    found = quick(**params).fit(X, y, bags=bags, sample_weight=weights)
    expected = quick(**params).fit(X[person], y[person], bags=bags[person])
    assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-6)
