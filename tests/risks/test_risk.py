"""The corrected risk as a function of the scores: value by hand, kinks, convexity, bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.corruption import combine_bags, row_coefficients
from decorrupt.losses import LOSSES, class_loss, get_loss
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk, logistic_risk
from decorrupt.risks.risk import KINK_WIDTH
from oracles.counts import make_observed
from oracles.dense_risk import LOSS_NAMES, class_sums, row_curvatures, row_slopes

N_ROWS = 12
CORRECT = {"abs": abs, "relu": lambda total: max(total, 0.0)}
# hypot(r, w) exceeds |r| by at most w; max(r, 0) is half of |r| + r; two class-wise sums each.
LARGEST_EXCESS = {"abs": 2 * KINK_WIDTH, "relu": KINK_WIDTH}
SIGNED = np.array([[-0.125, 0.5], [0.75, -0.25], [0.25, 0.0]])


def draw(seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    coef_pos, coef_neg = scale * rng.normal(size=(2, N_ROWS)) / N_ROWS
    return coef_pos, coef_neg, 2 * rng.normal(size=N_ROWS)


def corrected_risk(coef_pos, coef_neg, loss, correction=None):
    return CorrectedRisk(np.column_stack([coef_neg, coef_pos]), get_loss(loss), correction)


def value(risk, scores):
    return risk.value_and_slope(scores)[0]


def coef_of(bags, y):
    """Return the coefficients of rows in these bags."""
    observed = Observed.from_bags(y, bags)
    return row_coefficients(combine_bags(observed.sizes, observed.proportions), observed)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_uncorrected_it_is_the_sum_over_the_rows(loss):
    coef_pos, coef_neg, scores = draw()
    total, slope = corrected_risk(coef_pos, coef_neg, loss).value_and_slope(scores)
    assert_allclose(total, sum(class_sums(loss, coef_pos, coef_neg, scores)), rtol=1e-12)
    assert_allclose(slope, row_slopes(loss, coef_pos, coef_neg, scores), rtol=1e-12)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_uncorrected_rows_bend_alone(loss):
    coef_pos, coef_neg, scores = draw()
    apply = corrected_risk(coef_pos, coef_neg, loss).curvature(scores)
    expected = np.diag(row_curvatures(loss, coef_pos, coef_neg, scores))
    assert_allclose(apply(np.eye(N_ROWS)), expected, atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, KINK_WIDTH])
@pytest.mark.parametrize("correction", CORRECT)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_a_corrected_sum_is_rounded_off_by_less_than_the_kinks_width(loss, correction, scale):
    for seed in range(10):
        coef_pos, coef_neg, scores = draw(seed, scale)
        found = value(corrected_risk(coef_pos, coef_neg, loss, correction), scores)
        sums = class_sums(loss, coef_pos, coef_neg, scores)
        excess = found - sum(CORRECT[correction](total) for total in sums)
        assert -1e-15 <= excess <= LARGEST_EXCESS[correction]


@pytest.mark.parametrize("correction", CORRECT)
def test_the_correction_is_of_each_class_and_not_of_the_whole(correction):
    # R₊ = −2 and R₋ = 5: |R₊| + |R₋| = 7 and max(R₊, 0) + max(R₋, 0) = 5; the whole would give 3.
    risk = corrected_risk(np.array([-2.0]), np.array([5.0]), "squared", correction)
    assert_allclose(value(risk, np.array([0.0])), {"abs": 7, "relu": 5}[correction], atol=1e-5)


@pytest.mark.parametrize("correction", [None, "abs", "relu"])
def test_curvature_takes_vectors_and_columns_alike(correction):
    coef_pos, coef_neg, scores = draw()
    apply = corrected_risk(coef_pos, coef_neg, "logistic", correction).curvature(scores)
    columns = np.random.default_rng(1).normal(size=(N_ROWS, 4))
    together = apply(columns)
    assert together.shape == (N_ROWS, 4)
    for column, result in zip(columns.T, together.T, strict=True):
        assert_allclose(apply(column), result, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("loss", ["logistic", "squared", "huber"])
def test_convex_only_if_no_row_has_a_negative_sum(loss):
    coef_pos, coef_neg = np.array([0.4, -0.1, 0.3]), np.array([-0.4, 0.5, 0.0])
    assert corrected_risk(coef_pos, coef_neg, loss).is_convex
    coef_neg[0] = -0.4001
    # The total is still positive: Prop. 7 of the paper would call this convex.
    assert (coef_pos + coef_neg).sum() > 0
    assert not corrected_risk(coef_pos, coef_neg, loss).is_convex


def test_sums_that_cancel_up_to_rounding_are_convex_and_no_others():
    assert 0.1 + 0.2 - 0.3 != 0
    assert corrected_risk(np.array([-0.1 - 0.2]), np.array([0.3]), "logistic").is_convex
    assert not corrected_risk(np.array([-0.3 - 1e-9]), np.array([0.3]), "logistic").is_convex


@pytest.mark.parametrize(
    ("loss", "correction"), [("sigmoid", None), ("logistic", "abs"), ("logistic", "relu")]
)
def test_never_convex(loss, correction):
    assert not corrected_risk(np.ones(2), np.zeros(2), loss, correction).is_convex


def test_an_unknown_correction_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown risk_correction 'square'.*None.*abs.*relu"):
        corrected_risk(np.ones(2), np.zeros(2), "logistic", "square")


class TestRisk:
    @pytest.mark.parametrize("name", LOSSES)
    def test_the_terms_of_the_rows(self, name):
        loss, scores = LOSSES[name], np.array([0.3, -2.0, 5.0])
        expected = SIGNED[:, 1] * loss.value(scores) + SIGNED[:, 0] * loss.value(-scores)
        assert_allclose(CorrectedRisk(SIGNED, loss).row_values(scores), expected, rtol=1e-13)

    def test_clean_labels_give_the_balanced_risk(self):
        labels = np.array([1, 1, 1, -1])
        observed = Observed.from_bags(labels == 1, labels)
        coef = combine_bags(observed.sizes, observed.proportions)
        risk = logistic_risk(coef, observed)
        scores = np.array([2.0, -1.0, 0.5, 0.25])
        losses = LOSSES["logistic"].value(labels * scores)
        balanced = losses[labels == 1].mean() / 2 + losses[labels == -1].mean() / 2
        assert value(risk, scores) == pytest.approx(balanced, rel=1e-13)

    def test_zero_score_costs_phi_zero_whatever_the_bags(self):
        coef = coef_of([0, 0, 0, 1, 1, 2], [0.2, 0.2, 0.2, 0.9, 0.9, 0.4])
        for loss in LOSSES.values():
            found = value(CorrectedRisk(coef, loss), np.zeros(6))
            assert found == pytest.approx(loss.at_zero, rel=1e-12)


class TestEffectiveSampleSize:
    @pytest.mark.parametrize("n_rows", [1, 7, 250])
    def test_of_clean_rows_is_their_number(self, n_rows):
        is_pos = np.arange(n_rows) % 3 == 0
        risk = corrected_risk(is_pos / n_rows, ~is_pos / n_rows, "logistic")
        assert risk.effective_sample_size == pytest.approx(n_rows)

    def test_of_superbag_is_four_v_at_prior_one_half(self):
        bags = np.repeat([0, 1, 2, 3], [10, 3, 25, 6])
        by_bag = np.array([0.1, 0.9, 0.35, 0.5])
        sizes = np.bincount(bags)
        pooled = sizes @ by_bag / sizes.sum()
        information = sizes @ (by_bag - pooled) ** 2
        risk = CorrectedRisk(coef_of(bags, by_bag[bags]), LOSSES["logistic"])
        assert risk.effective_sample_size == pytest.approx(4 * information)

    def test_float32_coefficients_are_summed_in_double(self):
        n_rows = 300_000
        share, nothing = np.full(n_rows, 1 / n_rows, np.float32), np.zeros(n_rows, np.float32)
        risk = corrected_risk(share, nothing, "logistic")
        assert risk.effective_sample_size == pytest.approx(n_rows, rel=1e-6)


class TestConvexity:
    def test_two_bags_that_satisfy_prop_7_and_are_not_convex(self):
        """γ = (.9, .6), equal sizes: Prop. 7 (b) holds, but the rows of one bag are concave."""
        bags, y = np.repeat([0, 1], 5), np.repeat([0.9, 0.6], 5)
        loss = LOSSES["logistic"]
        risk = CorrectedRisk(coef_of(bags, y), loss)
        row_sums = risk.coef.sum(axis=1)
        # Prop. 7's sum: n⁺(½−γ−) + n⁻(γ+−½) ≥ 0, up to the factor w/(n·gap)
        assert 5 * (0.5 - 0.6) + 5 * (0.9 - 0.5) > 0
        assert row_sums.sum() == pytest.approx(1.0)
        # (1 − 2γ−)/(2·gap·n) = −.2/(.6·5) and (2γ+ − 1)/(2·gap·n) = .8/(.6·5)
        assert_allclose(row_sums, np.repeat([-0.2 / 3, 0.8 / 3], 5), rtol=1e-12)
        assert_allclose(
            loss.concavity(risk.coef), np.repeat([0.25 * 0.2 / 3, 0], 5), rtol=1e-12, atol=0
        )

        def along(direction, step):
            return value(risk, step * direction)

        # With one score for all rows (Prop. 7) the risk is convex …
        shared = np.ones(10)
        assert along(shared, 1.0) + along(shared, -1.0) >= 2 * along(shared, 0.0)
        # … if the score changes in the first bag only, it is neither convex nor bounded below.
        first = (bags == 0).astype(float)
        assert along(first, 1.0) + along(first, -1.0) < 2 * along(first, 0.0)
        assert not risk.is_bounded_below


class TestBoundedBelow:
    @pytest.mark.parametrize("name", LOSSES)
    @pytest.mark.parametrize("is_signed", [False, True])
    def test_one_unbounded_row_is_enough(self, name, is_signed):
        """A corrected logistic risk has no minimiser; the squared loss only needs row sums > 0."""
        coef = np.array([[-0.1 * is_signed, 1.0], [0.5, 0.5]])
        is_bounded = not is_signed or name in {"squared", "sigmoid"}
        assert CorrectedRisk(coef, LOSSES[name]).is_bounded_below is is_bounded

    def test_the_risk_does_fall_without_end(self):
        risk = CorrectedRisk(np.array([[-0.1, 1.0]]), LOSSES["logistic"])
        risks = [value(risk, np.array([10.0**k])) for k in range(1, 5)]
        assert risks == sorted(risks, reverse=True)
        assert risks[-1] == pytest.approx(-1000, rel=1e-6)


@pytest.mark.parametrize("counts", [[[3, 1], [0, 4], [1, 5]], [[3, 1, 0], [0, 2, 2], [1, 0, 5]]])
def test_least_squares_at_the_pooled_prior_are_convex(counts):
    observed = make_observed(counts)
    rare = [0.9, 0.1] if observed.n_classes == 2 else [0.9, 0.05, 0.05]
    for prior, is_convex in (("pooled", True), (rare, False)):
        coef = combine_bags(
            observed.sizes, observed.proportions, method="least_squares", class_prior=prior
        )
        assert logistic_risk(coef, observed).is_convex == is_convex


class TestSeveralClasses:
    COEF = np.random.default_rng(1).normal(size=(6, 3))
    SCORES = np.random.default_rng(2).normal(size=(6, 3))

    @pytest.mark.parametrize("correction", [None, *CORRECT])
    def test_by_class(self, correction):
        """Class sums are added up, or corrected one by one."""
        losses = -np.log(np.exp(self.SCORES) / np.exp(self.SCORES).sum(axis=1, keepdims=True))
        sums = np.sum(self.COEF * losses, axis=0)
        expected = sum(sums) if correction is None else sum(map(CORRECT[correction], sums))
        risk = CorrectedRisk(self.COEF, class_loss("logistic", 3), correction)
        assert_allclose(
            value(risk, self.SCORES), expected, atol=3 * KINK_WIDTH if correction else 0
        )

    def test_convex_only_if_no_row_has_a_negative_sum(self):
        loss = class_loss("logistic", 3)
        for below, is_convex in ((-0.25, True), (-0.26, False)):
            risk = CorrectedRisk(np.array([[0.5, -0.25, below], [1, -1, 0.5]]), loss)
            assert risk.is_convex == is_convex
            assert not risk.is_bounded_below

    def test_effective_sample_size_of_clean_rows_is_their_number(self):
        """Coefficients ±1/n, opposite in mean square, are worth n labelled rows."""
        coef = np.eye(3)[np.arange(12) % 3] / 12
        risk = CorrectedRisk(coef, class_loss("logistic", 3))
        assert risk.effective_sample_size == pytest.approx(12 * 3 / 4)
