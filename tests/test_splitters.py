"""Folds of bags: disjoint, covering, balanced."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from decorrupt import BagKFold, CorrectedLossClassifier
from decorrupt.model_selection import WithinBagKFold

BAG_SIZES = st.lists(st.integers(1, 9), min_size=5, max_size=40)


def rows_of(sizes, seed):
    rng = np.random.default_rng(seed)
    bags = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return bags, rng.random(len(sizes))[bags]


@given(BAG_SIZES, st.integers(2, 5), st.booleans(), st.booleans(), st.integers(0, 99))
def test_bag_folds_are_disjoint_cover_all_rows_and_keep_bags_whole(
    sizes, n_splits, shuffle, has_shares, seed
):
    bags, y = rows_of(sizes, seed)
    splitter = BagKFold(n_splits, shuffle=shuffle, random_state=seed)
    folds = list(splitter.split(bags, y if has_shares else None, bags=bags))
    assert len(folds) == n_splits == splitter.get_n_splits()
    held_out = np.concatenate([test for _, test in folds])
    assert sorted(held_out) == list(range(len(bags)))
    for train, test in folds:
        assert set(bags[train]).isdisjoint(bags[test])
        assert sorted(np.concatenate([train, test])) == list(range(len(bags)))


@given(BAG_SIZES, st.integers(2, 5), st.booleans(), st.integers(0, 99))
def test_within_bag_folds_are_disjoint_cover_all_rows_and_cut_every_bag(
    sizes, n_splits, shuffle, seed
):
    bags, _ = rows_of(sizes, seed)
    folds = list(
        WithinBagKFold(n_splits, shuffle=shuffle, random_state=seed).split(bags, bags=bags)
    )
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(bags)))
    lengths = [len(test) for _, test in folds]
    assert max(lengths) - min(lengths) <= 1
    for bag, size in enumerate(sizes):
        parts = [(bags[test] == bag).sum() for _, test in folds]
        assert max(parts) - min(parts) <= 1, (bag, size)


def test_folds_are_balanced_in_rows_and_spread_over_proportions():
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 60, 100)
    bags = np.repeat(np.arange(100), sizes)
    proportions = rng.random(100)
    folds = list(BagKFold(5).split(bags, proportions[bags], bags=bags))
    rows = np.array([len(test) for _, test in folds])
    assert rows.max() - rows.min() <= sizes.max()
    for _, test in folds:
        held_out = proportions[np.unique(bags[test])]
        # Each fold has one bag of every five in order, so its quartiles are the population's.
        np.testing.assert_allclose(
            np.quantile(held_out, [0.25, 0.5, 0.75]),
            np.quantile(proportions, [0.25, 0.5, 0.75]),
            atol=0.06,
        )


def test_shuffle_is_reproducible_and_matters():
    bags, y = np.repeat(np.arange(20), 3), np.full(60, 0.5)

    def first(seed):
        return next(BagKFold(4, shuffle=True, random_state=seed).split(bags, y, bags=bags))[1]

    np.testing.assert_array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))


@pytest.mark.parametrize(
    ("splitter", "arguments", "message"),
    [
        (BagKFold(5), {"bags": [0, 0, 1, 1]}, "cannot make 5 folds of 2 bags"),
        (BagKFold(1), {"bags": [0, 0, 1, 1]}, "n_splits=1 must be a whole number, at least 2"),
        (BagKFold(2), {}, "BagKFold needs bags="),
        (WithinBagKFold(5), {"bags": [0, 0, 1, 1]}, "cannot make 5 folds of 4 rows"),
    ],
)
def test_messages(splitter, arguments, message):
    with pytest.raises(ValueError, match=message):
        list(splitter.split(np.zeros((4, 1)), **arguments))


def test_without_routing_scikit_learn_passes_groups(bag_data):
    scores = cross_val_score(
        CorrectedLossClassifier(reg_strength=0.02),
        bag_data.X,
        bag_data.labels,
        groups=bag_data.bags,
        cv=BagKFold(3),
    )
    assert scores.min() > 0.8
