"""The automatic choice for noisy labels of several sources."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from decorrupt import AutoSourcesClassifier, corrected_accuracy, corrupt_labels
from decorrupt.estimators.inputs import (
    read_noisy_labels,
    read_sources,
    source_priors,
    source_strata,
)
from decorrupt.model_selection.folds import source_folds
from helpers.class_sources import RATES as THREE_CLASS_RATES
from helpers.class_sources import three_classes

QUICK = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 3, "random_state": 0}
RATES = {"nurse": (0.05, 0.1), "rule": (0.3, 0.2)}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AutoSourcesClassifier(**QUICK | {"cv": 2, "reg_strengths": (0.01,)})])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


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


def test_chooses_a_good_model_and_shows_how(data, fitted):
    X, _, _, labels = data
    assert fitted.score(X, labels) > 0.9
    assert {row.method for row in fitted.leaderboard_} == {"corrected", "forward"}
    best = fitted.leaderboard_[0]
    assert best.chosen
    assert (best.method, best.params) == (fitted.best_method_, fitted.best_params_)
    assert fitted.noise_rates_ == RATES
    assert fitted.predict_proba(X).mean(axis=0)[1] == pytest.approx(labels.mean(), abs=0.05)


def test_scores_are_those_of_held_out_rows(data, fitted):
    X, noisy, sources, _ = data
    known = read_sources(2 * noisy - 1, sources, RATES)
    strata = source_strata(known, source_priors(None, known))
    decisions = np.empty(len(noisy))
    for train, test in source_folds(strata, 3, 0):
        model = clone(fitted.best_estimator_).set_params(noise_rates=RATES)
        model.fit(X[train], noisy[train], sources=sources[train])
        decisions[test] = model.decision_function(X[test])
    expected = corrected_accuracy(strata.row_proportions, decisions, bags=strata.row_stratum)
    best = fitted.leaderboard_[0]
    assert (best.score, best.std_error) == pytest.approx(expected)


def test_rates_may_be_given_in_every_form(data, fitted):
    X, noisy, sources, _ = data
    by_row = np.array([RATES[source] for source in sources])
    in_constructor = clone(fitted).set_params(noise_rates=RATES).fit(X, noisy, sources=sources)
    rows = clone(fitted).fit(X, noisy, sources=sources, noise_rates=by_row)
    for other in (in_constructor, rows):
        assert other.best_params_ == fitted.best_params_
        np.testing.assert_array_equal(other.decision_function(X), fitted.decision_function(X))


def test_estimated_rates_raise_the_standard_error(data, fitted):
    X, noisy, sources, labels = data
    model = clone(fitted).fit(X, noisy, sources=sources, noise_rates="estimate")
    assert model.noise_rate_estimate_.rates.keys() == RATES.keys()
    assert model.score(X, labels) > 0.9
    assert model.leaderboard_[0].std_error > fitted.leaderboard_[0].std_error


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"candidates": ["psvm"]}, "unknown candidate 'psvm': choose one of corrected, forward"),
        ({"candidates": []}, r"candidates=\[\] must be a list"),
        ({"noise_rates": "guess"}, "unknown noise_rates 'guess': choose one of estimate"),
        ({"decision": "best"}, "unknown decision 'best'"),
        ({"noise_rates": None}, "2 sources but no noise_rates"),
        ({"noise_rates": {"nurse": (0.1, 0.1)}}, "no entry for source 'rule'"),
        ({"reg_strengths": [-1.0]}, r"reg_strengths\[0\]=-1.0 must be"),
    ],
)
def test_messages(data, params, message):
    X, noisy, sources, _ = data
    with pytest.raises(ValueError, match=message):
        AutoSourcesClassifier(**QUICK | params).fit(X, noisy, sources=sources)


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
    def test_chooses_a_good_model(self, chosen):
        fresh = three_classes(4000, seed=5)
        recalls = [
            np.mean(chosen.predict(fresh.X)[fresh.labels == label] == label) for label in range(3)
        ]
        best = chosen.leaderboard_[0]
        assert {row.method for row in chosen.leaderboard_} == {"corrected", "forward"}
        assert np.mean(recalls) > 0.88
        assert best.score == pytest.approx(np.mean(recalls), abs=3 * best.std_error)

    def test_probabilities_have_the_class_shares_as_mean(self, several, chosen):
        found = chosen.predict_proba(several.X)
        assert_allclose(found.mean(axis=0), chosen.training_prior_, atol=0.03)
        assert_allclose(found.mean(axis=0), np.bincount(several.labels) / 1200, atol=0.06)

    def test_scores_are_those_of_held_out_rows(self, several, chosen):
        known = read_noisy_labels(several.noisy, np.arange(3), several.sources, THREE_CLASS_RATES)
        strata = source_strata(known, source_priors(None, known))
        decisions = np.empty((len(several.noisy), 3))
        for train, test in source_folds(strata, 3, 0):
            model = clone(chosen.best_estimator_).set_params(noise_rates=THREE_CLASS_RATES)
            model.fit(several.X[train], several.noisy[train], sources=several.sources[train])
            decisions[test] = model.decision_function(several.X[test])
        expected = corrected_accuracy(strata.row_proportions, decisions, bags=strata.row_stratum)
        best = chosen.leaderboard_[0]
        assert (best.score, best.std_error) == pytest.approx(expected, rel=1e-5)

    @pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
    def test_estimated_rates_raise_the_standard_error(self, several, chosen):
        model = clone(chosen).fit(
            several.X, several.noisy, sources=several.sources, noise_rates="estimate"
        )
        assert model.noise_rate_estimate_.method == "anchor"
        assert model.leaderboard_[0].std_error > chosen.leaderboard_[0].std_error
        assert model.score(several.X, several.labels) > 0.85
