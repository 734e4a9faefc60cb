"""Noise rates of two classes, and transition matrices of any number."""

import dataclasses
import math

import numpy as np
import pytest

from decorrupt.observed import (
    NoiseRates,
    check_transition_rows,
    check_transitions,
    matrix_of_rates,
    rates_of_matrix,
)

THREE = {
    "web": [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.0, 0.3, 0.7]],
    "desk": [[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
}


class TestNoiseRates:
    def test_unpacks_and_tells_its_signal(self):
        rates = NoiseRates(0.1, 0.3)
        assert tuple(rates) == (0.1, 0.3)
        assert rates.signal == pytest.approx(0.6)

    def test_is_frozen_and_comparable(self):
        rates = NoiseRates(0.1, 0.3)
        with pytest.raises(dataclasses.FrozenInstanceError):
            rates.flip_pos = 0.2
        assert rates == NoiseRates(0.1, 0.3) != NoiseRates(0.3, 0.1)

    @pytest.mark.parametrize("pair", [(0.1, 0.3), [0.1, 0.3], np.array([0.1, 0.3])])
    def test_of_reads_any_pair(self, pair):
        assert NoiseRates.of(pair) == NoiseRates(0.1, 0.3)

    def test_of_returns_rates_as_they_are(self):
        rates = NoiseRates(0.1, 0.3)
        assert NoiseRates.of(rates) is rates

    @pytest.mark.parametrize("wrong", [0.1, (0.1,), (0.1, 0.2, 0.3), [[0.1, 0.2]]])
    def test_of_refuses_what_is_not_a_pair(self, wrong):
        with pytest.raises(ValueError, match=r"must be a pair \(flip_pos, flip_neg\), got"):
            NoiseRates.of(wrong)

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

    def test_just_enough_information_is_accepted(self):
        assert NoiseRates(0.499, 0.5).signal == pytest.approx(0.001)

    def test_of_reads_a_matrix_of_two_classes(self):
        assert NoiseRates.of([[0.7, 0.3], [0.1, 0.9]]) == NoiseRates(0.1, 0.3)


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

    def test_pairs_and_matrices_of_two_classes_can_be_mixed(self):
        found = check_transitions({"a": (0.1, 0.3), "b": [[0.8, 0.2], [0.4, 0.6]]}, 2)
        assert found.tolist() == [[[0.7, 0.3], [0.1, 0.9]], [[0.8, 0.2], [0.4, 0.6]]]

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
            ([["x"] * 3] * 3, r"source 'desk' are not a matrix of numbers"),
        ],
    )
    def test_bad_matrices_name_the_source(self, transition, message):
        with pytest.raises(ValueError, match=message):
            check_transitions({"web": THREE["web"], "desk": transition}, 3)

    @pytest.mark.parametrize(
        ("rates", "message"),
        [
            ((0.6, 0.5), r"source 'desk': flip_pos \+ flip_neg = 1\.1 must be below 1"),
            ([[0.4, 0.6], [0.5, 0.5]], r"source 'desk': flip_pos \+ flip_neg = 1\.1"),
            ([[0.9, 0.2], [0, 1]], r"source 'desk': noise rates must be a pair"),
            ("often", r"source 'desk': "),
        ],
    )
    def test_bad_rates_of_two_classes_name_the_source(self, rates, message):
        with pytest.raises(ValueError, match=message):
            check_transitions({"web": (0.1, 0.1), "desk": rates}, 2)


class TestRowByRow:
    def test_pairs_become_matrices(self):
        found = check_transition_rows([[0, 0.5], [0.25, 0]], 2, 2)
        assert found.dtype == float
        assert found.tolist() == [[[0.5, 0.5], [0, 1]], [[1, 0], [0.25, 0.75]]]

    @pytest.mark.parametrize("shape", [(3, 2), (2, 3), (2,), ()])
    def test_wrong_shape_says_both(self, shape):
        with pytest.raises(ValueError, match=r"shape \(2, 2\)") as caught:
            check_transition_rows(np.zeros(shape), 2, 2)
        assert str(shape) in str(caught.value)

    @pytest.mark.parametrize("pair", [(-0.1, 0.2), (0.5, 0.5), (math.nan, 0.1), (0.1, math.inf)])
    def test_the_wrong_row_is_named(self, pair):
        with pytest.raises(ValueError, match=r"noise_rates of row 1 of X: flip_"):
            check_transition_rows([(0.1, 0.1), pair, (2, 2)], 3, 2)

    @pytest.mark.parametrize("bad", [[0.5, 0.4, 0.0], [1.2, -0.2, 0], [math.nan, 0.5, 0.5]])
    def test_the_wrong_matrix_is_named(self, bad):
        matrices = np.array([np.eye(3), [[1, 0, 0], bad, [0, 0, 1]]])
        with pytest.raises(ValueError, match=r"noise_rates of row 1 of X: row 1 is \[.*sum to 1"):
            check_transition_rows(matrices, 2, 3)
