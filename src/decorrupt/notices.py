"""Warnings as data: training collects notices, and only a public `fit` emits them.

Training runs in the threads of searches and folds. Python's warning filters are shared by all
threads, so that `warnings.catch_warnings` cannot silence one of them; not to warn there can.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Notice:
    """A warning that is not emitted yet."""

    category: type[Warning]
    message: str


class QuietEstimator:
    """An estimator whose `_train` returns notices instead of warning.

    A public `fit` calls `_train`, which fits without warning and returns what to warn of, and then
    :func:`emit_notices`. Searches and folds call `_train` in threads.
    """

    _train: Callable[..., list[Notice]]

    def _note(self, category: type[Warning], message: str) -> None:
        self.__dict__.setdefault("_notices", []).append(Notice(category, message))

    def _take_notices(self) -> list[Notice]:
        """Return what was noted since the last call; a fitted model does not keep it."""
        notices: list[Notice] = self.__dict__.pop("_notices", [])
        return notices


def emit_notices(notices: Iterable[Notice], *, stacklevel: int = 3) -> None:
    """Warn of every distinct notice, by default at the caller of the `fit` that calls this."""
    for notice in dict.fromkeys(notices):
        warnings.warn(notice.message, notice.category, stacklevel=stacklevel)


def train_quietly(estimator: Any, X: Any, y: Any, **fit_params: Any) -> list[Notice]:
    """Fit the estimator; return what its `fit` would have warned of.

    A pipeline is fitted step by step, so that its last step gets `fit_params` without routing. An
    estimator from elsewhere has only its own `fit`, which warns as it does.
    """
    if isinstance(estimator, QuietEstimator):
        return estimator._train(X, y, **fit_params)
    if hasattr(estimator, "steps") and isinstance(estimator.steps[-1][1], QuietEstimator):
        *front, (_, last) = estimator.steps
        if front:
            head = estimator[:-1]
            X = head.fit_transform(X, y)
            estimator.steps[:-1] = head.steps  # clones, where the pipeline has a memory
        return train_quietly(last, X, y, **fit_params)
    estimator.fit(X, y, **fit_params)
    return []
