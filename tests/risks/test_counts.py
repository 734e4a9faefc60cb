"""The count likelihood of bags of all kinds and sizes, with labels, weights and sources."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from decorrupt import GaussianNoise, LaplaceNoise, label_posterior
from decorrupt.observed import Observed, as_observed, class_columns
from decorrupt.risks import count_log_likelihood, count_risk
from oracles.counts import (
    convolved_pmf,
    enumerate_class_counts,
    enumerate_count,
    enumerate_weights,
    log_recursion,
    make_observed,
)
from oracles.dense_risk import central_differences

any_classes = pytest.mark.parametrize("n_classes", [2, 3])


def two_classes(sizes, counts, seed=0):
    """Return bags with these sizes and counts of positives, in shuffled rows."""
    return make_observed(np.column_stack([np.subtract(sizes, counts), counts]), seed)


def as_scores(columns):
    """Return one column per class as scores: log-odds of two classes."""
    return columns if columns.shape[1] > 2 else columns[:, 1] - columns[:, 0]


def as_columns(slope):
    return slope if slope.ndim == 2 else np.column_stack([-slope, slope])


MIXED_SIZES = [1, 1, 2, 3, 3, 5, 12, 12, 4, 7, 20]
MIXED_COUNTS = [0, 1, 1, 1, 2, 4, 6, 1, 4, 0, 13]


def test_the_risk_is_the_mean_log_probability_of_the_counts():
    observed = two_classes(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(1).normal(scale=2, size=70)
    log_prob, slope = count_risk(observed).log_probs_and_slope(scores)
    for bag, count in enumerate(MIXED_COUNTS):
        rows = np.flatnonzero(observed.row_bag == bag)
        assert_allclose(log_prob[bag], log_recursion(scores[rows], count), rtol=1e-11)
        if len(rows) <= 12:
            assert_allclose(slope[rows], enumerate_count(scores[rows], count)[1], atol=1e-11)
    value, risk_slope = count_risk(observed).value_and_slope(scores)
    assert_allclose(value, -log_prob.sum() / 70)
    assert_allclose(risk_slope, -slope / 70)
    single, slope_of_single = count_risk(observed).value_and_slope(scores.astype(np.float32))
    assert slope_of_single.dtype == np.float64
    assert_allclose(single, value, rtol=1e-6)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(0, 100))
@settings(max_examples=50, deadline=None)
def test_bags_of_all_sizes_are_as_each_alone(sizes, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, np.array(sizes) + 1)
    observed = two_classes(sizes, counts, seed)
    scores = rng.normal(scale=3, size=sum(sizes))
    log_prob, _ = count_risk(observed).log_probs_and_slope(scores)
    for bag, count in enumerate(counts):
        alone = log_recursion(scores[observed.row_bag == bag], count)
        assert_allclose(log_prob[bag], alone, rtol=1e-10, atol=1e-12)


@given(st.integers(0, 10_000), st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_small_bags_of_several_classes_are_exact(seed, scale):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=5)
    counts = np.array([rng.multinomial(size, rng.dirichlet(np.ones(3))) for size in sizes])
    observed = make_observed(counts, seed)
    scores = rng.normal(scale=scale, size=(sizes.sum(), 3))
    by_bag, slope = count_risk(observed).log_probs_and_slope(scores)
    for bag in range(5):
        rows = observed.row_bag == bag
        log_prob, posterior_gain = enumerate_class_counts(scores[rows], counts[bag])
        assert_allclose(by_bag[bag], log_prob, rtol=1e-10, atol=1e-12)
        assert_allclose(slope[rows], posterior_gain, atol=1e-10)


@any_classes
def test_the_order_of_rows_and_bags_does_not_matter(n_classes):
    observed = make_observed([[2, 1, 4], [0, 3, 0], [5, 0, 1]])
    if n_classes == 2:
        observed = two_classes(MIXED_SIZES, MIXED_COUNTS)
    n_rows, n_bags = observed.n_rows, observed.n_bags
    scores = as_scores(np.random.default_rng(3).normal(size=(n_rows, n_classes)))
    order, bag_order = np.random.default_rng(4).permutation(n_rows), np.arange(n_bags)[::-1]
    shares, row_bag = observed.proportions[bag_order], n_bags - 1 - observed.row_bag[order]
    shuffled = Observed(observed.classes, observed.ids[bag_order], row_bag, shares)
    value, slope = count_risk(observed).value_and_slope(scores)
    other, other_slope = count_risk(shuffled).value_and_slope(scores[order])
    assert_allclose(other, value, rtol=1e-12)
    assert_allclose(other_slope, slope[order], atol=1e-14)


@pytest.mark.parametrize("bags", [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 2, 3, 3, 3]])
@any_classes
def test_bags_of_one_class_or_row_are_cross_entropy(bags, n_classes):
    labels = np.array([0, 2, 1, 1, 2, 2, 2]) if n_classes == 3 else np.array([0, 1, 0, 0, 1, 1, 1])
    ids, first = np.unique(bags, return_index=True)
    observed = Observed(np.arange(n_classes), ids, np.array(bags), np.eye(n_classes)[labels[first]])
    columns = np.random.default_rng(5).normal(scale=3, size=(7, n_classes))
    risk, prob = count_risk(observed), softmax(columns, axis=1)
    value, slope = risk.value_and_slope(as_scores(columns))
    assert risk.is_convex
    assert_allclose(value, -np.log(prob[np.arange(7), labels]).mean())
    assert_allclose(as_columns(slope), (prob - np.eye(n_classes)[labels]) / 7)
    assert_allclose(risk.posterior(as_scores(columns)), np.eye(n_classes)[labels], atol=1e-12)
    if n_classes == 2:
        bend = risk.curvature(as_scores(columns))(np.ones(7))
        assert_allclose(bend, prob.prod(axis=1) / 7)


def test_other_bags_have_no_curvature_to_give():
    risk = count_risk(two_classes([2, 2], [1, 0]))
    assert not risk.is_convex
    with pytest.raises(
        ValueError, match=r"not compatible with solver='newton'.*use solver='lbfgs'"
    ):
        risk.curvature(np.zeros(4))


@pytest.mark.parametrize("size", [256, 257])
def test_the_approximation_takes_over_within_its_stated_tolerance(size):
    rng = np.random.default_rng(6)
    scores = np.concatenate([scale * rng.normal(size=size) for scale in (1, 4, 30)])
    shares = np.repeat([100 / size, 140 / size, 90 / size], size)
    observed = Observed.from_bags(shares, np.repeat(["a", "b", "c"], size))
    switched, slope = count_risk(observed).log_probs_and_slope(scores)
    exact, exact_slope = count_risk(observed, large_bags=np.inf).log_probs_and_slope(scores)
    assert (switched[0] == exact[0]) == (size == 256)
    assert_allclose(switched, exact, atol=0.01)
    assert_allclose(slope, exact_slope, atol=0.001)
    assert count_risk(observed, large_bags=100).log_probs_and_slope(scores)[0][0] != exact[0]


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("large_bags", ["auto", 1, np.inf])
def test_extremes_stay_finite(scale, large_bags):
    sizes = [1, 2, 30, 300, 300, 300, 30]
    observed = two_classes(sizes, [1, 1, 30, 0, 300, 1, 29])
    scores = scale * np.random.default_rng(7).choice([-1.0, 1.0], size=sum(sizes))
    for each in (scores, np.full(len(scores), scale), np.full(len(scores), -scale)):
        value, slope = count_risk(observed, large_bags=large_bags).value_and_slope(each)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()
        assert np.abs(slope).max() <= 1.001 / len(scores)


@pytest.mark.parametrize("large_bags", ["some", 0, np.nan])
def test_bad_options(large_bags):
    with pytest.raises(ValueError, match=rf"large_bags={large_bags!r}: give 'auto' or"):
        count_risk(Observed.from_bags([0.0, 1.0], ["a", "b"]), large_bags=large_bags)
    with pytest.raises(ValueError, match="large_bags=100, and y has 3 classes: leave it at 'auto'"):
        count_risk(make_observed([[1, 1, 1]]), large_bags=100)


class TestLogLikelihoodOfProbabilities:
    OBSERVED = Observed.from_bags([[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]], ["x", "y", "x"])

    def test_by_hand(self):
        observed = Observed.from_bags([2 / 3, 0.5, 2 / 3, 0.5, 2 / 3], ["x", "y", "x", "y", "x"])
        probabilities = np.array([0.2, 0.5, 0.9, 0.25, 0.4])
        by_bag = count_log_likelihood(probabilities, observed)
        assert_allclose(count_log_likelihood(class_columns(probabilities), observed), by_bag)
        x = 0.2 * 0.9 * 0.6 + 0.2 * 0.1 * 0.4 + 0.8 * 0.9 * 0.4
        assert_allclose(np.exp(by_bag), [x, 0.5 * 0.75 + 0.5 * 0.25])
        probabilities = [[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25]]
        by_bag = count_log_likelihood(probabilities, self.OBSERVED)
        assert_allclose(np.exp(by_bag), [0.2 * 0.25 + 0.7 * 0.5, 0.4])

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
    def test_certain_probabilities_have_a_finite_log_likelihood(self, dtype):
        observed = two_classes([3, 5, 300, 2], [1, 0, 150, 1])
        for probabilities in (np.zeros(310, dtype=dtype), np.ones(310, dtype=dtype)):
            by_bag = count_log_likelihood(probabilities, observed)
            assert np.isfinite(by_bag).all()
            assert by_bag[0] < -10
        right = count_log_likelihood(np.zeros(310), observed)[1]
        assert_allclose(right, 0, atol=1e-12)
        by_bag = count_log_likelihood(np.eye(3, dtype=dtype)[[2, 0, 1]], self.OBSERVED)
        assert np.isfinite(by_bag).all()
        assert (by_bag < -10).all()

    def test_it_is_a_proper_score(self):
        """Averaged over the true distribution of the count, no other probabilities score higher."""
        rng = np.random.default_rng(11)
        truth = rng.uniform(0.05, 0.95, size=7)
        pmf = convolved_pmf(np.log(truth / (1 - truth)))

        def average(probabilities):
            bags = [two_classes([7], [count]) for count in range(8)]
            return pmf @ [count_log_likelihood(probabilities, bag)[0] for bag in bags]

        best = average(truth)
        assert all(average(rng.uniform(0.05, 0.95, size=7)) < best for _ in range(20))

    @pytest.mark.parametrize(
        ("probabilities", "message"),
        [
            ([0.5, 0.5], r"shape \(2,\).*each of the 3 rows"),
            ([0.5, 1.5, 0.1], r"probabilities\[1\] = 1\.5 is not in \[0, 1\]"),
            ([0.5, 0.5, np.nan], r"probabilities\[2\] = nan"),
            (np.full((2, 3), 1 / 3), r"shape \(2, 3\).*the 3 rows and 3 classes"),
            (np.full((3, 3), 0.3), r"probabilities\[0\] = .*a sum of 1"),
            ([[1, 0, 0], [0.5, 0.75, -0.25], [0, 0, 1]], r"probabilities\[1\] = .*\[0, 1\]"),
        ],
    )
    def test_bad_probabilities(self, probabilities, message):
        observed = two_classes([1, 2], [1, 1]) if np.ndim(probabilities) == 1 else self.OBSERVED
        with pytest.raises(ValueError, match=message):
            count_log_likelihood(probabilities, observed)


# --- rows that represent many


def bags_of_people(n_classes, n_rows, n_bags, largest, seed=0):
    """Return the shares of each row's bag, the bags, the weights, and each person's row."""
    rng = np.random.default_rng(seed)
    bags = np.arange(n_rows) % n_bags
    weights = rng.integers(1, largest + 1, n_rows)
    person = np.repeat(np.arange(n_rows), weights)
    counts = np.zeros((n_bags, n_classes))
    np.add.at(counts, (bags[person], rng.integers(0, n_classes, len(person))), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    y = shares[:, 1] if n_classes == 2 else shares
    return y[bags], bags, weights, person


@any_classes
@pytest.mark.parametrize("largest", [2, 8, 200])
@pytest.mark.parametrize("known", ["exact", "range", "gaussian", "laplace"])
def test_a_weight_is_a_number_of_repeated_rows(n_classes, largest, known):
    y, bags, weights, person = bags_of_people(n_classes, 12, 3, largest)
    noise = {"gaussian": GaussianNoise(1.5), "laplace": LaplaceNoise(2.0)}.get(known)
    upper = np.minimum(y + 6 / (4 * largest), 1) if known == "range" else None
    observed = Observed.from_bags(y, bags, upper=upper, count_noise=noise, sample_weight=weights)
    upper = None if upper is None else upper[person]
    repeated = Observed.from_bags(y[person], bags[person], upper=upper, count_noise=noise)
    scores = as_scores(np.random.default_rng(1).normal(size=(12, n_classes)))
    risk, expected = count_risk(observed), count_risk(repeated)
    value, slope = risk.value_and_slope(scores)
    many_value, many_slope = expected.value_and_slope(scores[person])
    summed = np.zeros_like(slope)
    np.add.at(summed, person, many_slope)
    assert_allclose(value, many_value, rtol=1e-9)
    assert_allclose(slope, summed, atol=1e-10)
    assert_allclose(risk.posterior(scores)[person], expected.posterior(scores[person]), atol=1e-8)


@any_classes
def test_posteriors_of_weighted_rows_are_shares_over_all_labelings(n_classes):
    weights = np.array([3, 1, 2])
    person = np.repeat(np.arange(3), weights)
    prob = np.random.default_rng(3).dirichlet(np.ones(n_classes), size=3)
    counts = np.array([2, 4]) if n_classes == 2 else np.array([1, 3, 2])
    if n_classes == 2:
        total, posterior = enumerate_weights(prob[person, 1], np.arange(7) == counts[1])
        posterior = np.column_stack([1 - posterior, posterior])
    else:
        log_total, change = enumerate_class_counts(np.log(prob[person]), counts)
        total, posterior = np.exp(log_total), prob[person] + change
    result = label_posterior(
        prob, np.tile(counts / 6, (3, 1)), bags=["a"] * 3, sample_weight=weights
    )
    assert_allclose(np.exp(result.log_likelihood), [total])
    assert_allclose(result.posterior[person], posterior)


def test_a_binomial_is_the_count_of_one_row():
    result = label_posterior([0.3], [0.4], bags=["a"], sample_weight=[5])
    assert_allclose(np.exp(result.log_likelihood), [10 * 0.3**2 * 0.7**3])
    assert_allclose(result.posterior, [0.4])


@any_classes
@pytest.mark.parametrize("is_noisy", [False, True])
def test_labels_and_noisy_labels_count_as_often_as_their_weight(n_classes, is_noisy):
    y, weights = np.array([0, 1, n_classes - 1, 0]), np.array([2.5, 1.0, 0.5, 3.0])
    rates = {2: (0.2, 0.1), 3: 0.7 * np.eye(3) + 0.1}[n_classes]
    known = {"noise_rates": rates} if is_noisy else {}
    scores = as_scores(np.random.default_rng(0).normal(size=(4, n_classes)))
    risk = count_risk(as_observed(y, sample_weight=weights, **known))
    alone = count_risk(as_observed(y, **known))
    by_row, slope = alone.log_probs_and_slope(scores)
    assert_allclose(risk.value_and_slope(scores)[0], -np.average(by_row, weights=weights))
    weighted = (slope.T * -weights).T / weights.sum()
    assert_allclose(risk.value_and_slope(scores)[1], weighted)
    assert_allclose(risk.posterior(scores), alone.posterior(scores))


def test_bags_with_several_classes_need_whole_weights():
    observed = Observed.from_bags([0.5, 0.5, 1.0], ["a", "a", "b"], sample_weight=[1.5, 1.0, 0.5])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = 1.5 is not a whole number"):
        count_risk(observed)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = 0.5 is not a whole number"):
        Observed.from_bags([0.5] * 2, ["a", "b"], count_noise=1.0, sample_weight=[0.5, 1.0])


# --- bags, noisy labels and unlabelled rows in one

RATES = {"nurse": (0.05, 0.2), "rule": (0.4, 0.1)}
BAGS = ["a", "a", None, None, "b", "b", "b", None, None]
SOURCES = [None, None, "nurse", "rule", None, None, None, "rule", None]
Y = [0.5, 0.5, 1, 0, 1 / 3, 1 / 3, 1 / 3, 1, np.nan]


def mixed(y=Y, rates=RATES):
    """Return the risk of rows of two bags, two sources, and one row without information."""
    return count_risk(as_observed(y, bags=BAGS, sources=SOURCES, noise_rates=rates))


def test_bags_sources_and_unlabelled_rows_in_one():
    risk, scores = mixed(), np.random.default_rng(0).normal(size=9)
    p, w = expit(scores), risk.posterior(scores)
    assert_allclose(w.sum(axis=1), 1)
    w = w[:, 1]
    in_bags = [0, 1, 4, 5, 6]
    alone = label_posterior(p[in_bags], np.array(Y)[in_bags], bags=[BAGS[row] for row in in_bags])
    assert_allclose(w[in_bags], alone.posterior, atol=1e-12)
    # P(noisy label | Y=1) and P(noisy label | Y=0) of the rows of the sources.
    pos, neg = np.array([0.95, 0.4, 0.6]), np.array([0.2, 0.9, 0.1])
    own = p[[2, 3, 7]]
    total = pos * own + neg * (1 - own)
    assert_allclose(w[[2, 3, 7]], pos * own / total)
    assert_allclose(w[8], p[8])
    expected = alone.log_likelihood.sum() + np.log(total).sum()
    assert_allclose(risk.log_likelihood(scores), expected)
    rows = np.array([2, 4, 5, 6, 8])
    assert_allclose(risk.take(rows).posterior(scores[rows])[:, 1], w[rows])


@settings(max_examples=20)
@given(st.integers(0, 100), st.sampled_from([2, 3]))
def test_the_slope_is_the_gradient(seed, n_classes):
    rng = np.random.default_rng(seed)
    risk = mixed()
    if n_classes == 3:
        y = rng.multinomial(1, [1 / 3] * 3, size=9).astype(float)
        y[[0, 1]], y[[4, 5, 6]] = [0.5, 0.5, 0], [1 / 3, 0, 2 / 3]
        risk = mixed(y, {name: 0.7 * np.eye(3) + 0.1 for name in RATES})
    columns = rng.normal(size=(9, n_classes))
    scores = as_scores(columns)
    value, slope = risk.value_and_slope(scores)
    assert_allclose(value, -risk.log_likelihood(scores) / 9)
    numeric = central_differences(
        lambda f: risk.value_and_slope(f.reshape(scores.shape))[0], scores.ravel()
    )
    assert_allclose(slope.ravel(), numeric, atol=1e-6)
    expected = softmax(columns, axis=1) - 9 * as_columns(slope)
    assert_allclose(risk.posterior(scores), expected, atol=1e-9)


def test_the_prior_of_noisy_labels_is_that_of_maximum_likelihood():
    rng = np.random.default_rng(2)
    labels = rng.random(4000) < 0.3
    flipped = np.where(labels, rng.random(4000) < 0.9, rng.random(4000) < 0.2)
    prior = count_risk(as_observed(flipped.astype(int), noise_rates=(0.1, 0.2))).class_prior
    # P(ỹ=1) = 0.2 + 0.7π has its maximum likelihood at the share of ỹ=1.
    assert_allclose(prior[1], (flipped.mean() - 0.2) / 0.7, atol=1e-3)
    assert prior.sum() == pytest.approx(1)
    rates = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    noisy = np.repeat(np.arange(3), rng.multinomial(4000, [0.5, 0.3, 0.2] @ rates))
    prior = count_risk(as_observed(noisy, noise_rates=rates)).class_prior
    assert_allclose(prior @ rates, np.bincount(noisy) / len(noisy), atol=1e-3)


@pytest.mark.parametrize("counts", [[[1, 1], [0, 4]], [[1, 1, 0], [0, 1, 3], [0, 1, 1]]])
def test_the_prior_of_exact_counts_is_their_share(counts):
    expected = np.sum(counts, axis=0) / np.sum(counts)
    assert_allclose(count_risk(make_observed(counts)).class_prior, expected, atol=1e-5)


def test_sources_without_a_row_change_nothing():
    y, bags = np.repeat([0.5, 0.0, 0.5], 2), np.repeat([0, 1, 2], 2)
    alone = count_risk(as_observed(y, bags=bags))
    both = count_risk(as_observed(y, bags=bags, sources=[None] * 6, noise_rates={}))
    scores = np.random.default_rng(0).normal(size=6)
    assert_allclose(both.posterior(scores), alone.posterior(scores))
    assert_allclose(both.log_likelihood(scores), alone.log_likelihood(scores))
