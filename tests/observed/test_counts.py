"""How proportions are read as counts: rounded shares, impossible shares, parts of bags."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decorrupt.observed import (
    ClassCounts,
    GaussianNoise,
    Observed,
    class_columns,
    describe_impossible,
)


def one_bag(share, size):
    """Return the smallest and the largest count of positives, and whether the share is possible."""
    counts = ClassCounts.of_shares(class_columns([float(share)]), np.array([size]))
    assert counts.lower[0, 0] == size - counts.upper[0, 1]
    assert counts.upper[0, 0] == size - counts.lower[0, 1]
    return counts.lower[0, 1], counts.upper[0, 1], not counts.is_impossible.any()


class TestRoundedShares:
    @pytest.mark.parametrize(
        ("share", "size", "low", "high"),
        [
            (3 / 7, 7, 3, 3),
            (np.float32(3 / 7), 7, 3, 3),
            (0.4286, 7, 3, 3),
            (0.43, 7, 3, 3),
            (0.33, 9, 3, 3),
            (0.33, 300, 99, 99),  # a multiple of 1/300
            (0.33, 1001, 326, 335),
            (0.335, 1001, 335, 335),
            (0.3, 203, 51, 71),
            (0.0, 12, 0, 0),
            (1.0, 12, 12, 12),
        ],
    )
    def test_are_ranges_of_their_rounding(self, share, size, low, high):
        assert one_bag(share, size) == (low, high, True)

    def test_a_table_has_one_number_of_digits(self):
        counts = ClassCounts.of_shares(class_columns([0.30, 0.33]), np.array([203, 203]))
        assert (counts.lower[0, 1], counts.upper[0, 1]) == (60, 61)  # 0.295·203 … 0.305·203

    def test_what_is_impossible_has_both_counts_next_to_it(self):
        counts = ClassCounts.of_shares(class_columns([0.34, 0.5]), np.array([10, 8]))
        assert counts.is_impossible.tolist() == [True, False]
        assert (counts.lower[0, 1], counts.upper[0, 1]) == (3, 4)

    @given(st.integers(1, 3000), st.floats(0, 1), st.integers(1, 4))
    def test_the_true_count_is_among_the_possible_ones(self, size, share, digits):
        count = round(share * size)
        given_share = np.round(count / size, digits)
        low, high, _ = one_bag(given_share, size)
        is_multiple = abs(given_share * size - np.rint(given_share * size)) < 1e-6 * size
        assert is_multiple or low <= count <= high


class TestWholeCounts:
    def test_largest_remainders(self):
        """3.5, 1.4, 2.1 of 7: two of three are rounded down, one row is left for class 0."""
        counts = ClassCounts.of_shares(np.array([[0.5, 0.2, 0.3]]), np.array([7]))
        assert counts.lower.tolist() == counts.upper.tolist() == [[4, 1, 2]]

    @given(st.integers(3, 12), st.integers(1, 300), st.integers(0, 10_000))
    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    def test_they_sum_to_the_rows_and_move_by_less_than_one(self, n_classes, size, seed):
        shares = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5))[None]
        counts = ClassCounts.of_shares(shares, np.array([size])).lower
        assert counts.sum() == size
        assert (np.abs(counts - size * shares) < 1 + 1e-6).all()

    @given(st.lists(st.integers(0, 100), min_size=2, max_size=10))
    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    def test_counts_survive_as_shares_of_single_precision(self, counts):
        counts[0] += 1
        size = np.array([sum(counts)])
        rounded = (np.array([counts]) / size).astype(np.float32).astype(float)
        assert ClassCounts.of_shares(rounded, size).lower.tolist() == [counts]

    def test_shares_printed_with_two_digits_are_possible(self):
        shares = np.array([[0.33, 0.56, 0.11], [0.4, 0.4, 0.2]])
        counts = ClassCounts.of_shares(shares, np.array([9, 7]))
        assert counts.lower[0].tolist() == [3, 5, 1]
        assert counts.is_impossible.tolist() == [False, True]


class TestImpossible:
    def test_of_two_classes_is_named_by_its_positives(self):
        bags = np.repeat(["a", "b"], [10, 8])
        observed = Observed.from_bags(np.repeat([0.34, 0.5], [10, 8]), bags)
        message = describe_impossible(observed)
        assert "the proportions of 1 bags" in message
        assert "'a' (3.4 of 10)" in message
        assert "count_noise" in message

    def test_of_several_classes_is_named_by_the_worst(self):
        observed = Observed.from_bags(np.tile([0.375, 0.45, 0.175], (4, 1)), [7] * 4)
        assert "7 (1.5 of 4)" in describe_impossible(observed)

    def test_five_bags_are_shown(self):
        bags = np.repeat(np.arange(9), 10)
        assert "and 4 more" in describe_impossible(Observed.from_bags(np.full(90, 0.34), bags))

    def test_nothing_to_say(self):
        assert describe_impossible(Observed.from_bags([0.5, 0.5], [0, 0])) == ""


class TestParts:
    """A part of a bag has counts in proportion to its rows, rounded outwards."""

    COUNTS = ClassCounts(
        np.array([[3.0, 7.0], [2.0, 6.0], [4.5, 5.5]]),
        np.array([[3.0, 7.0], [4.0, 8.0], [4.5, 5.5]]),
        [None, None, GaussianNoise(2.0)],
        np.array([False, True, False]),
    )

    def test_whole_bags_stay_as_they_are(self):
        part = self.COUNTS.take(np.array([2, 0]))
        assert part.lower.tolist() == [[4.5, 5.5], [3, 7]]
        assert part.noise == [GaussianNoise(2.0), None]
        assert part.is_exact.tolist() == [False, True]

    def test_halves(self):
        part = self.COUNTS.take(np.arange(3), np.full(3, 0.5))
        assert part.lower.tolist() == [[1, 3], [1, 3], [2.25, 2.75]]
        assert part.upper.tolist() == [[2, 4], [2, 4], [2.25, 2.75]]
        assert part.noise == [None, None, GaussianNoise(2.0)]
        assert part.is_impossible.tolist() == [False, True, False]

    def test_the_possible_counts_always_contain_the_scaled_ones(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            size = int(rng.integers(2, 40))
            counts = rng.multinomial(size, [0.2, 0.3, 0.5])[None].astype(float)
            taken = int(rng.integers(1, size + 1)) / size
            known = ClassCounts(counts, counts, [None], np.array([False]))
            part = known.take(np.array([0]), np.array([taken]))
            assert (part.lower <= counts * taken + 1e-9).all()
            assert (part.upper >= counts * taken - 1e-9).all()
            assert (part.upper - part.lower <= 1).all()
            assert (part.lower == np.rint(part.lower)).all()


def test_counts_of_observed_bags_follow_the_part_that_is_taken():
    y = np.repeat([0.25, 0.5], [8, 4])
    observed = Observed.from_bags(y, np.repeat([0, 1], [8, 4]), upper=np.repeat([0.5, 0.5], [8, 4]))
    part = observed.take(np.array([0, 1, 2, 3, 8]))
    assert part.sizes.tolist() == [4, 1]
    assert part.counts.lower.tolist() == [[2, 1], [0, 0]]
    assert part.counts.upper.tolist() == [[3, 2], [1, 1]]
    exact = Observed(observed.classes, observed.ids, observed.row_bag, class_columns([0.25, 0.5]))
    assert exact.take(np.array([0, 1, 2, 3])).counts.lower.tolist() == [[3, 1]]
