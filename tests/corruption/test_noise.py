"""Flipping labels, the corrected loss and its constants, weights of sources, costs of labels."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import (
    WEIGHT_SCHEMES,
    CorrectedLoss,
    backward_coefficients,
    corrupt_labels,
    label_costs,
    signal_to_noise,
    source_weights,
)
from decorrupt.losses import LOSSES
from decorrupt.observed import NoiseRates, matrix_of_rates
from oracles.label_noise import (
    corrupted_joint,
    mean_over_noise,
    pair_as_source,
    paired_bags_joint,
    posterior_by_label,
    two_point_distribution,
)
from oracles.margin_losses import UnhingedLoss
from oracles.mixtures import kappa, noisy_classes

NOISE = [(0.0, 0.0), (0.2, 0.1), (0.0, 0.45), (0.49, 0.49), (0.9, 0.05)]
LIPSCHITZ_LOSSES = [name for name, loss in LOSSES.items() if math.isfinite(loss.lipschitz)]
SCORES = np.linspace(-25, 25, 20_001)


class TestCorruptLabels:
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

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([0, 1, 1, 0], dtype=np.int8),
            np.array([-1.0, 1.0, 1.0, -1.0], dtype=np.float32),
            np.array([False, True, True, False]),
            np.array(["no", "yes", "yes", "no"]),
            np.array([3, 5, 5, 3], dtype=object),
        ],
    )
    def test_labels_and_dtype_are_kept(self, labels):
        np.testing.assert_array_equal(corrupt_labels(labels, (0, 0)), labels)
        noisy = corrupt_labels(labels, (0.4, 0.4), random_state=1)
        assert noisy.dtype == labels.dtype
        assert set(noisy.tolist()) <= set(labels.tolist())

    def test_reproducible(self):
        labels = np.arange(300) % 2
        once, again, other = (corrupt_labels(labels, (0.3, 0.3), random_state=s) for s in (5, 5, 6))
        np.testing.assert_array_equal(once, again)
        assert (once != other).any()
        state = np.random.RandomState(5)
        np.testing.assert_array_equal(once, corrupt_labels(labels, (0.3, 0.3), random_state=state))

    def test_frequencies_of_three_classes(self):
        matrix = np.array([[0.6, 0.3, 0.1], [0.0, 0.8, 0.2], [0.25, 0.25, 0.5]])
        labels = np.arange(150_000) % 3
        noisy = corrupt_labels(labels, matrix, random_state=0)
        for label in range(3):
            shares = np.bincount(noisy[labels == label], minlength=3) / 50_000
            np.testing.assert_allclose(shares, matrix[label], atol=5 * 0.5 / math.sqrt(50_000))
        assert 0 not in noisy[labels == 1]

    def test_a_matrix_of_two_classes_flips_the_same_rows_as_its_pair(self):
        labels = np.arange(500) % 2
        pair = corrupt_labels(labels, (0.3, 0.2), random_state=4)
        matrix = corrupt_labels(labels, matrix_of_rates(0.3, 0.2), random_state=4)
        np.testing.assert_array_equal(matrix, pair)

    def test_classes_and_rates_are_checked(self):
        with pytest.raises(ValueError, match=r"are 3 classes: \[0, 1, 2\]; give a matrix"):
            corrupt_labels([0, 1, 2], (0.1, 0.1))
        with pytest.raises(ValueError, match=r"only the value \[1\]"):
            corrupt_labels([1, 1], (0.1, 0.1))
        with pytest.raises(ValueError, match="must be below 1"):
            corrupt_labels([0, 1], (0.6, 0.5))
        with pytest.raises(ValueError, match="noise_rates of row 1"):
            corrupt_labels([0, 1], [(0.1, 0.1), (0.6, 0.5)])
        with pytest.raises(ValueError, match=r"shape \(3, 2\)"):
            corrupt_labels([0, 1, 1], [(0.1, 0.1), (0.1, 0.1)])


class TestCorrectedLoss:
    def test_coefficients_with_costs_by_hand(self):
        loss = CorrectedLoss("logistic", (0.2, 0.1), cost_pos=2, cost_neg=3)
        np.testing.assert_allclose(loss.coefficients(1), (2 * 0.9 / 0.7, -3 * 0.2 / 0.7))
        np.testing.assert_allclose(loss.coefficients(-1), (-2 * 0.1 / 0.7, 3 * 0.8 / 0.7))

    def test_mean_over_the_corrupted_distribution_is_the_clean_risk(self):
        """Lemma 1, second part: P^ρ and P on five points, costs first."""
        points_pos, points_neg = two_point_distribution(seed=2)
        scores, prior, rates = np.array([-2.0, -0.5, 0.0, 1.0, 3.0]), 0.3, (0.25, 0.4)
        corrected = CorrectedLoss("logistic", rates, cost_pos=1.5, cost_neg=0.5)
        noisy = corrupted_joint(prior, points_pos, points_neg, *rates)
        mean = sum(noisy[label] @ corrected.value(scores, label) for label in (-1, 1))
        loss = LOSSES["logistic"]
        clean = 1.5 * prior * points_pos @ loss.value(scores)
        clean += 0.5 * (1 - prior) * points_neg @ loss.value(-scores)
        assert mean == pytest.approx(clean, rel=1e-13)

    def test_costs_before_the_correction_are_not_costs_after_it(self):
        """(ℓ_α)^ρ ≠ (ℓ^ρ)_α, and only the first is unbiased: ρ = (.2, .1), α = (2, 1), t = 0."""
        rates, cost = (0.2, 0.1), {1: 2.0, -1: 1.0}
        costs_first = CorrectedLoss("squared", rates, cost_pos=2, cost_neg=1)
        plain = CorrectedLoss("squared", rates)
        assert costs_first.value(0, 1) == pytest.approx(1.6 / 0.7)
        assert costs_first.value(0, -1) == pytest.approx(0.6 / 0.7)
        assert cost[1] * plain.value(0, 1) == pytest.approx(2.0)
        assert cost[-1] * plain.value(0, -1) == pytest.approx(1.0)
        mean = mean_over_noise(lambda noisy: costs_first.value(0, noisy), 1, *rates)
        late = mean_over_noise(lambda noisy: cost[noisy] * plain.value(0, noisy), 1, *rates)
        assert mean == pytest.approx(2.0)  # α₊·φ(0)
        assert late == pytest.approx(1.8)

    def test_scores_and_labels_go_together_elementwise(self):
        corrected = CorrectedLoss("logistic", (0.3, 0.2))
        both = corrected.value([0.5, -2.0], [1, -1])
        assert both.tolist() == [corrected.value(0.5, 1), corrected.value(-2.0, -1)]

    @pytest.mark.parametrize("labels", [0, [1, 0], [2], [0.5]])
    def test_labels_are_plus_or_minus_one(self, labels):
        with pytest.raises(ValueError, match="noisy_label must be −1 or"):
            CorrectedLoss("logistic", (0.1, 0.1)).value(0.0, labels)

    @pytest.mark.parametrize("name", ["cost_pos", "cost_neg"])
    @pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf])
    def test_costs_are_checked(self, name, cost):
        with pytest.raises(ValueError, match=f"{name}={cost} must be a finite number"):
            CorrectedLoss("logistic", (0.1, 0.1), **{name: cost})


def random_rates(seed, count=40):
    rng = np.random.default_rng(seed)
    total = rng.uniform(0, 0.98, count)
    share = rng.uniform(0, 1, count)
    return np.column_stack([total * share, total * (1 - share)])


class TestLossConstants:
    """The appendix' lemma on loss constants, item by item."""

    @pytest.mark.parametrize("name", LIPSCHITZ_LOSSES)
    def test_2_lipschitz_without_costs(self, name):
        for flip_pos, flip_neg in random_rates(4):
            stated = (1 + abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
            lipschitz = CorrectedLoss(name, (flip_pos, flip_neg)).lipschitz
            assert lipschitz == pytest.approx(LOSSES[name].lipschitz * stated)

    @pytest.mark.parametrize("name", LOSSES)
    def test_3_and_4_with_costs(self, name):
        loss = LOSSES[name]
        for rates, costs in zip(random_rates(5, 20), random_rates(6, 20) * 5, strict=True):
            corrected = CorrectedLoss(name, rates, cost_pos=costs[0], cost_neg=costs[1])
            at_zero = max(corrected.value(0.0, 1), corrected.value(0.0, -1))
            assert corrected.at_zero == pytest.approx(at_zero, rel=1e-12)
            stated = costs.max() / (1 - rates.sum())
            assert corrected.at_zero <= 2 * loss.at_zero * stated * (1 + 1e-12)
            stated *= loss.lipschitz * (1 + abs(rates[0] - rates[1]))
            assert corrected.lipschitz <= stated * (1 + 1e-12)
            rises = [np.diff(corrected.value(SCORES, label)) for label in (-1, 1)]
            steepest = np.abs(rises).max() / (SCORES[1] - SCORES[0])
            assert steepest <= corrected.lipschitz * (1 + 1e-9)

    @pytest.mark.parametrize("name", LIPSCHITZ_LOSSES)
    def test_5_and_6_for_a_pair_of_bags(self, name):
        for proportion_neg, proportion_pos in np.sort(random_rates(9), axis=1):
            source = pair_as_source(proportion_pos, proportion_neg)
            corrected = CorrectedLoss(
                name,
                (source.flip_pos, source.flip_neg),
                cost_pos=source.cost_pos,
                cost_neg=source.cost_neg,
            )
            gap = proportion_pos - proportion_neg
            assert corrected.at_zero <= LOSSES[name].at_zero / gap * (1 + 1e-9)
            assert corrected.lipschitz == pytest.approx(LOSSES[name].lipschitz / gap, rel=1e-9)

    def test_lipschitz_is_attained_by_the_unhinged_loss(self):
        """So that it cannot be lowered for all losses at once."""
        for rates in random_rates(12):
            corrected = CorrectedLoss(UnhingedLoss(), rates)
            rises = [np.ptp(corrected.value([0.0, 1.0], label)) for label in (-1, 1)]
            assert max(rises) == pytest.approx(corrected.lipschitz)


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
        share = posterior_by_label(source.class_prior, *rates)[0]
        assert share == pytest.approx(0.5, rel=1e-12)


RATE = st.floats(0, 0.95)


@given(RATE, RATE, st.floats(0.05, 0.95), st.integers(0, 10**6))
def test_slopes_of_the_roc_curve_determine_the_rates(flip_pos, flip_neg, prior, seed):
    """The formulas of docs/theory/noise_rates.md, with slopes by brute force over all sets."""
    assume(flip_pos + flip_neg < 0.95)
    points = np.random.default_rng(seed).dirichlet(np.ones(4), size=2)
    points_pos, points_neg = np.append(points[0], 0), np.insert(points[1], 0, 0)
    share, noisy_pos, noisy_neg = noisy_classes(prior, points_pos, points_neg, flip_pos, flip_neg)
    upper, lower = kappa(noisy_pos, noisy_neg), kappa(noisy_neg, noisy_pos)
    pos = (1 - upper) / (1 - upper * lower)  # (1−γ₊)/(1−γ₋) = upper, γ₋/γ₊ = lower
    neg = lower * pos
    assert (share, pos, neg) == pytest.approx(posterior_by_label(prior, flip_pos, flip_neg))
    found = share * pos + (1 - share) * neg
    assert found == pytest.approx(prior)
    assert (1 - share) * neg / found == pytest.approx(flip_pos, abs=1e-8)
    assert share * (1 - pos) / (1 - found) == pytest.approx(flip_neg, abs=1e-8)


# --- weights of sources

SIZES = [100, 40, 250]
RATES = [(0.1, 0.2), (0.0, 0.05), (0.3, 0.4)]
PRIORS = [0.5, 0.2, 0.7]
# Three classes: every label is right with probability 0.8 or 0.6.
THREE = [0.7 * np.eye(3) + 0.1, 0.4 * np.eye(3) + 0.2]


def weighted_bound(weights, snr):
    """Σ w²c², the sum under the root of Thms 2 and 3."""
    return np.sum(weights**2 / snr)


class TestSignalToNoise:
    def test_clean_source_counts_its_rows(self):
        assert signal_to_noise([80], [(0.0, 0.0)]).tolist() == [80]
        assert signal_to_noise([80], [np.eye(3)]).tolist() == [80]

    def test_size_and_uniform(self):
        assert signal_to_noise(SIZES, RATES, scheme="size").tolist() == SIZES
        assert signal_to_noise(SIZES, RATES, scheme="uniform").tolist() == [1, 1, 1]

    @pytest.mark.parametrize("prior", [0.03, 0.5, 0.8])
    @pytest.mark.parametrize("rates", [(0.0, 0.0), (0.3, 0.05), (0.45, 0.5)])
    def test_exact_is_twice_the_harmonic_mean_of_the_strata_sizes_times_gap_squared(
        self, prior, rates
    ):
        n_rows = 120
        share, posterior_pos, posterior_neg = posterior_by_label(prior, *rates)
        n_pos, n_neg = n_rows * share, n_rows * (1 - share)
        harmonic_mean = 2 / (1 / n_pos + 1 / n_neg)
        expected = 2 * harmonic_mean * (posterior_pos - posterior_neg) ** 2
        exact = signal_to_noise([n_rows], [rates], source_priors=prior, scheme="exact")
        np.testing.assert_allclose(exact, expected, rtol=1e-12)

    @pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
    def test_exact_is_never_below_what_the_upper_bound_promises(self, prior):
        """Costs are at most 1/(2 min(π,1−π)), hence the factor 4; the exact constant is smaller."""
        rng = np.random.default_rng(0)
        rates = rng.dirichlet((1, 1, 1), 200)[:, :2]
        sizes = np.full(200, 50)
        bound = signal_to_noise(sizes, rates, source_priors=prior)
        exact = signal_to_noise(sizes, rates, source_priors=prior, scheme="exact")
        assert (exact >= 4 * bound * (1 - 1e-12)).all()

    def test_the_result_is_a_fresh_array(self):
        sizes = np.array([10.0, 20.0])
        for scheme in WEIGHT_SCHEMES:
            result = signal_to_noise(sizes, [(0.1, 0.1)] * 2, source_priors=0.5, scheme=scheme)
            assert not np.shares_memory(result, sizes), scheme


class TestSourceWeights:
    @pytest.mark.parametrize("scheme", WEIGHT_SCHEMES)
    def test_on_the_simplex_and_proportional_to_the_signal(self, scheme):
        arguments = (SIZES, RATES)
        weights = source_weights(*arguments, source_priors=PRIORS, scheme=scheme)
        snr = signal_to_noise(*arguments, source_priors=PRIORS, scheme=scheme)
        assert weights.sum() == pytest.approx(1)
        assert (weights > 0).all()
        np.testing.assert_allclose(weights / weights[0], snr / snr[0])

    def test_harmonic_mean_example_of_the_paper(self):
        """N = 10, n = 100, nine sources at .01 and one at .49: "the ratio exceeds 100"."""
        rates = [(0.01, 0.01)] * 9 + [(0.49, 0.49)]
        noise = 1 / signal_to_noise([100] * 10, rates)
        arithmetic, harmonic = noise.mean(), 1 / (1 / noise).mean()
        assert arithmetic / harmonic == pytest.approx(216.9, abs=0.05)
        optimal = source_weights([100] * 10, rates)
        uniform = source_weights([100] * 10, rates, scheme="uniform")
        assert weighted_bound(optimal, 1 / noise) == pytest.approx(harmonic / 10)
        assert weighted_bound(uniform, 1 / noise) == pytest.approx(arithmetic / 10)

    def test_priors_may_be_one_number_for_all(self):
        rates = [(0.2, 0.1), (0.2, 0.1)]
        np.testing.assert_allclose(source_weights([30, 10], rates), [0.75, 0.25])
        by_source = source_weights([30, 10], rates, source_priors=[0.4, 0.4])
        np.testing.assert_array_equal(by_source, source_weights([30, 10], rates, source_priors=0.4))


class TestMatrices:
    def test_backward_coefficients_of_two_classes_by_hand(self):
        """(1{ỹ=+} − ρ₋)/(1−ρ₊−ρ₋) is the coefficient of the positive class, the rest to 1."""
        transitions, noisy = matrix_of_rates([0.2], [0.1]), np.array([0, 1, 1])
        coef = backward_coefficients(transitions, np.zeros(3, dtype=int), noisy)
        pos = (noisy - 0.1) / 0.7
        np.testing.assert_allclose(coef, np.column_stack([1 - pos, pos]), rtol=1e-12)

    def test_three_classes_by_hand(self):
        """Each label is right with probability 0.6: T⁻¹ has the rows (2, −½, −½).

        At equal class shares every label costs 2 + ½ + ½, divided by K·π = 1.
        """
        assert signal_to_noise([9], [THREE[1]]) == pytest.approx(1)
        found = signal_to_noise(
            [90], [THREE[1]], source_priors=[[1 / 3, 1 / 3, 1 / 3]], scheme="exact"
        )
        np.testing.assert_allclose(found, [90 / 9])


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
def test_label_costs_are_indifferent_at_the_threshold(threshold):
    """Where P(Y=1|x) = τ, a source's weighted labels are as often + as −; clean ones cost 1."""
    rates = np.array([(0.0, 0.0), (0.2, 0.1), (0.05, 0.6)])
    costs = label_costs(matrix_of_rates(*rates.T), threshold)
    noisy_pos = posterior_by_label(threshold, *rates.T)[0]
    np.testing.assert_allclose(costs[:, 1] * noisy_pos, costs[:, 0] * (1 - noisy_pos), rtol=1e-12)
    np.testing.assert_allclose(costs.sum(axis=1), 1 - rates.sum(axis=1))


THREE_PRIORS = [[0.2, 0.3, 0.5]]
BAD_SOURCES = {
    "scheme": ({"scheme": "best"}, "unknown scheme 'best': choose one of optimal, exact, size"),
    "exact": ({"scheme": "exact"}, "scheme='exact' needs source_priors"),
    "sum": ({"noise_rates": [(0.1, 0.1), (0.6, 0.4)]}, r"source 1: flip_pos \+ flip_neg = 1 must"),
    "rate": ({"noise_rates": [(0.1, 0.1), (-0.2, 0.1)]}, r"source 1: flip_pos=-0.2 is not a rate"),
    "NaN": ({"noise_rates": [(0.1, np.nan), (0, 0)]}, "source 0: flip_neg=nan is not a rate"),
    "number": ({"noise_rates": [(0.1, 0.1)] * 3}, "rates of 3 sources and 2 sizes"),
    "shapes": ({"noise_rates": [np.eye(3), np.eye(2)]}, r"source 1 have shape \(2, 2\)"),
    "priors": ({"source_priors": [0.5] * 3}, r"one share of positives per source \(2 sources\)"),
    "dimensions": ({"sizes": [[10, 10]]}, "sizes must be a list"),
    **{f"size {bad}": ({"sizes": [10, bad]}, "sizes must.*source 1") for bad in (0, -3, np.nan)},
    **{
        f"prior {bad}": ({"source_priors": [0.5, bad]}, "source_priors of source 1=.*positive")
        for bad in (0, 1, 1.2, -0.1, np.nan)
    },
    "common prior": ({"source_priors": 1.2}, "source 0=1.2: give a number strictly between 0"),
    **{
        f"shares {bad}": (
            {"noise_rates": THREE, "source_priors": [*THREE_PRIORS, bad]},
            "source_priors of source 1=.*positive",
        )
        for bad in ([0.5, 0.6, 0.1], [0.5, 0.5, 0.0], [1.2, -0.1, -0.1])
    },
}


@pytest.mark.parametrize("case", BAD_SOURCES)
def test_bad_sources_are_named(case):
    options, message = BAD_SOURCES[case]
    with pytest.raises(ValueError, match=message):
        source_weights(**{"sizes": [10, 10], "noise_rates": [(0.1, 0.1)] * 2} | options)
