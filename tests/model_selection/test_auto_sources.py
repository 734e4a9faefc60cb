"""The automatic choice for noisy labels of several sources."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone

from decorrupt import AutoSourcesClassifier
from decorrupt.corruption import corrupt_labels
from decorrupt.exceptions import WeakEvidenceWarning
from decorrupt.model_selection.auto_sources import SOURCE_CANDIDATES
from decorrupt.model_selection.folds import source_folds
from decorrupt.observed import as_observed
from helpers.class_sources import RATES as THREE_CLASS_RATES
from helpers.class_sources import three_classes

QUICK = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 3, "random_state": 0}
RATES = {"nurse": (0.05, 0.1), "rule": (0.3, 0.2)}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    sources = np.where(np.arange(400) < 200, "nurse", "rule")
    noisy = corrupt_labels(labels, [RATES[source] for source in sources], random_state=0)
    return X, noisy, sources, labels


@pytest.fixture(scope="module")
def fitted(data):
    X, noisy, sources, _ = data
    return AutoSourcesClassifier(**QUICK).fit(X, noisy, sources=sources, noise_rates=RATES)


def test_averages_good_models_and_shows_how(data, fitted):
    X, _, _, labels = data
    assert fitted.score(X, labels) > 0.9
    assert {row.method for row in fitted.leaderboard_} == set(SOURCE_CANDIDATES)
    assert sum(row.weight for row in fitted.leaderboard_) == pytest.approx(1)
    assert fitted.leaderboard_[0].chosen
    assert fitted.weights_.sum() == pytest.approx(1)
    assert len(fitted.weights_) == len(fitted.estimators_) > 1
    assert fitted.noise_rates_ == RATES
    assert fitted.predict_proba(X).mean(axis=0)[1] == pytest.approx(labels.mean(), abs=0.05)


def test_probabilities_are_the_weighted_mean(data, fitted):
    X = data[0]
    prior = fitted.class_prior_
    members = [member.predict_proba(X, class_prior=prior) for member in fitted.estimators_]
    assert_allclose(fitted.predict_proba(X), np.tensordot(fitted.weights_, members, 1), rtol=1e-9)


def test_the_best_alone(data, fitted):
    X, noisy, sources, _ = data
    best = clone(fitted).set_params(ensemble="best")
    best.fit(X, noisy, sources=sources, noise_rates=RATES)
    top = max(best.leaderboard_, key=lambda row: row.score)
    assert (best.best_method_, best.best_params_) == (top.method, top.params)
    assert best.best_estimator_.get_params().items() >= top.params.items()
    assert best.weights_.tolist() == [1.0]


def noisy_log_likelihood(probabilities, noisy, matrices):
    """Return log Σ_y P(y|x)·T[y, ỹ] of every row, as a plain sum."""
    return np.array(
        [
            np.log(sum(p * matrix[c, seen] for c, p in enumerate(row)))
            for row, seen, matrix in zip(probabilities, noisy, matrices, strict=True)
        ]
    )


def test_scores_are_likelihoods_of_held_out_labels(data):
    X, noisy, sources, _ = data
    search = AutoSourcesClassifier(
        **QUICK | {"candidates": ["forward"], "kernels": ["rbf"], "reg_strengths": [0.01]}
    )
    search.fit(X, noisy, sources=sources, noise_rates=RATES)
    known = as_observed(noisy, sources=sources, noise_rates=RATES)
    pairs = np.array([RATES[source] for source in sources])
    matrices = np.array([[[1 - neg, neg], [pos, 1 - pos]] for pos, neg in pairs])
    found = np.empty(len(noisy))
    for train, test in source_folds(known, 3, 0):
        model = clone(search.best_estimator_)
        model.fit(X[train], noisy[train], sources=sources[train], noise_rates=RATES)
        proba = model.predict_proba(X[test], class_prior=search.class_prior_)
        found[test] = noisy_log_likelihood(proba, noisy[test], matrices[test])
    (row,) = search.leaderboard_
    assert row.score == pytest.approx(found.mean(), abs=1e-4)
    assert row.std_error == pytest.approx(found.std(ddof=1) / 20, rel=1e-2)
    shares = np.tile(search.class_prior_, (len(noisy), 1))
    constant = noisy_log_likelihood(shares, noisy, matrices)
    assert search.held_out_gain_ == pytest.approx((found - constant).sum(), abs=0.1)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
def test_nothing_to_learn_gives_similar_weights_and_a_warning(data):
    _, noisy, sources, _ = data
    X = np.random.default_rng(1).normal(size=(400, 2))
    search = AutoSourcesClassifier(**QUICK | {"reg_strengths": [10.0], "kernels": ["rbf"]})
    with pytest.warns(WeakEvidenceWarning, match="do not show"):
        search.fit(X, noisy, sources=sources, noise_rates=RATES)
    weights = [row.weight for row in search.leaderboard_]
    assert_allclose(weights, 1 / len(SOURCE_CANDIDATES), atol=0.1)


def test_the_result_does_not_depend_on_n_jobs(data, fitted):
    X, noisy, sources, _ = data
    other = clone(fitted).set_params(n_jobs=2)
    other.fit(X, noisy, sources=sources, noise_rates=RATES)
    assert_array_equal(other.weights_, fitted.weights_)
    assert_array_equal(other.decision_function(X), fitted.decision_function(X))


def test_sources_of_different_populations(data, fitted):
    X, noisy, sources, labels = data
    priors = {"nurse": 0.3, "rule": 0.6}
    model = clone(fitted)
    model.fit(X, noisy, sources=sources, noise_rates=RATES, source_priors=priors)
    assert model.source_priors_ == priors
    assert model.score(X, labels) > 0.85


def test_estimated_rates(data, fitted):
    X, noisy, sources, labels = data
    model = clone(fitted).fit(X, noisy, sources=sources, noise_rates="estimate")
    assert model.noise_rate_estimate_.rates.keys() == RATES.keys()
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize(
    ("params", "rates", "message"),
    [
        ({"candidates": ["psvm"]}, RATES, "unknown candidate 'psvm': choose one of corrected, fo"),
        ({"reg_strengths": [-1.0]}, RATES, r"reg_strengths\[0\]=-1.0 must be"),
        ({}, "guess", "unknown noise_rates 'guess': choose one of estimate"),
    ],
)
def test_messages(data, params, rates, message):
    X, noisy, sources, _ = data
    with pytest.raises(ValueError, match=message):
        AutoSourcesClassifier(**QUICK | params).fit(X, noisy, sources=sources, noise_rates=rates)


@pytest.fixture(scope="module")
def several():
    return three_classes(1200, seed=4)


@pytest.fixture(scope="module")
def chosen(several):
    model = AutoSourcesClassifier(**QUICK)
    return model.fit(
        several.X, several.noisy, sources=several.sources, noise_rates=THREE_CLASS_RATES
    )


class TestSeveralClasses:
    def test_averages_good_models(self, chosen):
        fresh = three_classes(4000, seed=5)
        recalls = [
            np.mean(chosen.predict(fresh.X)[fresh.labels == label] == label) for label in range(3)
        ]
        methods = {row.method for row in chosen.leaderboard_}
        assert methods == {"corrected", "forward"}
        assert np.mean(recalls) > 0.88
        assert chosen.weights_.sum() == pytest.approx(1)

    def test_the_gain_is_that_of_held_out_labels(self, several, chosen):
        held_out = softmax(chosen.held_out_scores_, axis=1)
        matrices = np.array([THREE_CLASS_RATES[source] for source in several.sources])
        shares = np.tile(chosen.class_prior_, (len(several.noisy), 1))
        gain = noisy_log_likelihood(held_out, several.noisy, matrices) - noisy_log_likelihood(
            shares, several.noisy, matrices
        )
        assert chosen.held_out_gain_ == pytest.approx(gain.sum(), rel=1e-6)

    def test_rates_of_several_classes_are_not_estimated(self, several, chosen):
        with pytest.raises(ValueError, match="estimate_noise_rates, and y has 3 classes"):
            clone(chosen).fit(
                several.X, several.noisy, sources=several.sources, noise_rates="estimate"
            )
