"""Observed: sizes, shares, weights, parts, and the arguments of `fit` it came from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.observed import GaussianNoise, Observed, class_columns, read_bags, read_observed
from oracles.counts import make_observed

COUNTS = {2: [[2, 1], [0, 4], [6, 1]], 3: [[2, 1, 0], [0, 2, 2], [1, 0, 5]]}
both = pytest.mark.parametrize("n_classes", [2, 3])


@both
def test_sizes_and_shares(n_classes):
    observed = make_observed(COUNTS[n_classes])
    counts = np.array(COUNTS[n_classes])
    assert observed.n_classes == n_classes
    assert (observed.n_bags, observed.n_rows) == (3, counts.sum())
    assert observed.sizes.tolist() == counts.sum(axis=1).tolist()
    assert observed.sizes.dtype == np.intp
    assert_allclose(observed.class_prior, counts.sum(axis=0) / counts.sum())
    assert_allclose(observed.counts.lower, counts)
    assert observed.counts.is_exact.all()
    assert not observed.is_inexact
    for row in range(5):
        bag = observed.row_bag[row]
        assert_allclose(observed.row_proportions[row], counts[bag] / counts[bag].sum())


def test_a_bag_without_rows_has_size_zero():
    shares = class_columns([0.1, 0.2])
    observed = Observed(np.array([0, 1]), np.array(["a", "b"]), np.array([0, 0]), shares)
    assert observed.sizes.tolist() == [2, 0]


@both
def test_the_inner_prior_has_finite_log_odds(n_classes):
    observed = make_observed([[5, *[0] * (n_classes - 1)]] * 2)
    assert observed.class_prior.tolist() == [1, *[0] * (n_classes - 1)]
    assert np.isfinite(np.log(observed.inner_prior)).all()
    assert observed.inner_prior.sum() == pytest.approx(1)
    assert_allclose(make_observed(COUNTS[n_classes]).inner_prior,
                    make_observed(COUNTS[n_classes]).class_prior)  # fmt: skip


@both
def test_one_entry_per_bag_stands_for_all_its_rows(n_classes):
    rows = make_observed(COUNTS[n_classes])
    bags = Observed.of_bags(rows.ids, rows.proportions, rows.sizes, rows.classes)
    assert bags.sizes.tolist() == rows.sizes.tolist()
    assert (bags.n_rows, bags.n_bags) == (rows.n_rows, rows.n_bags)
    assert_allclose(bags.class_prior, rows.class_prior)
    assert_allclose(bags.counts.lower, rows.counts.lower)
    part = bags.take(np.array([0, 2]))
    assert part.sizes.tolist() == rows.sizes[[0, 2]].tolist()
    assert part.ids.tolist() == [0, 2]


@both
def test_weights_count_as_rows(n_classes):
    observed = make_observed(COUNTS[n_classes])
    weights = np.arange(1, observed.n_rows + 1)
    repeated = np.repeat(np.arange(observed.n_rows), weights)
    weighted = Observed(
        observed.classes, observed.ids, observed.row_bag, observed.proportions, weights=weights
    )
    longer = Observed(
        observed.classes, observed.ids, observed.row_bag[repeated], observed.proportions
    )
    assert weighted.sizes.tolist() == longer.sizes.tolist()
    assert weighted.n_rows == weights.sum()
    assert_allclose(weighted.class_prior, longer.class_prior)
    part = weighted.take(np.arange(4))
    assert part.weights.tolist() == [1, 2, 3, 4]
    assert part.n_rows == 10


class TestTake:
    @both
    def test_whole_bags_are_as_if_read_alone(self, n_classes):
        observed = make_observed(COUNTS[n_classes])
        rows = np.flatnonzero(observed.row_bag != 1)
        part = observed.take(rows)
        assert part.ids.tolist() == [0, 2]
        assert part.sizes.tolist() == observed.sizes[[0, 2]].tolist()
        assert_allclose(part.counts.lower, np.array(COUNTS[n_classes])[[0, 2]])
        assert_allclose(part.row_proportions, observed.row_proportions[rows])

    @both
    def test_a_part_of_a_bag_has_its_shares(self, n_classes):
        observed = make_observed(COUNTS[n_classes])
        rows = np.array([np.flatnonzero(observed.row_bag == 2)[0], 0])
        part = observed.take(rows)
        assert_allclose(part.row_proportions, observed.row_proportions[rows])
        assert part.n_rows == 2

    @both
    def test_reported_counts_are_in_proportion(self, n_classes):
        """8 of 10 rows are kept: 4 reported become 3.2, and the noise stays."""
        shares = [0.4] if n_classes == 2 else [[0.4, 0.5, 0.3]]
        observed = read_bags(np.repeat(shares, 10, axis=0), [0] * 10, count_noise=2.0)
        part = observed.take(np.arange(8))
        assert_allclose(part.counts.lower, 0.8 * observed.counts.lower)
        assert part.counts.noise == [GaussianNoise(2.0)]
        whole = observed.take(np.arange(10)[::-1])
        assert_allclose(whole.counts.lower, observed.counts.lower)

    def test_the_order_of_rows_is_kept(self):
        observed = read_bags([0.2, 0.1, 0.2, 0.7], ["b", "a", "b", "c"])
        part = observed.take(np.array([3, 0, 1]))
        assert part.ids[part.row_bag].tolist() == ["c", "b", "a"]


class TestFitArguments:
    @both
    def test_of_bags(self, n_classes):
        observed = make_observed(COUNTS[n_classes])
        y, arguments = observed.fit_arguments()
        again = read_observed(y, **arguments)
        assert_allclose(again.proportions, observed.proportions)
        assert again.row_bag.tolist() == observed.row_bag.tolist()

    @both
    def test_of_ranges(self, n_classes):
        low, high = [1, 2], [3, 4]
        if n_classes == 3:
            low = [[1, 0, 2], [2, 1, 0], [0, 3, 0]]
            high = [[2, 1, 3], [3, 2, 1], [1, 4, 1]]
        bags = np.repeat(np.arange(len(low)), 5)
        y, upper = (np.array(ends)[bags] / 5 for ends in (low, high))
        observed = read_bags(y, bags, upper=upper)
        y, arguments = observed.fit_arguments()
        again = read_bags(y, **arguments)
        assert again.counts.lower.tolist() == observed.counts.lower.tolist()
        assert again.counts.upper.tolist() == observed.counts.upper.tolist()

    def test_of_noisy_counts_are_the_reported_shares(self):
        observed = read_bags([1.25] * 4 + [0.5] * 2, [0] * 4 + [1] * 2, count_noise=2.0)
        y, arguments = observed.fit_arguments()
        assert y.tolist() == [1.25] * 4 + [0.5] * 2
        assert list(arguments) == ["bags"]
        again = read_bags(y, **arguments, count_noise=2.0)
        assert_allclose(again.counts.lower, observed.counts.lower)
