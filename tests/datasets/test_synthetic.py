"""Synthetic rows have the moments, flip rates and Bayes error they claim."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm

from decorrupt.datasets import make_corrupted_sources, make_gaussian_classes

N_ROWS = 40_000
RATES = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}


def test_moments_of_the_classes():
    mean = np.array([1.0, -0.5])
    data = make_gaussian_classes(N_ROWS, class_prior=0.3, mean=mean, random_state=0)
    assert set(data.y.tolist()) == {0, 1}
    assert data.y.mean() == pytest.approx(0.3, abs=0.01)
    for label, side in ((1, 1), (0, -1)):
        rows = data.X[data.y == label]
        np.testing.assert_allclose(rows.mean(axis=0), side * mean, atol=0.04)
        np.testing.assert_allclose(np.cov(rows.T), np.eye(2), atol=0.05)


def test_bayes_rule_reaches_the_bayes_error():
    data = make_gaussian_classes(N_ROWS, mean=(0.6, 0.8), random_state=1)
    assert data.population.bayes_error == pytest.approx(norm.cdf(-1))
    score = 2 * data.X @ [0.6, 0.8]
    margin = np.where(data.y == 1, score, -score)
    by_class = [data.y == 0, data.y == 1]
    error = np.mean([(margin[rows] < 0).mean() for rows in by_class])
    assert error == pytest.approx(data.population.bayes_error, abs=0.008)


def test_sources_have_their_sizes_priors_and_rates():
    data = make_corrupted_sources(
        {"rule": N_ROWS, "nurse": N_ROWS // 2},
        RATES,
        {"nurse": 0.3, "rule": 0.6},
        mean=(6.0,),  # so far apart that the sign of x is the true label
        random_state=0,
    )
    assert data.noise_rates == RATES
    assert data.source_priors == {"nurse": 0.3, "rule": 0.6}
    truth = data.X[:, 0] > 0
    for source, n_rows in (("nurse", N_ROWS // 2), ("rule", N_ROWS)):
        rows = data.sources == source
        flip_pos = 1 - data.y[rows & truth].mean()
        flip_neg = data.y[rows & ~truth].mean()
        assert rows.sum() == n_rows
        assert truth[rows].mean() == pytest.approx(data.source_priors[source], abs=0.015)
        assert (flip_pos, flip_neg) == pytest.approx(RATES[source], abs=0.015)


def test_true_labels_are_not_kept():
    data = make_corrupted_sources(500, RATES, mean=(6.0,), random_state=0)
    truth = data.X[:, 0] > 0
    for field in dataclasses.fields(data):
        values = getattr(data, field.name)
        if np.shape(values) == truth.shape:
            assert (values != truth).any(), field.name
    assert type(data).__dataclass_params__.frozen


def test_sequences_name_sources_by_number():
    data = make_corrupted_sources([10, 20], [(0.1, 0.1), (0.2, 0.3)], [0.4, 0.5], random_state=0)
    assert data.sources.tolist() == [0] * 10 + [1] * 20
    assert data.noise_rates == {0: (0.1, 0.1), 1: (0.2, 0.3)}
    assert data.source_priors == {0: 0.4, 1: 0.5}


def test_the_seed_decides():
    for make in (
        lambda seed: make_gaussian_classes(50, random_state=seed),
        lambda seed: make_corrupted_sources(50, RATES, random_state=seed),
    ):
        first, again, other = make(0), make(0), make(1)
        np.testing.assert_array_equal(first.X, again.X)
        np.testing.assert_array_equal(first.y, again.y)
        assert (first.X != other.X).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, RATES), "n_rows of source 'nurse' is 0"),
        (({"nurse": 5}, RATES), "n_rows have no entry for source 'rule'"),
        (([5, 5, 5], RATES), "n_rows has 3 entries, but there are 2 sources"),
        ((5, {"nurse": (0.6, 0.6)}), "noise_rates of source 'nurse'"),
        ((5, RATES, 1.0), "source_priors of source 'nurse'=1.0"),
        ((5, RATES, {"rule": 0.5}), "source_priors have no entry for source 'nurse'"),
        ((1, [(0.1, 0.1)]), "all 1 rows drawn are of the same class"),
    ],
)
def test_bad_sources_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_corrupted_sources(*arguments, random_state=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": 2.5}, "n_rows is 2.5"),
        ({"n_rows": 5, "class_prior": 0}, "class_prior=0"),
        ({"n_rows": 5, "mean": ()}, "mean="),
        ({"n_rows": 5, "mean": (np.inf,)}, "mean="),
    ],
)
def test_bad_classes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_gaussian_classes(**options)
