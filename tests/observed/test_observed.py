"""Observed: its constructors, sizes, shares, weights and parts, and the arguments of `fit`."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from decorrupt.observed import (
    GaussianNoise,
    Observed,
    as_observed,
    describe_impossible,
    read_labels,
)
from oracles.counts import make_observed

COUNTS = {2: [[2, 1], [0, 4], [6, 1]], 3: [[2, 1, 0], [0, 2, 2], [1, 0, 5]]}
RATES = {"nurse": (0.05, 0.2), "rule": (0.4, 0.1)}
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
    assert_allclose(observed.row_proportions, (counts / counts.sum(1)[:, None])[observed.row_bag])


@both
def test_the_inner_prior_has_finite_log_odds(n_classes):
    observed = make_observed([[5, *[0] * (n_classes - 1)]] * 2)
    assert observed.class_prior.tolist() == [1, *[0] * (n_classes - 1)]
    assert np.isfinite(np.log(observed.inner_prior)).all()
    assert observed.inner_prior.sum() == pytest.approx(1)
    inside = make_observed(COUNTS[n_classes])
    assert_allclose(inside.inner_prior, inside.class_prior)


@both
def test_one_entry_per_bag_stands_for_all_its_rows(n_classes):
    rows = make_observed(COUNTS[n_classes])
    bags = Observed(rows.classes, rows.ids, np.arange(3), rows.proportions, weights=rows.sizes)
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
    y, bags = observed.row_proportions, observed.row_bag
    weights = np.arange(1, observed.n_rows + 1)
    repeated = np.repeat(np.arange(observed.n_rows), weights)
    weighted = Observed.from_bags(y, bags, sample_weight=weights)
    longer = Observed.from_bags(y[repeated], bags[repeated])
    assert weighted.sizes.tolist() == longer.sizes.tolist()
    assert weighted.n_rows == weights.sum()
    assert_allclose(weighted.class_prior, longer.class_prior)
    part = weighted.take(np.arange(4))
    assert part.weights.tolist() == [1, 2, 3, 4]
    assert part.n_rows == 10
    rows, single = weighted.single_rows(1000, 0)
    assert rows.tolist() == repeated.tolist()
    assert_allclose(single.counts.lower, longer.counts.lower)


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
        assert not part.is_part.any()

    @both
    def test_a_part_of_a_bag_has_its_shares(self, n_classes):
        observed = make_observed(COUNTS[n_classes])
        rows = np.array([np.flatnonzero(observed.row_bag == 2)[0], 0])
        part = observed.take(rows)
        assert_allclose(part.row_proportions, observed.row_proportions[rows])
        assert part.n_rows == 2
        assert part.is_part.all()
        assert part.take(np.array([0])).is_part.all(), "a part stays one"

    def test_exact_counts_that_are_cut_are_ranges_in_proportion(self):
        observed = Observed.from_bags(np.repeat([0.25, 0.5], [8, 4]), np.repeat([0, 1], [8, 4]))
        part = observed.take(np.array([0, 1, 2, 3, 4, 5, 8]))
        assert part.counts.lower[:, 1].tolist() == [1, 0]  # 1.5 of 6 rows, 0.5 of 1
        assert part.counts.upper[:, 1].tolist() == [2, 1]
        assert describe_impossible(part) == "", "the user's shares are possible"

    @both
    def test_reported_counts_are_in_proportion(self, n_classes):
        """8 of 10 rows are kept: 4 reported become 3.2, and the noise stays."""
        shares = [0.4] if n_classes == 2 else [[0.4, 0.5, 0.3]]
        observed = Observed.from_bags(np.repeat(shares, 10, axis=0), [0] * 10, count_noise=2.0)
        part = observed.take(np.arange(8))
        assert_allclose(part.counts.lower, 0.8 * observed.counts.lower)
        assert part.counts.noise == [GaussianNoise(2.0)]
        whole = observed.take(np.arange(10)[::-1])
        assert_allclose(whole.counts.lower, observed.counts.lower)

    def test_the_order_of_rows_is_kept(self):
        observed = Observed.from_bags([0.2, 0.1, 0.2, 0.7], ["b", "a", "b", "c"])
        part = observed.take(np.array([3, 0, 1]))
        assert part.ids[part.row_bag].tolist() == ["c", "b", "a"]


class TestLabels:
    @pytest.mark.parametrize("labels", [[0, 1, 1], [0, 2, 1, 1, 2], [1, -1, -1, 1, 1]])
    def test_are_bags_of_one_row(self, labels):
        classes, codes = np.unique(labels, return_inverse=True)
        observed = Observed.from_labels(labels)
        assert observed.sizes.tolist() == [1] * len(labels)
        assert observed.classes.tolist() == classes.tolist()
        assert observed.row_proportions.tolist() == np.eye(len(classes))[codes].tolist()

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0.2, 0.7], r"Unknown label type: continuous.*pass bags="),
            ([[0.2, 0.8], [0.5, 0.5]], r"y should be a 1d array.*shape \(2, 2\).*pass bags="),
            (["yes", "yes"], r"y has only one class, \['yes'\]"),
        ],
    )
    def test_what_is_no_label(self, labels, message):
        with pytest.raises(ValueError, match=message):
            read_labels(labels)


# Rows of two bags, two sources, and one row of which nothing is known.
MIXED = {
    "y": [0.5, 0.5, 1, 0, 1 / 3, 1 / 3, 1 / 3, 1, np.nan],
    "bags": ["a", "a", None, None, "b", "b", "b", None, None],
    "sources": [None, None, "nurse", "rule", None, None, None, "rule", None],
    "noise_rates": RATES,
}


class TestMixed:
    def test_bags_sources_and_unlabelled_rows_in_one(self):
        observed = Observed.from_bags(**MIXED)
        assert observed.ids.tolist() == ["a", "b", *[("row", row) for row in (2, 3, 7, 8)]]
        assert observed.row_bag.tolist() == [0, 0, 2, 3, 1, 1, 1, 4, 5]
        assert observed.sizes.tolist() == [2, 3, 1, 1, 1, 1]
        assert_allclose(observed.counts.lower, [[1, 1], [2, 1], *[[0, 0]] * 4])
        assert_allclose(observed.counts.upper, [[1, 1], [2, 1], *[[1, 1]] * 4])
        assert_allclose(observed.given[[2, 3, 7]], [[0.2, 0.95], [0.9, 0.4], [0.1, 0.6]])
        assert_allclose(observed.given[[0, 1, 4, 5, 6, 8]], 1)
        assert not observed.is_inexact
        assert not observed.is_of_sources
        part = observed.take(np.array([2, 4, 5, 6, 8]))
        assert_allclose(part.given, observed.given[[2, 4, 5, 6, 8]])
        assert_allclose(part.counts.lower, [[2, 1], [0, 0], [0, 0]])

    def test_noise_of_class_counts_reaches_the_bags_next_to_sources(self):
        y = np.array([[0.5, 0.25, 0.25]] * 4 + [[0.0, 0.5, 0.5]] * 4 + [[1.0, 0, 0]])
        observed = Observed.from_bags(
            y,
            ["a"] * 4 + ["b"] * 4 + [None],
            sources=[None] * 8 + ["s"],
            noise_rates={"s": 0.7 * np.eye(3) + 0.1},
            count_noise={"a": GaussianNoise(2.0), "b": None},
        )
        assert list(observed.counts.noise) == [GaussianNoise(2.0), None, None]
        assert_allclose(observed.given[8], [0.8, 0.1, 0.1])

    @both
    def test_sources_without_a_row_change_nothing(self, n_classes):
        y = np.repeat([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]], 2, axis=0)
        y = y if n_classes == 3 else y[:, 0]
        alone = as_observed(y, bags=[0, 0, 1, 1, 2, 2])
        mixed = as_observed(y, bags=[0, 0, 1, 1, 2, 2], sources=[None] * 6, noise_rates={})
        assert_allclose(mixed.proportions, alone.proportions)
        assert_allclose(mixed.counts.lower, alone.counts.lower)
        assert_allclose(mixed.given, 1)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"sources": ["x"] * 9}, r"row 0 has a bag and a source"),
            ({"sources": None}, r"noise_rates need sources="),
            ({"y": [0.5, 0.5, 0.4, *MIXED["y"][3:]]}, r"y\[2\] = 0\.4 of a source is not"),
            ({"bags": [None] * 9}, r"bags contain no id"),
            ({"noise_rates": {"nurse": (0.1, 0.1)}}, r"no entry for source 'rule'"),
        ],
    )
    def test_bad_mixtures(self, change, message):
        with pytest.raises(ValueError, match=message):
            as_observed(**MIXED | change)


class TestWeightless:
    """Rows of weight 0 stay as bags of which nothing is known; their labels are not read."""

    W = np.array([1, 0, 2, 1, 1])
    ARGUMENTS = (
        {"y": [0.5, np.nan, 0.5, 0.0, 0.0], "bags": ["a", None, "a", "b", "b"]},
        {"y": np.array([0, 7, 1, 1, 0])},
        {"y": [0, 7, 1, 1, 0], "sources": ["s", "t", "s", "s", "s"], "noise_rates": {"s": (0, 0)}},
    )

    @pytest.mark.parametrize("arguments", ARGUMENTS, ids=["bags", "labels", "sources"])
    @pytest.mark.parametrize("weights", [W, 0.5 * W], ids=["whole", "fractional"])
    def test_used_rows_are_as_if_read_alone(self, arguments, weights):
        if "bags" in arguments:
            weights = np.ceil(weights)
        observed = as_observed(**arguments, sample_weight=weights)
        rows = np.array([0, 2, 3, 4])
        assert len(observed) == 5
        assert observed.used_rows.tolist() == rows.tolist()
        by_row = {
            name: values if isinstance(values, dict) else [values[row] for row in rows]
            for name, values in arguments.items()
        }
        alone = as_observed(**by_row, sample_weight=weights[rows])
        X, used = observed.used(np.arange(5))
        assert X.tolist() == rows.tolist()
        assert used.classes.tolist() == alone.classes.tolist()
        assert used.row_bag.tolist() == alone.row_bag.tolist()
        assert (used.weights is None) == (alone.weights is None)
        for name in ("proportions", "sizes", "class_prior"):
            assert_allclose(getattr(used, name), getattr(alone, name))
        assert_allclose(observed.class_prior, alone.class_prior)
        assert_allclose(used.counts.upper, alone.counts.upper)
        assert not used.is_part.any()


class TestAsObserved:
    def test_what_is_read(self):
        assert as_observed(["x", "y", "y"]).sizes.tolist() == [1, 1, 1]
        bags = as_observed([0.5, 0.5, 1.0], bags=["a", "a", "b"])
        assert bags.proportions.tolist() == [[0.5, 0.5], [0, 1]]
        frame = pd.DataFrame([[0.2, 0.8], [1, 0]], columns=["no", "yes"])
        assert as_observed(frame, bags=[0, 1]).classes.tolist() == ["no", "yes"]
        noisy = as_observed([1, 0, 1], sources=["nurse", "rule", "rule"], noise_rates=RATES)
        assert noisy.sources.ids.tolist() == ["nurse", "rule"]
        assert_allclose(noisy.given, [[0.2, 0.95], [0.9, 0.4], [0.1, 0.6]])

    def test_an_observed_stays_and_takes_no_other_arguments(self):
        observed = make_observed(COUNTS[2])
        assert as_observed(observed) is observed
        names = ["bags", "upper", "sources", "noise_rates", "source_priors", "sample_weight"]
        for name in [*names, "count_noise"]:
            with pytest.raises(ValueError, match=f"{name} belongs to the Observed"):
                as_observed(observed, **{name: 1})

    def test_labels_have_no_noise(self):
        assert not as_observed([0, 1], count_noise=2.0).is_inexact

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
    def test_bad_input(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            as_observed(**arguments)


def test_the_methods_of_sources_need_a_source_for_every_row():
    with pytest.raises(ValueError, match="this method needs noisy labels of sources"):
        Observed.from_bags(**MIXED).only_sources()
    with pytest.raises(ValueError, match="this method needs noisy labels of sources"):
        Observed.from_labels([0, 1]).only_sources()
