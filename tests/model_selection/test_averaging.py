"""Weights of configurations, their mixture, and the final model of the automatic choice."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.base import clone

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.exceptions import OneClassWarning, WeakEvidenceWarning
from decorrupt.features.neighbours import diffusion_features
from decorrupt.losses import mix_scores, prior_scores
from decorrupt.model_selection import AveragedClassifier, BagScorer
from decorrupt.model_selection.averaging import bootstrap_weights, heaviest
from decorrupt.observed import Observed, class_columns

QUICK = {
    "kernels": ("linear", "rbf"),
    "kernel_gammas": ("scale",),
    "reg_strengths": (1e-2, 1e-4),
    "cv": 3,
    "check_assumptions": False,
    "random_state": 0,
}


def test_weights_are_the_mean_over_bootstrap_samples_of_bags():
    rng = np.random.default_rng(0)
    log_likelihoods = rng.normal(size=(3, 12))
    draws = 12 * rng.dirichlet(np.ones(12), 200_000)
    expected = softmax(draws @ log_likelihoods.T, axis=1).mean(axis=0)
    found = np.mean([bootstrap_weights(log_likelihoods, seed) for seed in range(40)], axis=0)
    assert found == pytest.approx(expected, abs=0.02)


@given(seed=st.integers(0, 2**16), n_configurations=st.integers(1, 6), n_bags=st.integers(1, 20))
def test_weights_sum_to_1_and_follow_the_order(seed, n_configurations, n_bags):
    log_likelihoods = 3 * np.random.default_rng(seed).normal(size=(n_configurations, n_bags))
    weights = bootstrap_weights(log_likelihoods, 0)
    assert weights.sum() == pytest.approx(1)
    order = np.random.default_rng(seed).permutation(n_configurations)
    assert bootstrap_weights(log_likelihoods[order], 0) == pytest.approx(weights[order])


def test_what_the_counts_do_not_tell_apart_has_equal_weights():
    rng = np.random.default_rng(0)
    same = rng.normal(size=20)
    weights = bootstrap_weights(np.array([same, same, same, same - 10]), 0)
    assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-9)


def test_a_configuration_that_failed_has_no_weight():
    log_likelihoods = np.array([[0.0, -1.0], [-np.inf, -np.inf], [0.0, -1.0]])
    assert bootstrap_weights(log_likelihoods, 0) == pytest.approx([0.5, 0, 0.5])


def test_the_heaviest_are_enough_and_at_most_eight():
    assert heaviest(np.array([0.001, 0.6, 0.394, 0.005])).tolist() == [1, 2]
    assert heaviest(np.full(20, 0.05)).tolist() == list(range(8))


@given(seed=st.integers(0, 2**16))
def test_mixtures_are_means_of_probabilities(seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3))
    scores = 5 * rng.normal(size=(3, 7))
    assert expit(mix_scores(scores, weights)) == pytest.approx(weights @ expit(scores))
    several = 5 * rng.normal(size=(3, 7, 4))
    expected = np.einsum("k,kic->ic", weights, softmax(several, axis=2))
    assert np.exp(mix_scores(several, weights)) == pytest.approx(expected)


def test_extreme_scores_stay_finite():
    assert mix_scores([np.array([800.0]), np.array([900.0])], np.array([0.5, 0.5])) == (
        pytest.approx(800 + np.log(2))
    )


def members():
    return [
        CountLikelihoodClassifier(kernel=kernel, reg_strength=reg_strength, random_state=0)
        for kernel, reg_strength in (("rbf", 1e-3), ("linear", 1e-3), ("rbf", 1e-4))
    ]


def test_the_average_is_that_of_its_members_fitted_alone(bag_data):
    d = bag_data
    weights, prior = np.array([2.0, 1.0, 1.0]), float(d.y.mean())
    model = AveragedClassifier(members(), weights, class_prior=prior).fit(d.X, d.y, bags=d.bags)
    alone = [one.fit(d.X, d.y, bags=d.bags).predict_proba(d.X) for one in members()]
    expected = np.einsum("k,kic->ic", weights / 4, alone)
    assert model.predict_proba(d.X) == pytest.approx(expected, abs=1e-5)
    assert model.class_prior_.tolist() == class_columns([prior])[0].tolist()
    threshold = expected[:, 1] > prior  # the balanced error
    assert (model.predict(d.X) == threshold).mean() > 0.995
    half = model.predict_proba(d.X, class_prior=0.5)[:, 1]
    odds = expected[:, 1] / expected[:, 0] * (1 - prior) / prior
    assert half == pytest.approx(odds / (1 + odds), abs=1e-5)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0, 1.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0]])
def test_weights_are_positive_and_one_per_member(bag_data, weights):
    d = bag_data
    with pytest.raises(ValueError, match="must be 3 positive numbers"):
        AveragedClassifier(members(), weights).fit(d.X, d.y, bags=d.bags)


@pytest.fixture(scope="module")
def average(bag_data):
    d = bag_data
    return AutoLabelProportionsClassifier(**QUICK).fit(d.X, d.y, bags=d.bags)


def test_the_choice_averages_its_heaviest_configurations(bag_data, average):
    d, model = bag_data, average
    assert model.weights_.sum() == pytest.approx(1)
    assert (np.diff(model.weights_) <= 0).all()
    assert 1 < len(model.estimators_) == len(model.weights_) <= 8
    prior = model.class_prior_
    alone = [one.predict_proba(d.X, class_prior=prior) for one in model.estimators_]
    expected = np.einsum("k,kic->ic", model.weights_, alone)
    assert model.predict_proba(d.X) == pytest.approx(expected)
    assert sum(row.weight for row in model.leaderboard_) == pytest.approx(1)
    assert model.estimators_[0].get_params()["kernel"] == model.best_params_["kernel"]


def test_the_gain_is_that_of_the_held_out_scores(bag_data, average):
    d, model = bag_data, average
    observed, scorer = Observed.from_bags(d.y, d.bags), BagScorer("count_log_likelihood")
    prior = prior_scores(model.class_prior_)
    own = scorer.by_bag(model.held_out_scores_ - prior, observed) @ observed.sizes
    constant = scorer.by_bag(np.zeros(len(d.y)), observed) @ observed.sizes
    assert model.held_out_gain_ == pytest.approx(own - constant)
    assert model.held_out_gain_ > 50
    assert "clearly show that the model is better than guessing" in str(model.leaderboard_)


@pytest.mark.parametrize("ensemble", ["average", "best"])
def test_the_graph_of_nearest_rows_is_made_once(bag_data, monkeypatch, ensemble):
    d, calls = bag_data, []

    def counted(X):
        calls.append(len(X))
        return diffusion_features(X)

    monkeypatch.setattr("decorrupt.features.maps.diffusion_features", counted)
    options = QUICK | {"kernels": ("knn",), "ensemble": ensemble}
    model = AutoLabelProportionsClassifier(**options).fit(d.X, d.y, bags=d.bags)
    assert calls == [600]  # for two methods, all folds and the refit
    monkeypatch.undo()
    alone = [clone(one).fit(d.X, d.y, bags=d.bags) for one in model.estimators_]
    for one, other in zip(model.estimators_, alone, strict=True):
        assert one.predict_proba(d.X) == pytest.approx(other.predict_proba(d.X))


def test_the_average_knows_the_names_of_columns(bag_data, average):
    """Predictions for a data frame emit no warning, which would be an error here."""
    d = bag_data
    frame = pd.DataFrame(d.X).add_prefix("column ")
    model = AutoLabelProportionsClassifier(**QUICK).fit(frame, d.y, bags=d.bags)
    assert model.predict_proba(frame) == pytest.approx(average.predict_proba(d.X), abs=1e-6)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.add_suffix("?"))


def test_bags_that_say_nothing_are_called_weak():
    rng = np.random.default_rng(1)
    X, bags = rng.normal(size=(200, 3)), np.arange(200) // 10
    y = (rng.binomial(10, 0.4, 20) / 10)[bags]
    with pytest.warns(WeakEvidenceWarning, match="do not show"):
        model = AutoLabelProportionsClassifier(**QUICK).fit(X, y, bags=bags)
    assert model.held_out_gain_ < 5


def test_the_number_of_jobs_changes_nothing(bag_data, average):
    d = bag_data
    two = AutoLabelProportionsClassifier(n_jobs=2, **QUICK).fit(d.X, d.y, bags=d.bags)
    # Up to rounding: products of matrices depend on how memory is aligned.
    assert average.predict_proba(d.X) == pytest.approx(two.predict_proba(d.X), abs=1e-5)
    assert average.weights_ == pytest.approx(two.weights_, abs=1e-5)


def test_other_criteria_choose_one_configuration(bag_data):
    d = bag_data
    model = AutoLabelProportionsClassifier(scoring="proportion_risk", **QUICK)
    with pytest.raises(ValueError, match="set ensemble='best'"):
        model.fit(d.X, d.y, bags=d.bags)


def test_an_average_that_predicts_one_class_is_noted():
    rng = np.random.default_rng(0)
    X, bags = rng.normal(size=(200, 2)), np.arange(200) // 10
    y = np.bincount(bags, X[:, 0] + rng.normal(size=200) > 0)[bags] / 10
    member = CountLikelihoodClassifier(kernel="linear", reg_strength=1.0)
    average = AveragedClassifier([member], [1.0], class_prior=0.01, decision="accuracy")
    with pytest.warns(OneClassWarning, match="predicts class 0 for all 200"):
        average.fit(X, y, bags=bags)
