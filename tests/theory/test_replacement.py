"""One replaced observation: what the paper's proof allows it, and what it can really do."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import CorrectedLoss
from decorrupt.losses import get_loss
from decorrupt.theory import replacement_change
from oracles.margin_losses import UnhingedLoss

LOSSES = ["logistic", "huber", "sigmoid", UnhingedLoss()]
shares = st.floats(0.01, 0.99)


def largest_change(loss, rates, costs, score_bound):
    """Return max − min of the corrected loss over both labels and |t| ≤ KR, on a fine grid."""
    corrected = CorrectedLoss(loss, rates, cost_pos=costs[0], cost_neg=costs[1])
    scores = np.linspace(-score_bound, score_bound, 401)
    values = [corrected.value(scores, np.full(401, label)) for label in (1, -1)]
    return np.ptp(values)


@st.composite
def noise_rates(draw):
    flip_pos, flip_neg = draw(st.floats(0, 0.95)), draw(st.floats(0, 0.95))
    assume(flip_pos + flip_neg < 0.97)
    return flip_pos, flip_neg


class TestTheCounterExample:
    """A pair of bags with γ = (.9, .75), 200 rows, logistic loss, K·R = 10 (and w = 1).

    All rows lie in one point x with k(x, x) = 1, so that f(x) takes every value in [−10, 10] and
    the supremum ξ over the ball is a maximum over t. A half of the rows carry ỹ=+1; then one of
    them is drawn again and comes out ỹ=−1.
    """

    upper, lower, n_rows, score_bound = 0.9, 0.75, 200, 10.0

    @property
    def loss(self):
        up, low = self.upper, self.lower
        rates = (low / (low + up), (1 - up) / (2 - low - up))
        return CorrectedLoss(
            "logistic", rates, cost_pos=1 / (low + up), cost_neg=1 / (2 - low - up)
        )

    def supremum(self, n_pos):
        scores = np.linspace(-self.score_bound, self.score_bound, 2001)
        by_label = [self.loss.value(scores, np.full(2001, label)) for label in (1, -1)]
        empirical = (n_pos * by_label[0] + (self.n_rows - n_pos) * by_label[1]) / self.n_rows
        logistic = get_loss("logistic")
        true = (logistic.value(scores) + logistic.value(-scores)) / 2
        return (empirical - true).max()

    @property
    def printed(self):
        """(|ℓ|₀ + |ℓ|KR)/n, by which the paper says ξ changes at most."""
        return (self.loss.at_zero + self.loss.lipschitz * self.score_bound) / self.n_rows

    def test_the_change_exceeds_what_is_printed(self):
        change = abs(self.supremum(99) - self.supremum(100))
        assert change == pytest.approx(0.55, abs=5e-5)
        assert self.printed == pytest.approx(0.3518, abs=5e-5)

    def test_also_with_the_bound_of_lemma_5_for_the_value_at_zero(self):
        gap = self.upper - self.lower
        assert (math.log(2) + self.score_bound) / gap / self.n_rows < 0.36

    def test_the_repaired_change_covers_it(self):
        gap = self.upper - self.lower
        tilt = 2 * abs(1 - self.upper - self.lower) * math.log(2) / gap
        allowed = replacement_change(1 / gap, tilt, self.score_bound) / self.n_rows
        worst = max(abs(self.supremum(k) - self.supremum(k + 1)) for k in range(self.n_rows))
        assert 0.55 <= worst <= allowed < 0.7


class TestRepairedConstants:
    @pytest.mark.parametrize("name", LOSSES)
    @given(rates=noise_rates(), costs=st.tuples(shares, shares), score_bound=st.floats(0.01, 20))
    def test_no_corrected_loss_changes_by_more(self, name, rates, costs, score_bound):
        loss = get_loss(name)
        corrected = CorrectedLoss(loss, rates, cost_pos=costs[0], cost_neg=costs[1])
        gap_at_zero = np.ptp(corrected.value([0.0, 0.0], [1, -1]))
        allowed = replacement_change(corrected.lipschitz, gap_at_zero, score_bound)
        assert largest_change(loss, rates, costs, score_bound) <= allowed * (1 + 1e-9)

    @given(rates=noise_rates(), costs=st.tuples(shares, shares))
    def test_the_gap_at_zero_is_the_difference_of_costs(self, rates, costs):
        corrected = CorrectedLoss("logistic", rates, cost_pos=costs[0], cost_neg=costs[1])
        gap = np.ptp(corrected.value([0.0, 0.0], [1, -1]))
        expected = math.log(2) * abs(costs[0] - costs[1]) / (1 - sum(rates))
        np.testing.assert_allclose(gap, expected, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("name", LOSSES)
    @given(rates=noise_rates(), reach=st.floats(1.0, 10))
    def test_theorem_2_keeps_its_4(self, name, rates, reach):
        """D ≤ 2·|ℓ|KR, and 2 + 2 = 4."""
        loss = get_loss(name)
        score_bound = reach * loss.at_zero / loss.lipschitz
        slope = loss.lipschitz * (1 + abs(rates[0] - rates[1])) / (1 - sum(rates))
        change = largest_change(loss, rates, (1, 1), score_bound)
        assert change <= 2 * slope * score_bound * (1 + 1e-9)

    @pytest.mark.parametrize("name", LOSSES)
    @given(rates=noise_rates(), prior=shares, reach=st.floats(1.0, 10))
    def test_theorem_3_keeps_its_2_as_well(self, name, rates, prior, reach):
        """D ≤ 2·|ℓ|KR already for R ≥ φ(0)/KL: the finer argument in the docstring."""
        loss = get_loss(name)
        score_bound = reach * loss.at_zero / loss.lipschitz
        noise = (1 + abs(rates[0] - rates[1])) / (1 - sum(rates))
        slope = loss.lipschitz * noise / (2 * min(prior, 1 - prior))
        change = largest_change(loss, rates, (0.5 / prior, 0.5 / (1 - prior)), score_bound)
        assert change <= 2 * slope * score_bound * (1 + 1e-9)

    @pytest.mark.parametrize("name", LOSSES)
    @given(pair=st.tuples(shares, shares), reach=st.floats(1.0, 10))
    def test_theorem_4(self, name, pair, reach):
        low, up = sorted(pair)
        assume(up - low > 0.01)
        loss, prior = get_loss(name), (up + low) / 2
        score_bound = reach * loss.at_zero / loss.lipschitz
        rates = (low / (low + up), (1 - up) / (2 - low - up))
        change = (up - low) * largest_change(
            loss, rates, (0.5 / prior, 0.5 / (1 - prior)), score_bound
        )
        lipschitz_only = 2 * loss.lipschitz * score_bound + 2 * abs(1 - 2 * prior) * loss.at_zero
        assert change <= lipschitz_only * (1 + 1e-9)
        # The unhinged loss attains the repaired step: it cannot be improved for all φ.
        if isinstance(loss, UnhingedLoss):
            assert change == pytest.approx(lipschitz_only, rel=1e-9)
        else:  # φ ≥ 0
            largest = loss.at_zero + loss.lipschitz * score_bound
            assert change <= 2 * max(prior, 1 - prior) * largest * (1 + 1e-9)

    def test_within_one_bag_4_stands(self):
        """With fixed sizes only rows of one label are exchanged."""
        corrected = CorrectedLoss(UnhingedLoss(), (0.75 / 1.65, 0.1 / 0.35), cost_pos=1 / 1.65)
        scores = np.linspace(-10, 10, 2001)
        for label in (1, -1):
            change = np.ptp(corrected.value(scores, np.full(2001, label)))
            assert change <= 2 * corrected.lipschitz * 10 * (1 + 1e-12)
