"""Bags cover rows at most once, say the truth about shares, and never carry a label."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decorrupt.datasets import BagDataset, Bags, make_bags


@st.composite
def labels(draw, min_rows=2):
    y = draw(st.lists(st.integers(0, 1), min_size=min_rows, max_size=80))
    y[0], y[1] = 0, 1
    return np.array(draw(st.permutations(y)))


@st.composite
def size_ranges(draw, n_rows):
    low = draw(st.integers(1, n_rows))
    return low, draw(st.integers(low, n_rows + 3))


seeds = st.integers(0, 2**16)


def check(made, y):
    """Recount everything from the labels, bag by bag."""
    assert len(set(made.rows.tolist())) == len(made.rows)
    assert len(made.rows) + made.n_left_out == len(y)
    assert made.sizes.sum() == len(made.rows)
    assert (np.diff(made.bags) >= 0).all()
    for bag, share in enumerate(made.proportions):
        members = [y[row] for row, of in zip(made.rows, made.bags, strict=True) if of == bag]
        assert members
        assert share == pytest.approx(sum(members) / len(members))
    np.testing.assert_array_equal(made.y, [made.proportions[bag] for bag in made.bags])


@given(labels(), st.data(), seeds)
def test_bags_of_one_size(y, data, seed):
    bag_size = data.draw(st.integers(1, len(y)))
    made = make_bags(y, bag_size=bag_size, random_state=seed)
    check(made, y)
    assert (made.sizes == bag_size).all()
    assert made.n_left_out == len(y) % bag_size


@given(labels(), st.data(), seeds)
def test_sizes_stay_in_their_range(y, data, seed):
    low, high = data.draw(size_ranges(len(y)))
    made = make_bags(y, sizes=(low, high), random_state=seed)
    check(made, y)
    assert made.sizes.min() >= low
    assert made.sizes.max() <= high
    assert made.n_left_out < low


def can_fill(y, size, low, high):
    """Try every count of positives for one more bag, half a row outside the range allowed."""
    n_pos = int(sum(y))
    counts = range(max(0, size - (len(y) - n_pos)), min(size, n_pos) + 1)
    return any(low * size - 0.5 <= count <= high * size + 0.5 for count in counts)


@settings(max_examples=300)
@given(labels(), st.data(), seeds)
def test_proportions_stay_in_their_range_until_the_rows_run_out(y, data, seed):
    size = data.draw(st.integers(1, len(y)))
    low, high = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
    if not can_fill(y, size, low, high):
        with pytest.raises(ValueError, match="no bag of"):
            make_bags(y, bag_size=size, proportions=(low, high), random_state=seed)
        return
    made = make_bags(y, bag_size=size, proportions=(low, high), random_state=seed)
    check(made, y)
    slack = 0.5 / size + 1e-9
    assert (made.proportions >= low - slack).all()
    assert (made.proportions <= high + slack).all()
    left = np.delete(y, made.rows)
    assert len(left) < size or not can_fill(left, size, low, high)


@given(labels(), st.data(), seeds)
def test_sizes_and_proportions_go_together(y, data, seed):
    low, high = data.draw(size_ranges(len(y)))
    made = make_bags(y, sizes=(low, high), proportions=(0, 1), random_state=seed)
    check(made, y)
    assert low <= made.sizes.min() <= made.sizes.max() <= high


@given(labels(), st.data(), seeds)
def test_any_proportion_leaves_out_no_more_than_random_bags(y, data, seed):
    bag_size = data.draw(st.integers(1, len(y)))
    made = make_bags(y, bag_size=bag_size, proportions=(0, 1), random_state=seed)
    check(made, y)
    assert made.n_left_out == len(y) % bag_size


@given(labels(), st.data())
def test_bags_by_value_use_every_row(y, data):
    towns = data.draw(st.lists(st.sampled_from("abc"), min_size=len(y), max_size=len(y)))
    made = make_bags(y, by=towns)
    check(made, y)
    assert made.n_left_out == 0
    found = dict(zip(sorted(set(towns)), made.proportions, strict=True))
    assert found == pytest.approx(pd.Series(y).groupby(towns).mean().to_dict())


@given(labels(min_rows=4), seeds)
def test_the_seed_decides(y, seed):
    first, again = (
        make_bags(y, sizes=(1, 4), proportions=(0, 1), random_state=seed) for _ in range(2)
    )
    np.testing.assert_array_equal(first.rows, again.rows)
    np.testing.assert_array_equal(first.bags, again.bags)


def test_other_seeds_make_other_bags():
    y = np.arange(100) % 2
    one, other = (make_bags(y, bag_size=5, random_state=seed).rows for seed in (0, 1))
    assert (one != other).any()


def test_drawn_proportions_spread_over_their_range():
    y = np.arange(20_000) % 2
    shares = make_bags(y, bag_size=20, proportions=(0.2, 0.8), random_state=0).proportions
    assert shares.mean() == pytest.approx(0.5, abs=0.02)
    assert shares.std() == pytest.approx(0.6 / np.sqrt(12), abs=0.02)  # that of U(0.2, 0.8)


def test_drawing_stops_when_a_class_runs_out():
    y = np.r_[np.ones(6, dtype=int), np.zeros(94, dtype=int)]
    made = make_bags(y, bag_size=4, proportions=(0.5, 0.5), random_state=0)
    assert made.proportions.tolist() == [0.5, 0.5, 0.5]
    assert made.n_left_out == 88


def test_clusters_are_the_bags():
    rng = np.random.default_rng(0)
    place = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + 50 * place[:, None]
    y = rng.integers(0, 2, 60)
    made = make_bags(y, n_clusters=3, X=X, random_state=0)
    check(made, y)
    found = {frozenset(made.rows[made.bags == bag].tolist()) for bag in range(3)}
    assert found == {frozenset(range(start, start + 20)) for start in (0, 20, 40)}


@pytest.mark.parametrize(
    ("X", "by"),
    [
        (np.array([[7, 1], [8, 0], [7, 1], [8, 1]]), 0),
        (pd.DataFrame({"a": [7, 8, 7, 8]}), "a"),
        (pl.DataFrame({"a": ["7", "8", "7", "8"]}), "a"),
    ],
)
def test_by_names_a_column(X, by):
    made = make_bags([0, 1, 1, 1], by=by, X=X)
    assert made.rows.tolist() == [0, 2, 1, 3]
    assert made.proportions.tolist() == [0.5, 1.0]


def test_labels_of_any_two_values():
    made = make_bags(["no", "yes", "yes", "yes"], bag_size=4)
    assert made.proportions.tolist() == [0.75]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of bag_size, sizes, by, n_clusters.*none"),
        ({"bag_size": 2, "sizes": (1, 2)}, "bag_size and sizes"),
        ({"bag_size": 0}, "bag_size=0"),
        ({"bag_size": 2.5}, "bag_size=2.5"),
        ({"bag_size": 7}, "only 6 rows"),
        ({"sizes": (3, 2)}, "low ≤ high"),
        ({"sizes": 3}, r"range \(low, high\)"),
        ({"bag_size": 2, "proportions": (0.2, 1.2)}, "0 ≤ low ≤ high ≤ 1"),
        ({"bag_size": 2, "proportions": (np.nan, 1)}, "0 ≤ low ≤ high ≤ 1"),
        ({"bag_size": 6, "proportions": (0.9, 1)}, "3 positive and 3 negative"),
        ({"by": "town"}, "selects a column of X: give X= too"),
        ({"by": "town", "X": pd.DataFrame({"a": range(6)})}, "no column 'town'.*'a'"),
        ({"by": 1, "X": np.zeros((6, 1))}, "by=1 is not a column"),
        ({"by": [1, 2]}, "2 values but y has 6"),
        ({"by": [1, 2, None, 4, 5, 6]}, "by has no id in row 2"),
        ({"by": [1] * 6, "proportions": (0, 1)}, "proportions can only be given with"),
        ({"n_clusters": 2}, "needs X="),
        ({"n_clusters": 7, "X": np.zeros((6, 1))}, "n_clusters=7"),
        ({"n_clusters": 2, "X": np.arange(5.0)[:, None]}, "inconsistent numbers of samples"),
    ],
)
def test_bad_requests_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_bags([0, 1, 0, 1, 0, 1], **options)


def test_one_class_makes_no_bags():
    with pytest.raises(ValueError, match="only one class"):
        make_bags([1, 1, 1], bag_size=1)


@pytest.mark.parametrize("kind", [Bags, BagDataset])
def test_results_cannot_be_changed(kind):
    assert kind.__dataclass_params__.frozen
    assert not any("label" in field.name for field in dataclasses.fields(kind))
