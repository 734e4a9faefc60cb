"""The training loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from decorrupt.progress import track
from decorrupt.torch.sampler import BagBatchSampler


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
