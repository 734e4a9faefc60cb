"""Dawid–Skene: against loops and enumeration."""

import warnings
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from decorrupt.corruption import corrupt_labels
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates import estimate_noise_rates_from_annotators
from decorrupt.noise_rates.dawid_skene import Votes, dawid_skene
from oracles.dawid_skene import dawid_skene as looped
from oracles.dawid_skene import likelihood

# Rates at which EM comes to rest soon.
CLEAR = {f"worker {k}": (0.05 + 0.04 * k, 0.25 - 0.04 * k) for k in range(6)}
RATES = {"ann": (0.1, 0.05), "bob": (0.3, 0.1), "cy": (0.2, 0.3), "dot": (0.15, 0.2)}


def crowd(n_items, seed, prior=0.4, rates=RATES, missing=0.2):
    """Return (labels, annotators, items, true) with a share of the labels missing."""
    rng = np.random.default_rng(seed)
    true = (rng.uniform(size=n_items) < prior).astype(int)
    labels, annotators, items = [], [], []
    for k, (annotator, pair) in enumerate(rates.items()):
        seen = np.flatnonzero(rng.uniform(size=n_items) >= missing)
        labels.append(corrupt_labels(true, pair, random_state=100 * seed + k)[seen])
        annotators += [annotator] * len(seen)
        items.append(seen)
    return np.concatenate(labels), np.array(annotators), np.concatenate(items), true


def estimate(labels, annotators, items, **options):
    options = {"n_bootstrap": 0, "tol": 1e-9, "max_iter": 5000} | options
    return estimate_noise_rates_from_annotators(labels, annotators, items, **options)


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(deadline=None, max_examples=25)
def test_every_round_is_that_of_the_loops(seed, n_rounds):
    labels, annotators, items, _ = crowd(30, seed, missing=0.1)
    rates, prior, posterior = looped(labels, annotators, items, n_rounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = estimate(labels, annotators, items, max_iter=n_rounds, tol=0)
    assert found.class_prior[1] == pytest.approx(prior, abs=1e-8)
    assert found.item_posteriors == pytest.approx(posterior, abs=1e-8)
    for annotator, pair in rates.items():
        if sum(pair) < 0.98:
            assert tuple(found.rates[annotator]) == pytest.approx(pair, abs=1e-8)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.UninformativeRatesWarning")
def test_the_likelihood_is_the_sum_over_all_true_classes():
    labels, annotators, items, _ = crowd(8, seed=5, missing=0.0)
    found = estimate(labels, annotators, items)
    rates = {name: tuple(pair) for name, pair in found.rates.items()}
    assert all(sum(pair) < 0.98 for pair in rates.values())
    exact = log(likelihood(labels, annotators, items, rates, found.class_prior[1]))
    assert found.log_likelihood == pytest.approx(exact, abs=1e-6)


def test_an_item_drawn_twice_counts_twice():
    """What a bootstrap resample does by weights, done by repeating the items' labels."""
    labels, annotators, items, _ = crowd(30, seed=6, missing=0.0)
    drawn = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30))
    rows = np.concatenate([np.flatnonzero(items == i) for i in range(30) for _ in range(drawn[i])])
    copies = np.repeat(np.arange(30), len(RATES))
    rates, _, _ = looped(labels[rows], annotators[rows], copies, n_rounds=4)
    names, who = np.unique(annotators, return_inverse=True)
    votes = Votes(items, who, labels, 30, len(names), 2)
    found, _, _ = dawid_skene(votes, votes.shares, drawn, max_iter=4, tol=0)
    flips = found[:, [1, 0], [0, 1]]
    np.testing.assert_allclose(flips, [rates[name] for name in names], atol=1e-8)


def test_intervals_cover():
    hits = []
    for seed in range(10):
        labels, annotators, items, _ = crowd(300, seed + 20, rates=CLEAR)
        found = estimate_noise_rates_from_annotators(
            labels, annotators, items, n_bootstrap=60, random_state=seed
        )
        hits += [
            low <= rate <= high
            for annotator, pair in CLEAR.items()
            for rate, (low, high) in zip(pair, found.intervals[annotator].values(), strict=True)
        ]
    assert np.mean(hits) > 0.8


def test_any_ids_and_labels():
    labels, annotators, items, _ = crowd(200, seed=4)
    words = np.where(labels == 1, "spam", "ham")
    found = estimate(words, pd.Categorical(annotators), [f"mail {i}" for i in items])
    plain = estimate(labels, annotators, items)
    assert tuple(found.rates["bob"]) == pytest.approx(tuple(plain.rates["bob"]))
    assert found.item_posteriors[f"mail {items[0]}"] == pytest.approx(
        plain.item_posteriors[items[0]]
    )


def test_two_annotators_are_too_few_to_tell():
    labels, annotators, items, _ = crowd(300, seed=0)
    two = np.isin(annotators, ["ann", "bob"])
    with pytest.warns(UninformativeRatesWarning, match="no item has labels from three annotators"):
        estimate(labels[two], annotators[two], items[two], tol=1e-4)


def test_an_unfinished_em_says_so():
    labels, annotators, items, _ = crowd(300, seed=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        estimate(labels, annotators, items, max_iter=2)


LABELS, WHO, WHAT, _ = crowd(40, seed=1)
BAD = [
    ((LABELS[:-1], WHO, WHAT), r"inconsistent numbers of samples"),
    ((LABELS, WHO, WHAT[:-1]), r"inconsistent numbers of samples"),
    ((np.ones(len(LABELS)), WHO, WHAT), r"labels must contain labels of two classes, found 1"),
    ((LABELS, WHO, np.arange(len(LABELS))), r"every item has labels from one annotator only"),
    ((LABELS, pd.Categorical(WHO, [*RATES, "eve"]), WHAT), r"annotator 'eve' has no items"),
    ((LABELS, [None, *WHO[1:]], WHAT), r"annotators has no id in row 0"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate_noise_rates_from_annotators(*arguments)
