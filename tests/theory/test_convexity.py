"""Convexity and boundedness, with the counter-examples to Prop. 7 and to λ = 0."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import combine_bags
from decorrupt.losses import get_loss
from decorrupt.theory import aggregate_condition, convexity_floor, is_bounded_below, is_convex

shares = st.integers(0, 20).map(lambda k: k / 20)


def objective_on_the_line(X, coef, reg_strength, slopes):
    """J(θ) = Σ c₊φ(θx) + c₋φ(−θx) + λθ², evaluated at many θ."""
    loss = get_loss("logistic")
    scores = np.outer(slopes, X)
    risk = loss.value(scores) @ coef[:, 1] + loss.value(-scores) @ coef[:, 0]
    return risk + reg_strength * slopes**2


class TestTheCounterExampleToProp7:
    """Two bags of two rows, γ = (.9, .6); the first at x = ±3, the second at x = ±1."""

    X = np.array([3.0, -3.0, 1.0, -1.0])
    pair = combine_bags([2, 2], [0.9, 0.6])
    rows = np.repeat(pair / 2, 2, axis=0)

    def test_the_printed_condition_holds(self):
        assert aggregate_condition([0.9], [0.6], [2], [2])

    def test_but_there_are_two_best_and_opposite_classifiers(self):
        slopes = np.linspace(-2, 2, 401)
        values = objective_on_the_line(self.X, self.rows, 0.1, slopes)
        best = np.abs(slopes[values.argmin()])
        assert best > 0.5
        assert values.min() < values[200] - 0.01  # at θ = 0
        np.testing.assert_allclose(values, values[::-1], rtol=1e-12)

    def test_and_the_floor_restores_convexity(self):
        floor = convexity_floor(self.rows, features=self.X[:, None])
        # ½·¼·⅓·9: the first bag's coefficients sum to −⅓, its mean square is 9.
        assert floor == pytest.approx(0.375)
        slopes = np.linspace(-5, 5, 2001)
        bend = np.diff(objective_on_the_line(self.X, self.rows, floor, slopes), n=2)
        assert bend.min() > -1e-12
        assert np.diff(objective_on_the_line(self.X, self.rows, 0.1, slopes), n=2).min() < -1e-6


class TestIsConvex:
    @given(shares, shares, st.integers(1, 30), st.integers(1, 30))
    def test_a_pair_iff_its_proportions_lie_on_either_side_of_a_half(self, one, other, n, m):
        assume(one != other)
        pair = combine_bags([n, m], [one, other])
        assert is_convex(pair) == (min(one, other) <= 0.5 <= max(one, other))

    @given(st.lists(shares, min_size=2, max_size=6), st.floats(0.05, 0.95))
    def test_only_if_the_class_prior_is_among_the_proportions(self, proportions, prior):
        assume(not min(proportions) <= prior <= max(proportions))
        assume(len(set(proportions)) > 1)
        sizes = [10] * len(proportions)
        for method in ("superbag", "least_squares", "pairs"):
            coef = combine_bags(sizes, proportions, method=method, class_prior=prior)
            assert not is_convex(coef)

    @pytest.mark.parametrize("loss", ["logistic", "squared", "huber"])
    def test_agrees_with_the_curvature_of_rows(self, loss):
        rng = np.random.default_rng(1)
        scores = np.linspace(-0.9, 0.9, 31)
        for coef_neg, coef_pos in rng.normal(size=(50, 2)):
            bend = coef_pos * get_loss(loss).curvature(scores)
            bend += coef_neg * get_loss(loss).curvature(-scores)
            assert is_convex([[coef_neg, coef_pos]], loss) == (bend.min() >= 0)

    def test_the_sigmoid_loss_never_is(self):
        assert not is_convex([[0.0, 1.0]], "sigmoid")

    @pytest.mark.parametrize("coef", [[1.0, 2.0], [[1.0, 2.0, 3.0]], 3.0])
    def test_refuses_what_has_not_two_columns(self, coef):
        with pytest.raises(ValueError, match="one row per bag or row and two columns"):
            is_convex(coef)


class TestConvexityFloor:
    def test_without_features_it_is_never_below_the_one_with(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        coef = rng.normal(size=(40, 2)) / 40
        exact = convexity_floor(coef, features=X)
        concavity = 0.25 * np.maximum(-coef.sum(axis=1), 0)
        gram = np.sqrt(concavity)[:, None] * (X @ X.T) * np.sqrt(concavity)
        assert exact == pytest.approx(0.5 * np.linalg.eigvalsh(gram)[-1])
        assert exact <= convexity_floor(coef) == pytest.approx(0.5 * concavity.sum())
        assert convexity_floor(coef, kernel_bound=2.0) == pytest.approx(2 * concavity.sum())

    def test_zero_where_convex(self):
        assert convexity_floor(combine_bags([5, 7], [0.9, 0.3])) == 0.0

    def test_features_need_rows(self):
        with pytest.raises(ValueError, match="features have 12 rows but coef 2"):
            convexity_floor(combine_bags([5, 7], [0.9, 0.7]), features=np.ones((12, 1)))


class TestIsBoundedBelow:
    @pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "sigmoid"])
    def test_agrees_with_the_values_far_out(self, loss):
        far = np.array([-1e4, 1e4])
        for coef_pos in (-1.0, -0.3, 0.0, 0.5, 2.0):
            for coef_neg in (-1.0, -0.3, 0.0, 0.5, 2.0):
                row = coef_pos * get_loss(loss).value(far) + coef_neg * get_loss(loss).value(-far)
                bounded = is_bounded_below([[coef_neg, coef_pos]], loss)
                assert bounded == (row.min() > -100)

    def test_corrected_risks_are_not(self):
        assert not is_bounded_below(combine_bags([5, 5], [0.8, 0.3]))
        assert is_bounded_below(combine_bags([5, 5], [1.0, 0.0]))


class TestAggregateCondition:
    @given(shares, shares, st.integers(1, 30), st.integers(1, 30))
    def test_is_the_convexity_of_one_shared_score(self, one, other, n_pos, n_neg):
        """J''(t) is the sum of all coefficients of the paper's Σ_j/n_i, times φ''."""
        assume(one != other)
        low, up = min(one, other), max(one, other)
        total = n_pos * (1 - 2 * low) + n_neg * (2 * up - 1)
        assume(abs(total) > 1e-9)
        assert aggregate_condition([up], [low], [n_pos], [n_neg]) == (total >= 0)

    @given(st.lists(st.tuples(shares, shares), min_size=1, max_size=5))
    def test_equal_bags_always_satisfy_it(self, pairs):
        assume(all(one != other for one, other in pairs))
        upper, lower = np.sort(pairs, axis=1)[:, ::-1].T
        sizes = [8] * len(pairs)
        assert aggregate_condition(upper, lower, sizes, sizes)

    def test_weights_count(self):
        pairs = ([0.9, 0.9], [0.8, 0.1], [50, 5], [1, 5])
        assert not aggregate_condition(*pairs, weights=[1.0, 0.0])
        assert aggregate_condition(*pairs, weights=[0.0, 1.0])

    def test_a_zero_sum_is_convex_even_if_it_rounds_to_less(self):
        assert aggregate_condition([0.57], [0.51], [7], [1])
        assert not aggregate_condition([0.57], [0.51], [8], [1])
