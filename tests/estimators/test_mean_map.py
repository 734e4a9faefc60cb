"""The mean map family: against its equations, its sister estimator, and the Bayes rule."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from decorrupt import CorrectedLossClassifier
from decorrupt.corruption.mean_operator import WEAK_LINK, gaussian_similarity
from decorrupt.estimators import mean_map
from decorrupt.estimators.mean_map import MeanMapClassifier
from decorrupt.exceptions import NegativeRiskWarning
from decorrupt.features import Kernel
from helpers.bayes_rule import losses_against_the_bayes_rule
from oracles.mean_map import (
    fit_from_mean_operator,
    laplacian_mean_operator,
    link_weights,
    pooled_mean_operator,
    top_rows,
)

VARIANTS = ("mean", "laplacian", "alternating")
EXACT_RBF = Kernel("rbf", rank_tol=0.0)
EXACT = {"solver": "newton", "tol": 1e-9, "random_state": 0}


def fit(data, **params):
    model = MeanMapClassifier(**{"reg_strength": 0.02, "random_state": 0} | params)
    return model.fit(data.X, data.y, bags=data.bags)


def bag_averages(data):
    bags = np.unique(data.bags)
    return np.array([data.X[data.bags == bag].mean(axis=0) for bag in bags])


@pytest.fixture
def uneven_bags():
    """300 rows in 12 bags of 5 to 49 rows, a fifth of the rows positive."""
    rng = np.random.default_rng(11)
    sizes = np.array([5, 9, 13, 17, 21, 25, 25, 29, 33, 37, 37, 49])
    bags = np.repeat([f"bag {k:02d}" for k in range(12)], sizes)
    labels = (rng.random(300) < np.repeat(rng.uniform(0, 0.5, 12), sizes)).astype(int)
    X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    codes = np.repeat(np.arange(12), sizes)
    shares = np.bincount(codes, labels) / sizes
    return SimpleNamespace(
        X=X, labels=labels, bags=bags, sizes=sizes, shares=shares, y=shares[codes]
    )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_learns_the_classes_from_proportions_alone(bag_data, variant, kernel):
    model = fit(bag_data, variant=variant, kernel=kernel)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.88


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_mean_is_least_squares_at_the_pooled_prior(uneven_bags, kernel):
    d, kernel = uneven_bags, Kernel(kernel, rank_tol=0.0)
    ours = fit(d, kernel=kernel, **EXACT)
    sister = CorrectedLossClassifier(
        combine="least_squares",
        class_prior="pooled",
        fit_intercept=True,
        reg_strength=0.02,
        kernel=kernel,
        **EXACT,
    ).fit(d.X, d.y, bags=d.bags)
    assert_allclose(ours.decision_function(d.X), sister.decision_function(d.X), rtol=1e-7)
    assert_allclose(ours.class_prior_, sister.class_prior_)
    assert ours.class_prior_[1] == pytest.approx(d.labels.mean())


def test_mean_is_the_minimiser_for_the_least_squares_class_means(uneven_bags):
    d = uneven_bags
    operator = pooled_mean_operator(d.sizes, d.shares, bag_averages(d))
    theta, intercept = fit_from_mean_operator(d.X, operator, d.labels.mean(), 0.02)
    model = fit(d, kernel="linear", **EXACT)
    assert_allclose(model.coef_, theta, rtol=1e-6)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-6)


@pytest.mark.parametrize("smoothness", [0.01, 1.0])
def test_laplacian_is_the_minimiser_for_the_smooth_class_means(uneven_bags, smoothness):
    d = uneven_bags
    means = bag_averages(d)
    links = link_weights(d.sizes, gaussian_similarity(means), WEAK_LINK)
    operator = laplacian_mean_operator(d.sizes, d.shares, means, links, smoothness)
    theta, intercept = fit_from_mean_operator(d.X, operator, d.labels.mean(), 0.02)
    model = fit(d, variant="laplacian", smoothness=smoothness, kernel="linear", **EXACT)
    assert_allclose(model.coef_, theta, rtol=1e-6)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-6)


def test_laplacian_of_a_kernel_looks_at_means_in_feature_space(uneven_bags):
    """With the exact linear kernel given as a Gram matrix, the features differ by a rotation."""
    d = uneven_bags
    linear = fit(d, variant="laplacian", kernel="linear", **EXACT)
    gram = d.X @ d.X.T
    kernel = Kernel("precomputed", rank_tol=0.0)
    by_gram = MeanMapClassifier(variant="laplacian", kernel=kernel, reg_strength=0.02, **EXACT)
    by_gram.fit(gram, d.y, bags=d.bags)
    assert_allclose(by_gram.decision_function(gram), linear.decision_function(d.X), atol=1e-6)


def test_laplacian_takes_a_similarity(uneven_bags):
    d = uneven_bags
    similarity = gaussian_similarity(bag_averages(d))
    reference = fit(d, variant="laplacian", kernel="linear", **EXACT).decision_function(d.X)
    for given in (similarity, similarity.tolist(), sparse.csr_array(similarity)):
        model = fit(d, variant="laplacian", similarity=given, kernel="linear", **EXACT)
        assert_allclose(model.decision_function(d.X), reference, atol=1e-7)
    other = fit(d, variant="laplacian", similarity=np.eye(12), kernel="linear", **EXACT)
    assert np.abs(other.decision_function(d.X) - reference).max() > 1e-3


def test_laplacian_tends_to_the_mean_map(uneven_bags):
    d = uneven_bags
    exact = EXACT | {"kernel": EXACT_RBF}
    mean = fit(d, **exact).decision_function(d.X)
    gaps = [
        np.abs(
            fit(d, variant="laplacian", smoothness=s, **exact).decision_function(d.X) - mean
        ).max()
        for s in (1.0, 1e3, 1e6)
    ]
    assert gaps[0] > 100 * gaps[1] > 1e4 * gaps[2]


def test_the_mean_probability_is_the_known_share(uneven_bags):
    d = uneven_bags
    for variant in ("mean", "laplacian"):
        model = fit(d, variant=variant, kernel=EXACT_RBF, **EXACT)
        assert model.predict_proba(d.X)[:, 1].mean() == pytest.approx(d.labels.mean(), rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_class_labels_give_logistic_regression(bag_data, variant):
    d = bag_data
    words = np.where(d.labels == 1, "sick", "healthy")
    model = MeanMapClassifier(variant=variant, kernel="linear", reg_strength=0.01, tol=1e-10)
    model.fit(d.X, words)
    reference = LogisticRegression(C=1 / (2 * 0.01 * len(words)), tol=1e-10).fit(d.X, words)
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-6)
    assert model.intercept_ == pytest.approx(reference.intercept_[0], rel=1e-6)
    assert_array_equal(model.classes_, ["healthy", "sick"])


@pytest.mark.parametrize("start", ["mean", "laplacian"])
@pytest.mark.parametrize("data_name", ["bag_data", "uneven_bags"])
def test_alternating_comes_to_rest_at_its_own_top_rows(request, data_name, start):
    d = request.getfixturevalue(data_name)
    model = fit(d, variant="alternating", start=start, kernel="linear", reg_strength=1e-3)
    assert model.n_rounds_ < 100
    bags = np.unique(d.bags)
    counts = {bag: int((d.labels[d.bags == bag]).sum()) for bag in bags}
    expected = top_rows(model.decision_function(d.X), d.bags, counts)
    assert_array_equal(model.labels_ == 1, expected)
    # And the model is logistic regression on those labels.
    refit = LogisticRegression(C=1 / (2 * 1e-3 * len(d.y)), tol=1e-9).fit(d.X, model.labels_)
    assert_allclose(model.coef_, refit.coef_[0], rtol=1e-3)


def test_alternating_lowers_its_objective(uneven_bags):
    d = uneven_bags

    def objective(model):
        signs = np.where(model.labels_ == 1, 1, -1)
        scores = model.decision_function(d.X) + model.decision_threshold_
        penalty = model.reg_strength * model.coef_ @ model.coef_
        return np.logaddexp(0, -signs * scores).mean() + penalty

    with pytest.warns(ConvergenceWarning, match="labels still changed after max_rounds=1"):
        first = fit(d, variant="alternating", kernel="linear", max_rounds=1)
    last = fit(d, variant="alternating", kernel="linear")
    assert first.n_rounds_ == 1 < last.n_rounds_
    assert objective(last) < objective(first)


def test_alternating_keeps_the_best_round_of_a_cycle(bag_data, monkeypatch):
    """If rounding made labels come back, the loop must end with the lower of the two rounds."""
    d = bag_data
    good, bad = d.labels == 1, np.roll(d.labels, 5) == 1
    turns = iter([bad, good, bad, good, bad])
    monkeypatch.setattr(mean_map, "label_top_rows", lambda *_: next(turns))
    model = fit(d, variant="alternating")
    assert model.n_rounds_ == 2
    assert_array_equal(model.labels_, d.labels)
    assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.88


def test_alternating_labels_in_the_callers_words(bag_data):
    words = np.where(bag_data.labels == 1, "sick", "healthy")
    model = MeanMapClassifier(variant="alternating").fit(bag_data.X, words)
    assert_array_equal(model.labels_, words)


@pytest.mark.parametrize(("share", "what"), [(0.1, "0"), (0.9, "its size")])
def test_alternating_needs_rows_of_two_classes(share, what):
    X = np.random.default_rng(0).normal(size=(6, 2))
    y = np.repeat([share, abs(share - 0.05)], 3)
    with pytest.raises(ValueError, match=rf"p_k·n_k rounds to {what}, .*variant='mean'"):
        MeanMapClassifier(variant="alternating").fit(X, y, bags=np.repeat([0, 1], 3))


def test_decisions_for_accuracy_and_for_the_balanced_error(uneven_bags):
    d = uneven_bags
    balanced, accuracy = fit(d), fit(d, decision="accuracy")
    assert balanced.decision_threshold_ == pytest.approx(logit(d.labels.mean()))
    assert accuracy.decision_threshold_ == 0
    assert_array_equal(accuracy.predict(d.X), accuracy.predict_proba(d.X)[:, 1] > 0.5)
    at_half = balanced.predict_proba(d.X, class_prior=0.5)
    assert_array_equal(balanced.predict(d.X), at_half[:, 1] > 0.5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_more_bags_approach_the_bayes_rule(variant):
    model = MeanMapClassifier(variant=variant, kernel="linear", reg_strength=1e-3)
    losses, _ = losses_against_the_bayes_rule(model)
    assert losses[1] < 0.006
    assert losses[1] < losses[0]


def test_overfitting_is_told(bag_data):
    with pytest.warns(NegativeRiskWarning, match=r"corrected training risk is -.*reg_strength"):
        fit(bag_data, reg_strength=1e-6, kernel_gamma=20.0, max_iter=20_000, tol=1e-4)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"variant": "laplacian", "similarity": "cosine"}, r"unknown similarity 'cosine'"),
        (
            {"variant": "laplacian", "similarity": np.ones((3, 3))},
            r"similarity must be .* \(60, 60\).*got shape \(3, 3\)",
        ),
        ({"reg_strength": 0.0}, r"reg_strength=0\.0 with bags that are not pure.*above 0"),
    ],
)
def test_bad_parameters(bag_data, params, message):
    with pytest.raises(ValueError, match=message):
        fit(bag_data, **params)


def test_zero_penalty_is_allowed_for_pure_bags():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 2)) + labels[:, None]
    MeanMapClassifier(kernel="linear", reg_strength=0.0).fit(X, labels)


def test_a_refit_with_another_variant_forgets_the_labels(bag_data):
    model = fit(bag_data, variant="alternating")
    assert hasattr(model, "labels_")
    model.set_params(variant="mean").fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert not hasattr(model, "labels_")
