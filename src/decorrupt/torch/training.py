"""Training of networks: the default network, batches of whole bags, and the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Sampler

from decorrupt.estimators import check_value
from decorrupt.observed import factorize
from decorrupt.progress import track


class MLP(nn.Module):
    """A multi-layer perceptron: linear layers with ReLU between them.

    Parameters
    ----------
    n_columns, n_scores : int
        The numbers of inputs and of outputs.
    hidden : sequence of int, default=(128,)
        The units of each hidden layer; empty for a linear model.
    """

    def __init__(self, n_columns: int, n_scores: int, *, hidden: Sequence[int] = (128,)) -> None:
        super().__init__()
        sizes = [n_columns, *hidden]
        layers: list[Any] = []
        for n_inputs, n_units in pairwise(sizes):
            layers += [nn.Linear(n_inputs, n_units), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], n_scores))

    def forward(self, X: Any) -> Any:
        """Return the scores, shape (n_rows, n_scores)."""
        return self.layers(X)


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
        check_value("bags_per_batch", bags_per_batch, "count")
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


def train(
    network: Any,
    columns: Tensor,
    batch_loss: Callable[[Tensor, Sequence[int]], Tensor],
    *,
    batches: BagBatchSampler,
    optimizer: torch.optim.Optimizer,
    n_epochs: int,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Minimise Σ batch_loss(network(columns[rows]), rows) over the batches, in place.

    Parameters
    ----------
    network : torch.nn.Module
        Maps columns to scores. Afterwards, and for `is_over`, it is in evaluation mode.
    columns : Tensor of shape (n_rows, n_columns)
        The training rows, on the device of the network.
    batch_loss : callable
        The loss of a batch, from its scores and its row numbers.
    batches : BagBatchSampler
        The row numbers of each batch.
    optimizer : torch.optim.Optimizer
        Of the network's parameters.
    n_epochs : int
        The largest number of epochs.
    is_over : callable
        Called after each epoch: whether training stops.

    Raises
    ------
    ValueError
        If the loss is not finite.
    """
    for epoch in track(range(n_epochs), "epochs", n_epochs):
        network.train()
        for rows in batches:
            optimizer.zero_grad()
            loss = batch_loss(network(columns[rows]), rows)
            if not torch.isfinite(loss):
                raise ValueError(
                    f"the loss is {loss.item()} in epoch {epoch + 1}: lower lr, or scale what the "
                    "module returns"
                )
            loss.backward()
            optimizer.step()
        network.eval()
        if is_over():
            break
