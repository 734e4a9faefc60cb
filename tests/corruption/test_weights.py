"""Sources: unbiased correction, what their weights minimise, the paper's example, errors."""

import numpy as np
import pytest

import decorrupt
from decorrupt.corruption import (
    WEIGHT_SCHEMES,
    backward_coefficients,
    label_costs,
    noise_scales,
    noisy_share,
    signal_to_noise,
    source_weights,
)
from decorrupt.observed import check_transitions, matrix_of_rates
from oracles.label_noise import posterior_by_label

SIZES = [100, 40, 250]
RATES = [(0.1, 0.2), (0.0, 0.05), (0.3, 0.4)]
PRIORS = [0.5, 0.2, 0.7]
# Three classes: every label is right with probability 0.8 or 0.6.
THREE = [0.7 * np.eye(3) + 0.1, 0.4 * np.eye(3) + 0.2]
UNEVEN = {
    "web": [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.0, 0.3, 0.7]],
    "desk": [[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
}


def weighted_bound(weights, snr):
    """Σ w²c², the sum under the root of Thms 2 and 3."""
    return np.sum(weights**2 / snr)


class TestSignalToNoise:
    def test_optimal_by_hand(self):
        # 1/c² = n (1−ρ₊−ρ₋)² / (1+|ρ₊−ρ₋|)²
        expected = [100 * 0.7**2 / 1.1**2, 40 * 0.95**2 / 1.05**2, 250 * 0.3**2 / 1.1**2]
        np.testing.assert_allclose(signal_to_noise(SIZES, RATES), expected)

    def test_source_priors_enter_by_the_rarer_class(self):
        plain = signal_to_noise(SIZES, RATES)
        with_priors = signal_to_noise(SIZES, RATES, source_priors=PRIORS)
        np.testing.assert_allclose(with_priors, plain * np.array([0.5, 0.2, 0.3]) ** 2)

    def test_clean_source_counts_its_rows(self):
        assert signal_to_noise([80], [(0.0, 0.0)]).tolist() == [80]
        assert signal_to_noise([80], [np.eye(3)]).tolist() == [80]

    def test_asymmetric_noise_is_worse_than_symmetric_of_the_same_total(self):
        symmetric, asymmetric = signal_to_noise([100, 100], [(0.2, 0.2), (0.4, 0.0)])
        assert asymmetric < symmetric

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

    def test_exact_is_the_reciprocal_of_the_mean_square_lipschitz_constant(self):
        """n/E[(|c₊|+|c₋|)²] for the balanced risk, the mean over the noisy label."""
        prior, (flip_pos, flip_neg), n_rows = 0.3, (0.2, 0.35), 90
        loss = decorrupt.corruption.corrected_loss(
            "logistic", (flip_pos, flip_neg), cost_pos=1 / (2 * prior), cost_neg=1 / (2 - 2 * prior)
        )
        share = noisy_share(prior, flip_pos, flip_neg)
        squares = [np.sum(np.abs(loss.coefficients(label))) ** 2 for label in (1, -1)]
        mean_square = share * squares[0] + (1 - share) * squares[1]
        rates = [(flip_pos, flip_neg)]
        exact = signal_to_noise([n_rows], rates, source_priors=prior, scheme="exact")
        np.testing.assert_allclose(exact, n_rows / mean_square, rtol=1e-12)

    def test_noisy_share(self):
        for prior, rates in ((0.3, (0.2, 0.1)), (0.9, (0.0, 0.6))):
            share = posterior_by_label(prior, *rates)[0]
            assert noisy_share(prior, *rates) == pytest.approx(share)

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

    @pytest.mark.parametrize("scheme", WEIGHT_SCHEMES)
    def test_pairs_are_matrices(self, scheme):
        options = {"source_priors": PRIORS, "scheme": scheme}
        matrices = matrix_of_rates(*np.transpose(RATES))
        shares = np.column_stack([1 - np.array(PRIORS), PRIORS])
        np.testing.assert_allclose(
            signal_to_noise(SIZES, matrices, **options | {"source_priors": shares}),
            signal_to_noise(SIZES, RATES, **options),
            rtol=1e-12,
        )

    def test_uniform_and_size(self):
        np.testing.assert_allclose(
            source_weights([30, 10], [(0, 0.4), (0, 0.4)], scheme="uniform"), [0.5, 0.5]
        )
        np.testing.assert_allclose(
            source_weights([30, 10], [(0, 0), (0, 0.9)], scheme="size"), [0.75, 0.25]
        )

    def test_public(self):
        assert decorrupt.corruption.source_weights is source_weights
        assert decorrupt.corruption.signal_to_noise is signal_to_noise


class TestRefusals:
    def test_unknown_scheme_lists_the_known_ones(self):
        with pytest.raises(ValueError, match="unknown scheme 'best'") as caught:
            source_weights(SIZES, RATES, scheme="best")
        for scheme in WEIGHT_SCHEMES:
            assert scheme in str(caught.value)

    def test_exact_needs_priors(self):
        with pytest.raises(ValueError, match="scheme='exact' needs source_priors"):
            source_weights(SIZES, RATES, scheme="exact")

    @pytest.mark.parametrize(
        ("rates", "message"),
        [
            ([(0.1, 0.1), (0.6, 0.4)], r"source 1: flip_pos \+ flip_neg = 1 must be below 1"),
            ([(0.1, 0.1), (-0.2, 0.1)], r"source 1: flip_pos=-0.2 is not a rate"),
            ([(0.1, np.nan), (0.1, 0.1)], "source 0: flip_neg=nan is not a rate"),
        ],
    )
    def test_bad_rates_name_the_source(self, rates, message):
        with pytest.raises(ValueError, match=message):
            source_weights([10, 10], rates)

    @pytest.mark.parametrize("bad", [0, -3, np.nan, np.inf])
    def test_bad_size_names_the_source(self, bad):
        with pytest.raises(ValueError, match=r"sizes.*source 1|source 1.*sizes"):
            source_weights([10, bad, 10], [(0.1, 0.1)] * 3)

    @pytest.mark.parametrize("bad", [0, 1, 1.2, -0.1, np.nan])
    def test_bad_prior_names_the_source(self, bad):
        with pytest.raises(ValueError, match=r"source_prior.*source 1|source 1.*source_prior"):
            source_weights([10, 10], [(0.1, 0.1)] * 2, source_priors=[0.5, bad])

    @pytest.mark.parametrize("bad", [0, 1, 1.2, -0.1, np.nan])
    def test_bad_common_prior(self, bad):
        with pytest.raises(ValueError, match=r"source_priors? must lie strictly between 0 and 1"):
            source_weights([10, 10], [(0.1, 0.1)] * 2, source_priors=bad)

    @pytest.mark.parametrize("bad", [[0.5, 0.6, 0.1], [0.5, 0.5, 0.0], [1.2, -0.1, -0.1]])
    def test_bad_shares_name_the_source(self, bad):
        with pytest.raises(ValueError, match=r"source_priors.*source 1"):
            source_weights([10, 10], THREE, source_priors=[[0.2, 0.3, 0.5], bad])

    def test_wrong_number_of_rates(self):
        with pytest.raises(ValueError, match="rates of 3 sources and 2 sizes"):
            source_weights([10, 10], [(0.1, 0.1)] * 3)

    def test_matrices_of_different_sizes(self):
        with pytest.raises(ValueError, match=r"source 1 have shape \(2, 2\)"):
            source_weights([10, 10], [np.eye(3), np.eye(2)])

    def test_wrong_number_of_priors(self):
        message = r"source_priors must be one share of positives per source \(2 sources\)"
        with pytest.raises(ValueError, match=message):
            source_weights([10, 10], [(0.1, 0.1)] * 2, source_priors=[0.5, 0.5, 0.5])

    def test_sizes_of_two_dimensions(self):
        with pytest.raises(ValueError, match="sizes must be a list"):
            source_weights([[10, 10]], [(0.1, 0.1)] * 2)


class TestBackwardCorrection:
    @pytest.mark.parametrize("rates", [UNEVEN, {"a": (0.2, 0.1), "b": (0.0, 0.45)}])
    def test_the_corrected_loss_is_unbiased(self, rates):
        """Σ_ỹ T[y, ỹ]·Σ_y' coef(ỹ)_y'·ℓ_y' = ℓ_y for every class y and every loss."""
        n_classes = len(rates[next(iter(rates))])
        transitions = check_transitions(rates, n_classes)
        losses, labels = np.random.default_rng(0).normal(size=n_classes), np.arange(n_classes)
        for source, transition in enumerate(transitions):
            coef = backward_coefficients(transitions, np.full(n_classes, source), labels)
            for label in labels:
                mean = sum(transition[label][noisy] * (coef[noisy] @ losses) for noisy in labels)
                np.testing.assert_allclose(mean, losses[label], rtol=1e-12)

    def test_two_classes_by_hand(self):
        """(1{ỹ=+} − ρ₋)/(1−ρ₊−ρ₋) is the coefficient of the positive class, the rest to 1."""
        transitions, noisy = matrix_of_rates([0.2], [0.1]), np.array([0, 1, 1])
        coef = backward_coefficients(transitions, np.zeros(3, dtype=int), noisy)
        pos = (noisy - 0.1) / 0.7
        np.testing.assert_allclose(coef, np.column_stack([1 - pos, pos]), rtol=1e-12)


class TestNoiseScales:
    def test_two_classes_are_the_papers(self):
        flip_pos, flip_neg, sizes = (
            np.array([0.1, 0.3, 0.0]),
            np.array([0.2, 0.05, 0.0]),
            [100, 40, 7],
        )
        scales = noise_scales(matrix_of_rates(flip_pos, flip_neg), sizes)
        signal = 1 - flip_pos - flip_neg
        expected = (1 + np.abs(flip_pos - flip_neg)) / (signal * np.sqrt(sizes))
        np.testing.assert_allclose(scales, expected, rtol=1e-12)

    def test_three_classes_by_hand(self):
        """Each label is right with probability 0.6: T⁻¹ has the rows (2, −½, −½)."""
        np.testing.assert_allclose(noise_scales(np.array([THREE[1]]), [9]), [3 / 3])

    def test_exact_weights_of_three_classes_by_hand(self):
        """At equal class shares every label costs 2 + ½ + ½, divided by K·π = 1."""
        found = signal_to_noise(
            [90], [THREE[1]], source_priors=[[1 / 3, 1 / 3, 1 / 3]], scheme="exact"
        )
        np.testing.assert_allclose(found, [90 / 9])


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
def test_label_costs_are_indifferent_at_the_threshold(threshold):
    """Where P(Y=1|x) = τ, a source's weighted labels are as often + as −; clean ones cost 1."""
    rates = np.array([(0.0, 0.0), (0.2, 0.1), (0.05, 0.6)])
    costs = label_costs(matrix_of_rates(*rates.T), threshold)
    noisy_pos = noisy_share(threshold, *rates.T)
    np.testing.assert_allclose(costs[:, 1] * noisy_pos, costs[:, 0] * (1 - noisy_pos), rtol=1e-12)
    np.testing.assert_allclose(costs.sum(axis=1), 1 - rates.sum(axis=1))
