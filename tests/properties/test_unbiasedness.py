"""What must hold for every noise rate, every weight and every set of bags."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from decorrupt.corruption import (
    CorrectedLoss,
    backward_coefficients,
    combine_bags,
    signal_to_noise,
    source_weights,
)
from decorrupt.losses import LOSSES
from decorrupt.observed import transition_matrix
from oracles.combinations import (
    bound_factor,
    least_squares_by_lagrange,
    moments,
    square_factor,
    wanted_moments,
)
from oracles.label_noise import mean_over_noise, pair_as_source

# Derandomised: a property that fails does so for everyone, on every machine.
thorough = settings(max_examples=150, deadline=None, derandomize=True, database=None)

loss_names = st.sampled_from(sorted(LOSSES))
scores = st.floats(-50, 50)
costs = st.floats(0.01, 10)
shares = st.floats(0, 1, allow_subnormal=False)


@st.composite
def noise_rates(draw, most=0.98):
    total, share = draw(st.floats(0, most)), draw(shares)
    return total * share, total * (1 - share)


@st.composite
def unequal_bags(draw, fewest=2, most=9, spread=0.02):
    """Sizes and proportions that differ enough for double precision to tell."""
    count = draw(st.integers(fewest, most))
    sizes = draw(st.lists(st.integers(1, 500), min_size=count, max_size=count))
    proportions = draw(st.lists(shares, min_size=count, max_size=count))
    assume(max(proportions) - min(proportions) >= spread)
    return np.array(sizes, dtype=float), np.array(proportions)


class_priors = st.floats(0.01, 0.99)


def assert_unbiased(combination, proportions, class_prior):
    size = 1 + np.abs(combination).sum()
    np.testing.assert_allclose(
        moments(combination, proportions), wanted_moments(class_prior), atol=1e-11 * size
    )


class TestCorrectedLoss:
    @thorough
    @given(loss_names, noise_rates(), scores, costs, costs)
    def test_lemma_1_costs_first(self, name, rates, score, cost_pos, cost_neg):
        """E[ℓ^ρ_α(t, Ỹ) | Y = y] = α_y·ℓ(t, y)."""
        corrected = CorrectedLoss(name, rates, cost_pos=cost_pos, cost_neg=cost_neg)
        for label, cost in ((1, cost_pos), (-1, cost_neg)):
            mean = mean_over_noise(lambda noisy: corrected.value(score, noisy), label, *rates)
            largest = max(abs(corrected.value(score, noisy)) for noisy in (-1, 1))
            expected = cost * LOSSES[name].value(label * score)
            # what cancels is the corrected loss' two terms, as large as |ℓ(±t)|·α/(1−ρ₊−ρ₋)
            terms = (cost_pos + cost_neg) * np.abs(LOSSES[name].value([score, -score])).max()
            assert abs(mean - expected) <= 1e-13 * (largest + terms / (1 - sum(rates)))

    @thorough
    @given(loss_names, noise_rates())
    def test_at_zero_does_not_change_without_costs(self, name, rates):
        assert CorrectedLoss(name, rates).at_zero == pytest.approx(LOSSES[name].at_zero, rel=1e-12)

    @thorough
    @given(shares, shares)
    def test_a_pair_of_bags_is_a_corrupted_source(self, one, other):
        """Theorem 4's costs and rates give the LLP reduction, and ½ of it is combine_bags'."""
        proportion_pos, proportion_neg = max(one, other), min(one, other)
        gap = proportion_pos - proportion_neg
        assume(gap > 1e-3)
        source = pair_as_source(proportion_pos, proportion_neg)
        corrected = CorrectedLoss(
            "logistic",
            (source.flip_pos, source.flip_neg),
            cost_pos=source.cost_pos,
            cost_neg=source.cost_neg,
        )
        expected = {
            1: ((1 - proportion_neg) / gap, -proportion_neg / gap),
            -1: (-(1 - proportion_pos) / gap, proportion_pos / gap),
        }
        neg, pos = combine_bags([7, 7], [proportion_pos, proportion_neg], method="pairs").T
        for label, bag in ((1, 0), (-1, 1)):
            np.testing.assert_allclose(
                corrected.coefficients(label), expected[label], rtol=1e-9, atol=1e-9 / gap
            )
            np.testing.assert_allclose(
                (2 * pos[bag], 2 * neg[bag]), expected[label], rtol=1e-9, atol=1e-12
            )


class TestSourceWeights:
    @thorough
    @given(st.data(), st.integers(1, 8), st.booleans())
    def test_optimal_weights_beat_any_point_of_the_simplex(self, data, count, has_priors):
        sizes = data.draw(st.lists(st.integers(1, 10_000), min_size=count, max_size=count))
        rates = np.array(data.draw(st.lists(noise_rates(), min_size=count, max_size=count)))
        priors = None
        if has_priors:
            priors = data.draw(st.lists(st.floats(0.01, 0.99), min_size=count, max_size=count))
        raw = data.draw(st.lists(st.floats(1e-6, 1), min_size=count, max_size=count))
        rival = np.array(raw) / np.sum(raw)
        noise = noise_by_formula(np.array(sizes), rates, priors)
        weights = source_weights(sizes, rates, source_priors=priors)
        best = np.sum(weights**2 * noise)
        assert best <= np.sum(rival**2 * noise) * (1 + 1e-12)
        # the optimum is H/N, H the harmonic mean of c²
        assert best == pytest.approx(1 / np.sum(1 / noise), rel=1e-10)

    @thorough
    @given(st.integers(1, 1000), noise_rates(), st.floats(0.01, 0.99))
    def test_exact_is_symmetric_under_swapping_the_classes(self, size, rates, prior):
        one = signal_to_noise([size], [rates], source_priors=prior, scheme="exact")
        other = signal_to_noise([size], [rates[::-1]], source_priors=1 - prior, scheme="exact")
        np.testing.assert_allclose(one, other, rtol=1e-9)


def noise_by_formula(sizes, rates, priors):
    """c² of Thms 2 and 3 as printed."""
    flip_pos, flip_neg = rates.T
    noise = (1 + np.abs(flip_pos - flip_neg)) ** 2 / (sizes * (1 - flip_pos - flip_neg) ** 2)
    if priors is None:
        return noise
    priors = np.array(priors)
    return noise / np.minimum(priors, 1 - priors) ** 2


@st.composite
def matrices(draw, n_classes, count):
    """Row-stochastic matrices, far enough from singular for double precision."""
    entries = st.lists(st.floats(0, 1), min_size=n_classes, max_size=n_classes)
    found = []
    for _ in range(count):
        rows = np.array([draw(entries) for _ in range(n_classes)]) + 1e-3
        noise = draw(st.floats(0, 0.8))
        rows /= rows.sum(axis=1, keepdims=True)
        found.append((1 - noise) * np.eye(n_classes) + noise * rows)
        assume(n_classes > 2 or np.linalg.det(found[-1]) > 0)  # rates with a sum below 1
    return np.array(found)


class TestSourcesOfSeveralClasses:
    @thorough
    @given(st.data(), st.integers(2, 5), st.integers(1, 4))
    def test_the_backward_corrected_risk_is_unbiased(self, data, n_classes, n_sources):
        """Finite support: the expectation over (x, ỹ) is a sum, written out with loops."""
        transitions = data.draw(matrices(n_classes, n_sources))
        assume(all(np.linalg.cond(one) < 1e5 for one in transitions))
        rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
        joint = rng.dirichlet(np.ones(3 * n_classes)).reshape(3, n_classes)  # of x and y
        losses = rng.normal(size=(3, n_classes))  # of class y at x
        weights = rng.dirichlet(np.ones(n_sources))
        checked = np.array([transition_matrix("a", T, range(n_classes)) for T in transitions])
        mean = 0.0
        for source in range(n_sources):
            for noisy in range(n_classes):
                (coef,) = backward_coefficients(checked, np.array([source]), np.array([noisy]))
                for x in range(3):
                    chance = joint[x] @ transitions[source][:, noisy]
                    mean += weights[source] * chance * (coef @ losses[x])
        assert mean == pytest.approx(np.sum(joint * losses), abs=1e-9)

    @thorough
    @given(st.data(), st.integers(2, 5), st.integers(1, 4))
    def test_the_exact_noise_is_the_mean_square_of_the_corrected_loss(self, data, n_classes, count):
        """Σ_ỹ P(Ỹ=ỹ)·(Σ_y |T⁻¹[ỹ, y]|/(K·π_y))²/n, written out with loops."""
        transitions = data.draw(matrices(n_classes, count))
        assume(all(np.linalg.cond(one) < 1e5 for one in transitions))
        rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
        shares = 0.9 * rng.dirichlet(np.ones(n_classes), count) + 0.1 / n_classes
        sizes = rng.integers(1, 1000, count)
        found = signal_to_noise(sizes, transitions, source_priors=shares, scheme="exact")
        for source, one in enumerate(transitions):
            inverse, noise = np.linalg.inv(one), 0.0
            for noisy in range(n_classes):
                chance = sum(shares[source, y] * one[y, noisy] for y in range(n_classes))
                reach = sum(
                    abs(inverse[noisy, y]) / (n_classes * shares[source, y])
                    for y in range(n_classes)
                )
                noise += chance * reach**2 / sizes[source]
            assert found[source] == pytest.approx(1 / noise, rel=1e-8)


class TestCombinations:
    @thorough
    @given(unequal_bags(), class_priors, st.sampled_from(["superbag", "least_squares", "pairs"]))
    def test_all_methods_are_unbiased(self, bags, class_prior, method):
        combination = combine_bags(*bags, method=method, class_prior=class_prior)
        assert_unbiased(combination, bags[1], class_prior)

    @thorough
    @given(unequal_bags())
    def test_superbag_reaches_the_smallest_bound(self, bags):
        sizes, proportions = bags
        superbag = bound_factor(combine_bags(*bags), sizes)
        mean = np.average(proportions, weights=sizes)
        information = np.sum(sizes * (proportions - mean) ** 2)
        assert superbag == pytest.approx(1 / (4 * information), rel=1e-9)
        pairs = combine_bags(*bags, method="pairs")
        assert superbag <= bound_factor(pairs, sizes) * (1 + 1e-9)

    @thorough
    @given(unequal_bags(), class_priors)
    def test_least_squares_is_the_least(self, bags, class_prior):
        sizes, _ = bags
        ours = combine_bags(*bags, method="least_squares", class_prior=class_prior)
        expected = least_squares_by_lagrange(*bags, class_prior)
        assert square_factor(ours, sizes) <= square_factor(expected, sizes) * (1 + 1e-9)
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-8 * np.abs(expected).max())

    @thorough
    @given(unequal_bags())
    def test_pooled_least_squares_is_always_convex(self, bags):
        coef = combine_bags(*bags, method="least_squares", class_prior="pooled")
        np.testing.assert_allclose(coef.sum(axis=1), bags[0] / bags[0].sum(), rtol=1e-7)

    @thorough
    @given(unequal_bags(), class_priors, st.sampled_from(["superbag", "least_squares"]))
    def test_swapping_the_classes_swaps_the_columns(self, bags, class_prior, method):
        sizes, proportions = bags
        plain = combine_bags(sizes, proportions, method=method, class_prior=class_prior)
        swapped = combine_bags(sizes, 1 - proportions, method=method, class_prior=1 - class_prior)
        tolerance = {"rtol": 1e-7, "atol": 1e-9 * np.abs(plain).max()}
        np.testing.assert_allclose(swapped, plain[:, ::-1], **tolerance)

    @thorough
    @given(unequal_bags(), st.randoms(use_true_random=False))
    def test_the_order_of_the_bags_does_not_matter(self, bags, random):
        sizes, proportions = bags
        order = list(range(len(sizes)))
        random.shuffle(order)
        plain = combine_bags(sizes, proportions)
        moved = combine_bags(sizes[order], proportions[order])
        tolerance = {"rtol": 1e-9, "atol": 1e-11 * np.abs(plain).max()}
        np.testing.assert_allclose(moved, plain[order], **tolerance)
