"""The estimate of accuracy from draws of P(y|x), and the evidence that follows from it."""

import itertools

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score

from decorrupt import (
    AccuracyEstimate,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    estimate_accuracy,
)
from decorrupt.corruption import corrupt_labels
from decorrupt.exceptions import WeakEvidenceWarning, quiet
from decorrupt.model_selection.accuracy import warn_of_evidence
from decorrupt.model_selection.count_posterior import draw_probabilities, find_modes
from decorrupt.model_selection.draw_likelihoods import CountLikelihood, RowLikelihood
from decorrupt.observed import as_observed

SLOPES = np.array([1.2, -0.8, 0.5])


def rows(n_rows, rng, slopes=SLOPES):
    X = rng.normal(size=(n_rows, len(slopes)))
    return X, (rng.random(n_rows) < expit(X @ slopes)).astype(int)


def shares(labels, bags):
    return (np.bincount(bags, labels) / np.bincount(bags))[bags]


def judged(X, labels, bags):
    """Return a linear model of the bags, and the estimate of its accuracy."""
    y = shares(labels, bags)
    model = CountLikelihoodClassifier(kernel="linear").fit(X, y, bags=bags)
    return model, estimate_accuracy(model, X, y, bags=bags, random_state=0)


def test_contains_the_accuracy_on_new_rows_in_random_bags():
    rng = np.random.default_rng(0)
    X, labels = rows(600, rng)
    model, found = judged(X, labels, np.arange(600) // 6)
    X_new, new = rows(20_000, rng)
    assert found.low < balanced_accuracy_score(new, model.predict(X_new)) < found.high
    assert found.high - found.low < 0.25
    assert found.value == pytest.approx(np.mean(found.recalls))


def test_two_bags_that_differ_in_an_irrelevant_column_are_not_certain():
    """The old estimate was 1.000 (0.942 to 1.000) for a model whose accuracy is below 0.8."""
    rng = np.random.default_rng(1)
    X, labels = rows(1000, rng)
    bags = (X[:, 1] + 0.5 * rng.normal(size=1000) > 0).astype(int)
    X = np.column_stack([X, rng.normal(size=1000) + 3 * bags])
    model, found = judged(X, labels, bags)
    truth = balanced_accuracy_score(labels, model.predict(X))
    assert found.low < truth < found.high
    assert found.high < 0.95


def test_an_irrelevant_model_has_the_accuracy_of_guessing_and_no_evidence():
    rng = np.random.default_rng(2)
    X, labels = rows(800, rng)
    bags = np.arange(800) // 4
    y = shares(labels, bags)
    model = CountLikelihoodClassifier(kernel="linear").fit(X, y, bags=bags)
    model.coef_ = np.array([0.8, 1.2, 0.0])  # at a right angle to the true slopes
    found = estimate_accuracy(model, X, y, bags=bags, random_state=0)
    assert found.low < 0.5 < found.high
    assert found.evidence in ("weak", "none")


def test_noisy_labels_of_sources():
    rng = np.random.default_rng(4)
    X, labels = rows(800, rng)
    noisy = corrupt_labels(labels, (0.3, 0.1), random_state=0)
    rates = (0.3, 0.1)
    model = ForwardSourcesClassifier(kernel="linear").fit(X, noisy, noise_rates=rates)
    found = estimate_accuracy(model, X, noisy, noise_rates=rates, random_state=0)
    X_new, new = rows(20_000, rng)
    assert found.low < balanced_accuracy_score(new, model.predict(X_new)) < found.high


@pytest.mark.parametrize("by_a_column", [True, False])
def test_guessing_by_the_bag_is_exact(by_a_column):
    rng = np.random.default_rng(5)
    X, labels = rows(600, rng)
    # Otherwise bags are mixtures of the same classes, and differ more than X shows.
    mixed = np.where(rng.random(600) < 0.8, labels, rng.integers(2, size=600))
    bags = np.digitize(X[:, 0], [-1, 0, 1]) if by_a_column else mixed
    _, found = judged(X, labels, bags)
    by_bag = shares(labels, bags) > labels.mean()
    assert found.group_rate == pytest.approx(balanced_accuracy_score(labels, by_bag))


def test_fewer_bags_make_the_interval_wider_and_seeds_are_repeatable():
    rng = np.random.default_rng(6)
    X, labels = rows(800, rng)
    widths = []
    for size in (4, 100):
        found = [judged(X, labels, np.arange(800) // size)[1] for _ in range(2)]
        assert found[0] == found[1]
        widths.append(found[0].high - found[0].low)
    assert widths[0] < widths[1]


# --- likelihoods


def enumerated(prob, count):
    """Return P(ΣY = count) by summing over all labels."""
    labels = np.array(list(itertools.product([0, 1], repeat=len(prob))))
    chances = np.prod(np.where(labels == 1, prob, 1 - prob), axis=1)
    return chances[labels.sum(axis=1) == count].sum()


def test_exact_likelihood_is_that_of_all_labels():
    rng = np.random.default_rng(7)
    bags = np.repeat([0, 1, 2], [3, 5, 1])
    y = np.repeat([1 / 3, 4 / 5, 1.0], [3, 5, 1])
    observed = as_observed(y, bags=bags)
    prob = rng.uniform(size=(9, 4))
    found = CountLikelihood(observed, observed.sizes).log_likelihood(np.array([1 - prob, prob]))
    for draw in range(4):
        own = [enumerated(prob[bags == bag, draw], count) for bag, count in enumerate([1, 4, 1])]
        assert found[draw] == pytest.approx(np.sum(np.log(own)))


def test_approximate_likelihood_is_close_to_the_exact_one_in_larger_bags():
    rng = np.random.default_rng(8)
    bags = np.repeat(np.arange(6), 32)
    observed = as_observed(np.repeat([0.25, 0.5, 0.75, 0.5, 0.375, 0.625], 32), bags=bags)
    prob = expit(rng.normal(size=(192, 3)))
    both = np.array([1 - prob, prob])
    exact = CountLikelihood(observed, observed.sizes).log_likelihood(both)
    approximate = CountLikelihood(observed, observed.sizes, 1e-6).log_likelihood(both)
    np.testing.assert_allclose(approximate, exact, atol=0.3)


@pytest.mark.parametrize("kind", ["counts", "sources"])
def test_slope_is_that_of_the_likelihood(kind):
    rng = np.random.default_rng(9)
    matrix = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
    labels = rng.integers(0, 2, 40)
    if kind == "counts":  # bags of one row: the normal slope is exact
        observed = as_observed(labels.astype(float), bags=np.arange(40))
        likelihood = CountLikelihood(observed, observed.sizes)
    else:
        noisy = as_observed(labels, noise_rates=(0.3, 0.2))
        likelihood = RowLikelihood.of_sources(noisy)

    def value(coef):
        prob = expit(matrix @ coef)[:, None]
        return likelihood.log_likelihood(np.array([1 - prob, prob]))[0]

    coef, step = np.array([0.5, -1.0, 0.2]), 1e-5
    prob = expit(matrix @ coef)
    slope, information = likelihood.slope_and_information(matrix, np.array([1 - prob, prob]))
    numeric = [(value(coef + step * e) - value(coef - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(slope, numeric, rtol=1e-4, atol=1e-6)
    assert np.linalg.eigvalsh(information).min() > 0


def test_draws_of_labelled_rows_have_the_mean_of_a_grid(monkeypatch):
    """One feature and a fixed prior variance: the posterior mean by numerical integration."""
    rng = np.random.default_rng(10)
    z = rng.normal(size=60)
    z = (z - z.mean()) / z.std()
    labels = (rng.random(60) < expit(1.5 * z)).astype(float)
    observed = as_observed(labels, bags=np.arange(60))
    likelihood = CountLikelihood(observed, observed.sizes)
    modes = find_modes([z[:, None]], [likelihood], observed.inner_prior)
    monkeypatch.setattr("decorrupt.model_selection.count_posterior.N_CHAINS", 200)
    found = draw_probabilities(modes[1:2], np.random.RandomState(0))[1].mean(axis=1)
    slopes, shifts = np.meshgrid(np.linspace(-2, 6, 161), np.linspace(-4, 4, 161))
    scores = z[:, None] * slopes.ravel() + shifts.ravel()
    logs = np.where(labels[:, None] == 1, -np.logaddexp(0, -scores), -np.logaddexp(0, scores))
    weight = logs.sum(axis=0) - slopes.ravel() ** 2 / 8
    weight = np.exp(weight - weight.max())
    np.testing.assert_allclose(found, expit(scores) @ weight / weight.sum(), atol=0.03)


# --- evidence


def estimate(value, low, high, better=1.0):
    return AccuracyEstimate(value, low, high, 0.95, (value, value), 0.5, better, 0.6, 1.0)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (estimate(0.8, 0.7, 0.9), "strong"),
        (estimate(0.7, 0.55, 0.85), "moderate"),
        (estimate(0.6, 0.45, 0.75, better=0.9), "weak"),
        (estimate(0.52, 0.4, 0.64, better=0.6), "none"),
    ],
)
def test_evidence_follows_the_interval(found, word):
    assert found.evidence == word
    assert word in str(found)
    with quiet() as recorded:
        warn_of_evidence(found)
    assert [one.category for one in recorded] == [WeakEvidenceWarning] * (found.low <= 0.5)


def test_ten_classes():
    """With few features for all classes together, a good model would seem to be a bad one."""
    X, labels = load_digits(return_X_y=True)
    X, bags = X[:640] / 16, np.arange(640) // 8
    counts = [np.bincount(own, minlength=10) for own in labels[:640].reshape(-1, 8)]
    y = (np.array(counts) / 8)[bags]
    kernel = {"kernel": "rbf", "kernel_gamma": 0.1, "reg_strength": 1e-6}
    model = CountLikelihoodClassifier(**kernel, random_state=0).fit(X, y, bags=bags)
    found = estimate_accuracy(model, X, y, bags=bags, random_state=0)
    assert found.value > 0.95


def test_labels_are_bags_of_one_row():
    """Two and three classes: the likelihood of labels is that of counts of bags of one row."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        prob = rng.dirichlet(np.ones(n_classes), (4, 30)).transpose(2, 1, 0)
        seen = rng.integers(0, n_classes, 30)
        observed = as_observed(seen)
        value = RowLikelihood.of_labels(observed).log_likelihood(prob)
        np.testing.assert_allclose(value, np.log(prob[seen, np.arange(30)]).sum(axis=0))
