"""Two classes are K = 2: nine quantities against the paper's formulas for two classes.

The formulas are written out here. Where the code has a faster way for two classes, its K-class way
is called as well, with the scores (0, f) of two columns: both have to agree. The negative class is
column 0, the positive class column 1.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, logsumexp

from decorrupt.corruption import backward_coefficients, combine_bags, source_weights
from decorrupt.losses import LOSSES, SoftmaxLoss, likelihood_and_slope
from decorrupt.observed import Observed, class_columns, read_sources
from decorrupt.risks import (
    CountRisk,
    ProportionRisk,
    count_risk,
    logistic_risk,
    noisy_label_risk,
)
from decorrupt.risks.groups import class_groups, group_bags
from decorrupt.solvers import Objective, solve

SAME = 1e-11
# Derandomised: a property that fails does so for everyone, on every machine.
thorough = settings(max_examples=100, deadline=None, derandomize=True, database=None)

priors = st.floats(0.02, 0.98)
seeds = st.integers(0, 2**32 - 1)


def assert_same(found, expected):
    scale = max(1.0, np.max(np.abs(expected)))
    np.testing.assert_allclose(found, expected, rtol=SAME, atol=SAME * scale)


def scores_of(seed, n_rows):
    """Return log-odds, from undecided rows to rows with odds of e³⁰."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, rng.choice([0.1, 1, 10]), n_rows)


def two_columns(scores):
    """Return (0, f), the scores of two classes with one column per class."""
    return np.column_stack([np.zeros_like(scores), scores])


def slope_by_differences(risk, scores, step=1e-5):
    moves = step * np.eye(len(scores))
    return np.array([risk(scores + move) - risk(scores - move) for move in moves]) / (2 * step)


# --- noisy labels


@st.composite
def noise_rates(draw):
    total, share = draw(st.floats(0, 0.8)), draw(st.floats(0, 1))
    return total * share, total * (1 - share)


@st.composite
def noisy_sources(draw, with_weights=False, with_priors=False):
    """Up to four sources, one to twenty rows each, in any order; some have one label only."""
    rates = draw(st.lists(noise_rates(), min_size=1, max_size=4))
    label_counts = st.tuples(st.integers(0, 10), st.integers(0, 10)).filter(any)
    counts = draw(st.lists(label_counts, min_size=len(rates), max_size=len(rates)))
    row_source = np.repeat(np.arange(len(rates)), [sum(both) for both in counts])
    labels = np.concatenate([np.repeat([0, 1], both) for both in counts])
    rng = np.random.default_rng(draw(seeds))
    order = rng.permutation(len(labels))
    given_priors = None
    if with_priors:
        given_priors = dict(
            enumerate(draw(st.lists(priors, min_size=len(rates), max_size=len(rates))))
        )
    classes, named = np.array([0, 1]), dict(enumerate(rates))
    sources = read_sources(labels[order], classes, row_source[order], named, given_priors)
    weights = rng.integers(1, 50, len(labels)) if with_weights else None
    return Observed.of_sources(classes, sources, weights)


def rates_by_row(noisy):
    """Return ρ₊ and ρ₋ of every row."""
    matrix = noisy.sources.matrices[noisy.sources.row_source]
    return matrix[:, 1, 0], matrix[:, 0, 1]


def rates_by_source(noisy):
    return np.array(list(noisy.sources.rates.values())).T


@thorough
@given(st.booleans().flatmap(lambda repeated: noisy_sources(with_weights=repeated)))
def test_the_common_class_prior_is_least_squares(noisy):
    """P(Ỹ=1) = ρ₋ + sπ with s = 1 − ρ₊ − ρ₋: π = Σ s(1{ỹ=+} − ρ₋)/Σ s², inside (0, 1)."""
    flip_pos, flip_neg = rates_by_row(noisy)
    weight = np.ones(len(flip_pos)) if noisy.weights is None else noisy.weights
    signal = 1 - flip_pos - flip_neg
    excess = noisy.sources.noisy_class - flip_neg
    margin = 0.5 / weight.sum()
    raw = (weight * signal * excess).sum() / (weight * signal**2).sum()
    prior = np.clip(raw, margin, 1 - margin)
    assert_same(noisy.class_prior, [1 - prior, prior])


@thorough
@given(noisy_sources(with_priors=True))
def test_the_shares_of_a_source_follow_bayes_rule(noisy):
    """γ₊ = π(1−ρ₊)/q and γ₋ = πρ₊/(1−q), with q = π(1−ρ₊) + (1−π)ρ₋."""
    flip_pos, flip_neg = rates_by_source(noisy)
    prior = noisy.source_priors[:, 1]
    share = prior * (1 - flip_pos) + (1 - prior) * flip_neg
    given_pos, given_neg = prior * (1 - flip_pos) / share, prior * flip_pos / (1 - share)
    strata = noisy.strata
    for name, found in zip(strata.ids.tolist(), strata.proportions, strict=True):
        source, label = name.split(" labelled ")
        expected = (given_pos if label == "1" else given_neg)[int(source)]
        assert_same(found, [1 - expected, expected])
    for row, bag in enumerate(strata.row_bag):
        expected = f"{noisy.sources.row_source[row]} labelled {noisy.sources.noisy_class[row]}"
        assert strata.ids[bag] == expected


@thorough
@given(
    noisy_sources(with_priors=True),
    st.sampled_from(["optimal", "optimal with priors", "exact", "size", "uniform"]),
)
def test_source_weights(noisy, scheme):
    """c = (1+|ρ₊−ρ₋|)/((1−ρ₊−ρ₋)√n), over min(π, 1−π) with priors; exact: n·4q(1−q)(γ₊−γ₋)²."""
    flip_pos, flip_neg = rates_by_source(noisy)
    prior = noisy.source_priors[:, 1]
    noise = (1 + np.abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
    share = prior * (1 - flip_pos) + (1 - prior) * flip_neg
    gap = prior * (1 - flip_pos) / share - prior * flip_pos / (1 - share)
    snr = {
        "optimal": noisy.source_sizes / noise**2,
        "optimal with priors": noisy.source_sizes / noise**2 * np.minimum(prior, 1 - prior) ** 2,
        "exact": noisy.source_sizes * 4 * share * (1 - share) * gap**2,
        "size": noisy.source_sizes,
        "uniform": np.ones(len(prior)),
    }[scheme]
    has_priors = scheme in ("optimal with priors", "exact")
    found = source_weights(
        noisy.source_sizes,
        list(noisy.sources.rates.values()),
        source_priors=noisy.source_priors if has_priors else None,
        scheme=scheme.split()[0],
    )
    assert_same(found, snr / snr.sum())


@thorough
@given(noisy_sources())
def test_backward_coefficients(noisy):
    """(1{ỹ=+} − ρ₋)/(1−ρ₊−ρ₋) of the positive class, (1{ỹ=−} − ρ₊)/(1−ρ₊−ρ₋) of the negative."""
    flip_pos, flip_neg = rates_by_row(noisy)
    is_pos, signal = noisy.sources.noisy_class == 1, 1 - flip_pos - flip_neg
    sources = noisy.sources
    found = backward_coefficients(sources.matrices, sources.row_source, sources.noisy_class)
    assert_same(found[:, 1], (is_pos - flip_neg) / signal)
    assert_same(found[:, 0], (~is_pos - flip_pos) / signal)


@thorough
@given(noisy_sources(with_priors=True), seeds, priors)
def test_forward_risk(noisy, seed, score_prior):
    """P(ỹ=+|x) = (1−ρ₊)σ(f) + ρ₋(1−σ(f)), f moved to the class prior of the row's source."""
    flip_pos, flip_neg = rates_by_row(noisy)
    scores = scores_of(seed, len(flip_pos))
    shift = (logit(noisy.source_priors[:, 1]) - logit(score_prior))[noisy.sources.row_source]

    def log_likelihoods(at):
        moved = at + shift
        pos = np.where(noisy.sources.noisy_class == 1, 1 - flip_pos, flip_pos)
        neg = np.where(noisy.sources.noisy_class == 1, flip_neg, 1 - flip_neg)
        with np.errstate(divide="ignore"):
            return np.logaddexp(np.log(pos) + log_expit(moved), np.log(neg) + log_expit(-moved))

    risk = noisy_label_risk(noisy, np.array([1 - score_prior, score_prior]))
    value, slope = risk.value_and_slope(scores)
    assert_same(value, -log_likelihoods(scores).mean())
    numeric = slope_by_differences(lambda at: -log_likelihoods(at).mean(), scores)
    np.testing.assert_allclose(slope, numeric, atol=1e-7)
    # The K-class code on two columns.
    with np.errstate(divide="ignore"):
        log_given = np.log(noisy.given)
    by_row, by_class = likelihood_and_slope(two_columns(scores + shift), log_given)
    assert_same(value, -by_row.mean())
    assert_same(len(scores) * slope, -by_class[:, 1])
    assert_same(by_class[:, 0], -by_class[:, 1])


# --- bags


@st.composite
def bags(draw):
    """One to eight bags of up to nine rows, whose counts have exact likelihoods for all K."""
    bag = st.integers(1, 9).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size)))
    sizes, counts = np.array(draw(st.lists(bag, min_size=1, max_size=8))).T
    row_bag = np.random.default_rng(draw(seeds)).permutation(
        np.repeat(np.arange(len(sizes)), sizes)
    )
    shares = class_columns(counts / sizes)
    return Observed(np.array([0, 1]), np.arange(len(sizes)), row_bag, shares)


@thorough
@given(bags(), seeds)
def test_proportion_risk(observed, seed):
    """−(1/n)·Σ_b n_b·[p·log mean σ(f) + (1−p)·log mean σ(−f)]."""
    n_rows = observed.n_rows
    scores = scores_of(seed, n_rows)

    expected, expected_slope = 0.0, np.zeros(n_rows)
    for bag, (_, share) in enumerate(observed.proportions):
        rows = observed.row_bag == bag
        own, size = scores[rows], rows.sum()
        log_pos, log_neg = logsumexp(log_expit(own)), logsumexp(log_expit(-own))
        entropy = share * log_pos + (1 - share) * log_neg - np.log(size)
        expected -= size / n_rows * entropy
        bend = log_expit(own) + log_expit(-own)  # log σ(f)σ(−f)
        rise = share * np.exp(bend - log_pos) - (1 - share) * np.exp(bend - log_neg)
        expected_slope[rows] = -size / n_rows * rise
    value, slope = ProportionRisk(observed).value_and_slope(scores)
    assert_same(value, expected)
    assert_same(slope, expected_slope)
    # Two classes, the second of them split into two halves of equal scores, are three.
    halves = observed.proportions[:, [0, 1, 1]] * [1, 0.5, 0.5]
    three = replace(observed, classes=np.arange(3), proportions=halves)
    split = np.column_stack([np.zeros(n_rows), scores - np.log(2), scores - np.log(2)])
    both, by_class = ProportionRisk(three).value_and_slope(split)
    extra = np.sum(observed.sizes * observed.proportions[:, 1]) / n_rows * np.log(2)
    assert_same(both - extra, value)
    assert_same(by_class[:, 1:].sum(axis=1), slope)


@thorough
@given(bags(), st.one_of(st.sampled_from([0.5, "pooled"]), priors))
def test_least_squares_combination(observed, class_prior):
    """Even part s(1 + (π−γ̄)t) and odd part s((2π−1) + [π(1−γ̄) + (1−π)γ̄]t), t = (γ−γ̄)/var."""
    sizes, proportions = observed.sizes, observed.proportions[:, 1]
    assume(np.ptp(proportions) > 0)
    share = sizes / sizes.sum()
    mean = share @ proportions
    prior = mean if class_prior == "pooled" else class_prior
    assume(0 < prior < 1)
    tilt = (proportions - mean) / (share @ (proportions - mean) ** 2)
    even = share * (1 + (prior - mean) * tilt)
    odd = share * ((2 * prior - 1) + (prior * (1 - mean) + (1 - prior) * mean) * tilt)
    found = combine_bags(
        sizes, observed.proportions, method="least_squares", class_prior=class_prior
    )
    np.testing.assert_allclose(found[:, 1], (even + odd) / 2, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[:, 0], (even - odd) / 2, rtol=1e-8, atol=1e-9)


@thorough
@given(bags(), seeds)
def test_corrected_logistic_risk(observed, seed):
    """Σ_b [a_b·mean log(1+e^−f) + b_b·mean log(1+e^f)]."""
    coef = np.random.default_rng(seed).normal(size=(observed.n_bags, 2))
    scores = scores_of(seed, observed.n_rows)
    expected, expected_slope = 0.0, np.zeros(len(scores))
    for bag, (neg, pos) in enumerate(coef):
        rows = observed.row_bag == bag
        own, size = scores[rows], rows.sum()
        expected += (pos * np.logaddexp(0, -own) + neg * np.logaddexp(0, own)).sum() / size
        expected_slope[rows] = (-pos * expit(-own) + neg * expit(own)) / size
    risk = logistic_risk(coef, observed)
    value, slope = risk.value_and_slope(scores)
    assert_same(value, expected)
    assert_same(slope, expected_slope)
    assert_same(risk.curvature(scores)(np.ones(len(scores))),
                risk.coef.sum(axis=1) * expit(scores) * expit(-scores))  # fmt: skip
    # Softmax cross-entropy on two columns.
    assert_same(SoftmaxLoss().row_sums(risk.coef, two_columns(scores)).sum(), value)
    assert_same(SoftmaxLoss().class_values(two_columns(scores)), risk.loss.class_values(scores))
    assert_same(SoftmaxLoss().concavity(risk.coef), LOSSES["logistic"].concavity(risk.coef))


def brute_force_counts(scores, low, high):
    """Return log P(low ≤ ΣY ≤ high) and E[Y | that] − σ(f), from all labellings."""
    labels = np.array(list(product([0, 1], repeat=len(scores))))
    possible = (labels.sum(axis=1) >= low) & (labels.sum(axis=1) <= high)
    logs = np.where(labels == 1, log_expit(scores), log_expit(-scores)).sum(axis=1)[possible]
    total = logsumexp(logs)
    return total, np.exp(logs - total) @ labels[possible] - expit(scores)


def with_class_kernels(observed):
    """Return the count risk of the kernels for any number of classes."""
    groups = tuple(group_bags(observed, class_groups))
    return CountRisk(observed.n_rows, observed.n_bags, groups)


def assert_same_counts(observed, scores):
    risk = count_risk(observed)
    by_bag, slope = risk.log_probs_and_slope(scores)
    counts = observed.counts
    for bag, ends in enumerate(zip(counts.lower[:, 1], counts.upper[:, 1], strict=True)):
        rows = observed.row_bag == bag
        expected, expected_slope = brute_force_counts(scores[rows], *ends)
        assert_same(by_bag[bag], expected)
        assert_same(slope[rows], expected_slope)
    classes = with_class_kernels(observed)
    class_by_bag, class_slope = classes.log_probs_and_slope(scores)
    assert_same(class_by_bag, by_bag)
    assert_same(class_slope, slope)
    assert_same(classes.posterior(scores), risk.posterior(scores))
    assert classes.is_convex == risk.is_convex


@thorough
@given(bags(), seeds)
def test_count_likelihood(observed, seed):
    assert_same_counts(observed, scores_of(seed, observed.n_rows))


@thorough
@given(bags(), seeds)
def test_count_likelihood_of_ranges(observed, seed):
    rng = np.random.default_rng(seed)
    counts, sizes = observed.counts.lower[:, 1], observed.sizes
    low = np.maximum(counts - rng.integers(0, 3, len(sizes)), 0)
    high = np.minimum(counts + rng.integers(0, 3, len(sizes)), sizes)
    row_bag = observed.row_bag
    ranges = Observed.from_bags((low / sizes)[row_bag], row_bag, upper=(high / sizes)[row_bag])
    assert_same_counts(ranges, scores_of(seed, observed.n_rows))


# --- the objective


class TwoColumns:
    """A risk of one score as a function of two columns, f₁ − f₀."""

    def __init__(self, risk):
        self.risk = risk

    def value_and_slope(self, scores):
        value, slope = self.risk.value_and_slope(scores[:, 1] - scores[:, 0])
        return value, np.column_stack([-slope, slope])


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["corrected", "count", "proportion", "noisy labels"])
def test_the_objective_and_its_solution(name, fit_intercept):
    """min risk(ZΘ + b) + 2λ‖Θ‖² over two columns is that over one at the same λ."""
    rng = np.random.default_rng(8)
    sizes, counts = np.array([1, 2, 5, 12, 20, 30]), np.array([1, 1, 2, 12, 5, 21])
    row_bag = rng.permutation(np.repeat(np.arange(6), sizes))
    observed = Observed.from_bags((counts / sizes)[row_bag], row_bag)
    labels, sources = rng.integers(0, 2, 70), np.repeat([0, 1], 35)
    noisy = Observed.from_sources(labels, sources, {0: (0.1, 0.2), 1: (0.3, 0.05)})
    risk = {
        "corrected": lambda: logistic_risk(
            combine_bags(sizes, counts / sizes, method="least_squares"), observed
        ),
        "count": lambda: count_risk(observed),
        "proportion": lambda: ProportionRisk(observed),
        "noisy labels": lambda: noisy_label_risk(noisy),
    }[name]()
    features = rng.normal(size=(70, 4)) / 2
    one = Objective(features, risk, 0.05, fit_intercept)

    def two(flat):
        table = flat.reshape(-1, 2)
        intercept = table[4] if fit_intercept else np.zeros(2)
        value, slope = TwoColumns(risk).value_and_slope(features @ table[:4] + intercept)
        gradient = features.T @ slope + 4 * 0.05 * table[:4]
        if fit_intercept:
            gradient = np.vstack([gradient, slope.sum(axis=0)])
        return value + 2 * 0.05 * np.sum(table[:4] ** 2), gradient.ravel()

    coef = rng.normal(size=one.n_coef)
    value, gradient = one.value_and_gradient(coef)
    both_value, both_gradient = two(np.outer(coef, [-0.5, 0.5]).ravel())
    assert_same(both_value, value)
    assert_same(both_gradient, np.outer(gradient, [-1, 1]).ravel())
    found = solve(one, tol=1e-9)
    options = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 2000}
    both = minimize(two, np.zeros(2 * one.n_coef), jac=True, method="L-BFGS-B", options=options)
    np.testing.assert_allclose(both.fun, found.objective, rtol=1e-10)
    columns = both.x.reshape(-1, 2)
    np.testing.assert_allclose(columns[:, 1] - columns[:, 0], found.coef, atol=1e-5)
    np.testing.assert_allclose(columns[:4].sum(axis=1), 0, atol=1e-6)
