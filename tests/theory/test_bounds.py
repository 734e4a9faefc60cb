"""The bounds against plain loops over the paper's formulas, and against the master theorem."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import combine_strata, corrected_loss, pair_bags, source_weights
from decorrupt.losses import get_loss
from decorrupt.theory import (
    bound_common_source,
    bound_label_proportions,
    bound_master,
    bound_strata,
    bound_varying_priors,
    information,
)
from oracles.combinations import combine_pairs

SIZES, FLIP_POS, FLIP_NEG = [60, 90, 40], [0.1, 0.3, 0.0], [0.2, 0.1, 0.4]
PRIORS = [0.5, 0.2, 0.7]
UPPER, LOWER = [0.9, 0.8, 0.6], [0.7, 0.1, 0.3]
BALL = {"radius": 3.0, "kernel_bound": 1.5, "lipschitz": 2.0, "at_zero": 0.8, "failure_prob": 0.1}
LOG_TERM = math.log(2 / 0.1) / 2
WEIGHTS = [0.5, 0.2, 0.3]
THEOREMS = {
    "Theorem 2": lambda **options: bound_common_source(SIZES, FLIP_POS, FLIP_NEG, **options),
    "Theorem 3": lambda **options: bound_varying_priors(
        SIZES, FLIP_POS, FLIP_NEG, PRIORS, **options
    ),
    "Theorem 4": lambda **options: bound_label_proportions(UPPER, LOWER, SIZES, **options),
    "the bound for strata": lambda **options: bound_strata(SIZES, [1, -1, 0], [0, 1, 1], **options),
}


class TestAgainstPlainLoops:
    def test_common_source(self):
        total = 0.0
        for n, plus, minus, w in zip(SIZES, FLIP_POS, FLIP_NEG, WEIGHTS, strict=True):
            total += w**2 / n * ((1 + abs(plus - minus)) / (1 - minus - plus)) ** 2
        expected = 4 * 1.5 * 3.0 * 2.0 * math.sqrt(total * LOG_TERM)
        for as_printed in (True, False):
            found = THEOREMS["Theorem 2"](weights=WEIGHTS, as_printed=as_printed, **BALL)
            assert found == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize(("as_printed", "constant"), [(True, 2.0), (False, 2.25)])
    def test_varying_priors(self, as_printed, constant):
        total = 0.0
        for n, plus, minus, prior, w in zip(
            SIZES, FLIP_POS, FLIP_NEG, PRIORS, WEIGHTS, strict=True
        ):
            noise = (1 + abs(plus - minus)) / (1 - minus - plus)
            total += w**2 / n * noise**2 / min(prior, 1 - prior) ** 2
        expected = constant * 1.5 * 3.0 * 2.0 * math.sqrt(total * LOG_TERM)
        found = THEOREMS["Theorem 3"](weights=WEIGHTS, as_printed=as_printed, **BALL)
        assert found == pytest.approx(expected, rel=1e-12)

    def test_label_proportions_as_printed(self):
        total = sum(
            w**2 / (n * (up - low) ** 2)
            for n, up, low, w in zip(SIZES, UPPER, LOWER, WEIGHTS, strict=True)
        )
        expected = 4 * 1.5 * 3.0 * 2.0 * math.sqrt(total * LOG_TERM)
        printed = THEOREMS["Theorem 4"](weights=WEIGHTS, as_printed=True, **BALL)
        assert printed == pytest.approx(expected, rel=1e-12)
        fixed = THEOREMS["Theorem 4"](weights=WEIGHTS, fixed_sizes=True, **BALL)
        assert fixed == pytest.approx(expected, rel=1e-12)

    def test_label_proportions_repaired_where_all_pairs_share_their_middle(self):
        """π = ¾ for both pairs: 4 + 2·½·φ(0)/(LKR) = 4 + 0.8/9."""
        common = {"weights": [0.5, 0.5], "sizes": [50, 70], **BALL}
        pairs = ([0.9, 0.8], [0.6, 0.7])
        printed = bound_label_proportions(*pairs, **common, as_printed=True)
        repaired = bound_label_proportions(*pairs, **common)
        assert repaired / printed == pytest.approx((4 + 0.8 / 9) / 4, rel=1e-12)

    def test_label_proportions_repaired_lies_between_its_least_and_largest_constant(self):
        middle = (np.array(UPPER) + LOWER) / 2
        constants = 4 + 2 * np.abs(1 - 2 * middle) * 0.8 / (2.0 * 1.5 * 3.0)
        ratio = 4 * THEOREMS["Theorem 4"](**BALL) / THEOREMS["Theorem 4"](**BALL, as_printed=True)
        assert constants.min() < ratio < constants.max()

    def test_balanced_pairs_need_no_repair(self):
        bounds = [
            bound_label_proportions([0.9], [0.1], [50], as_printed=as_printed, **BALL)
            for as_printed in (True, False)
        ]
        assert bounds[0] == bounds[1]

    def test_strata(self):
        total = sum((abs(a) + abs(b)) ** 2 / n for a, b, n in [(1, 0, 60), (-1, 1, 90), (0, 1, 40)])
        expected = 4 * 1.5 * 3.0 * 2.0 * math.sqrt(total * LOG_TERM)
        assert THEOREMS["the bound for strata"](**BALL) == pytest.approx(expected, rel=1e-12)

    def test_master(self):
        ball = {"radius": 3.0, "kernel_bound": 1.5, "failure_prob": 0.4, "weights": WEIGHTS}
        slopes, zeros, gaps = [2.0, 1.0, 5.0], [1.0, 0.5, 2.0], [0.3, 0.0, 1.0]
        mean, printed, repaired = 0.0, 0.0, 0.0
        for n, w, slope, zero, gap in zip(SIZES, WEIGHTS, slopes, zeros, gaps, strict=True):
            mean += w**2 / n * slope**2
            printed += w**2 / n * (zero + slope * 4.5) ** 2 * math.log(5) / 2
            repaired += w**2 / n * (gap + 2 * slope * 4.5) ** 2 * math.log(5) / 2
        first = 2 * 4.5 * math.sqrt(mean)
        assert bound_master(SIZES, slopes, zeros, as_printed=True, **ball) == pytest.approx(
            first + math.sqrt(printed), rel=1e-12
        )
        assert bound_master(SIZES, slopes, zeros, at_zero_gap=gaps, **ball) == pytest.approx(
            first + math.sqrt(repaired), rel=1e-12
        )
        widest = bound_master(SIZES, slopes, zeros, at_zero_gap=2 * np.array(zeros), **ball)
        assert bound_master(SIZES, slopes, zeros, **ball) == widest


def corrected_constants(loss, rates, costs):
    """Return |ℓ|, |ℓ|₀ and the gap at zero of a corrected loss, from its two labels."""
    corrected = corrected_loss(loss, rates, cost_pos=costs[0], cost_neg=costs[1])
    at_zero = corrected.value([0.0, 0.0], [1, -1])
    return corrected.lipschitz, np.abs(at_zero).max(), np.ptp(at_zero)


class TestTheoremsFollowFromTheMaster:
    """Each theorem only rounds the master theorem up: with exact constants that is never above."""

    @pytest.fixture(params=["logistic", "sigmoid", "huber"])
    def loss(self, request):
        return get_loss(request.param)

    def master(self, constants, sizes, weights, options, as_printed):
        slopes, zeros, gaps = np.array(constants).T
        return bound_master(
            sizes,
            slopes,
            zeros,
            at_zero_gap=gaps,
            weights=weights,
            radius=options["radius"],
            as_printed=as_printed,
        )

    @pytest.mark.parametrize("as_printed", [True, False])
    def test_common_source(self, loss, as_printed):
        options = {
            "radius": 1.01 * loss.at_zero / loss.lipschitz,
            "lipschitz": loss.lipschitz,
            "at_zero": loss.at_zero,
        }
        constants = [
            corrected_constants(loss, rates, (1, 1))
            for rates in zip(FLIP_POS, FLIP_NEG, strict=True)
        ]
        weights = source_weights(SIZES, FLIP_POS, FLIP_NEG)
        master = self.master(constants, SIZES, weights, options, as_printed)
        assert master <= THEOREMS["Theorem 2"](as_printed=as_printed, **options)

    @pytest.mark.parametrize("as_printed", [True, False])
    def test_varying_priors(self, loss, as_printed):
        options = {
            "radius": 2.01 * loss.at_zero / loss.lipschitz,
            "lipschitz": loss.lipschitz,
            "at_zero": loss.at_zero,
        }
        constants = [
            corrected_constants(loss, rates, (0.5 / prior, 0.5 / (1 - prior)))
            for *rates, prior in zip(FLIP_POS, FLIP_NEG, PRIORS, strict=True)
        ]
        weights = source_weights(SIZES, FLIP_POS, FLIP_NEG, class_priors=PRIORS)
        master = self.master(constants, SIZES, weights, options, as_printed)
        assert master <= THEOREMS["Theorem 3"](as_printed=as_printed, **options)

    def test_label_proportions(self, loss):
        options = {
            "radius": 1.01 * loss.at_zero / loss.lipschitz,
            "lipschitz": loss.lipschitz,
            "at_zero": loss.at_zero,
        }
        constants = [
            corrected_constants(
                loss,
                (low / (low + up), (1 - up) / (2 - low - up)),
                (1 / (up + low), 1 / (2 - up - low)),
            )
            for up, low in zip(UPPER, LOWER, strict=True)
        ]
        weights = np.array(SIZES) * (np.array(UPPER) - LOWER) ** 2
        master = self.master(constants, SIZES, weights / weights.sum(), options, False)
        repaired = THEOREMS["Theorem 4"](**options)
        # At δ = .05 the theorem only loses √(log(2/δ)/2) against 1 in the first of two terms.
        assert master <= repaired <= master * math.sqrt(math.log(40) / 2)


class TestWeights:
    @pytest.mark.parametrize("name", ["Theorem 2", "Theorem 3", "Theorem 4"])
    def test_optimal_weights_beat_all_others(self, name):
        theorem = THEOREMS[name]
        best = theorem(radius=4.0, as_printed=True)
        rng = np.random.default_rng(0)
        others = [*rng.dirichlet((1, 1, 1), 50), "size", "uniform"]
        assert all(best <= theorem(radius=4.0, weights=w, as_printed=True) for w in others)

    def test_exact_weights(self):
        weights = source_weights(SIZES, FLIP_POS, FLIP_NEG, class_priors=PRIORS, scheme="exact")
        theorem = THEOREMS["Theorem 3"]
        assert theorem(weights="exact", **BALL) == theorem(weights=weights, **BALL)
        assert THEOREMS["Theorem 4"](weights="exact", **BALL) == THEOREMS["Theorem 4"](**BALL)


@st.composite
def strata(draw):
    """Bags of any sizes and proportions that are not all the same."""
    count = draw(st.integers(2, 9))
    sizes = draw(st.lists(st.integers(1, 50), min_size=count, max_size=count))
    proportions = draw(st.lists(st.integers(0, 20), min_size=count, max_size=count))
    assume(len(set(proportions)) > 1)
    return np.array(sizes), np.array(proportions) / 20


class TestSuperbag:
    @given(strata(), st.randoms(use_true_random=False))
    def test_its_bound_is_never_above_that_of_any_pairing(self, bags, random):
        sizes, proportions = bags
        order = list(range(len(sizes)))
        random.shuffle(order)
        pairs = list(zip(order[::2], order[1::2], strict=False))
        assume(any(proportions[one] != proportions[other] for one, other in pairs))
        paired = bound_strata(sizes, *combine_pairs(pairs, sizes, proportions), radius=1.0)
        superbag = bound_strata(sizes, *combine_strata(sizes, proportions), radius=1.0)
        assert superbag <= paired * (1 + 1e-9)

    @given(strata())
    def test_its_bound_is_that_of_the_information(self, bags):
        sizes, proportions = bags
        clean = bound_common_source([4 * float(information(*bags))], 0, 0, radius=1.0)
        superbag = bound_strata(sizes, *combine_strata(sizes, proportions), radius=1.0)
        assert superbag == pytest.approx(clean, rel=1e-9)

    def test_equal_bags_in_pairs_have_theorem_4_as_printed(self):
        proportions = np.array([0.9, 0.2, 0.7, 0.6, 0.1, 0.3])
        pairs = pair_bags(proportions)
        theorem = bound_label_proportions(
            proportions[pairs.pos], proportions[pairs.neg], [50] * 3, radius=2.0, as_printed=True
        )
        sizes = np.full(6, 25)
        found = bound_strata(sizes, *combine_strata(sizes, proportions, method="pairs"), radius=2.0)
        assert found == pytest.approx(theorem, rel=1e-12)


class TestConditions:
    @pytest.mark.parametrize(
        ("name", "least"),
        [("Theorem 2", 0.8 / 3), ("Theorem 3", 1.6 / 3), ("Theorem 4", 0.8 / 3)],
    )
    def test_radius(self, name, least):
        with pytest.raises(ValueError, match=rf"^radius=.* too small for {name}: .* {least:.4g}"):
            THEOREMS[name](**BALL | {"radius": least})
        THEOREMS[name](**BALL | {"radius": least * 1.001})

    def test_strata_lift_the_condition_on_the_radius_with_at_zero(self):
        theorem = THEOREMS["the bound for strata"]
        with pytest.raises(ValueError, match="radius"):
            theorem(radius=0.1)
        assert theorem(radius=0.1, at_zero=0.0) == pytest.approx(theorem(radius=1.0) / 10)

    @pytest.mark.parametrize("name", THEOREMS)
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"failure_prob": 0.26}, "failure_prob=0.26 is too large .* at most 0.25"),
            ({"failure_prob": 0.0}, "failure_prob=0.0 must lie in"),
            ({"radius": math.nan}, "radius=nan must be a positive"),
            ({"kernel_bound": 0.0}, "kernel_bound=0.0 must be a positive"),
            ({"lipschitz": math.inf}, "lipschitz=inf must be .* need a Lipschitz loss"),
            ({"at_zero": -1.0}, "at_zero=-1.0 is φ"),
        ],
    )
    def test_ball(self, name, wrong, message):
        with pytest.raises(ValueError, match=message):
            THEOREMS[name](**BALL | wrong)

    @pytest.mark.parametrize("name", ["Theorem 2", "Theorem 3", "Theorem 4"])
    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([0.5, 0.5, 0.5], "weights must be at least 0 and sum to 1, got sum 1.5"),
            ([1.5, -0.5, 0.0], "smallest weight -0.5"),
            ([0.5, 0.5], "weights has shape .2,.: give 3 numbers"),
            ([np.nan, 0.5, 0.5], "weights must be finite"),
            ("best", "unknown weights 'best': choose one of optimal"),
        ],
    )
    def test_weights(self, name, weights, message):
        with pytest.raises(ValueError, match=message):
            THEOREMS[name](weights=weights, radius=5.0)

    def test_exact_weights_need_priors(self):
        with pytest.raises(ValueError, match="weights='exact' needs class_priors"):
            THEOREMS["Theorem 2"](weights="exact", radius=5.0)

    @pytest.mark.parametrize(("up", "low"), [(0.5, 0.5), (0.2, 0.4), (1.1, 0.4), (0.3, -0.1)])
    def test_pairs(self, up, low):
        with pytest.raises(ValueError, match="pair 1 has proportions_neg"):
            bound_label_proportions([0.9, up], [0.1, low], [10, 10], radius=1.0)

    def test_sizes(self):
        with pytest.raises(ValueError, match="sizes must be a list of positive"):
            bound_strata([10, 0], [1, 0], [0, 1], radius=1.0)
        with pytest.raises(ValueError, match=r"pos has shape .3,.: give 2 numbers"):
            bound_strata([10, 10], [1, 0, 0], [0, 1], radius=1.0)

    def test_master_takes_any_probability_and_radius(self):
        assert bound_master([100], 1.0, 0.7, radius=0.01, failure_prob=1.0) > 0
        with pytest.raises(ValueError, match=r"lipschitz=-1\.0 must be a positive"):
            bound_master([100, 50], [1.0, -1.0], 0.7, radius=1.0)
