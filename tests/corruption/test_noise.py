"""Flipping labels, and the corrected loss with its constants."""

import math

import numpy as np
import pandas as pd
import pytest

from decorrupt.corruption import (
    backward_coefficients,
    corrected_loss,
    corrupt_labels,
    noisy_share,
)
from decorrupt.losses import LOSSES
from decorrupt.observed import NoiseRates, matrix_of_rates
from oracles.label_noise import (
    corrupted_joint,
    mean_over_noise,
    pair_as_source,
    paired_bags_joint,
    two_point_distribution,
)
from oracles.margin_losses import UnhingedLoss

RATES = [(0.0, 0.0), (0.2, 0.1), (0.0, 0.45), (0.49, 0.49), (0.9, 0.05)]
LIPSCHITZ_LOSSES = [name for name, loss in LOSSES.items() if math.isfinite(loss.lipschitz)]
SCORES = np.linspace(-25, 25, 20_001)


class TestCorruptLabels:
    def test_frequencies(self):
        n_rows, (flip_pos, flip_neg) = 200_000, (0.3, 0.1)
        labels = np.arange(n_rows) % 2
        noisy = corrupt_labels(labels, (flip_pos, flip_neg), random_state=0)
        for label, rate in ((1, flip_pos), (0, flip_neg)):
            flipped = noisy[labels == label] != label
            standard_error = math.sqrt(rate * (1 - rate) / len(flipped))
            assert abs(flipped.mean() - rate) < 5 * standard_error

    def test_rates_row_by_row(self):
        n_rows = 60_000
        labels = np.arange(n_rows) % 2
        rates = np.zeros((n_rows, 2))
        rates[n_rows // 2 :] = (0.6, 0.2)
        flipped = corrupt_labels(labels, rates, random_state=0) != labels
        late = np.arange(n_rows) >= n_rows // 2
        assert not flipped[~late].any()
        for label, rate in ((1, 0.6), (0, 0.2)):
            share = flipped[late & (labels == label)].mean()
            assert abs(share - rate) < 5 * math.sqrt(rate * (1 - rate) / (n_rows / 4))

    def test_one_pair_is_the_same_as_that_pair_in_every_row(self):
        labels = np.arange(500) % 2
        by_row = corrupt_labels(labels, np.tile((0.3, 0.2), (500, 1)), random_state=4)
        for pair in ((0.3, 0.2), NoiseRates(0.3, 0.2), np.array([0.3, 0.2])):
            np.testing.assert_array_equal(by_row, corrupt_labels(labels, pair, random_state=4))

    def test_only_the_class_whose_rate_is_positive_is_flipped(self):
        labels = np.array([-1, 1] * 500)
        noisy = corrupt_labels(labels, (0.5, 0.0), random_state=0)
        assert (noisy[labels == -1] == -1).all()
        assert (noisy[labels == 1] == -1).any()

    def test_no_noise_changes_nothing(self):
        labels = np.array([3, 7, 7, 3])
        np.testing.assert_array_equal(corrupt_labels(labels, (0, 0)), labels)

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([0, 1, 1, 0], dtype=np.int8),
            np.array([-1.0, 1.0, 1.0, -1.0], dtype=np.float32),
            np.array([False, True, True, False]),
            np.array(["no", "yes", "yes", "no"]),
            np.array(["no", "yes", "yes", "no"], dtype=object),
            np.array([3, 5, 5, 3], dtype=object),
        ],
        ids=["int8", "float32", "bool", "str", "object of str", "object of int"],
    )
    def test_labels_and_dtype_are_kept(self, labels):
        noisy = corrupt_labels(labels, (0.4, 0.4), random_state=1)
        assert noisy.dtype == labels.dtype
        assert set(noisy.tolist()) <= set(labels.tolist())

    def test_pandas_labels(self):
        labels = pd.Series(["a", "b", "b", "a"] * 5)
        noisy = corrupt_labels(labels, (0.4, 0.4), random_state=1)
        assert set(noisy) == {"a", "b"}

    def test_reproducible(self):
        labels = np.arange(300) % 2
        once, again, other = (corrupt_labels(labels, (0.3, 0.3), random_state=s) for s in (5, 5, 6))
        np.testing.assert_array_equal(once, again)
        assert (once != other).any()
        state = np.random.RandomState(5)
        np.testing.assert_array_equal(once, corrupt_labels(labels, (0.3, 0.3), random_state=state))

    def test_input_is_not_written_to(self):
        labels = np.array([0, 1] * 50)
        before = labels.copy()
        corrupt_labels(labels, (0.9, 0.05), random_state=0)
        np.testing.assert_array_equal(labels, before)

    def test_frequencies_of_three_classes(self):
        matrix = np.array([[0.6, 0.3, 0.1], [0.0, 0.8, 0.2], [0.25, 0.25, 0.5]])
        labels = np.arange(150_000) % 3
        noisy = corrupt_labels(labels, matrix, random_state=0)
        for label in range(3):
            shares = np.bincount(noisy[labels == label], minlength=3) / 50_000
            np.testing.assert_allclose(shares, matrix[label], atol=5 * 0.5 / math.sqrt(50_000))
        assert 0 not in noisy[labels == 1]

    def test_one_matrix_is_the_same_as_that_matrix_in_every_row(self):
        matrix = np.array([[0.6, 0.3, 0.1], [0.0, 0.8, 0.2], [0.25, 0.25, 0.5]])
        labels = np.random.default_rng(0).integers(0, 3, 500)
        by_row = corrupt_labels(labels, np.tile(matrix, (500, 1, 1)), random_state=4)
        np.testing.assert_array_equal(by_row, corrupt_labels(labels, matrix, random_state=4))

    def test_a_matrix_of_two_classes_flips_the_same_rows_as_its_pair(self):
        labels = np.arange(500) % 2
        pair = corrupt_labels(labels, (0.3, 0.2), random_state=4)
        matrix = corrupt_labels(labels, matrix_of_rates(0.3, 0.2), random_state=4)
        np.testing.assert_array_equal(matrix, pair)

    def test_a_pair_for_three_classes_is_refused(self):
        with pytest.raises(ValueError, match=r"y has 3 classes, \[0, 1, 2\]: give a matrix"):
            corrupt_labels([0, 1, 2], (0.1, 0.1))

    def test_one_class_is_refused(self):
        with pytest.raises(ValueError, match=r"only the value \[1\]"):
            corrupt_labels([1, 1], (0.1, 0.1))

    def test_rates_are_checked(self):
        with pytest.raises(ValueError, match="must be below 1"):
            corrupt_labels([0, 1], (0.6, 0.5))
        with pytest.raises(ValueError, match="noise_rates of row 1"):
            corrupt_labels([0, 1], [(0.1, 0.1), (0.6, 0.5)])
        with pytest.raises(ValueError, match=r"shape \(3, 2\)"):
            corrupt_labels([0, 1, 1], [(0.1, 0.1), (0.1, 0.1)])

    def test_a_column_of_labels_does_not_become_a_square(self):
        column = np.array([[0], [1], [1]])
        try:
            noisy = corrupt_labels(column, (0, 0))
        except ValueError:
            return  # refusing it is fine too
        assert noisy.size == 3


class TestCorrectedLoss:
    def test_coefficients_by_hand(self):
        loss = corrected_loss("logistic", (0.2, 0.1))
        np.testing.assert_allclose(loss.coefficients(1), (0.9 / 0.7, -0.2 / 0.7))
        np.testing.assert_allclose(loss.coefficients(-1), (-0.1 / 0.7, 0.8 / 0.7))

    def test_coefficients_with_costs_by_hand(self):
        loss = corrected_loss("logistic", (0.2, 0.1), cost_pos=2, cost_neg=3)
        np.testing.assert_allclose(loss.coefficients(1), (2 * 0.9 / 0.7, -3 * 0.2 / 0.7))
        np.testing.assert_allclose(loss.coefficients(-1), (-2 * 0.1 / 0.7, 3 * 0.8 / 0.7))

    def test_coefficients_row_by_row(self):
        matrices = matrix_of_rates([0.2, 0.2, 0.0], [0.1, 0.1, 0.5])
        coef = backward_coefficients(matrices, np.arange(3), np.array([1, 0, 1]))
        np.testing.assert_allclose(coef[:, 1], [0.9 / 0.7, -0.1 / 0.7, 1])
        np.testing.assert_allclose(coef[:, 0], [-0.2 / 0.7, 0.8 / 0.7, 0], atol=1e-15)

    @pytest.mark.parametrize("name", LOSSES)
    def test_without_noise_it_is_the_loss_itself(self, name):
        corrected = corrected_loss(name, (0, 0))
        for label in (-1, 1):
            expected = LOSSES[name].value(label * SCORES)
            np.testing.assert_array_equal(corrected.value(SCORES, label), expected)

    @pytest.mark.parametrize("name", LOSSES)
    @pytest.mark.parametrize("rates", RATES)
    def test_mean_over_the_noise_is_the_clean_loss(self, name, rates):
        """Lemma 1, first part."""
        corrected = corrected_loss(name, rates)
        scores = np.linspace(-6, 6, 25)
        for label in (-1, 1):
            mean = mean_over_noise(lambda noisy: corrected.value(scores, noisy), label, *rates)
            clean = LOSSES[name].value(label * scores)
            np.testing.assert_allclose(mean, clean, rtol=1e-11, atol=1e-11)

    def test_mean_over_the_corrupted_distribution_is_the_clean_risk(self):
        """Lemma 1, second part: P^ρ and P on five points, costs first."""
        points_pos, points_neg = two_point_distribution(seed=2)
        scores, prior, rates = np.array([-2.0, -0.5, 0.0, 1.0, 3.0]), 0.3, (0.25, 0.4)
        corrected = corrected_loss("logistic", rates, cost_pos=1.5, cost_neg=0.5)
        noisy = corrupted_joint(prior, points_pos, points_neg, *rates)
        mean = sum(noisy[label] @ corrected.value(scores, label) for label in (-1, 1))
        loss = LOSSES["logistic"]
        clean = 1.5 * prior * points_pos @ loss.value(scores)
        clean += 0.5 * (1 - prior) * points_neg @ loss.value(-scores)
        assert mean == pytest.approx(clean, rel=1e-13)

    def test_costs_before_the_correction_are_not_costs_after_it(self):
        """(ℓ_α)^ρ ≠ (ℓ^ρ)_α, and only the first is unbiased: ρ = (.2, .1), α = (2, 1), t = 0."""
        rates, cost = (0.2, 0.1), {1: 2.0, -1: 1.0}
        costs_first = corrected_loss("squared", rates, cost_pos=2, cost_neg=1)
        plain = corrected_loss("squared", rates)
        assert costs_first.value(0, 1) == pytest.approx(1.6 / 0.7)
        assert costs_first.value(0, -1) == pytest.approx(0.6 / 0.7)
        assert cost[1] * plain.value(0, 1) == pytest.approx(2.0)
        assert cost[-1] * plain.value(0, -1) == pytest.approx(1.0)
        mean = mean_over_noise(lambda noisy: costs_first.value(0, noisy), 1, *rates)
        late = mean_over_noise(lambda noisy: cost[noisy] * plain.value(0, noisy), 1, *rates)
        assert mean == pytest.approx(2.0)  # α₊·φ(0)
        assert late == pytest.approx(1.8)

    @pytest.mark.parametrize("name", LOSSES)
    @pytest.mark.parametrize("label", [-1, 1])
    def test_slope_is_the_derivative(self, name, label):
        corrected = corrected_loss(name, (0.3, 0.2), cost_pos=0.7, cost_neg=1.9)
        scores = np.array([-7.0, -1.5, -0.4, 0.0, 0.7, 2.3, 9.0])
        step = 1e-5
        rise = corrected.value(scores + step, label) - corrected.value(scores - step, label)
        np.testing.assert_allclose(
            corrected.slope(scores, label), rise / (2 * step), rtol=1e-6, atol=1e-8
        )

    def test_scores_and_labels_go_together_elementwise(self):
        corrected = corrected_loss("logistic", (0.3, 0.2))
        both = corrected.value([0.5, -2.0], [1, -1])
        assert both.tolist() == [corrected.value(0.5, 1), corrected.value(-2.0, -1)]

    @pytest.mark.parametrize("labels", [0, [1, 0], [2], [0.5]])
    def test_labels_are_plus_or_minus_one(self, labels):
        with pytest.raises(ValueError, match="noisy_label must be −1 or"):
            corrected_loss("logistic", (0.1, 0.1)).value(0.0, labels)

    @pytest.mark.parametrize("name", ["cost_pos", "cost_neg"])
    @pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf])
    def test_costs_are_checked(self, name, cost):
        with pytest.raises(ValueError, match=f"{name}={cost} must be a finite number"):
            corrected_loss("logistic", (0.1, 0.1), **{name: cost})

    def test_bad_loss_and_rates_are_named(self):
        with pytest.raises(ValueError, match="unknown loss 'hinge'"):
            corrected_loss("hinge", (0.1, 0.1))
        with pytest.raises(ValueError, match=r"flip_pos \+ flip_neg"):
            corrected_loss("logistic", (0.6, 0.6))


def random_rates(seed, count=40):
    rng = np.random.default_rng(seed)
    total = rng.uniform(0, 0.98, count)
    share = rng.uniform(0, 1, count)
    return np.column_stack([total * share, total * (1 - share)])


class TestLossConstants:
    """The appendix' lemma on loss constants, item by item."""

    @pytest.mark.parametrize("name", LOSSES)
    def test_1_at_zero_is_that_of_the_clean_loss(self, name):
        for rates in random_rates(1):
            assert corrected_loss(name, rates).at_zero == pytest.approx(LOSSES[name].at_zero)

    @pytest.mark.parametrize("name", LOSSES)
    def test_at_zero_is_the_larger_value_at_score_zero(self, name):
        for rates, costs in zip(random_rates(2), random_rates(3) * 5, strict=True):
            corrected = corrected_loss(name, rates, cost_pos=costs[0], cost_neg=costs[1])
            at_zero = max(corrected.value(0.0, 1), corrected.value(0.0, -1))
            assert corrected.at_zero == pytest.approx(at_zero, rel=1e-12)

    @pytest.mark.parametrize("name", LIPSCHITZ_LOSSES)
    def test_2_lipschitz_without_costs(self, name):
        for flip_pos, flip_neg in random_rates(4):
            stated = (1 + abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
            lipschitz = corrected_loss(name, (flip_pos, flip_neg)).lipschitz
            assert lipschitz == pytest.approx(LOSSES[name].lipschitz * stated)

    @pytest.mark.parametrize("name", LOSSES)
    def test_3_at_zero_with_costs(self, name):
        for rates, costs in zip(random_rates(5), random_rates(6) * 5, strict=True):
            corrected = corrected_loss(name, rates, cost_pos=costs[0], cost_neg=costs[1])
            stated = 2 * LOSSES[name].at_zero * costs.max() / (1 - rates.sum())
            assert corrected.at_zero <= stated * (1 + 1e-12)

    @pytest.mark.parametrize("name", LIPSCHITZ_LOSSES)
    def test_4_lipschitz_with_costs(self, name):
        for rates, costs in zip(random_rates(7), random_rates(8) * 5, strict=True):
            corrected = corrected_loss(name, rates, cost_pos=costs[0], cost_neg=costs[1])
            noise = (1 + abs(rates[0] - rates[1])) / (1 - rates.sum())
            stated = LOSSES[name].lipschitz * noise * costs.max()
            assert corrected.lipschitz <= stated * (1 + 1e-12)

    @pytest.mark.parametrize("name", LIPSCHITZ_LOSSES)
    def test_5_and_6_for_a_pair_of_bags(self, name):
        for proportion_neg, proportion_pos in np.sort(random_rates(9), axis=1):
            source = pair_as_source(proportion_pos, proportion_neg)
            corrected = corrected_loss(
                name,
                (source.flip_pos, source.flip_neg),
                cost_pos=source.cost_pos,
                cost_neg=source.cost_neg,
            )
            gap = proportion_pos - proportion_neg
            assert corrected.at_zero <= LOSSES[name].at_zero / gap * (1 + 1e-9)
            assert corrected.lipschitz == pytest.approx(LOSSES[name].lipschitz / gap, rel=1e-9)

    @pytest.mark.parametrize("name", LIPSCHITZ_LOSSES)
    def test_lipschitz_bounds_every_slope(self, name):
        for rates, costs in zip(random_rates(10, 10), random_rates(11, 10), strict=True):
            corrected = corrected_loss(name, rates, cost_pos=costs[0], cost_neg=costs[1])
            steepest = max(np.abs(corrected.slope(SCORES, label)).max() for label in (-1, 1))
            assert steepest <= corrected.lipschitz * (1 + 1e-12)

    def test_lipschitz_is_attained_by_the_unhinged_loss(self):
        """So that it cannot be lowered for all losses at once."""
        for rates in random_rates(12):
            corrected = corrected_loss(UnhingedLoss(), rates)
            steepest = max(abs(corrected.slope(0.0, label)) for label in (-1, 1))
            assert steepest == pytest.approx(corrected.lipschitz)

    def test_squared_loss_is_not_lipschitz(self):
        assert corrected_loss("squared", (0.2, 0.1)).lipschitz == math.inf


class TestPairOfBagsAsSource:
    """Sec. 3.1: Q_i = P_i^{ρ_i}, so a pair of bags is a corrupted source."""

    PAIRS = ((1.0, 0.0), (0.9, 0.6), (0.75, 0.25), (0.4, 0.0), (1.0, 0.97), (0.31, 0.3))

    @pytest.mark.parametrize(("proportion_pos", "proportion_neg"), PAIRS)
    def test_the_two_joint_distributions_agree(self, proportion_pos, proportion_neg):
        source = pair_as_source(proportion_pos, proportion_neg)
        points = two_point_distribution(seed=8)
        bags = paired_bags_joint(proportion_pos, proportion_neg, *points)
        noisy = corrupted_joint(source.class_prior, *points, source.flip_pos, source.flip_neg)
        for label in (-1, 1):
            np.testing.assert_allclose(noisy[label], bags[label], rtol=1e-12, atol=1e-15)

    @pytest.mark.parametrize(("proportion_pos", "proportion_neg"), PAIRS)
    def test_rates_are_legal_and_labels_balanced(self, proportion_pos, proportion_neg):
        source = pair_as_source(proportion_pos, proportion_neg)
        rates = NoiseRates(source.flip_pos, source.flip_neg)
        both = proportion_pos + proportion_neg
        # Eq. (rhogam): 1 − ρ₋ − ρ₊ = (γ₊−γ₋) / [(γ₊+γ₋)(2−γ₊−γ₋)]
        stated = (proportion_pos - proportion_neg) / (both * (2 - both))
        assert rates.signal == pytest.approx(stated, rel=1e-12)
        assert noisy_share(source.class_prior, *rates) == pytest.approx(0.5, rel=1e-12)
