"""The default network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torch import nn


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
