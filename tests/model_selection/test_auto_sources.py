"""The automatic choice for noisy labels of several sources."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from decorrupt import AutoSourcesClassifier, corrected_accuracy, corrupt_labels
from decorrupt.estimators.inputs import read_sources, source_priors, source_strata
from decorrupt.model_selection.folds import source_folds

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
