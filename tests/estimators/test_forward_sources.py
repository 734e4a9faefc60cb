"""The forward likelihood: logistic regression for clean labels, the Bayes rule for noisy ones."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.linear_model import LogisticRegression

from decorrupt.corruption import corrupt_labels
from decorrupt.estimators import ForwardSourcesClassifier
from helpers.class_sources import fit_on_sources, three_classes

EXACT = {"kernel": "linear", "tol": 1e-9, "random_state": 0}


fit = partial(fit_on_sources, ForwardSourcesClassifier)


@pytest.mark.parametrize("noise_rates", [None, (0.0, 0.0)])
@pytest.mark.parametrize("reg_strength", [0.0, 0.01])
def test_without_noise_it_is_logistic_regression(source_data, noise_rates, reg_strength):
    d = source_data
    model = ForwardSourcesClassifier(reg_strength=reg_strength, **EXACT)
    model.fit(d.X, d.noisy, noise_rates=noise_rates)
    strength = 1 / (2 * reg_strength * len(d.noisy)) if reg_strength else np.inf
    reference = LogisticRegression(C=strength, tol=1e-10).fit(d.X, d.noisy)
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-5)
    assert model.intercept_ == pytest.approx(reference.intercept_[0], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("source_priors", [None, {"expert": 0.5, "crowd": 0.7, "rule": 0.2}])
def test_minimises_the_likelihood_written_source_by_source(source_data, source_priors):
    d = source_data
    pooled = 0.5 if source_priors is None else np.mean(list(source_priors.values()))

    def objective(coef):
        total = 0.0
        for source, (flip_pos, flip_neg) in d.rates.items():
            rows = d.sources == source
            prob = expit(d.X[rows] @ coef[:2] + coef[2])
            own = pooled if source_priors is None else source_priors[source]
            joint_pos = prob * own / pooled
            joint_neg = (1 - prob) * (1 - own) / (1 - pooled)
            clean = joint_pos / (joint_pos + joint_neg)
            noisy = (1 - flip_pos) * clean + flip_neg * (1 - clean)
            total -= np.log(np.where(d.noisy[rows] == 1, noisy, 1 - noisy)).sum()
        return total / len(d.noisy) + 0.01 * coef[:2] @ coef[:2]

    # The intercept is shifted afterwards; the slopes are those of the minimum.
    found = minimize(objective, np.zeros(3), tol=1e-12)
    model = fit(d, source_priors=source_priors, **EXACT)
    assert_allclose(model.coef_, found.x[:2], rtol=1e-3, atol=1e-4)


def test_sources_of_different_priors_share_one_score():
    """The pooled prior is ½; a model that took the sources for one population would be off."""
    rng = np.random.default_rng(4)
    n_rows = 8000
    sources = np.arange(n_rows) % 2
    priors = {0: 0.2, 1: 0.8}
    labels = (rng.random(n_rows) < np.where(sources == 0, 0.2, 0.8)).astype(int)
    X = rng.normal(size=(n_rows, 2)) + labels[:, None] * np.array([2.0, 0.0])
    rates = {0: (0.1, 0.3), 1: (0.3, 0.0)}
    noisy = corrupt_labels(labels, [rates[s] for s in sources], random_state=0)
    model = ForwardSourcesClassifier(kernel="linear", reg_strength=1e-6)
    model.fit(X, noisy, sources=sources, noise_rates=rates, source_priors=priors)
    assert model.class_prior_ == pytest.approx([0.5, 0.5])
    assert model.source_priors_ == priors
    assert_allclose([*model.coef_, model.intercept_], [2, 0, -2], atol=0.25)


def test_a_source_per_row(source_data):
    d, rows = source_data, np.arange(len(source_data.X))
    by_row = ForwardSourcesClassifier(reg_strength=0.01, random_state=0)
    rates = dict(zip(rows, (d.rates[s] for s in d.sources), strict=True))
    by_row.fit(d.X, d.noisy, sources=rows, noise_rates=rates)
    assert_allclose(by_row.decision_function(d.X), fit(d).decision_function(d.X), rtol=1e-6)


def test_matched_probabilities_have_the_prior_as_mean(source_data):
    d = source_data
    model = fit(d, source_priors=0.45)
    assert model.predict_proba(d.X)[:, 1].mean() == pytest.approx(0.45, rel=1e-9)
    assert model.decision_threshold_ == pytest.approx(logit(0.45))


# --- several classes


@pytest.fixture(scope="module")
def data():
    return three_classes()


def test_maximises_the_likelihood_written_row_by_row(data):
    priors = {"expert": [0.5, 0.3, 0.2], "crowd": [0.2, 0.3, 0.5], "rule": [0.3, 0.4, 0.3]}
    model = fit(data, source_priors=priors, **EXACT)
    pooled = np.mean(list(priors.values()), axis=0)
    assert_allclose(model.class_prior_, pooled)
    tilt = np.array([priors[source] for source in data.sources]) / pooled

    def objective(coef):
        coef = coef.reshape(3, 3)
        clean = softmax(data.X @ coef[:2] + coef[2], axis=1) * tilt
        clean /= clean.sum(axis=1, keepdims=True)
        noisy = np.einsum("jy,jyn->jn", clean, data.by_row)[np.arange(len(clean)), data.noisy]
        return -np.log(noisy).mean() + 2 * 0.01 * np.sum(coef[:2] ** 2)

    found = minimize(objective, np.zeros(9), tol=1e-10).x.reshape(3, 3)
    centred = model.coef_.T - model.coef_.T.mean(axis=1, keepdims=True)
    assert_allclose(centred, found[:2] - found[:2].mean(axis=1, keepdims=True), atol=2e-4)


def test_without_rates_it_is_multinomial_logistic_regression(data):
    model = ForwardSourcesClassifier(reg_strength=0.01, **EXACT).fit(data.X, data.labels)
    reference = LogisticRegression(C=1 / (4 * 0.01 * len(data.X)), tol=1e-10)
    reference.fit(data.X, data.labels)
    centred = model.coef_ - model.coef_.mean(axis=0)
    assert_allclose(centred, reference.coef_ - reference.coef_.mean(axis=0), atol=1e-4)
