"""Noise between several classes from noisy labels alone: the labels of anchor rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_array

from decorrupt._typing import FloatArray
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.noise_rates.scores import Split, default_estimators

# Of the rows of a source that would carry the label: fewer anchors are purer, but vary more.
ANCHOR_SHARE = 0.2
MIN_ANCHORS = 10


def noisy_class_probabilities(
    X: Any, noisy: ClassSources, estimator: Any, splits: list[Split], random_state: Any
) -> FloatArray:
    """Return out-of-fold P̂(Ỹ=c|x) of a model trained on all sources' labels together.

    Without an estimator, the better of a linear and a boosted model by out-of-fold log loss.
    """
    if estimator is None:
        X, candidates = check_array(X, accept_sparse="csr"), default_estimators(X, random_state)
    else:
        candidates = [estimator]
    if not hasattr(candidates[0], "predict_proba"):
        raise ValueError(
            f"method='anchor' needs an estimator with predict_proba; {estimator!r} has none"
        )
    found = [
        cross_val_predict(one, X, noisy.noisy_class, cv=splits, method="predict_proba")
        for one in candidates
    ]
    return np.asarray(min(found, key=lambda shares: log_loss(noisy.noisy_class, shares)))


def anchor_rows(probabilities: FloatArray, noisy: ClassSources) -> list[list[NDArray[np.intp]]]:
    """Return the anchor rows of every source and class: those with the highest P̂(Ỹ=c|x)."""
    label_shares = np.bincount(noisy.noisy_class, minlength=len(noisy.classes)) / len(probabilities)
    anchors = []
    for source in range(len(noisy.ids)):
        own = np.flatnonzero(noisy.row_source == source)
        sizes = np.ceil(ANCHOR_SHARE * label_shares * len(own)).astype(int)
        sizes = np.clip(sizes, min(MIN_ANCHORS, len(own)), len(own))
        order = np.argsort(-probabilities[own], axis=0, kind="stable")
        anchors.append([own[order[: sizes[c], c]] for c in range(len(noisy.classes))])
    return anchors


def anchor_matrices(
    anchors: list[list[NDArray[np.intp]]],
    noisy: ClassSources,
    n_bootstrap: int,
    rng: np.random.RandomState,
) -> tuple[FloatArray, FloatArray]:
    """Return T̂_s[c, ·] = the label shares among source s's anchors of class c, and resamples.

    The labels of the anchors were not used to choose them, so that their shares are unbiased for
    the mean of P(Ỹ|x) over the anchors. Resamples draw labels again, for the same anchors.
    """
    n_classes = len(noisy.classes)
    counts = np.array(
        [
            [np.bincount(noisy.noisy_class[rows], minlength=n_classes) for rows in by_class]
            for by_class in anchors
        ]
    )
    sizes = counts.sum(axis=2, keepdims=True)
    rates = counts / sizes
    draws = np.empty((n_bootstrap, *counts.shape))
    for source, label in np.ndindex(counts.shape[:2]):
        drawn = rng.multinomial(sizes[source, label, 0], rates[source, label], n_bootstrap)
        draws[:, source, label] = drawn / sizes[source, label, 0]
    return rates, draws
