"""The arguments of `fit`: labels, bags, sources, and several of them at once."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from decorrupt.observed import GaussianNoise, read_observed

RATES = {"nurse": (0.05, 0.2), "rule": (0.4, 0.1)}


def mixed():
    """Rows of two bags, two sources, and one row of which nothing is known."""
    bags = ["a", "a", None, None, "b", "b", "b", None, None]
    sources = [None, None, "nurse", "rule", None, None, None, "rule", None]
    y = [0.5, 0.5, 1, 0, 1 / 3, 1 / 3, 1 / 3, 1, np.nan]
    return y, bags, sources


def test_labels():
    observed = read_observed(["x", "y", "y"])
    assert observed.sizes.tolist() == [1, 1, 1]
    assert observed.classes.tolist() == ["x", "y"]
    assert read_observed(["x", "y", "y"], rows_as_bags=False).sizes.tolist() == [1, 2]


def test_bags():
    observed = read_observed([0.5, 0.5, 1.0], bags=["a", "a", "b"])
    assert observed.proportions.tolist() == [[0.5, 0.5], [0, 1]]
    assert observed.sources is None
    frame = pd.DataFrame([[0.2, 0.8], [1, 0]], columns=["no", "yes"])
    assert read_observed(frame, bags=[0, 1]).classes.tolist() == ["no", "yes"]


def test_sources():
    observed = read_observed([1, 0, 1], sources=["nurse", "rule", "rule"], noise_rates=RATES)
    assert observed.sources.ids.tolist() == ["nurse", "rule"]
    assert_allclose(observed.given, [[0.2, 0.95], [0.9, 0.4], [0.1, 0.6]])


def test_bags_sources_and_unlabelled_rows_in_one():
    y, bags, sources = mixed()
    observed = read_observed(y, bags=bags, sources=sources, noise_rates=RATES)
    assert observed.ids.tolist() == ["a", "b", *[("row", row) for row in (2, 3, 7, 8)]]
    assert observed.row_bag.tolist() == [0, 0, 2, 3, 1, 1, 1, 4, 5]
    assert observed.sizes.tolist() == [2, 3, 1, 1, 1, 1]
    assert_allclose(observed.counts.lower, [[1, 1], [2, 1], *[[0, 0]] * 4])
    assert_allclose(observed.counts.upper, [[1, 1], [2, 1], *[[1, 1]] * 4])
    assert_allclose(observed.given[[2, 3, 7]], [[0.2, 0.95], [0.9, 0.4], [0.1, 0.6]])
    assert_allclose(observed.given[[0, 1, 4, 5, 6, 8]], 1)
    assert not observed.is_inexact
    part = observed.take(np.array([2, 4, 5, 6, 8]))
    assert_allclose(part.given, observed.given[[2, 4, 5, 6, 8]])
    assert_allclose(part.counts.lower, [[2, 1], [0, 0], [0, 0]])


def test_noise_of_class_counts_reaches_the_bags_next_to_sources():
    y = np.array([[0.5, 0.25, 0.25]] * 4 + [[0.0, 0.5, 0.5]] * 4 + [[1.0, 0, 0]])
    observed = read_observed(
        y,
        bags=["a"] * 4 + ["b"] * 4 + [None],
        sources=[None] * 8 + ["s"],
        noise_rates={"s": 0.7 * np.eye(3) + 0.1},
        count_noise={"a": GaussianNoise(2.0), "b": None},
    )
    assert list(observed.counts.noise) == [GaussianNoise(2.0), None, None]
    assert_allclose(observed.given[8], [0.8, 0.1, 0.1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sources_without_a_row_change_nothing(n_classes):
    y = np.repeat([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]], 2, axis=0)
    y = y if n_classes == 3 else y[:, 0]
    alone = read_observed(y, bags=[0, 0, 1, 1, 2, 2])
    both = read_observed(y, bags=[0, 0, 1, 1, 2, 2], sources=[None] * 6, noise_rates={})
    assert_allclose(both.proportions, alone.proportions)
    assert_allclose(both.counts.lower, alone.counts.lower)
    assert_allclose(both.given, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sources": ["x"] * 9}, r"row 0 has a bag and a source"),
        ({"sources": None}, r"noise_rates need sources="),
        ({"y": [0.5, 0.5, 0.4, 0, 1 / 3, 1 / 3, 1 / 3, 1, 0]}, r"y\[2\] = 0\.4 of a source is not"),
        ({"bags": [None] * 9}, r"bags contain no id"),
        ({"noise_rates": {"nurse": (0.1, 0.1)}}, r"no entry for source 'rule'"),
    ],
)
def test_bad_mixtures(change, message):
    y, bags, sources = mixed()
    arguments = {"y": y, "bags": bags, "sources": sources, "noise_rates": RATES} | change
    with pytest.raises(ValueError, match=message):
        read_observed(arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 1], "upper": [1, 1]}, r"upper is .* pass bags= as well"),
        ({"y": ["a", "b"], "bags": [0, 1]}, r"with bags, y must contain proportions"),
        ({"y": [0.5], "bags": [0, 1]}, r"inconsistent numbers of samples"),
        ({"y": [0.5, 0.5], "bags": [0, 0]}, r"only one bag"),
        ({"y": [0.5, 0.5], "bags": [0, 1]}, r"all 2 bags have the same proportion 0\.5"),
        ({"y": [[0.5, 0.5, 0], [0.4, 0.6, 0]], "bags": [0, 1]}, r"class 2 has share 0"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_observed(arguments.pop("y"), **arguments)
