"""Warnings as data: training collects notices, and only a public `fit` emits them.

Searches and folds train in threads. Python's warning filters are shared by all threads, so
`warnings.catch_warnings` cannot silence a single thread. Therefore training code does not warn.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Notice:
    """A warning that is not emitted yet."""

    category: type[Warning]
    message: str


class QuietEstimator:
    """An estimator whose `train` returns notices instead of warning.

    A public `fit` calls `train`, which fits without warnings and returns notices, and then
    :func:`emit_notices`. Searches and folds call `train` in threads.
    """

    @abstractmethod
    def train(self, X: Any, y: Any, *args: Any, **fit_params: Any) -> list[Notice]:
        """Fit as `fit` does, and return the warnings instead of emitting them."""

    def _note(self, category: type[Warning], message: str) -> None:
        self.__dict__.setdefault("_notices", []).append(Notice(category, message))

    def _take_notices(self) -> list[Notice]:
        """Return and remove the notices collected since the last call."""
        notices: list[Notice] = self.__dict__.pop("_notices", [])
        return notices


def notices_of(estimator: QuietEstimator) -> list[Notice]:
    """Return and remove the notices that an estimator has collected, for a fit by another class."""
    return estimator._take_notices()


def emit_notices(notices: Iterable[Notice], *, stacklevel: int = 3) -> None:
    """Emit every distinct notice as a warning, by default at the caller of the calling `fit`."""
    for notice in dict.fromkeys(notices):
        warnings.warn(notice.message, notice.category, stacklevel=stacklevel)


def train_quietly(estimator: Any, X: Any, y: Any, **fit_params: Any) -> list[Notice]:
    """Fit the estimator without warnings; return them as notices.

    A pipeline is fitted step by step, so that its last step gets `fit_params` without routing. An
    estimator of another library has no `train`; its `fit` may warn.
    """
    if isinstance(estimator, QuietEstimator):
        return estimator.train(X, y, **fit_params)
    if hasattr(estimator, "steps") and isinstance(estimator.steps[-1][1], QuietEstimator):
        *front, (_, last) = estimator.steps
        if front:
            head = estimator[:-1]
            X = head.fit_transform(X, y)
            estimator.steps[:-1] = head.steps  # a pipeline with memory fits clones
        return train_quietly(last, X, y, **fit_params)
    estimator.fit(X, y, **fit_params)
    return []
