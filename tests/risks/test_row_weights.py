"""Rows that represent many: the count likelihood against repeated rows and all labelings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt import GaussianNoise, LaplaceNoise, label_posterior
from decorrupt.observed import Observed, as_observed
from decorrupt.risks import LabelLikelihood, count_risk
from oracles.counts import enumerate_class_counts, enumerate_weights


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


def read_both(y, bags, weights, person, **known):
    """Return what is observed, as weights and with one row per person."""
    many = {name: v[person] if name == "upper" else v for name, v in known.items()}
    return (
        Observed.from_bags(y, bags, sample_weight=weights, **known),
        Observed.from_bags(y[person], bags[person], **many),
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("largest", [2, 8, 200])
@pytest.mark.parametrize("known", ["exact", "range", "gaussian", "laplace"])
def test_a_weight_is_a_number_of_repeated_rows(n_classes, largest, known):
    y, bags, weights, person = bags_of_people(n_classes, 12, 3, largest)
    options = {
        "exact": {},
        "range": {"upper": np.minimum(y + 6 / (4 * largest), 1)},
        "gaussian": {"count_noise": GaussianNoise(1.5)},
        "laplace": {"count_noise": LaplaceNoise(2.0)},
    }[known]
    observed, repeated = read_both(y, bags, weights, person, **options)
    scores = np.random.default_rng(1).normal(size=(12,) if n_classes == 2 else (12, n_classes))
    found, expected = count_risk(observed), count_risk(repeated)
    value, slope = found.value_and_slope(scores)
    many_value, many_slope = expected.value_and_slope(scores[person])
    summed = np.zeros_like(slope)
    np.add.at(summed, person, many_slope)
    assert_allclose(value, many_value, rtol=1e-9)
    assert_allclose(slope, summed, atol=1e-10)
    assert_allclose(found.posterior(scores)[person], expected.posterior(scores[person]), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_posteriors_are_shares_over_all_labelings(n_classes):
    rng = np.random.default_rng(3)
    weights = np.array([3, 1, 2])
    person = np.repeat(np.arange(3), weights)
    prob = rng.dirichlet(np.ones(n_classes), size=3)
    counts = np.array([2, 4]) if n_classes == 2 else np.array([1, 3, 2])
    if n_classes == 2:
        total, posterior = enumerate_weights(prob[person, 1], np.arange(7) == counts[1])
        posterior = np.column_stack([1 - posterior, posterior])
    else:
        log_total, change = enumerate_class_counts(np.log(prob[person]), counts)
        total, posterior = np.exp(log_total), prob[person] + change
    y = np.tile(counts / 6, (3, 1))
    found = label_posterior(prob, y, bags=["a"] * 3, sample_weight=weights)
    assert_allclose(np.exp(found.log_likelihood), [total])
    assert_allclose(found.posterior[person], posterior)


def test_a_binomial_is_the_count_of_one_row():
    found = label_posterior([0.3], [0.4], bags=["a"], sample_weight=[5])
    assert_allclose(np.exp(found.log_likelihood), [10 * 0.3**2 * 0.7**3])
    assert_allclose(found.posterior, [0.4])


def test_labels_and_noisy_labels_count_as_often_as_their_weight():
    y, weights = np.array([0, 1, 1, 0]), np.array([2.5, 1.0, 0.5, 3.0])
    scores = np.array([0.3, -1.0, 2.0, 0.1])
    for known in ({}, {"noise_rates": (0.2, 0.1)}):
        risk = LabelLikelihood(as_observed(y, sample_weight=weights, **known))
        alone = LabelLikelihood(as_observed(y, **known))
        by_row, slope = alone.log_probs_and_slope(scores)
        assert_allclose(risk.value_and_slope(scores)[0], -np.average(by_row, weights=weights))
        assert_allclose(risk.value_and_slope(scores)[1], -weights * slope / weights.sum())
        assert_allclose(risk.posterior(scores), alone.posterior(scores))


def test_bags_with_several_classes_need_whole_weights():
    observed = Observed.from_bags([0.5, 0.5, 1.0], ["a", "a", "b"], sample_weight=[1.5, 1.0, 0.5])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = 1.5 is not a whole number"):
        count_risk(observed)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = 0.5 is not a whole number"):
        Observed.from_bags([0.5] * 2, ["a", "b"], count_noise=1.0, sample_weight=[0.5, 1.0])
