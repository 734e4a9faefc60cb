"""Label posteriors against enumeration, finite differences and closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import approx_fprime
from scipy.special import expit, log_expit, softmax

from decorrupt import GaussianNoise, GeometricNoise, LaplaceNoise, label_posterior
from decorrupt.observed import Observed
from decorrupt.risks import count_risk
from oracles.counts import convolved_pmf, enumerate_weights, random_ranges

NOISES = {
    "gaussian": (GaussianNoise(1.5), lambda d: stats.norm.pdf(d, scale=1.5)),
    "laplace": (LaplaceNoise(2.0), lambda d: stats.laplace.pdf(d, scale=2.0)),
    "geometric": (GeometricNoise(0.7), lambda d: stats.dlaplace.pmf(d, 0.7)),
}


def observe(kind, size, n_classes, rng):
    """Return y and other arguments of one bag, and the weight of its class counts."""
    counts = rng.multinomial(size, np.full(n_classes, 1 / n_classes))
    if kind in NOISES:
        noise, density = NOISES[kind]
        reported = counts + rng.integers(-3, 4, n_classes)  # outside the range too
        if n_classes == 2:  # the noise of one count
            reported[0] = size - reported[1]
            return reported / size, {"count_noise": noise}, lambda k: density(reported - k)[1]
        return reported / size, {"count_noise": noise}, lambda k: density(reported - k).prod()
    low, high = random_ranges(rng, size, n_classes, int(rng.integers(1, 8)))
    if kind == "exact":
        low = high = counts
    if n_classes == 2:  # what is known about one count is known about the other
        low[0], high[0] = size - high[1], size - low[1]
    upper = {"upper": np.tile(high / size, (size, 1))}
    return low / size, upper, lambda k: ((k >= low) & (k <= high)).all()


def enumerate_class_weights(p, weight):
    """Return Σ_k ν_k·P(k) and the posterior of every row, from every labelling of the rows."""
    total, posterior = 0.0, np.zeros(p.shape)
    for labels in product(range(p.shape[1]), repeat=len(p)):
        rows = np.arange(len(p)), np.array(labels)
        own = p[rows].prod() * weight(np.bincount(labels, minlength=p.shape[1]))
        total, posterior[rows] = total + own, posterior[rows] + own
    return total, posterior / total


@pytest.mark.parametrize("kind", ["exact", "range", *NOISES])
@pytest.mark.parametrize(("n_classes", "largest"), [(2, 10), (3, 6), (4, 5)])
@settings(max_examples=20)
@given(data=st.data(), seed=st.integers(0, 1000), spread=st.sampled_from([0.5, 3.0]))
def test_posteriors_are_those_of_all_labelings(kind, n_classes, largest, data, seed, spread):
    size, rng = data.draw(st.integers(1, largest)), np.random.default_rng(seed)
    p = softmax(spread * rng.normal(size=(size, n_classes)), axis=1)
    y, arguments, weight = observe(kind, size, n_classes, rng)
    found = label_posterior(p, np.tile(y, (size, 1)), bags=[7] * size, **arguments)
    total, posterior = enumerate_class_weights(p, weight)
    assert_allclose(found.log_likelihood, [np.log(total)], rtol=1e-9, atol=1e-10)
    assert_allclose(found.posterior, posterior, atol=1e-10)
    if n_classes == 2:
        arguments = {k: v[:, 1] if k == "upper" else v for k, v in arguments.items()}
        alone = label_posterior(p[:, 1], np.full(size, y[1]), bags=[7] * size, **arguments)
        assert_allclose(alone.posterior, posterior[:, 1], atol=1e-10)


def test_bags_of_all_kinds_in_one_call():
    rng = np.random.default_rng(0)
    sizes = [1, 12, 3, 7, 12, 1, 5]
    noise = [None, NOISES["laplace"][0], None, NOISES["gaussian"][0], None, None, None]
    bags = np.repeat(np.arange(7), sizes)
    low = np.array([1, 5, 0, 3, 4, 0, 0]) / sizes
    high = np.array([1, 5, 3, 3, 9, 1, 2]) / sizes
    order = rng.permutation(len(bags))
    bags, p = bags[order], rng.uniform(0.05, 0.95, len(bags))
    found = label_posterior(
        p, low[bags], bags=bags, upper=high[bags], count_noise=dict(enumerate(noise))
    )
    for bag, size in enumerate(sizes):
        rows = bags == bag
        counts = np.arange(size + 1) / size
        weights = ((counts >= low[bag] - 1e-9) & (counts <= high[bag] + 1e-9)).astype(float)
        if noise[bag] is not None:
            weights = np.exp(noise[bag].log_density(size * (low[bag] - counts)))
        total, posterior = enumerate_weights(p[rows], weights)
        assert_allclose(found.log_likelihood[bag], np.log(total), atol=1e-12)
        assert_allclose(found.posterior[rows], posterior, atol=1e-12)


@given(seed=st.integers(0, 500), n_bags=st.integers(1, 6), n_classes=st.sampled_from([2, 4]))
def test_ranges_that_cover_everything_say_nothing(seed, n_bags, n_classes):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), rng.integers(1, 400, n_bags))
    p = rng.dirichlet(np.ones(n_classes), len(bags))
    found = label_posterior(p, np.zeros(p.shape), bags=bags, upper=np.ones(p.shape))
    assert_allclose(found.posterior, p, atol=1e-12)
    assert (found.log_likelihood == 0).all()


def risk_of_all_kinds(sizes, large_bags, seed):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(len(sizes)), sizes)
    low = rng.integers(0, np.array(sizes))
    high = low + rng.integers(0, np.array(sizes) - low + 1)
    noise = {bag: [None, *[n for n, _ in NOISES.values()]][bag % 4] for bag in range(len(sizes))}
    high = np.where([noise[bag] is None for bag in range(len(sizes))], high, low)
    observed = Observed.from_bags(
        (low / sizes)[bags], bags, upper=(high / sizes)[bags], count_noise=noise
    )
    return count_risk(observed, large_bags=large_bags), len(bags)


@pytest.mark.parametrize("large_bags", ["auto", 1])
@settings(max_examples=15)
@given(seed=st.integers(0, 300))
def test_the_slope_is_the_gradient(large_bags, seed):
    risk, n_rows = risk_of_all_kinds([1, 3, 8, 5, 9, 6, 7, 7, 2], large_bags, seed)
    scores = 2 * np.random.default_rng(seed + 1).normal(size=n_rows)

    def total(f):
        return risk.log_probs_and_slope(f)[0].sum()

    step = 1e-5
    numeric = [(total(scores + e) - total(scores - e)) / (2 * step) for e in step * np.eye(n_rows)]
    assert_allclose(risk.log_probs_and_slope(scores)[1], numeric, atol=1e-6)


@settings(max_examples=30)
@given(seed=st.integers(0, 300))
def test_the_hessian_is_at_most_the_variance_of_the_labels(seed):
    """diag(p(1−p)) − Hessian = Cov(Y | observation) is positive semidefinite."""
    risk, n_rows = risk_of_all_kinds([1, 3, 4, 5, 6, 2], "auto", seed)
    scores = 1.5 * np.random.default_rng(seed).normal(size=n_rows)
    hessian = -approx_fprime(scores, lambda f: risk.log_probs_and_slope(f)[1], 1e-6)
    bound = np.diag(expit(scores) * expit(-scores))
    assert np.linalg.eigvalsh(bound - (hessian + hessian.T) / 2).min() > -1e-6


@pytest.mark.parametrize("kind", ["range", *NOISES])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 2.0])
def test_large_bags_are_close_to_exact(kind, shift):
    scores = np.random.default_rng(3).normal(size=400) + shift
    arguments = {"count_noise": NOISES[kind][0]} if kind in NOISES else {"upper": [0.38] * 400}
    observed = Observed.from_bags([0.375] * 400, [0] * 400, **arguments)
    near, near_slope = count_risk(observed).log_probs_and_slope(scores)
    exact, slope = count_risk(observed, large_bags=np.inf).log_probs_and_slope(scores)
    assert_allclose(near, exact, atol=0.02)
    assert_allclose(near_slope, slope, atol=0.002)


def test_large_bags_with_a_likely_range():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=600)
    found = label_posterior(
        expit(scores), np.full(600, 0.4), bags=np.zeros(600), upper=np.full(600, 0.5)
    )
    exact = convolved_pmf(scores)[240:301].sum()
    assert_allclose(found.log_likelihood, [np.log(exact)], atol=0.002)


@pytest.mark.parametrize("scale", [30.0, 800.0])
def test_impossible_looking_ranges_and_noise_stay_finite(scale):
    bags = np.repeat([0, 1, 2], [40, 40, 300])
    scores = np.full(380, -scale)
    observed = Observed.from_bags(
        np.where(bags == 1, 1.2, 0.7), bags, count_noise={0: None, 1: LaplaceNoise(0.1), 2: 0.5}
    )
    value, slope = count_risk(observed).value_and_slope(scores)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()
    found = label_posterior(
        np.zeros(40), np.full(40, 0.5), bags=np.zeros(40), upper=np.full(40, 0.75)
    )
    assert_allclose(found.posterior, 0.5)  # 20 of 40 equal rows, as few as possible


def test_the_logarithmic_recursion_is_the_tree():
    scores = np.array([-90.0, -85.0, -80.0, -95.0, -70.0, -99.0])
    observed = Observed.from_bags(np.full(6, 0.5), np.zeros(6), upper=np.ones(6))
    log_prob, slope = count_risk(observed).log_probs_and_slope(scores)
    # Three of six rows, the most likely ones, and nothing else to first order.
    assert_allclose(log_prob, [log_expit(scores[[4, 2, 1]]).sum()], atol=0.02)
    assert_allclose(slope, [0, 1, 1, 0, 1, 0], atol=0.02)


def test_posteriors_of_large_bags_have_the_counts():
    rng = np.random.default_rng(1)
    sizes, bags = [80, 120], np.repeat([0, 1], [80, 120])
    p = rng.dirichlet([1, 1, 1], 200)
    counts = np.array([[10, 50, 20], [0, 60, 60]])
    y = (counts / np.array(sizes)[:, None])[bags]
    found = label_posterior(p, y, bags=bags)
    assert_allclose(found.posterior.sum(axis=1), 1)
    for bag in (0, 1):
        assert_allclose(found.posterior[bags == bag].sum(axis=0), counts[bag], atol=1e-5)
    # Within a bag the odds of two rows keep their ratio.
    odds = found.posterior[:80, 1] / found.posterior[:80, 2] * p[:80, 2] / p[:80, 1]
    assert_allclose(odds, odds[0])


def test_noise_moves_the_expected_counts_towards_the_probabilities():
    p = np.tile([0.2, 0.3, 0.5], (60, 1))
    y = np.tile([0.5, 0.3, 0.2], (60, 1))
    exact = label_posterior(p, y, bags=np.zeros(60)).posterior[0]
    little = label_posterior(p, y, bags=np.zeros(60), count_noise=3.0).posterior[0]
    much = label_posterior(p, y, bags=np.zeros(60), count_noise=1e3).posterior[0]
    assert_allclose(exact, [0.5, 0.3, 0.2], atol=1e-6)
    assert 0.2 < little[0] < 0.5
    assert_allclose(much, p[0], atol=1e-3)


def test_gaussian_noise_of_several_classes_in_large_bags_is_close_to_the_exact_sum():
    """Rows in two groups of equal probabilities: counts are the sum of two multinomials."""
    groups, noise = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]), 4.0
    reported = np.array([25.0, 31.0, 18.0])  # of 60 rows
    p = np.repeat(groups, 30, axis=0)
    found = label_posterior(
        p, np.tile(reported / 60, (60, 1)), bags=np.zeros(60), count_noise=noise
    )
    vectors = np.array([(a, b, 30 - a - b) for a in range(31) for b in range(31 - a)])
    first, second = (stats.multinomial.pmf(vectors, 30, q) for q in groups)
    away = reported - vectors[:, None] - vectors
    joint = first[:, None] * second * stats.norm.pdf(away, scale=noise).prod(axis=2)
    assert_allclose(found.log_likelihood, [np.log(joint.sum())], atol=0.03)
    weights = joint / joint.sum()
    expected = np.array([weights.sum(axis=1) @ vectors, weights.sum(axis=0) @ vectors]) / 30
    assert_allclose(found.posterior[[0, 30]], expected, atol=0.005)


def test_the_sum_of_noisy_class_counts_says_nothing_in_gaussian_noise():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    for rows in (5, 40):
        shares, shifted = [0.5, 0.3, 0.2], [0.6, 0.4, 0.3]
        bags, some = np.zeros(rows), p[:rows]
        one = label_posterior(some, np.tile(shares, (rows, 1)), bags=bags, count_noise=2.0)
        other = label_posterior(some, np.tile(shifted, (rows, 1)), bags=bags, count_noise=2.0)
        assert_allclose(one.posterior, other.posterior, atol=1e-9)
        assert other.log_likelihood < one.log_likelihood


def test_one_row_with_several_possible_classes():
    p = np.array([[0.1, 0.2, 0.3, 0.4]])
    found = label_posterior(p, np.zeros((1, 4)), bags=[0], upper=[[1, 0, 1, 0]])
    assert_allclose(found.posterior, [[0.25, 0, 0.75, 0]])
    assert_allclose(np.exp(found.log_likelihood), [0.4])


def test_a_suppressed_cell_next_to_known_ones_is_known():
    """Fewer than 5 of 30 rows are of class 0, and the other counts are 20 and 7."""
    p = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    y, upper = (np.tile(np.array([cell, 20, 7]) / 30, (30, 1)) for cell in (0, 4))
    known = label_posterior(p, np.tile([0.1, 2 / 3, 7 / 30], (30, 1)), bags=np.zeros(30))
    found = label_posterior(p, y, bags=np.zeros(30), upper=upper)
    assert_allclose(found.posterior, known.posterior)
    assert_allclose(found.log_likelihood, known.log_likelihood)


def test_ranges_of_too_many_counts_are_refused():
    p = np.full((300, 3), 1 / 3)
    y, upper = np.zeros(p.shape), np.tile([0.9, 1, 1], (300, 1))
    with pytest.raises(ValueError, match="bag 'a' of 300 rows allow more than 4096 vectors of 3"):
        label_posterior(p, y, bags=["a"] * 300, upper=upper)
