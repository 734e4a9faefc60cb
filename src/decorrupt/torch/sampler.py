"""Batches of whole bags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch.utils.data import Sampler

from decorrupt.estimators import check_count
from decorrupt.observed import factorize


class BagBatchSampler(Sampler):
    """Rows of `bags_per_batch` whole bags per batch, in a new random order in every epoch.

    For ``DataLoader(dataset, batch_sampler=sampler)``, or to be iterated itself. The order depends
    only on the seed and on the number of the epoch. The last batch of an epoch can be smaller.

    Parameters
    ----------
    bags : array-like of shape (n_rows,)
        The bag of each row; any hashable ids.
    bags_per_batch : int, default=32
        Bags in a batch.
    seed : int, default=0
        Seed of the order of the bags. The rows of a bag keep their order.

    Attributes
    ----------
    epoch : int
        The number of the next epoch; setting it repeats that epoch.

    Examples
    --------
    >>> from decorrupt.torch import BagBatchSampler
    >>> list(BagBatchSampler(["a", "b", "a", "c"], bags_per_batch=2))
    [[3, 0, 2], [1]]
    """

    def __init__(self, bags: Any, bags_per_batch: int = 32, *, seed: int = 0) -> None:
        check_count("bags_per_batch", bags_per_batch)
        ids, codes = factorize(bags, "bags")
        self.bags_per_batch = bags_per_batch
        self.seed = seed
        self.epoch = 0
        by_bag = np.argsort(codes, kind="stable")
        self._rows = np.split(by_bag, np.cumsum(np.bincount(codes))[:-1])
        self._n_bags = len(ids)

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the rows of each batch of the next epoch."""
        order = np.random.default_rng([self.seed, self.epoch]).permutation(self._n_bags)
        self.epoch += 1
        for first in range(0, self._n_bags, self.bags_per_batch):
            batch = order[first : first + self.bags_per_batch]
            yield np.concatenate([self._rows[bag] for bag in batch]).tolist()

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-self._n_bags // self.bags_per_batch)
