"""Warning classes, one per condition that a user may want to filter, and `quiet` around members."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = [
    "BagAssumptionWarning",
    "ContradictedRatesWarning",
    "DroppedBagsWarning",
    "InexactPairingWarning",
    "NegativeRiskWarning",
    "NonConvexRiskWarning",
    "OneClassWarning",
    "RoundedCountsWarning",
    "SkippedFoldWarning",
    "UninformativeRatesWarning",
    "UnscaledColumnsWarning",
    "WeakEvidenceWarning",
]


class NonConvexRiskWarning(UserWarning):
    """The objective is not convex, and the solver did not stop at a minimum."""


class NegativeRiskWarning(UserWarning):
    """The corrected training risk is below zero by more than noise explains: overfitting."""


class OneClassWarning(UserWarning):
    """The fitted model predicts the same class for all training rows, which contain two."""


class DroppedBagsWarning(UserWarning):
    """Some bags have no weight in the risk, so their rows were not used."""


class SkippedFoldWarning(UserWarning):
    """The held-out bags of a fold have equal proportions: a criterion is not computable there."""


class RoundedCountsWarning(UserWarning):
    """Some proportions are not possible with their bag's number of rows, even if rounded."""


class InexactPairingWarning(UserWarning):
    """More than 1,000 bags of unequal size are paired near the optimum, not at it."""


class UninformativeRatesWarning(UserWarning):
    """Noise rates may sum to 1, where labels contain no information about the class."""


class BagAssumptionWarning(UserWarning):
    """The bags differ in a way that the method assumes they do not, by a test at the 1 % level."""


class WeakEvidenceWarning(UserWarning):
    """The interval of the estimated accuracy contains that of guessing."""


class ContradictedRatesWarning(UserWarning):
    """The noisy labels contradict the stated noise rates, or a matrix has its rows in disorder."""


class UnscaledColumnsWarning(UserWarning):
    """Distances between rows hardly depend on most columns, and the kernel depends on distances."""


PACKAGE = os.path.dirname(__file__)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Emit a warning at the line that called the package, however deep in it this is called."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_LOCK = threading.Lock()
_depth = 0


@contextmanager
def quiet() -> Iterator[list[warnings.WarningMessage]]:
    """Record the warnings of the members of a search or an average instead of showing them.

    Python's filters are shared by all threads, so it is entered around the members, not in each:
    inside another `quiet` it does nothing. Checks that would only warn are skipped.
    """
    global _depth
    with _LOCK:
        _depth += 1
        is_outermost = _depth == 1
    try:
        if is_outermost:
            with warnings.catch_warnings(record=True) as recorded:
                warnings.simplefilter("always")
                yield recorded
        else:
            yield []
    finally:
        with _LOCK:
            _depth -= 1


def is_quiet() -> bool:
    """Return whether warnings are recorded by `quiet`."""
    return _depth > 0


def warn_again(recorded: Iterable[warnings.WarningMessage], *categories: type[Warning]) -> None:
    """Emit every distinct recorded warning of some categories, at the caller of `fit`."""
    for message, category in dict.fromkeys((str(one.message), one.category) for one in recorded):
        if issubclass(category, categories):
            warn(message, category)
