"""The one function that is sent to the workers, and bags larger than a partition."""

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, softmax
from scipy.stats import norm

from decorrupt.distributed import (
    Chunk,
    DaskCountLikelihoodClassifier,
    Partition,
    partition_value_and_gradient,
)
from decorrupt.distributed.features import LinearFeatures
from decorrupt.distributed.large_bags import LargeBagRisk, LargeBags
from decorrupt.distributed.partition import ScoreModel, partition_moments
from decorrupt.losses import class_loss
from decorrupt.observed import Observed, observe_counts
from decorrupt.risks import CorrectedRisk
from helpers.partitioned import bag_rows

MODEL = ScoreModel(LinearFeatures(), rank=3, fit_intercept=True)


def corrected_partition(rng, n_rows):
    terms = rng.normal(size=(n_rows, 2))
    rows = rng.normal(size=(n_rows, 3))
    return rows, terms, Partition([Chunk(rows, (CorrectedRisk(terms, class_loss("logistic", 2)),))])


def test_value_and_gradient_by_hand_after_pickling():
    rng = np.random.default_rng(0)
    rows, terms, partition = corrected_partition(rng, 7)
    coef = rng.normal(size=4)

    def value(coef):
        f = rows @ coef[:3] + coef[3]
        return terms[:, 1] @ np.log1p(np.exp(-f)) + terms[:, 0] @ np.log1p(np.exp(f))

    sent = pickle.loads(pickle.dumps((partition_value_and_gradient, partition, MODEL)))  # noqa: S301
    values, gradients = sent[0](sent[1], coef, sent[2])
    assert values == pytest.approx([value(coef)])
    np.testing.assert_allclose(gradients[0], approx_fprime(coef, value), atol=1e-5)


def test_sums_of_two_partitions_are_the_sum_of_their_rows():
    rng = np.random.default_rng(1)
    parts = [corrected_partition(rng, n)[2] for n in (4, 9)]
    both = Partition([chunk for part in parts for chunk in part.chunks])
    coef = rng.normal(size=4)
    found = [partition_value_and_gradient(part, coef, MODEL) for part in parts]
    expected = partition_value_and_gradient(both, coef, MODEL)
    for k in range(2):
        np.testing.assert_allclose(found[0][k] + found[1][k], expected[k])


def test_a_partition_without_rows_adds_nothing():
    values, gradients = partition_value_and_gradient(Partition([]), np.ones(4), MODEL)
    assert not values.any()
    assert gradients.shape == (1, 4)
    assert not gradients.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_large_bags_in_two_stages(n_classes):
    """Three parts of one bag give the gradient of the normal log-probability of the whole bag."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(30, 3))
    model = ScoreModel(LinearFeatures(), 3, fit_intercept=True, n_classes=n_classes)
    counts = np.array([[12.0, 18.0]]) if n_classes == 2 else np.array([[7.0, 9.0, 14.0]])
    bags = LargeBags(np.array([0]), counts, np.array([2.0]), n_total=100)
    parts = [
        Partition([Chunk(some, (LargeBagRisk(0, 100, np.ones(len(some))),))])
        for some in np.split(rows, [5, 21])
    ]
    coef = rng.normal(size=model.n_coef)

    def evaluate(coef):
        normal = bags.add([partition_moments(part, coef, model) for part in parts])
        found = [partition_value_and_gradient(part, coef, model, normal) for part in parts]
        value = sum(v[0] for v, _ in found) - normal.log_prob[0] / 100
        return value, sum(g[0] for _, g in found)

    value, gradient = evaluate(coef)
    slope = approx_fprime(coef, lambda c: evaluate(c)[0])
    np.testing.assert_allclose(gradient, slope, atol=1e-6)
    if n_classes == 2:
        prob = expit(rows @ coef[:3] + coef[3])
        # Variance 2 in both counts: 1 in one of them, corrected to sum to n.
        spread = np.sqrt(np.sum(prob * (1 - prob)) + 1 / 12 + 2.0 / 2)
        assert value == pytest.approx(-norm.logpdf(18, prob.sum(), spread) / 100)
    else:
        table = coef.reshape(4, 3)
        prob = softmax(rows @ table[:3] + table[3], axis=1)
        away = (counts[0] - prob.sum(axis=0))[:2]
        cover = np.diag(prob.sum(axis=0)) - prob.T @ prob
        cover += (1 / 12 + 1 / 18 + 2.0) * (np.eye(3) - 1 / 3)
        # The density of the first two counts; log det of the full one differs by a constant.
        density = -0.5 * (away @ np.linalg.solve(cover[:2, :2], away))
        density -= 0.5 * np.linalg.slogdet(2 * np.pi * cover[:2, :2])[1]
        assert value == pytest.approx(-density / 100)


@pytest.mark.parametrize(("n_classes", "variance"), [(2, 2 * 9.0), (3, 9.0)])
def test_the_noise_of_large_bags_is_that_of_independent_counts(n_classes, variance):
    """One noisy count of two classes and its complement: 9 = v·(1 − 1/2)."""
    shares = np.full((2, n_classes), 1 / n_classes)
    table = Observed.of_bags(np.arange(2), shares, np.array([600, 900]), range(n_classes))
    bags = LargeBags.of(observe_counts(table, None, {0: 3.0, 1: None}), np.arange(2))
    np.testing.assert_allclose(bags.counts, table.sizes[:, None] * shares)
    np.testing.assert_allclose(bags.noise_variance, [variance, 0])
    assert bags.n_total == 1500


def test_a_fit_with_bags_larger_than_a_partition():
    """Against a direct minimisation of the normal approximation."""
    data = bag_rows(n_rows=1500, bag_size=300)
    X, y, bags = data.dask(chunks=170)
    model = DaskCountLikelihoodClassifier(kernel="linear", reg_strength=1e-2, tol=1e-7)
    model.fit(X, y, bags=bags)
    assert model.n_large_bags_ == 5
    groups = [np.flatnonzero(data.bags == bag) for bag in range(5)]

    def objective(coef):
        prob = expit(data.X @ coef[:4] + coef[4])
        total = 0.0
        for rows in groups:
            count = np.rint(data.y[rows[0]] * len(rows))
            spread = np.sqrt(np.sum(prob[rows] * (1 - prob[rows])) + 1 / 12)
            total -= norm.logpdf(count, prob[rows].sum(), spread)
        return total / 1500 + 1e-2 * coef[:4] @ coef[:4]

    start = np.append(model.coef_, model.intercept_) + 0.1
    expected = minimize(objective, start, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, atol=1e-4)
    log_likelihood = -1500 * (objective(expected) - 1e-2 * expected[:4] @ expected[:4])
    assert model.log_likelihood_ == pytest.approx(log_likelihood, abs=1e-3)
