"""Rows needed: the target is reached, and not with fewer."""

import numpy as np
import pytest

from decorrupt.corruption import combine_bags
from decorrupt.theory import (
    bound_bags,
    bound_common_source,
    bound_varying_priors,
    combined_sample_size,
    information,
    required_rows,
)

SHARES, SIZES = [0.9, 0.6, 0.2], [10, 20, 5]
RATES = {"flip_pos": [0.1, 0.3], "flip_neg": [0.2, 0.0]}


class TestBags:
    @pytest.mark.parametrize("combine", ["superbag", "pairs", "least_squares"])
    def test_the_bound_is_reached_and_just_so(self, combine):
        found = required_rows(
            0.3, proportions=SHARES, sizes=SIZES, combine=combine, radius=1.5, failure_prob=0.1
        )

        def bound(sizes):
            pair = combine_bags(sizes, SHARES, method=combine)
            return bound_bags(sizes, pair, radius=1.5, failure_prob=0.1)

        assert bound(found.sizes) <= 0.3
        assert bound(found.factor * np.array(SIZES)) == pytest.approx(0.3)
        assert (found.sizes - found.factor * np.array(SIZES) < 1).all()

    def test_effective_sample_size(self):
        found = required_rows(
            500, quantity="effective_sample_size", proportions=SHARES, sizes=SIZES
        )
        assert information(found.sizes, SHARES).effective_sample_size >= 500
        assert combined_sample_size(found.factor * np.array(SIZES), SHARES) == pytest.approx(500)
        assert int(found) == found.total == found.sizes.sum()

    def test_copies_of_the_bags_as_they_are(self):
        found = required_rows(
            500, quantity="effective_sample_size", proportions=SHARES, sizes=SIZES
        )
        copies = found.copies
        enough = information(SIZES * copies, SHARES * copies).effective_sample_size
        short = information(SIZES * (copies - 1), SHARES * (copies - 1)).effective_sample_size
        assert short < 500 <= enough

    def test_whole_numbers_are_not_rounded_up(self):
        found = required_rows(400, quantity="effective_sample_size", proportions=[0.6, 0.4])
        assert found.sizes.tolist() == [5000, 5000]


class TestSources:
    def test_common_source(self):
        found = required_rows(0.2, **RATES, sizes=[10, 30], radius=1.0)
        rates = RATES["flip_pos"], RATES["flip_neg"]
        assert bound_common_source(found.sizes, *rates, radius=1.0) <= 0.2
        exact = found.factor * np.array([10, 30])
        assert bound_common_source(exact, *rates, radius=1.0) == pytest.approx(0.2)

    @pytest.mark.parametrize("weights", ["optimal", "exact", "uniform"])
    def test_varying_priors(self, weights):
        priors = [0.3, 0.6]
        found = required_rows(0.2, **RATES, source_priors=priors, weights=weights, radius=2.0)
        rates = RATES["flip_pos"], RATES["flip_neg"]
        options = {"radius": 2.0, "weights": weights}
        assert bound_varying_priors(found.sizes, *rates, priors, **options) <= 0.2

    @pytest.mark.parametrize("priors", [None, 0.5])
    def test_clean_balanced_rows_are_worth_themselves(self, priors):
        found = required_rows(
            300, quantity="effective_sample_size", flip_pos=0.0, flip_neg=0.0, source_priors=priors
        )
        assert int(found) == 300

    def test_exact_weights_take_more_rows_than_optimal_ones_for_every_quantity(self):
        """Optimal weights minimise Σw²c², of which both quantities are functions."""
        priors = [0.3, 0.6]
        for quantity, options in (
            ("bound", {"target": 0.2, "radius": 2.0}),
            ("effective_sample_size", {"target": 300}),
        ):
            rows = {
                weights: required_rows(
                    quantity=quantity, **RATES, source_priors=priors, weights=weights, **options
                ).factor
                for weights in ("optimal", "exact")
            }
            assert rows["optimal"] < rows["exact"] < 1.2 * rows["optimal"]

    @pytest.mark.parametrize(
        ("quantity", "options"), [("bound", {"radius": 2.0}), ("effective_sample_size", {})]
    )
    def test_exact_weights_need_priors_for_every_quantity(self, quantity, options):
        with pytest.raises(ValueError, match="weights='exact' needs source_priors"):
            required_rows(9.0, quantity=quantity, **RATES, weights="exact", **options)

    def test_symmetric_noise_by_hand(self):
        """Rates of .4 leave a signal of .2, so 25 noisy rows make up for a clean one."""
        found = required_rows(
            100, quantity="effective_sample_size", flip_pos=[0.4, 0.4], flip_neg=[0.4, 0.4]
        )
        assert found.sizes.tolist() == [1250, 1250]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"target": 0.0, "proportions": SHARES}, "target=0.0 must be a positive"),
        ({"target": 1.0, "quantity": "rows", "proportions": SHARES}, "unknown quantity 'rows'"),
        ({"target": 1.0}, "either the proportions of bags or flip_pos and flip_neg"),
        ({"target": 1.0, "proportions": SHARES, **RATES}, "either the proportions"),
        ({"target": 1.0, "flip_pos": [0.1]}, "either the proportions"),
        (
            {
                "target": 9.0,
                "quantity": "effective_sample_size",
                "proportions": SHARES,
                "radius": 1.0,
            },
            "radius only apply to quantity='bound'",
        ),
    ],
)
def test_refuses(wrong, message):
    with pytest.raises(ValueError, match=message):
        required_rows(**wrong)
