"""The interface of a risk: value, slope and curvature as functions of the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from decorrupt._typing import FloatArray

Operator = Callable[[FloatArray], FloatArray]


class ScoreRisk(Protocol):
    """A smooth function of the scores: one per row, or one per row and class."""

    @property
    def is_convex(self) -> bool:
        """Whether it is known to be convex in the scores."""

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the Hessian in the scores, as an operator on vectors or on columns."""
