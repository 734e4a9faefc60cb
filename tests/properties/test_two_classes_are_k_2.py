"""Two classes are K = 2: nine quantities, computed for two classes and for K classes.

The negative class is column 0, the positive class column 1. The score of two classes is f₁ − f₀, so
its slope is the slope in f₁.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from decorrupt.corruption import (
    ClassCombination,
    Combination,
    Strata,
    backward_coefficients,
    class_source_weights,
    combine_strata,
    correction_coefficients,
    source_weights,
)
from decorrupt.estimators.class_sources import (
    ClassSources,
    class_source_strata,
    common_class_shares,
)
from decorrupt.estimators.inputs import NoisySources, _common_prior, source_strata
from decorrupt.risks.corrected import logistic_risk
from decorrupt.risks.count import count_risk
from decorrupt.risks.forward import noisy_label_risk
from decorrupt.risks.multiclass import class_noisy_label_risk
from decorrupt.risks.proportion import proportion_risk

SAME = 1e-12
# Derandomised: a property that fails does so for everyone, on every machine.
thorough = settings(max_examples=100, deadline=None, derandomize=True, database=None)

priors = st.floats(0.02, 0.98)
seeds = st.integers(0, 2**32 - 1)


def assert_same(found, expected):
    scale = max(1.0, np.max(np.abs(expected)))
    np.testing.assert_allclose(found, expected, rtol=SAME, atol=SAME * scale)


def both_columns(share):
    """Return (P(Y=0), P(Y=1)) from P(Y=1)."""
    return np.stack([1 - share, share], axis=-1)


def matrices_of(rates):
    """Return T[y, ỹ] = P(Ỹ=ỹ | Y=y) from (flip_pos, flip_neg)."""
    return np.array([[[1 - neg, neg], [pos, 1 - pos]] for pos, neg in rates])


def scores_of(seed, n_rows):
    """Return scores of two classes, from undecided rows to rows with odds of e³⁰."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, rng.choice([0.1, 1, 10]), (n_rows, 2))


def assert_same_risk(binary, classes, scores):
    value, slope = binary.value_and_slope(scores[:, 1] - scores[:, 0])
    class_value, class_slope = classes.value_and_slope(scores)
    n_rows = len(scores)
    assert_same(class_value, value)
    assert_same(n_rows * class_slope, n_rows * np.column_stack([-slope, slope]))


# --- noisy labels


class Sources(NamedTuple):
    """The same noisy labels for two classes and for K classes."""

    binary: NoisySources
    classes: ClassSources


@st.composite
def noise_rates(draw):
    total, share = draw(st.floats(0, 0.8)), draw(st.floats(0, 1))
    return total * share, total * (1 - share)


@st.composite
def noisy_sources(draw, with_multiplicity=False):
    """Up to four sources, one to twenty rows each, in any order; some have one label only."""
    rates = np.array(draw(st.lists(noise_rates(), min_size=1, max_size=4)))
    label_counts = st.tuples(st.integers(0, 10), st.integers(0, 10)).filter(any)
    counts = draw(st.lists(label_counts, min_size=len(rates), max_size=len(rates)))
    row_source = np.repeat(np.arange(len(rates)), [sum(both) for both in counts])
    labels = np.concatenate([np.repeat([0, 1], both) for both in counts])
    rng = np.random.default_rng(draw(seeds))
    order = rng.permutation(len(labels))
    row_source, labels = row_source[order], labels[order]
    multiplicity = rng.integers(1, 50, len(labels)) if with_multiplicity else None
    ids = np.array([f"source {s}" for s in range(len(rates))])
    return Sources(
        NoisySources(ids, row_source, labels == 1, rates[row_source], multiplicity),
        ClassSources(ids, row_source, labels, matrices_of(rates), row_source, [0, 1], multiplicity),
    )


@thorough
@given(st.booleans().flatmap(lambda repeated: noisy_sources(with_multiplicity=repeated)))
def test_class_priors_from_noisy_labels(noisy):
    prior = _common_prior(noisy.binary)
    assert_same(common_class_shares(noisy.classes), both_columns(prior))


@thorough
@given(noisy_sources(), st.data())
def test_strata_of_sources(noisy, data):
    n_sources = len(noisy.binary.ids)
    prior = np.array(data.draw(st.lists(priors, min_size=n_sources, max_size=n_sources)))
    binary = source_strata(noisy.binary, prior)
    classes = class_source_strata(noisy.classes, both_columns(prior))
    np.testing.assert_array_equal(classes.row_stratum, binary.row_stratum)
    assert_same(classes.proportions, both_columns(binary.proportions))


@thorough
@given(
    noisy_sources(),
    st.data(),
    st.sampled_from(["optimal", "optimal with priors", "exact", "size", "uniform"]),
)
def test_source_weights(noisy, data, scheme):
    sizes, rates = noisy.binary.sizes, noisy.binary.source_rates
    prior = class_prior = None
    if scheme in ("optimal with priors", "exact"):
        prior = np.array(data.draw(st.lists(priors, min_size=len(sizes), max_size=len(sizes))))
        class_prior = both_columns(prior)
    scheme = scheme.split()[0]
    expected = source_weights(sizes, *rates.T, class_priors=prior, scheme=scheme)
    found = class_source_weights(
        sizes, noisy.classes.matrices, class_priors=class_prior, scheme=scheme
    )
    assert_same(found, expected)


@thorough
@given(noisy_sources())
def test_backward_coefficients(noisy):
    pos, neg = correction_coefficients(noisy.binary.is_pos, *noisy.binary.rates.T)
    classes = noisy.classes
    found = backward_coefficients(classes.matrices, classes.row_source, classes.noisy_class)
    assert_same(found, np.column_stack([neg, pos]))


@thorough
@given(noisy_sources(), seeds, st.booleans())
def test_forward_risk(noisy, seed, shifted):
    binary, classes = noisy
    scores = scores_of(seed, len(binary.is_pos))
    shift = np.random.default_rng(seed).normal(size=scores.shape) * shifted
    assert_same_risk(
        noisy_label_risk(binary.is_pos, *binary.rates.T, shift[:, 1] - shift[:, 0]),
        class_noisy_label_risk(classes.noisy_class, classes.matrices, classes.row_source, shift),
        scores,
    )


# --- bags


class Bags(NamedTuple):
    """The same bags for two classes and for K classes."""

    binary: Strata
    classes: Strata


@st.composite
def bags(draw):
    """One to eight bags of up to nine rows, whose counts have exact likelihoods for all K."""
    bag = st.integers(1, 9).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size)))
    sizes, counts = np.array(draw(st.lists(bag, min_size=1, max_size=8))).T
    row_bag = np.random.default_rng(draw(seeds)).permutation(
        np.repeat(np.arange(len(sizes)), sizes)
    )
    ids, shares = np.arange(len(sizes)), counts / sizes
    return Bags(Strata(ids, row_bag, shares), Strata(ids, row_bag, both_columns(shares)))


@thorough
@given(bags(), seeds)
def test_proportion_risk(both, seed):
    scores = scores_of(seed, len(both.binary.row_stratum))
    assert_same_risk(proportion_risk(both.binary), proportion_risk(both.classes), scores)


@thorough
@given(bags(), st.one_of(st.sampled_from([0.5, "pooled"]), priors))
def test_least_squares_combination(both, target_prior):
    sizes, shares = both.binary.sizes, both.binary.proportions
    assume(np.ptp(shares) > 0)
    class_prior = target_prior if target_prior in (0.5, "pooled") else both_columns(target_prior)
    pos, neg = combine_strata(sizes, shares, method="least_squares", target_prior=target_prior)
    found = combine_strata(
        sizes, both.classes.proportions, method="least_squares", target_prior=class_prior
    )
    assert_same(found.coef, np.column_stack([neg, pos]))


@thorough
@given(bags(), seeds)
def test_corrected_logistic_risk(both, seed):
    coef = np.random.default_rng(seed).normal(size=(len(both.binary.ids), 2))
    assert_same_risk(
        logistic_risk(Combination(coef[:, 1], coef[:, 0]), both.binary),
        logistic_risk(ClassCombination(coef), both.classes),
        scores_of(seed, len(both.binary.row_stratum)),
    )


@thorough
@given(bags(), seeds)
def test_count_likelihood(both, seed):
    scores = scores_of(seed, len(both.binary.row_stratum))
    assert_same_risk(count_risk(both.binary), count_risk(both.classes), scores)
