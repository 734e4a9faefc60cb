"""Bags cover rows at most once, say the truth about shares, and never carry a label."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decorrupt.datasets import BagDataset, Bags, make_bags


@st.composite
def labels(draw):
    y = draw(st.lists(st.integers(0, 1), min_size=2, max_size=80))
    y[0], y[1] = 0, 1
    return np.array(draw(st.permutations(y)))


@given(labels(), st.data(), st.integers(0, 2**16))
def test_shares_are_those_of_the_labels(y, data, seed):
    """Recount everything from the labels, bag by bag."""
    bag_size = data.draw(st.integers(1, len(y)))
    made = make_bags(y, bag_size=bag_size, random_state=seed)
    assert len(set(made.rows.tolist())) == len(made.rows) == len(y) - len(y) % bag_size
    assert (np.diff(made.bags) >= 0).all()
    assert (np.bincount(made.bags) == bag_size).all()
    for bag, share in enumerate(made.proportions):
        members = [y[row] for row, of in zip(made.rows, made.bags, strict=True) if of == bag]
        assert share == pytest.approx(sum(members) / len(members))
    np.testing.assert_array_equal(made.y, [made.proportions[bag] for bag in made.bags])


def test_the_seed_decides():
    y = np.arange(100) % 2
    one, again, other = (make_bags(y, bag_size=5, random_state=seed).rows for seed in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()


def test_labels_of_any_two_values():
    made = make_bags(["no", "yes", "yes", "yes"], bag_size=4)
    assert made.proportions.tolist() == [0.75]


@pytest.mark.parametrize("bag_size", [0, 2.5, 7])
def test_bad_sizes_are_named(bag_size):
    with pytest.raises(ValueError, match=f"bag_size={bag_size} must be .* 1 to .* rows, 6"):
        make_bags([0, 1, 0, 1, 0, 1], bag_size=bag_size)


def test_one_class_makes_no_bags():
    with pytest.raises(ValueError, match="only one class"):
        make_bags([1, 1, 1], bag_size=1)


@pytest.mark.parametrize("kind", [Bags, BagDataset])
def test_results_cannot_be_changed(kind):
    assert kind.__dataclass_params__.frozen
    assert not any("label" in field.name for field in dataclasses.fields(kind))
