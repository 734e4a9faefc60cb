"""Noise between several classes: audits and annotators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from decorrupt.corruption import corrupt_labels
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates import (
    estimate_noise_rates_from_annotators,
    estimate_noise_rates_from_audit,
)
from decorrupt.noise_rates.audit import goodman_intervals
from decorrupt.noise_rates.dawid_skene import Votes, dawid_skene, log_likelihood
from helpers.class_sources import RATES

WORDS = np.array(["bird", "cat", "dog"])


class TestAudit:
    @given(st.lists(st.integers(0, 40), min_size=3, max_size=6), st.sampled_from([0.5, 0.9, 0.99]))
    @settings(deadline=None)
    def test_goodmans_intervals_are_wilsons_at_bonferronis_level(self, counts, level):
        counts = np.array(counts) + np.eye(len(counts), dtype=int)[0]
        each = 1 - (1 - level) / len(counts)
        for (low, high), count in zip(
            goodman_intervals(counts.astype(float), level), counts, strict=True
        ):
            ends = binomtest(int(count), int(counts.sum())).proportion_ci(each, "wilson")
            assert (low, high) == pytest.approx((ends.low, ends.high), abs=1e-12)

    def test_values_by_hand(self):
        """k = (10, 20, 70), A = χ²₁(1 − .1/3) = 4.5286: (A + 2k ∓ √(A(A + 4k(n−k)/n)))/(2(n+A))."""
        found = goodman_intervals(np.array([10.0, 20.0, 70.0]), 0.9)
        expected = [[0.05253, 0.18213], [0.12873, 0.29726], [0.59556, 0.78711]]
        assert_allclose(found, expected, atol=1e-5)

    def test_all_shares_of_a_row_are_covered_at_the_level(self):
        rng = np.random.default_rng(0)
        shares = np.array([0.7, 0.2, 0.1])
        ends = goodman_intervals(rng.multinomial(80, shares, 4000).astype(float), 0.9)
        inside = ((ends[..., 0] <= shares) & (shares <= ends[..., 1])).all(axis=1).mean()
        assert 0.885 < inside < 0.95

    def test_shares_by_source(self):
        y_true = WORDS[np.repeat([0, 1, 2], 10)].tolist() * 2
        y_noisy = list(y_true)
        y_noisy[0:3] = ["cat", "dog", "dog"]
        y_noisy[40] = "bird"
        found = estimate_noise_rates_from_audit(
            y_noisy=y_noisy, y_true=y_true, sources=np.repeat(["s", "t"], 30)
        )
        assert_allclose(found.rates["s"], [[0.7, 0.1, 0.2], [0, 1, 0], [0, 0, 1]])
        assert_allclose(found.rates["t"], [[1, 0, 0], [0.1, 0.9, 0], [0, 0, 1]])
        assert found.classes == ["bird", "cat", "dog"]
        assert found.intervals["s"].shape == (3, 3, 2)
        assert_allclose(found.class_prior, [1 / 3] * 3)
        table = str(found)
        assert "0.700 (" in table
        assert "90% intervals; audit" in table

    def test_a_true_class_without_rows_is_named(self):
        with pytest.raises(ValueError, match=r"source 't' has no audited row whose true.*'dog'"):
            estimate_noise_rates_from_audit(
                y_noisy=WORDS[[0, 1, 2, 0, 1, 2]],
                y_true=WORDS[[0, 1, 2, 0, 1, 1]],
                sources=list("sssttt"),
            )

    def test_labels_that_merge_classes_warn(self):
        y_true = np.repeat([0, 1, 2], 4)
        with pytest.warns(UninformativeRatesWarning, match="'all rows'.*classes 1, 2, and a"):
            estimate_noise_rates_from_audit(y_noisy=np.minimum(y_true, 1), y_true=y_true)


# Two annotators of each kind: with three in all EM takes thousands of rounds.
ANNOTATORS = {f"{name} {k}": matrix for name, matrix in RATES.items() for k in range(2)}


def crowd(n_items, seed=0, shares=(0.5, 0.3, 0.2)):
    """Return labels, annotators, items and true classes; every annotator labels every item."""
    true = np.random.default_rng(seed).choice(3, n_items, p=shares)
    labels = [
        corrupt_labels(true, T, random_state=10 * seed + k)
        for k, T in enumerate(ANNOTATORS.values())
    ]
    annotators = np.repeat(list(ANNOTATORS), n_items)
    return np.concatenate(labels), annotators, np.tile(np.arange(n_items), 6), true


class TestAnnotators:
    def test_matrices_of_a_large_crowd(self):
        labels, annotators, items, true = crowd(8000)
        found = estimate_noise_rates_from_annotators(
            WORDS[labels], annotators, items, n_bootstrap=2, random_state=0
        )
        for annotator, matrix in ANNOTATORS.items():
            assert_allclose(found.rates[annotator], matrix, atol=0.03)
        assert_allclose(found.class_prior, [0.5, 0.3, 0.2], atol=0.02)
        posteriors = np.array(list(found.item_posteriors.values()))
        assert_allclose(posteriors.sum(axis=1), 1)
        assert (posteriors.argmax(axis=1) == true).mean() > 0.95

    def test_one_round_of_em_by_loops(self):
        labels, annotators, items, _ = crowd(25, seed=3)
        names, who = np.unique(annotators, return_inverse=True)
        votes = Votes(items, who, labels, 25, 6, 3)
        start = votes.shares
        rates, posterior, _ = dawid_skene(votes, start, np.ones(25), max_iter=1, tol=0)
        first = {
            a: np.array(
                [
                    [
                        sum(
                            start[i, y]
                            for v, w, i in zip(labels, who, items, strict=True)
                            if w == a and v == k
                        )
                        for k in range(3)
                    ]
                    for y in range(3)
                ]
            )
            for a in range(6)
        }
        first = {a: counts / counts.sum(axis=1, keepdims=True) for a, counts in first.items()}
        for item in range(25):
            joint = start.mean(axis=0).copy()
            for v, w, i in zip(labels, who, items, strict=True):
                if i == item:
                    joint *= first[w][:, v]
            assert_allclose(posterior[item], joint / joint.sum(), atol=1e-7)
        assert len(names) == len(rates)

    def test_em_never_lowers_the_likelihood(self):
        labels, annotators, items, _ = crowd(60, seed=5)
        _, who = np.unique(annotators, return_inverse=True)
        votes = Votes(items, who, labels, 60, 6, 3)
        path = []
        for n_rounds in range(1, 15):
            rates, posterior, _ = dawid_skene(votes, votes.shares, np.ones(60), n_rounds, 0)
            path.append(log_likelihood(votes, rates, posterior.mean(axis=0)))
        assert (np.diff(path) >= -1e-9).all()

    def test_the_order_of_the_classes_does_not_matter(self):
        labels, annotators, items, _ = crowd(200, seed=6)
        order = np.array([2, 0, 1])
        here, there = (
            estimate_noise_rates_from_annotators(y, annotators, items, n_bootstrap=0, tol=1e-9)
            for y in (labels, order[labels])
        )
        for annotator in ANNOTATORS:
            moved = there.rates[annotator][np.ix_(order, order)]
            assert_allclose(moved, here.rates[annotator], atol=1e-6)
