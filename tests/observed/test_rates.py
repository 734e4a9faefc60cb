"""Noise rates of two classes, and transition matrices of any number."""

import dataclasses
import math

import numpy as np
import pytest

from decorrupt.observed import NoiseRates, matrix_of_rates, rates_of_matrix, transition_matrix

THREE = {
    "web": [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.0, 0.3, 0.7]],
    "desk": [[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
}


class TestNoiseRates:
    def test_are_a_frozen_comparable_pair_with_a_signal(self):
        rates = NoiseRates(0.1, 0.3)
        assert tuple(rates) == (0.1, 0.3)
        assert rates.signal == pytest.approx(0.6)
        assert NoiseRates(0.499, 0.5).signal == pytest.approx(0.001)
        assert rates == NoiseRates(0.1, 0.3) != NoiseRates(0.3, 0.1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            rates.flip_pos = 0.2

    @pytest.mark.parametrize("bad", [-0.01, 1.0, 1.5, math.nan, math.inf])
    def test_a_rate_out_of_range_is_named_with_its_value(self, bad):
        with pytest.raises(ValueError, match=rf"flip_pos={bad} is not a rate: .*\[0, 1\)"):
            NoiseRates(bad, 0.1)
        with pytest.raises(ValueError, match=rf"flip_neg={bad} is not a rate: .*\[0, 1\)"):
            NoiseRates(0.1, bad)

    @pytest.mark.parametrize("pair", [(0.5, 0.5), (0.7, 0.4)])
    def test_no_information_left(self, pair):
        with pytest.raises(
            ValueError, match=rf"flip_pos \+ flip_neg = {sum(pair):g} must be below"
        ):
            NoiseRates(*pair)


class TestMatrices:
    def test_a_pair_is_a_matrix(self):
        """Rows are true classes, negative first: ρ₋ leaves the negatives, ρ₊ the positives."""
        assert matrix_of_rates(0.1, 0.3).tolist() == [[0.7, 0.3], [0.1, 0.9]]
        both = matrix_of_rates([0.1, 0.0], [0.3, 0.5])
        assert both.tolist() == [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.0, 1.0]]]

    def test_users_see_pairs_of_two_classes_and_matrices_of_several(self):
        assert rates_of_matrix(matrix_of_rates(0.1, 0.3)) == (0.1, 0.3)
        three = np.array(THREE["web"])
        assert rates_of_matrix(three) is three

    @pytest.mark.parametrize(
        "rates",
        [(0.1, 0.3), np.array([0.1, 0.3]), NoiseRates(0.1, 0.3), [[0.7, 0.3], [0.1, 0.9]]],
        ids=["pair", "array", "NoiseRates", "matrix"],
    )
    def test_two_classes_are_read_from_a_pair_or_a_matrix(self, rates):
        assert transition_matrix("a", rates, [0, 1]).tolist() == [[0.7, 0.3], [0.1, 0.9]]

    @pytest.mark.parametrize(
        ("transition", "message"),
        [
            ([[0.9, 0.1], [0.1, 0.9]], r"source 'desk' have shape \(2, 2\).*shape \(3, 3\)"),
            ([[0.9, 0.2, 0], [0, 1, 0], [0, 0, 1]], r"source 'desk': row 0 is .*sum to 1"),
            ([[1, 0, 0], [0, 1.2, -0.2], [0, 0, 1]], r"source 'desk': row 1 is .*in \[0, 1\]"),
            (
                [[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]],
                r"source 'desk' are singular.*distinguish the classes 0, 2;",
            ),
            ([["x"] * 3] * 3, r"source 'desk' are not numbers"),
        ],
    )
    def test_bad_matrices_name_the_source(self, transition, message):
        with pytest.raises(ValueError, match=message):
            transition_matrix("source 'desk'", transition, range(3))

    @pytest.mark.parametrize(
        ("rates", "message"),
        [
            ((0.6, 0.5), r"source 'desk': flip_pos \+ flip_neg = 1\.1 must be below 1"),
            ([[0.4, 0.6], [0.5, 0.5]], r"source 'desk': flip_pos \+ flip_neg = 1\.1"),
            ([[0.9, 0.2], [0, 1]], r"source 'desk': row 0 is \[0\.9, 0\.2\]; .*sum to 1"),
            ("often", r"source 'desk' are not numbers: 'often'"),
            (0.1, r"source 'desk' have shape \(\), .* give a pair"),
            ((0.1, 0.2, 0.3), r"source 'desk' have shape \(3,\), .* give a pair"),
            ([[0.1, 0.2]], r"source 'desk' have shape \(1, 2\), .* give a pair"),
        ],
    )
    def test_bad_rates_of_two_classes_name_the_source(self, rates, message):
        with pytest.raises(ValueError, match=message):
            transition_matrix("source 'desk'", rates, range(2))
