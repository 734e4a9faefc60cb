"""Batches of whole bags: complete, shuffled, and the same for the same seed."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from decorrupt.torch import BagBatchSampler

BAGS = np.random.default_rng(0).integers(0, 10, 60)


def test_batches_contain_every_bag_once_and_whole():
    sampler = BagBatchSampler(BAGS, 3)
    batches = list(sampler)
    assert len(batches) == len(sampler) == 4
    assert sorted(row for batch in batches for row in batch) == list(range(60))
    found = [set(BAGS[batch]) for batch in batches]
    assert [len(bags) for bags in found] == [3, 3, 3, 1]
    assert len(set.union(*found)) == 10


def test_epochs_differ_and_repeat_with_the_seed():
    one, two = BagBatchSampler(BAGS, 3, seed=1), BagBatchSampler(BAGS, 3, seed=1)
    first, second = list(one), list(one)
    assert first != second
    assert [list(two), list(two)] == [first, second]
    two.epoch = 1
    assert list(two) == second
    assert list(BagBatchSampler(BAGS, 3, seed=2)) != first


def test_a_data_loader_takes_it():
    rows = torch.arange(60)
    loader = DataLoader(TensorDataset(rows), batch_sampler=BagBatchSampler(BAGS, 4, seed=5))
    assert [batch.tolist() for (batch,) in loader] == list(BagBatchSampler(BAGS, 4, seed=5))


def test_any_ids_and_refusals():
    ids = [("ward", int(bag)) for bag in BAGS]
    assert len(list(BagBatchSampler(ids, 5))) == 2
    with pytest.raises(ValueError, match=r"bags_per_batch=0"):
        BagBatchSampler(BAGS, 0)
    with pytest.raises(ValueError, match=r"bags has no id in row 1"):
        BagBatchSampler(["a", None])
