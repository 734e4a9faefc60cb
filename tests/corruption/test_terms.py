"""RiskTerms: value, bounds and convexity of a risk with two coefficients per row."""

import math

import numpy as np
import pytest

from decorrupt.corruption import RiskTerms, combine_strata, strata_from_bags, strata_from_labels
from decorrupt.losses import LOSSES

SIGNED = RiskTerms(np.array([0.5, -0.25, 0.0]), np.array([-0.125, 0.75, 0.25]))
EVEN = [name for name, loss in LOSSES.items() if loss.has_even_curvature]


def terms_of(bags, y, **options):
    strata = strata_from_bags(bags, y)
    return combine_strata(strata.sizes, strata.proportions, **options).row_terms(strata)


class TestRisk:
    def test_by_hand(self):
        """Squared loss at scores (1, −1, 0): ℓ(t,1) = (0, 4, 1), ℓ(t,−1) = (4, 0, 1)."""
        scores = np.array([1.0, -1.0, 0.0])
        assert SIGNED.class_sums(LOSSES["squared"], scores) == (-1.0, -0.25)
        assert SIGNED.risk(LOSSES["squared"], scores) == -1.25

    @pytest.mark.parametrize("name", LOSSES)
    def test_is_the_sum_over_rows(self, name):
        loss, scores = LOSSES[name], np.array([0.3, -2.0, 5.0])
        expected = 0.0
        for pos, neg, score in zip(SIGNED.coef_pos, SIGNED.coef_neg, scores, strict=True):
            expected += pos * float(loss.value(score)) + neg * float(loss.value(-score))
        assert SIGNED.risk(loss, scores) == pytest.approx(expected, rel=1e-13)

    def test_clean_labels_give_the_balanced_risk(self):
        labels = np.array([1, 1, 1, -1])
        strata = strata_from_labels((labels > 0).astype(int), np.array([-1, 1]))
        terms = combine_strata(strata.sizes, strata.proportions).row_terms(strata)
        scores = np.array([2.0, -1.0, 0.5, 0.25])
        losses = LOSSES["logistic"].value(labels * scores)
        balanced = losses[labels == 1].mean() / 2 + losses[labels == -1].mean() / 2
        assert terms.risk(LOSSES["logistic"], scores) == pytest.approx(balanced, rel=1e-13)

    def test_zero_score_costs_phi_zero_whatever_the_bags(self):
        terms = terms_of([0, 0, 0, 1, 1, 2], [0.2, 0.2, 0.2, 0.9, 0.9, 0.4])
        for loss in LOSSES.values():
            assert terms.risk(loss, np.zeros(6)) == pytest.approx(loss.at_zero, rel=1e-12)

    def test_rows_of_a_bag_share_its_coefficients(self):
        bags = np.array(["b", "a", "b", "a", "b"])
        terms = terms_of(bags, [0.75, 0.25, 0.75, 0.25, 0.75])
        pos, neg = combine_strata([2, 3], [0.25, 0.75])
        np.testing.assert_allclose(
            terms.coef_pos, np.where(bags == "a", pos[0] / 2, pos[1] / 3), rtol=1e-14
        )
        np.testing.assert_allclose(
            terms.coef_neg, np.where(bags == "a", neg[0] / 2, neg[1] / 3), rtol=1e-14
        )


class TestEffectiveSampleSize:
    @pytest.mark.parametrize("n_rows", [1, 7, 250])
    def test_of_clean_rows_is_their_number(self, n_rows):
        is_pos = np.arange(n_rows) % 3 == 0
        terms = RiskTerms(is_pos / n_rows, ~is_pos / n_rows)
        assert terms.effective_sample_size == pytest.approx(n_rows)

    def test_by_hand(self):
        assert SIGNED.effective_sample_size == pytest.approx(1 / (0.625**2 + 1 + 0.25**2))

    def test_of_superbag_is_four_v_at_prior_one_half(self):
        bags = np.repeat([0, 1, 2, 3], [10, 3, 25, 6])
        by_bag = np.array([0.1, 0.9, 0.35, 0.5])
        sizes = np.bincount(bags)
        pooled = sizes @ by_bag / sizes.sum()
        information = sizes @ (by_bag - pooled) ** 2
        assert terms_of(bags, by_bag[bags]).effective_sample_size == pytest.approx(4 * information)

    def test_of_pure_equal_bags_is_the_number_of_rows(self):
        bags = np.repeat([0, 1], 20)
        assert terms_of(bags, bags.astype(float)).effective_sample_size == pytest.approx(40)

    def test_float32_coefficients_are_summed_in_double(self):
        n_rows = 300_000
        terms = RiskTerms(np.full(n_rows, 1 / n_rows, np.float32), np.zeros(n_rows, np.float32))
        assert terms.effective_sample_size == pytest.approx(n_rows, rel=1e-6)


class TestConcavity:
    @pytest.mark.parametrize("name", LOSSES)
    def test_against_the_lowest_curvature_on_a_grid(self, name):
        loss, scores = LOSSES[name], np.linspace(-10, 10, 20_001)[:, None]
        rng = np.random.default_rng(3)
        terms = RiskTerms(rng.normal(size=30), rng.normal(size=30))
        bend = terms.coef_pos * loss.curvature(scores) + terms.coef_neg * loss.curvature(-scores)
        expected = np.maximum(-bend.min(axis=0), 0)
        np.testing.assert_allclose(terms.concavity(loss), expected, rtol=1e-5, atol=1e-14)

    @pytest.mark.parametrize("name", EVEN)
    def test_is_zero_exactly_where_the_coefficients_sum_to_zero_or_more(self, name):
        terms = RiskTerms(np.array([0.5, -0.5, 1.0, 0.2]), np.array([-0.5, 0.4, -0.3, 0.1]))
        bends = terms.concavity(LOSSES[name]) > 0
        assert bends.tolist() == [False, name != "unhinged", False, False]

    def test_rounding_residue_is_not_concavity(self):
        """γ− = ½ makes the sum zero in exact arithmetic; .1 + .2 − .3 is not zero in doubles."""
        terms = RiskTerms(np.array([-0.1 - 0.2]), np.array([0.3]))
        assert terms.coef_pos[0] + terms.coef_neg[0] < 0
        assert terms.concavity(LOSSES["logistic"]).tolist() == [0.0]

    def test_small_but_real_concavity_is_kept(self):
        terms = RiskTerms(np.array([-0.3 - 1e-9]), np.array([0.3]))
        assert terms.concavity(LOSSES["logistic"])[0] == pytest.approx(2.5e-10, rel=1e-6)

    @pytest.mark.parametrize("name", LOSSES)
    def test_float32_stays_float32(self, name):
        terms = RiskTerms(np.array([0.5, -1.0], np.float32), np.array([-0.7, 0.5], np.float32))
        assert terms.concavity(LOSSES[name]).dtype == np.float32

    def test_two_bags_that_satisfy_prop_7_and_are_not_convex(self):
        """γ = (.9, .6), equal sizes: Prop. 7 (b) holds, but the rows of one bag are concave."""
        bags, y = np.repeat([0, 1], 5), np.repeat([0.9, 0.6], 5)
        terms = terms_of(bags, y)
        loss = LOSSES["logistic"]
        row_sums = terms.coef_pos + terms.coef_neg
        # Prop. 7's sum: n⁺(½−γ−) + n⁻(γ+−½) ≥ 0, up to the factor w/(n·gap)
        assert 5 * (0.5 - 0.6) + 5 * (0.9 - 0.5) > 0
        assert row_sums.sum() == pytest.approx(1.0)
        # (1 − 2γ−)/(2·gap·n) = −.2/(.6·5) and (2γ+ − 1)/(2·gap·n) = .8/(.6·5)
        np.testing.assert_allclose(row_sums, np.repeat([-0.2 / 3, 0.8 / 3], 5), rtol=1e-12)
        np.testing.assert_allclose(
            terms.concavity(loss), np.repeat([0.25 * 0.2 / 3, 0], 5), rtol=1e-12, atol=0
        )

        def along(direction, step):
            return terms.risk(loss, step * direction)

        # With one score for all rows (Prop. 7) the risk is convex …
        shared = np.ones(10)
        assert along(shared, 1.0) + along(shared, -1.0) >= 2 * along(shared, 0.0)
        # … if the score changes in the first bag only, it is neither convex nor bounded below.
        first = (bags == 0).astype(float)
        assert along(first, 1.0) + along(first, -1.0) < 2 * along(first, 0.0)
        assert not terms.is_bounded_below(loss)

    def test_bags_on_both_sides_of_one_half_are_convex(self):
        terms = terms_of(np.repeat([0, 1], 5), np.repeat([0.9, 0.4], 5))
        for name in EVEN:
            assert not terms.concavity(LOSSES[name]).any()


class TestBoundedBelow:
    def test_clean_labels_are_bounded_but_for_the_unhinged_loss(self):
        terms = RiskTerms(np.array([0.5, 0.0]), np.array([0.0, 0.5]))
        bounded = {name for name, loss in LOSSES.items() if terms.is_bounded_below(loss)}
        assert bounded == {"logistic", "squared", "huber", "sigmoid"}

    def test_one_negative_coefficient_is_enough(self):
        """A corrected logistic risk has no minimiser; the squared loss only needs row sums > 0."""
        terms = RiskTerms(np.array([1.0, 0.5]), np.array([-0.1, 0.5]))
        bounded = {name for name, loss in LOSSES.items() if terms.is_bounded_below(loss)}
        assert bounded == {"squared", "sigmoid"}

    def test_negative_row_sum_unbounds_the_squared_loss(self):
        terms = RiskTerms(np.array([0.1, 0.5]), np.array([-0.2, 0.5]))
        assert not terms.is_bounded_below(LOSSES["squared"])

    def test_the_risk_does_fall_without_end(self):
        terms = RiskTerms(np.array([1.0]), np.array([-0.1]))
        risks = [terms.risk(LOSSES["logistic"], np.array([10.0**k])) for k in range(1, 5)]
        assert risks == sorted(risks, reverse=True)
        assert risks[-1] == pytest.approx(-1000, rel=1e-6)

    def test_answer_is_a_plain_bool(self):
        assert SIGNED.is_bounded_below(LOSSES["sigmoid"]) is True


def test_risk_of_extreme_scores_is_finite():
    scores = np.array([1e4, -1e4, 1e4])
    for loss in LOSSES.values():
        assert math.isfinite(SIGNED.risk(loss, scores))
