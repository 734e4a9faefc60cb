"""Reading bags: one share or one per class, ranges, noise, and whether classes can be learned."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from decorrupt.observed import (
    GaussianNoise,
    LaplaceNoise,
    Observed,
    bag_targets,
    check_bags,
    class_columns,
)
from helpers.bag_ids import STRING_IDS

BY_ROW = [0.2, 0.1, 0.2, 0.7]
string_ids = pytest.mark.parametrize("bags", STRING_IDS.values(), ids=list(STRING_IDS))


class TestOneShare:
    @string_ids
    def test_ids_in_every_container(self, bags):
        observed = Observed.from_bags(BY_ROW, bags)
        assert observed.ids.tolist() == ["a", "b", "c"]
        assert observed.sizes.tolist() == [1, 2, 1]
        assert observed.proportions[:, 1].tolist() == [0.1, 0.2, 0.7]
        assert observed.proportions[:, 0].tolist() == [0.9, 0.8, 1 - 0.7]
        assert observed.row_bag.tolist() == [1, 0, 1, 2]
        assert observed.classes.tolist() == [0, 1]

    def test_undoes_bag_targets(self):
        bags = np.random.default_rng(0).permutation(np.repeat(["u", "v", "w"], [3, 1, 5]))
        by_bag = {"u": 1 / 3, "v": 0.0, "w": 1.0}
        observed = Observed.from_bags(bag_targets(bags, by_bag), bags)
        shares = observed.proportions[:, 1].tolist()
        assert dict(zip(observed.ids.tolist(), shares, strict=True)) == by_bag
        assert observed.sizes.tolist() == [3, 1, 5]

    @pytest.mark.parametrize(
        ("y", "bags", "message"),
        [
            *(
                ([0.5, 0.2, bad], ["a", "b", "b"], rf"y\[2\] = {bad:g} \(bag 'b'\) is not a prop")
                for bad in (-0.1, 1.0001, 55, math.nan, math.inf)
            ),
            ([2.0, 0.5], np.array([7, 8]), r"\(bag 7\)"),
            ([2.0, 0.5], [("x", 1), ("x", 2)], r"\(bag \('x', 1\)\)"),
            ([0.5, 0.2, 0.9], ["a", "b", "b"], r"y differs within bag 'b' \(from 0.2 to 0.9\)"),
            ([0.1, 0.1], [None, "a"], "bags has no id in row 0"),
            *(
                ([0.1] * n, ["a", "a", "b"], rf"y and bags must both.*\({n},\) and bags \(3,\)")
                for n in (1, 2, 4)
            ),
        ],
    )
    def test_bad_shares_name_row_value_and_bag(self, y, bags, message):
        with pytest.raises(ValueError, match=message):
            Observed.from_bags(y, bags)

    def test_rounding_within_a_bag_is_forgiven(self):
        third = 1 / 3
        observed = Observed.from_bags([third, float(np.float32(third)), 1.0], [0, 0, 1])
        assert observed.proportions[:, 1] == pytest.approx([third, 1.0], abs=1e-7)

    def test_the_ends_are_proportions_and_one_column_is_one_share(self):
        assert Observed.from_bags([0, 1], [0, 1]).proportions.tolist() == [[1, 0], [0, 1]]
        observed = Observed.from_bags([[0.5], [1.0]], ["a", "b"])
        assert observed.proportions.tolist() == [[0.5, 0.5], [0.0, 1.0]]


class TestSeveralClasses:
    BAGS = ("b", "a", "b", "c")
    BY_BAG = ((0.1, 0.2, 0.7), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    BY_ROW = (BY_BAG[1], BY_BAG[0], BY_BAG[1], BY_BAG[2])

    def test_there_is_one_row_of_shares_per_bag(self):
        observed = Observed.from_bags(self.BY_ROW, self.BAGS)
        assert observed.ids.tolist() == ["a", "b", "c"]
        assert_allclose(observed.proportions, self.BY_BAG)
        assert_allclose(observed.row_proportions, self.BY_ROW)
        some = observed.take(np.array([0, 3]))
        assert some.ids.tolist() == ["b", "c"]
        assert_allclose(some.proportions, self.BY_BAG[1:])

    def test_columns_are_the_classes(self):
        frame = pd.DataFrame(self.BY_ROW, columns=["red", "green", "blue"])
        assert Observed.from_bags(frame, self.BAGS).classes.tolist() == ["red", "green", "blue"]
        assert Observed.from_bags(self.BY_ROW, self.BAGS).classes.tolist() == [0, 1, 2]

    def test_two_columns_are_the_share_of_positives(self):
        one = Observed.from_bags(BY_ROW, self.BAGS)
        two = Observed.from_bags(class_columns(BY_ROW), self.BAGS)
        assert_allclose(two.proportions, one.proportions, rtol=1e-15)

    def test_single_precision_is_forgiven_and_made_to_sum_to_one(self):
        thirds = np.full((4, 3), 1 / 3, dtype=np.float32)
        observed = Observed.from_bags(thirds, [0, 0, 1, 1])
        assert_allclose(observed.proportions.sum(axis=1), 1, rtol=1e-15)

    @pytest.mark.parametrize("bad", [[0.5, 0.4, 0.0], [1.2, -0.2, 0.0], [math.nan, 0.5, 0.5]])
    def test_shares_that_do_not_sum_to_one_name_row_and_bag(self, bad):
        with pytest.raises(ValueError, match=r"y\[2\] = \[.*\(bag 'b'\).*sum to 1 \(within 1e-06"):
            Observed.from_bags([*self.BY_ROW[:2], bad, self.BY_ROW[3]], self.BAGS)

    def test_differing_within_a_bag_names_bag_and_column(self):
        rows = [*self.BY_ROW[:2], [0.5, 0.4, 0.1], self.BY_ROW[3]]
        with pytest.raises(ValueError, match=r"within bag 'b' \(column 1: from 0.4 to 0.5\)"):
            Observed.from_bags(rows, self.BAGS)


class TestRanges:
    def test_of_the_share_of_positives(self):
        observed = Observed.from_bags(
            [0.25] * 4 + [0.5] * 2, [0] * 4 + [1] * 2, upper=[0.75] * 4 + [0.5] * 2
        )
        assert observed.counts.lower.tolist() == [[1, 1], [1, 1]]
        assert observed.counts.upper.tolist() == [[3, 3], [1, 1]]
        assert observed.counts.is_exact.tolist() == [False, True]
        assert observed.proportions.tolist() == [[0.5, 0.5], [0.5, 0.5]]
        assert observed.is_inexact

    def test_of_every_class_narrow_each_other(self):
        """Four rows: 2 or 3 of class 0 and 1 of class 1 leave at most 1 for class 2."""
        y, upper = np.tile([0.5, 0.25, 0.0], (4, 1)), np.tile([0.75, 0.25, 1.0], (4, 1))
        counts = Observed.from_bags(y, [0] * 4, upper=upper).counts
        assert counts.lower.tolist() == [[2, 1, 0]]
        assert counts.upper.tolist() == [[3, 1, 1]]

    def test_proportions_are_inside_the_ranges_and_sum_to_one(self):
        rng = np.random.default_rng(0)
        true = rng.multinomial(20, [0.2, 0.3, 0.5], 30)
        low = np.maximum(true - rng.integers(0, 4, true.shape), 0)
        high = np.minimum(true + rng.integers(0, 4, true.shape), 20)
        bags = np.repeat(np.arange(30), 20)
        observed = Observed.from_bags((low / 20)[bags], bags, upper=(high / 20)[bags])
        assert_allclose(observed.proportions.sum(axis=1), 1)
        assert (observed.proportions >= low / 20 - 1e-12).all()
        assert (observed.proportions <= high / 20 + 1e-12).all()
        assert (observed.counts.lower <= true).all()
        assert (observed.counts.upper >= true).all()


class TestNoise:
    def test_of_one_count(self):
        observed = Observed.from_bags(
            [1.25] * 4 + [0.5] * 2, [0] * 4 + [1] * 2, count_noise={0: 2.0, 1: None}
        )
        assert observed.counts.noise == [GaussianNoise(2.0), None]
        assert observed.counts.lower.tolist() == [[-1, 5], [1, 1]]
        assert observed.proportions.tolist() == [[0, 1], [0.5, 0.5]]
        assert observed.counts.noise_variance.tolist() == [4, 0]
        assert observed.counts.is_noisy.tolist() == [True, False]

    def test_shares_of_several_classes_need_not_sum_to_one(self):
        y = np.tile([0.5, 0.75, 0.25], (4, 1))
        observed = Observed.from_bags(y, [0] * 4, count_noise=LaplaceNoise(1.0))
        assert observed.counts.lower.tolist() == [[2, 3, 1]]
        # Two rows too many, taken from every class alike.
        assert_allclose(observed.proportions, [[4 / 3 / 4, 7 / 3 / 4, 1 / 3 / 4]])

    def test_a_bag_without_noise_keeps_its_rounded_range(self):
        bags = np.repeat([0, 1], [203, 10])
        y = np.where(bags == 0, 0.3, 1.3)
        counts = Observed.from_bags(y, bags, count_noise={0: None, 1: 1.0}).counts
        assert (counts.lower[0, 1], counts.upper[0, 1]) == (51, 71)

    def test_noise_and_ranges_of_different_bags(self):
        y, upper = [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0]
        counts = Observed.from_bags(
            y, [0, 0, 1, 1], upper=upper, count_noise={0: 1.0, 1: None}
        ).counts
        assert counts.is_noisy.tolist() == [True, False]
        assert counts.lower.tolist() == [[1, 1], [0, 1]]
        assert counts.upper.tolist() == [[1, 1], [1, 2]]


SHARES = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]])


class TestCheckBags:
    def test_returns_floats_with_one_column_per_class(self):
        sizes, proportions = check_bags([1, 2], [0, 1])
        assert sizes.dtype == proportions.dtype == float
        assert proportions.tolist() == [[1, 0], [0, 1]]

    @pytest.mark.parametrize(
        ("sizes", "shares", "message"),
        [
            *(
                ([10, bad, 3, 3], shares, rf"sizes of bag 1 is {bad:g}: ")
                for bad in (0, -2, math.nan, math.inf)
                for shares in ([0.1, 0.2, 0.3, 0.4], SHARES)
            ),
            *(
                ([9, 5, 3], [0.1, 0.2, bad], rf"proportions of bag 2 is {bad:g}: use \[0, 1\]")
                for bad in (-0.01, 1.2, math.nan, math.inf)
            ),
            *(
                ([5] * 4, [*SHARES[:2], bad, SHARES[3]], r"of bag 2 is \[.*a sum of 1 per bag")
                for bad in ([0.5, 0.3, 0.3], [0.5, 0.3, 0.1], [0.6, 0.6, -0.2], [math.nan, 0.5, 0])
            ),
            *(
                (sizes, shares, r"lists of the same length.*one row per bag.*shapes")
                for sizes, shares in (([1, 2], [0.1]), ([[1, 2]], [[0.1, 0.2]]), (3, 0.2))
            ),
            ([5] * 4, np.ones((3, 3)), r"lists of the same length.*one row per bag.*shapes"),
            *(
                ([10], shares, "only one bag: nothing can be learned")
                for shares in ([0.4], [[0.4, 0.6]], [[0.2, 0.4, 0.4]])
            ),
            ([10, 5, 7], [0.4] * 3, r"all 3 bags have the same proportion 0\.4: nothing"),
            ([5, 7, 9], SHARES[[0, 0, 0]], r"all 3 bags have the same proportion \[0\.5, 0\.3"),
            ([5, 5], SHARES[:2], r"classes 0, 1, 2 cannot.*only 2 bags.*need at least 3"),
        ],
    )
    def test_bad_bags(self, sizes, shares, message):
        with pytest.raises(ValueError, match=message):
            check_bags(sizes, shares)

    @pytest.mark.parametrize("shares", [SHARES, [0.1, 0.7, 0.2, 0.2]])
    def test_rounding_of_single_precision_is_forgiven(self, shares):
        check_bags([5] * 4, np.asarray(shares, dtype=np.float32))

    def test_two_classes_that_hardly_differ_are_learned_from(self):
        """Two classes differ if two bags do, however little; it is a question of rows."""
        check_bags([10, 10], [0.5, 0.5 + 1e-9])

    def test_an_absent_class_is_named(self):
        shares = np.insert(SHARES, 1, 0.0, axis=1)
        with pytest.raises(ValueError, match="class 1 has share 0 in every bag"):
            check_bags([5] * 4, shares)
        with pytest.raises(ValueError, match="class 'green' has share 0 in every bag"):
            check_bags([5] * 4, shares, ["red", "green", "blue", "black"])

    def test_classes_of_a_fixed_ratio_are_named_and_no_others(self):
        """Class c of each bag is split 1:3 into two classes that the bags cannot distinguish."""
        shares = np.column_stack([SHARES, 0.75 * SHARES[:, 1]])
        shares[:, 1] *= 0.25
        message = r"the classes 'b', 'd' cannot be distinguished.*Merge"
        with pytest.raises(ValueError, match=message):
            check_bags([5] * 4, shares, ["a", "b", "c", "d"])
