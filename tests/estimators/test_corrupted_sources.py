"""Learning from noisy sources, in each of the paper's settings."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils import get_tags

from decorrupt import CorruptedSourcesClassifier
from decorrupt.corruption import CorrectedLoss, corrupt_labels, source_weights
from decorrupt.exceptions import NegativeRiskWarning
from helpers.class_sources import RATES, fit_on_sources, three_classes

fit = partial(fit_on_sources, CorruptedSourcesClassifier)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
@pytest.mark.parametrize("combine", ["sources", "superbag", "least_squares", "pairs"])
@pytest.mark.parametrize("source_priors", [None, 0.5])
def test_learns_the_clean_classes(source_data, combine, source_priors):
    model = fit(source_data, combine=combine, source_priors=source_priors)
    assert balanced_accuracy_score(source_data.labels, model.predict(source_data.X)) > 0.88


def test_weights_are_the_papers(source_data):
    model = fit(source_data)
    order = ["crowd", "expert", "rule"]
    flips = np.array([source_data.rates[s] for s in order])
    assert_allclose([model.source_weights_[s] for s in order], source_weights([300] * 3, flips))
    assert model.noise_rates_["rule"] == (0.4, 0.1)


@pytest.mark.parametrize("priors", [None, {"expert": 0.5, "crowd": 0.6, "rule": 0.4}])
def test_minimises_the_weighted_sum_of_corrected_losses(source_data, priors):
    """The training risk equals Σ w_i/n_i Σ ℓ^ρ_i(f, ỹ), written out source by source."""
    d = source_data
    model = fit(d, source_priors=priors)
    scores = model.decision_function(d.X) + model.decision_threshold_
    total = 0.0
    for source, weight in model.source_weights_.items():
        rows, prior = d.sources == source, 0.5 if priors is None else priors[source]
        costs = {"cost_pos": 0.5 / prior, "cost_neg": 0.5 / (1 - prior)}
        losses = CorrectedLoss("logistic", d.rates[source], **costs)
        total += weight * losses.value(scores[rows], 2 * d.noisy[rows] - 1).mean()
    assert model.diagnostics_.training_risk == pytest.approx(total, rel=1e-9)
    if priors is not None:
        assert model.class_prior_.tolist() == [0.5, 0.5]


def test_no_sources_and_no_rates_is_logistic_regression(source_data):
    d = source_data
    model = CorruptedSourcesClassifier(
        kernel="linear", fit_intercept=True, reg_strength=0.01, tol=1e-10
    ).fit(d.X, d.labels)
    reference = LogisticRegression(C=1 / (2 * 0.01 * len(d.labels)), tol=1e-10).fit(d.X, d.labels)
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-6)
    assert model.intercept_ == pytest.approx(reference.intercept_[0], rel=1e-6)


def test_one_source_is_natarajans_setting(source_data):
    d = source_data
    noisy = corrupt_labels(d.labels, (0.3, 0.1), random_state=0)
    model = CorruptedSourcesClassifier(reg_strength=0.01)
    assert model.fit(d.X, noisy, noise_rates=(0.3, 0.1)).score(d.X, d.labels) > 0.88
    assert model.source_weights_ == {"all rows": 1.0}


def feature_dependent(data):
    rates = np.column_stack([0.4 * expit(data.X[:, 0]), 0.2 * expit(-data.X[:, 1])])
    return rates, corrupt_labels(data.labels, rates, random_state=0)


def per_row(rates):
    return {"sources": np.arange(len(rates)), "noise_rates": dict(enumerate(rates))}


def test_feature_dependent_noise_is_a_source_per_row_with_uniform_weights(source_data):
    rates, noisy = feature_dependent(source_data)
    model = CorruptedSourcesClassifier(combine="uniform_sources", reg_strength=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(source_data.X, noisy, **per_row(rates))
    assert model.score(source_data.X, source_data.labels) > 0.88
    assert_allclose(list(model.source_weights_.values()), 1 / len(rates))


@pytest.mark.parametrize("combine", ["sources", "superbag"])
def test_weights_that_depend_on_the_rates_of_rows_warn(source_data, combine):
    rates, noisy = feature_dependent(source_data)
    model = CorruptedSourcesClassifier(combine=combine, reg_strength=0.01, random_state=0)
    with pytest.warns(UserWarning, match="which bias the risk: set combine='uniform_sources'"):
        model.fit(source_data.X, noisy, **per_row(rates))


def test_a_source_per_row_with_the_same_rates_does_not_warn(source_data):
    d, same = source_data, np.full((len(source_data.X), 2), 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        by_row = CorruptedSourcesClassifier(reg_strength=0.01, random_state=0)
        by_row.fit(d.X, d.labels, **per_row(same))
    together = CorruptedSourcesClassifier(reg_strength=0.01, random_state=0)
    together.fit(d.X, d.labels, noise_rates=(0.1, 0.1))
    assert_allclose(by_row.decision_function(d.X), together.decision_function(d.X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
def test_class_prior_moves_the_decisions(source_data):
    shares = [
        (fit(source_data, class_prior=prior, decision="accuracy").predict(source_data.X)).mean()
        for prior in (0.1, 0.5, 0.9)
    ]
    assert shares[0] < shares[1] < shares[2]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"combine": "best"}, r"unknown combine 'best'.*sources, exact_sources, size_sources"),
        ({"combine": "exact_sources"}, r"combine='exact_sources' needs source_priors"),
        ({"source_priors": {"crowd": 0.5}}, r"source_priors have no entry for source 'expert'"),
        ({"source_priors": 1.0}, r"source_priors of source 'crowd'=1"),
        ({"combine": "sum"}, r"unknown combine 'sum'.*superbag, least_squares"),
        ({"class_prior": 2}, r"class_prior=2"),
    ],
)
def test_bad_parameters(source_data, params, message):
    with pytest.raises(ValueError, match=message):
        fit(source_data, **params)


# --- several classes

EXACT = {"kernel": "linear", "tol": 1e-8, "reg_strength": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return three_classes()


fit_classes = partial(fit, **EXACT)


@pytest.mark.parametrize("source_priors", [None, {s: [0.5, 0.3, 0.2] for s in RATES}])
def test_minimises_the_corrected_risk_written_source_by_source(data, source_priors):
    model = fit_classes(data, source_priors=source_priors)
    scores = model.decision_function(data.X) + model.decision_threshold_
    losses = -log_softmax(scores, axis=1)
    costs = model.class_prior_ / [0.5, 0.3, 0.2] if source_priors else np.ones(3)
    total, noise = 0.0, {}
    for source, weight in model.source_weights_.items():
        rows, inverse = data.sources == source, np.linalg.inv(RATES[source])
        corrected = np.sum(inverse[data.noisy[rows]] * costs * losses[rows], axis=1)
        total += weight * corrected.mean()
        noise[source] = np.abs(inverse).sum(axis=1).max() ** 2 / rows.sum()
    assert model.diagnostics_.training_risk == pytest.approx(total, rel=1e-9)
    share = {source: (1 / c) / sum(1 / c for c in noise.values()) for source, c in noise.items()}
    assert model.source_weights_ == pytest.approx(share)


def test_the_corrected_risk_is_convex_and_described(data):
    """The rows of T⁻¹ sum to 1, so that the convex part of cross-entropy has a positive weight."""
    model = fit_classes(data)
    found = model.diagnostics_
    assert found.is_convex
    assert (found.n_bags, found.n_dropped) == (9, 0)
    assert found.effective_sample_size < 900


@pytest.mark.parametrize("correction", ["abs", "relu"])
def test_a_risk_correction_keeps_the_sums_of_all_classes_from_being_negative(data, correction):
    weak = {"kernel": "rbf", "kernel_gamma": 10.0, "reg_strength": 1e-6, "tol": 1e-5}
    with pytest.warns(NegativeRiskWarning):
        assert fit_classes(data, **weak).diagnostics_.training_risk < -1
    corrected = fit_classes(data, risk_correction=correction, **weak)
    assert abs(corrected.diagnostics_.training_risk) < 0.5


def test_class_prior_of_the_risk(data):
    target = [0.1, 0.6, 0.3]
    model = fit_classes(data, class_prior=target)
    assert_allclose(model.class_prior_, target)
    with pytest.raises(ValueError, match=r"class_prior=0\.3: give .*3 positive shares"):
        fit_classes(data, class_prior=0.3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"combine": "superbag"}, r"combine='superbag'.*'sources' or .* or 'least_squares'"),
        ({"loss": "squared"}, r"loss='squared'.*use loss='logistic'"),
        ({"combine": "exact_sources"}, r"combine='exact_sources' needs source_priors"),
    ],
)
def test_options_for_two_classes_say_so(data, params, message):
    model = CorruptedSourcesClassifier(**params)
    with pytest.raises(ValueError, match=message):
        fit_classes(data, **params)
    takes_several = params == {"combine": "exact_sources"}
    assert get_tags(model).classifier_tags.multi_class == takes_several
