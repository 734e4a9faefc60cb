"""Weights of sources: what they minimise, the paper's example, errors."""

import numpy as np
import pytest

import decorrupt
from decorrupt.corruption import WEIGHT_SCHEMES, noisy_share, signal_to_noise, source_weights
from oracles.label_noise import posterior_by_label

SIZES = [100, 40, 250]
FLIP_POS, FLIP_NEG = [0.1, 0.0, 0.3], [0.2, 0.05, 0.4]
PRIORS = [0.5, 0.2, 0.7]


def weighted_bound(weights, snr):
    """Σ w²c², the sum under the root of Thms 2 and 3."""
    return np.sum(weights**2 / snr)


class TestSignalToNoise:
    def test_optimal_by_hand(self):
        # 1/c² = n (1−ρ₊−ρ₋)² / (1+|ρ₊−ρ₋|)²
        expected = [100 * 0.7**2 / 1.1**2, 40 * 0.95**2 / 1.05**2, 250 * 0.3**2 / 1.1**2]
        np.testing.assert_allclose(signal_to_noise(SIZES, FLIP_POS, FLIP_NEG), expected)

    def test_class_priors_enter_by_the_rarer_class(self):
        plain = signal_to_noise(SIZES, FLIP_POS, FLIP_NEG)
        with_priors = signal_to_noise(SIZES, FLIP_POS, FLIP_NEG, class_priors=PRIORS)
        np.testing.assert_allclose(with_priors, plain * np.array([0.5, 0.2, 0.3]) ** 2)

    def test_clean_source_counts_its_rows(self):
        assert signal_to_noise([80], 0.0, 0.0).tolist() == [80]

    def test_asymmetric_noise_is_worse_than_symmetric_of_the_same_total(self):
        symmetric, asymmetric = signal_to_noise([100, 100], [0.2, 0.4], [0.2, 0.0])
        assert asymmetric < symmetric

    def test_size_and_uniform(self):
        assert signal_to_noise(SIZES, FLIP_POS, FLIP_NEG, scheme="size").tolist() == SIZES
        assert signal_to_noise(SIZES, FLIP_POS, FLIP_NEG, scheme="uniform").tolist() == [1, 1, 1]

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
        exact = signal_to_noise([n_rows], *rates, class_priors=prior, scheme="exact")
        np.testing.assert_allclose(exact, expected, rtol=1e-12)

    @pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
    def test_exact_is_never_below_what_the_upper_bound_promises(self, prior):
        """Costs are at most 1/(2 min(π,1−π)), hence the factor 4; the exact constant is smaller."""
        rng = np.random.default_rng(0)
        rates = rng.dirichlet((1, 1, 1), 200)[:, :2]
        sizes = np.full(200, 50)
        bound = signal_to_noise(sizes, *rates.T, class_priors=prior)
        exact = signal_to_noise(sizes, *rates.T, class_priors=prior, scheme="exact")
        assert (exact >= 4 * bound * (1 - 1e-12)).all()

    def test_exact_is_the_reciprocal_of_the_mean_square_lipschitz_constant(self):
        """n/E[(|c₊|+|c₋|)²] for the balanced risk, the mean over the noisy label."""
        prior, (flip_pos, flip_neg), n_rows = 0.3, (0.2, 0.35), 90
        loss = decorrupt.corruption.corrected_loss(
            "unhinged", (flip_pos, flip_neg), cost_pos=1 / (2 * prior), cost_neg=1 / (2 - 2 * prior)
        )
        share = noisy_share(prior, flip_pos, flip_neg)
        squares = [np.sum(np.abs(loss.coefficients(label))) ** 2 for label in (1, -1)]
        mean_square = share * squares[0] + (1 - share) * squares[1]
        exact = signal_to_noise([n_rows], flip_pos, flip_neg, class_priors=prior, scheme="exact")
        np.testing.assert_allclose(exact, n_rows / mean_square, rtol=1e-12)

    def test_noisy_share(self):
        for prior, rates in ((0.3, (0.2, 0.1)), (0.9, (0.0, 0.6))):
            share = posterior_by_label(prior, *rates)[0]
            assert noisy_share(prior, *rates) == pytest.approx(share)

    def test_the_result_is_a_fresh_array(self):
        sizes = np.array([10.0, 20.0])
        for scheme in WEIGHT_SCHEMES:
            result = signal_to_noise(sizes, 0.1, 0.1, class_priors=0.5, scheme=scheme)
            assert not np.shares_memory(result, sizes), scheme


class TestSourceWeights:
    @pytest.mark.parametrize("scheme", WEIGHT_SCHEMES)
    def test_on_the_simplex_and_proportional_to_the_signal(self, scheme):
        arguments = (SIZES, FLIP_POS, FLIP_NEG)
        weights = source_weights(*arguments, class_priors=PRIORS, scheme=scheme)
        snr = signal_to_noise(*arguments, class_priors=PRIORS, scheme=scheme)
        assert weights.sum() == pytest.approx(1)
        assert (weights > 0).all()
        np.testing.assert_allclose(weights / weights[0], snr / snr[0])

    def test_harmonic_mean_example_of_the_paper(self):
        """N = 10, n = 100, nine sources at .01 and one at .49: "the ratio exceeds 100"."""
        rates = [0.01] * 9 + [0.49]
        noise = 1 / signal_to_noise([100] * 10, rates, rates)
        arithmetic, harmonic = noise.mean(), 1 / (1 / noise).mean()
        assert arithmetic / harmonic == pytest.approx(216.9, abs=0.05)
        optimal = source_weights([100] * 10, rates, rates)
        uniform = source_weights([100] * 10, rates, rates, scheme="uniform")
        assert weighted_bound(optimal, 1 / noise) == pytest.approx(harmonic / 10)
        assert weighted_bound(uniform, 1 / noise) == pytest.approx(arithmetic / 10)

    def test_rates_may_be_one_number_for_all(self):
        np.testing.assert_allclose(source_weights([30, 10], 0.2, 0.1), [0.75, 0.25])
        by_source = source_weights([30, 10], [0.2, 0.2], [0.1, 0.1], class_priors=[0.4, 0.4])
        np.testing.assert_array_equal(
            by_source, source_weights([30, 10], 0.2, 0.1, class_priors=0.4)
        )

    def test_uniform_and_size(self):
        np.testing.assert_allclose(source_weights([30, 10], 0, 0.4, scheme="uniform"), [0.5, 0.5])
        np.testing.assert_allclose(
            source_weights([30, 10], 0, [0, 0.9], scheme="size"), [0.75, 0.25]
        )

    def test_public(self):
        assert decorrupt.corruption.source_weights is source_weights
        assert decorrupt.corruption.signal_to_noise is signal_to_noise


class TestRefusals:
    def test_unknown_scheme_lists_the_known_ones(self):
        with pytest.raises(ValueError, match="unknown scheme 'best'") as caught:
            source_weights(SIZES, FLIP_POS, FLIP_NEG, scheme="best")
        for scheme in WEIGHT_SCHEMES:
            assert scheme in str(caught.value)

    def test_exact_needs_priors(self):
        with pytest.raises(ValueError, match="scheme='exact' needs class_priors"):
            source_weights(SIZES, FLIP_POS, FLIP_NEG, scheme="exact")

    @pytest.mark.parametrize(
        ("flip_pos", "flip_neg", "message"),
        [
            ([0.1, 0.6], [0.1, 0.4], r"source 1: flip_pos \+ flip_neg = 1 must be below 1"),
            ([0.1, -0.2], [0.1, 0.1], r"source 1: flip_pos=-0.2 is not a rate"),
            ([0.1, 0.1], [np.nan, 0.1], "source 0: flip_neg=nan is not a rate"),
        ],
    )
    def test_bad_rates_name_the_source(self, flip_pos, flip_neg, message):
        with pytest.raises(ValueError, match=message):
            source_weights([10, 10], flip_pos, flip_neg)

    @pytest.mark.parametrize("bad", [0, -3, np.nan, np.inf])
    def test_bad_size_names_the_source(self, bad):
        with pytest.raises(ValueError, match=r"sizes.*source 1|source 1.*sizes"):
            source_weights([10, bad, 10], 0.1, 0.1)

    @pytest.mark.parametrize("bad", [0, 1, 1.2, -0.1, np.nan])
    def test_bad_prior_names_the_source(self, bad):
        with pytest.raises(ValueError, match=r"class_prior.*source 1|source 1.*class_prior"):
            source_weights([10, 10], 0.1, 0.1, class_priors=[0.5, bad])

    @pytest.mark.parametrize("bad", [0, 1, 1.2, -0.1, np.nan])
    def test_bad_common_prior(self, bad):
        with pytest.raises(ValueError, match=r"class_priors? must lie strictly between 0 and 1"):
            source_weights([10, 10], 0.1, 0.1, class_priors=bad)

    @pytest.mark.parametrize("name", ["flip_pos", "flip_neg"])
    def test_wrong_number_of_rates(self, name):
        rates = {"flip_pos": 0.1, "flip_neg": 0.1} | {name: [0.1, 0.1, 0.1]}
        with pytest.raises(ValueError, match=f"{name} has 3 rates for 2 sources"):
            source_weights([10, 10], **rates)

    def test_wrong_number_of_priors(self):
        with pytest.raises(
            ValueError, match=r"class_priors must be one number per source \(2 sources\)"
        ):
            source_weights([10, 10], 0.1, 0.1, class_priors=[0.5, 0.5, 0.5])

    def test_sizes_of_two_dimensions(self):
        with pytest.raises(ValueError, match="sizes must be a list"):
            source_weights([[10, 10]], 0.1, 0.1)
