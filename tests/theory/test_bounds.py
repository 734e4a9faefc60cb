"""The bounds against plain loops over the paper's formulas, and against the master theorem."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from decorrupt.corruption import CorrectedLoss, combine_bags, pair_bags, source_weights
from decorrupt.losses import get_loss
from decorrupt.theory import (
    bound_bags,
    bound_common_source,
    bound_label_proportions,
    bound_master,
    bound_transitions,
    bound_varying_priors,
    corrected_lipschitz,
    information,
)
from oracles.combinations import combine_pairs

SIZES, FLIP_POS, FLIP_NEG = [60, 90, 40], [0.1, 0.3, 0.0], [0.2, 0.1, 0.4]
RATES = list(zip(FLIP_POS, FLIP_NEG, strict=True))
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
    "the bound for bags": lambda **options: bound_bags(SIZES, [[0, 1], [1, -1], [1, 0]], **options),
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

    def test_bags(self):
        total = sum((abs(a) + abs(b)) ** 2 / n for a, b, n in [(1, 0, 60), (-1, 1, 90), (0, 1, 40)])
        expected = 4 * 1.5 * 3.0 * 2.0 * math.sqrt(total * LOG_TERM)
        assert THEOREMS["the bound for bags"](**BALL) == pytest.approx(expected, rel=1e-12)

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
    corrected = CorrectedLoss(loss, rates, cost_pos=costs[0], cost_neg=costs[1])
    at_zero = corrected.value([0.0, 0.0], [1, -1])
    return corrected.lipschitz, np.abs(at_zero).max(), np.ptp(at_zero)


def ball_of(loss, reach):
    """Return the constants of a loss, and a radius just above the smallest that is allowed."""
    radius = reach * loss.at_zero / loss.lipschitz
    return {"radius": radius, "lipschitz": loss.lipschitz, "at_zero": loss.at_zero}


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
        options = ball_of(loss, 1.01)
        constants = [corrected_constants(loss, rates, (1, 1)) for rates in RATES]
        weights = source_weights(SIZES, RATES)
        master = self.master(constants, SIZES, weights, options, as_printed)
        assert master <= THEOREMS["Theorem 2"](as_printed=as_printed, **options)

    @pytest.mark.parametrize("as_printed", [True, False])
    def test_varying_priors(self, loss, as_printed):
        options = ball_of(loss, 2.01)
        constants = [
            corrected_constants(loss, rates, (0.5 / prior, 0.5 / (1 - prior)))
            for *rates, prior in zip(FLIP_POS, FLIP_NEG, PRIORS, strict=True)
        ]
        weights = source_weights(SIZES, RATES, source_priors=PRIORS)
        master = self.master(constants, SIZES, weights, options, as_printed)
        assert master <= THEOREMS["Theorem 3"](as_printed=as_printed, **options)

    def test_label_proportions(self, loss):
        options = ball_of(loss, 1.01)
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


@st.composite
def unequal_bags(draw):
    """Bags of any sizes and proportions that are not all the same."""
    count = draw(st.integers(2, 9))
    sizes = draw(st.lists(st.integers(1, 50), min_size=count, max_size=count))
    proportions = draw(st.lists(st.integers(0, 20), min_size=count, max_size=count))
    assume(len(set(proportions)) > 1)
    return np.array(sizes), np.array(proportions) / 20


class TestSuperbag:
    @given(unequal_bags(), st.randoms(use_true_random=False))
    def test_its_bound_is_never_above_that_of_any_pairing(self, bags, random):
        sizes, proportions = bags
        order = list(range(len(sizes)))
        random.shuffle(order)
        pairs = list(zip(order[::2], order[1::2], strict=False))
        assume(any(proportions[one] != proportions[other] for one, other in pairs))
        paired = bound_bags(sizes, combine_pairs(pairs, sizes, proportions), radius=1.0)
        superbag = bound_bags(sizes, combine_bags(sizes, proportions), radius=1.0)
        assert superbag <= paired * (1 + 1e-9)

    @given(unequal_bags())
    def test_its_bound_is_that_of_the_information(self, bags):
        sizes, proportions = bags
        clean = bound_common_source([4 * float(information(*bags))], 0, 0, radius=1.0)
        superbag = bound_bags(sizes, combine_bags(sizes, proportions), radius=1.0)
        assert superbag == pytest.approx(clean, rel=1e-9)

    def test_equal_bags_in_pairs_have_theorem_4_as_printed(self):
        proportions = np.array([0.9, 0.2, 0.7, 0.6, 0.1, 0.3])
        pos, neg, _ = pair_bags(proportions)
        theorem = bound_label_proportions(
            proportions[pos], proportions[neg], [50] * 3, radius=2.0, as_printed=True
        )
        sizes = np.full(6, 25)
        found = bound_bags(sizes, combine_bags(sizes, proportions, method="pairs"), radius=2.0)
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

    def test_bags_lift_the_condition_on_the_radius_with_at_zero(self):
        theorem = THEOREMS["the bound for bags"]
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

    @pytest.mark.parametrize(("up", "low"), [(0.5, 0.5), (0.2, 0.4), (1.1, 0.4), (0.3, -0.1)])
    def test_pairs(self, up, low):
        with pytest.raises(ValueError, match="pair 1 has proportions_neg"):
            bound_label_proportions([0.9, up], [0.1, low], [10, 10], radius=1.0)

    def test_sizes(self):
        with pytest.raises(ValueError, match="sizes must be a list of positive"):
            bound_bags([10, 0], [[0, 1], [1, 0]], radius=1.0)
        for coef in (
            [[0, 1], [1, 0], [0, 0]],
            [1, 0],
            [[0, 1, 0], [1, 0, 0]],
            [[0, np.nan], [1, 0]],
        ):
            with pytest.raises(ValueError, match="two finite numbers for each of the 2 bags"):
                bound_bags([10, 10], coef, radius=1.0)

    @pytest.mark.parametrize("name", ["flip_pos", "flip_neg"])
    def test_rates(self, name):
        rates = {"flip_pos": 0.1, "flip_neg": 0.1} | {name: [0.1, 0.1, 0.1]}
        with pytest.raises(ValueError, match=f"{name} has 3 rates for 2 sources"):
            bound_common_source([10, 10], **rates, radius=1.0)
        with pytest.raises(ValueError, match=r"source 1: flip_pos \+ flip_neg = 1 must be below"):
            bound_common_source([10, 10], [0.1, 0.6], [0.1, 0.4], radius=1.0)


# --- Theorem 2 for any number of classes

THREE = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])


def random_matrix(seed, n_classes, noise):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_classes), n_classes)
    return (1 - noise) * np.eye(n_classes) + noise * shares


def corrected_cross_entropy(transition, scores):
    """Return ℓ̃_ỹ of all noisy labels, by solving Σ_ỹ T[y, ỹ]·ℓ̃_ỹ = ℓ_y."""
    return np.linalg.solve(transition, -log_softmax(scores, axis=-1))


@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0, 0.9), st.floats(0.01, 30))
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_no_difference_exceeds_the_constant(seed, n_classes, noise, scale):
    transition = random_matrix(seed, n_classes, noise)
    assume(np.linalg.cond(transition) < 1e4)
    assume(n_classes > 2 or np.linalg.det(transition) > 0)  # rates whose sum is below 1
    (steepness,) = corrected_lipschitz([transition])
    one, other = scale * np.random.default_rng(seed + 1).normal(size=(2, n_classes))
    rise = np.abs(
        corrected_cross_entropy(transition, one) - corrected_cross_entropy(transition, other)
    ).max()
    assert rise <= steepness * np.linalg.norm(one - other) * (1 + 1e-9)


@given(st.integers(0, 10**6), st.integers(2, 5))
@settings(max_examples=50, deadline=None, derandomize=True, database=None)
def test_the_steepest_slope_of_cross_entropy_is_within_the_constant(seed, n_classes):
    """∇ℓ̃_ỹ = softmax(f) − T⁻¹[ỹ, ·]: its supremum is max ‖e_c − T⁻¹[ỹ, ·]‖, at most L_s."""
    transition = random_matrix(seed, n_classes, 0.6)
    assume(n_classes > 2 or np.linalg.det(transition) > 0)
    (steepness,) = corrected_lipschitz([transition])
    inverse = np.linalg.inv(transition)
    slopes = np.linalg.norm(np.eye(n_classes)[:, None] - inverse[None], axis=2)
    sharp = slopes.max()
    c, noisy = np.unravel_index(slopes.argmax(), slopes.shape)
    start = 40.0 * np.eye(n_classes)[c]  # softmax is e_c
    direction = np.eye(n_classes)[c] - inverse[noisy]
    step = 1e-4 * direction / np.linalg.norm(direction)
    rise = (
        corrected_cross_entropy(transition, start + step)[noisy]
        - corrected_cross_entropy(transition, start - step)[noisy]
    )
    assert rise / 2e-4 == pytest.approx(sharp, rel=1e-5)
    assert sharp <= steepness * (1 + 1e-12)


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.1, 0.4), (0.45, 0.3)])
def test_two_classes_have_the_papers_constant(rates):
    flip_pos, flip_neg = rates
    transition = [[1 - flip_neg, flip_neg], [flip_pos, 1 - flip_pos]]
    expected = (1 + abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
    assert corrected_lipschitz([transition], 1.0) == pytest.approx([expected])


def test_two_classes_against_theorem_2():
    """(f/2, −f/2) has the norm R/√2 and cross-entropy the constant √2: the same product LR."""
    sizes, rates = [500, 2000], [(0.1, 0.3), (0.2, 0.05)]
    matrices = [[[1 - neg, neg], [pos, 1 - pos]] for pos, neg in rates]
    several = bound_transitions(sizes, matrices, radius=2 / np.sqrt(2), failure_prob=0.05)
    binary = bound_common_source(sizes, *np.array(rates).T, radius=2, failure_prob=0.05)
    confidence = np.sqrt(np.log(2 / 0.05) / 2)
    unit = binary / (4 * confidence)  # KRL·√(Σw²c²)
    assert several == pytest.approx(unit * (4 + 2 * confidence))


def test_the_bound_holds_in_a_simulation():
    """Three classes on four points with two sources; the supremum by ascent from many starts."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4, 2))
    points /= np.linalg.norm(points, axis=1, keepdims=True)  # a linear kernel with κ = 1
    joint = rng.dirichlet(np.ones(12)).reshape(4, 3)
    matrices, sizes, radius = [THREE, 0.5 * THREE + 1 / 6], np.array([60, 240]), 3.0
    bound = bound_transitions(sizes, matrices, weights=[0.5, 0.5], radius=radius)
    found = []
    for _ in range(60):
        coef = -joint  # of ℓ_y at each point, in empirical − true risk
        for matrix, size in zip(matrices, sizes, strict=True):
            counts = rng.multinomial(size, (joint @ matrix).ravel()).reshape(4, 3)
            coef = coef + 0.5 * counts / size @ np.linalg.inv(matrix)
        found.append(max(largest(sign * coef, points, radius, rng) for sign in (1, -1)))
    assert max(found) < bound
    assert max(found) > 0.05 * bound  # not vacuous: the search finds large deviations


def largest(coef, points, radius, rng):
    """Return the largest Σ_x Σ_y coef[x, y]·ℓ_y(f(x)) that projected ascent finds in the ball."""
    weights = rng.normal(size=(8, 2, 3))
    for _ in range(60):
        scores = points @ weights
        slope = np.exp(log_softmax(scores, axis=-1)) * coef.sum(axis=1)[:, None] - coef
        weights = weights + 5 * np.einsum("xd,bxc->bdc", points, slope)
        weights *= radius / np.maximum(np.linalg.norm(weights, axis=(1, 2), keepdims=True), radius)
    return -np.sum(coef * log_softmax(points @ weights, axis=-1), axis=(1, 2)).min()


def test_messages():
    with pytest.raises(ValueError, match="source 1 are singular"):
        bound_transitions([10, 10], [THREE, np.full((3, 3), 1 / 3)], radius=1)
    with pytest.raises(ValueError, match="2 matrices for 1 sizes"):
        bound_transitions([10], [THREE, THREE], radius=1)
    with pytest.raises(ValueError, match="radius=0 must be"):
        bound_transitions([10], [THREE], radius=0)
