"""Ranges and noise of the shares of bags that cannot be read."""

import numpy as np
import pandas as pd
import pytest

from decorrupt.observed import Observed

FRAME = pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"upper": [0.2, 0.2, 1.0]}, r"bag 'a' has its lower end y=0\.5 above .* upper=0\.2"),
        ({"upper": [0.5, 0.6, 1.0]}, r"upper differs within bag 'a'"),
        ({"upper": [2.0, 2.0, 1.0]}, r"^upper\[0\] = 2 \(bag 'a'\) is not a proportion"),
        ({"upper": [1.0, 1.0, np.nan]}, r"^upper\[2\] = nan \(bag 'b'\) is not a proportion"),
        ({"y": [0.6, 0.6, 0], "upper": [0.9, 0.9, 1]}, r"no count is possible in bag 'a'.* 2 rows"),
        ({"y": [1.5, 1.5, 0.0]}, r"y\[0\] = 1\.5 \(bag 'a'\) is not a proportion"),
        ({"y": [np.inf, 1.5, 0.0], "count_noise": 1.0}, r"y\[0\] = inf"),
        ({"upper": [1.0, 1.0, 1.0], "count_noise": 2.0}, r"bag 'a' has a range .* count_noise"),
        (
            {"y": np.full((3, 3), 1 / 3), "upper": np.ones(3)},
            r"y has shape \(3, 3\) and upper \(3,\): give one upper end for every lower end",
        ),
    ],
)
def test_bad_ranges(arguments, message):
    arguments = {"y": [0.5, 0.5, 0.0], "bags": ["a", "a", "b"]} | arguments
    with pytest.raises(ValueError, match=message):
        Observed.from_bags(**arguments)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([[0.5, 0, 0]], [[0.2, 1, 1]], r"bag 'a', class 0 has its lower end y=0\.5 above"),
        ([[0.6, 0, 0]], [[0.9, 1, 1]], r"no count is possible in bag 'a', class 0: .* 2 rows"),
        ([[0.5, 0.5, 0.5]], [[1, 1, 1]], r"no counts are possible in bag 'a'.* sum to its 2 rows"),
        ([[0, 0, 0]], [[0.5, 0, 0]], r"no counts are possible in bag 'a'.*at most \[1, 0, 0\]"),
        ([[0, 0, 0]], [[np.nan, 1, 1]], r"^upper\[0\] = \[nan, 1.0, 1.0\] \(bag 'a'\) are not"),
        ([[0, -1, 0]], [[1, 1, 1]], r"^y\[0\] = \[0.0, -1.0, 0.0\] \(bag 'a'\) are not the sh"),
        ([[0, 0, 0], [0, 0, 0.5]], np.ones((2, 3)), r"y differs within bag 'a' \(column 2"),
        ([[0, 0, 0]], [[1, 1]], r"y has shape \(2, 3\) and upper \(2, 2\)"),
    ],
)
def test_bad_ranges_of_several_classes(low, high, message):
    low, high = (np.repeat(ends, 2 // len(ends), axis=0) for ends in (low, high))
    with pytest.raises(ValueError, match=message):
        Observed.from_bags(low, ["a", "a"], upper=high)


def test_ranges_and_noise_of_several_classes_are_not_combined():
    with pytest.raises(ValueError, match="cannot be combined"):
        Observed.from_bags(np.zeros((2, 3)), [0, 0], upper=np.ones((2, 3)), count_noise=1.0)


def test_columns_of_upper_are_those_of_y():
    with pytest.raises(ValueError, match=r"upper has the columns \['c', 'b', 'a'\], and y has"):
        Observed.from_bags(FRAME, [0, 0], upper=(FRAME + 1)[["c", "b", "a"]])


def test_a_bag_without_noise_among_noisy_ones_needs_shares_of_one():
    y = np.repeat([[0.5, 0.5, 0.5], [-0.2, 0.9, 0.1]], 2, axis=0)
    Observed.from_bags(y, ["a", "a", "b", "b"], count_noise={"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match=r"bag 'b'.* has None for it"):
        Observed.from_bags(y, ["a", "a", "b", "b"], count_noise={"a": 1.0, "b": None})
    with pytest.raises(ValueError, match="sum to 1"):  # one noisy count of two classes
        Observed.from_bags(y[:2, :2] + 0.1, ["a", "a"], count_noise=1.0)
