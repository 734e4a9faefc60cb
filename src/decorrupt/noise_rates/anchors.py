"""Noise rates from anchors: rows whose noisy labels are the most certain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from decorrupt._typing import FloatArray
from decorrupt.noise_rates.scores import Split, candidates, out_of_fold_score
from decorrupt.observed import NoisySources
from decorrupt.progress import track

# Of the rows of a source that would carry the label: fewer anchors are purer, but vary more.
ANCHOR_SHARE = 0.2
MIN_ANCHORS = 10


def extreme_flips(
    X: Any,
    noisy: NoisySources,
    estimator: Any,
    splits: list[Split],
    n_bootstrap: int,
    rng: np.random.RandomState,
) -> tuple[FloatArray, FloatArray]:
    """Return ρ₊ = 1 − max P̂(Ỹ=1|x) and ρ₋ = min P̂(Ỹ=1|x) of each source, and resamples.

    P̂ are out-of-fold probabilities of a model of the source's own rows.
    """
    _check_has_probabilities(estimator)
    own_splits = [
        (train[noisy.row_source[train] == k], test[noisy.row_source[test] == k])
        for k in range(len(noisy.ids))
        for train, test in splits
    ]
    shares = out_of_fold_score(estimator, X, noisy, own_splits)
    by_source = [shares[noisy.row_source == k] for k in range(len(noisy.ids))]

    def extremes(samples: list[FloatArray]) -> FloatArray:
        return np.array([(1 - sample.max(), sample.min()) for sample in samples])

    draws = [
        extremes([rng.choice(sample, len(sample)) for sample in by_source])
        for _ in range(n_bootstrap)
    ]
    return extremes(by_source), np.array(draws)


def _check_has_probabilities(estimator: Any) -> None:
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"method='anchor' needs an estimator with predict_proba; {estimator!r} has none"
        )


def noisy_label_probabilities(
    X: Any, noisy: NoisySources, estimator: Any, splits: list[Split], random_state: Any
) -> FloatArray:
    """Return out-of-fold P̂(Ỹ=c|x) of a model trained on all sources' labels together.

    Without an estimator, the better of a linear and a boosted model by out-of-fold log loss.
    """
    X, models = candidates(X, estimator, random_state)
    for model in models:
        _check_has_probabilities(model)
    found = [
        cross_val_predict(one, X, noisy.noisy_class, cv=splits, method="predict_proba")
        for one in track(models, "fitting models of the noisy labels", len(models))
    ]
    return np.asarray(min(found, key=lambda shares: log_loss(noisy.noisy_class, shares)))


def anchor_rows(probabilities: FloatArray, noisy: NoisySources) -> list[list[NDArray[np.intp]]]:
    """Return the anchor rows of every source and class: those with the highest P̂(Ỹ=c|x)."""
    label_shares = np.bincount(noisy.noisy_class, minlength=noisy.n_classes) / len(probabilities)
    anchors = []
    for source in range(len(noisy.ids)):
        own = np.flatnonzero(noisy.row_source == source)
        sizes = np.ceil(ANCHOR_SHARE * label_shares * len(own)).astype(int)
        sizes = np.clip(sizes, min(MIN_ANCHORS, len(own)), len(own))
        order = np.argsort(-probabilities[own], axis=0, kind="stable")
        anchors.append([own[order[: sizes[c], c]] for c in range(noisy.n_classes)])
    return anchors


def anchor_matrices(
    anchors: list[list[NDArray[np.intp]]],
    noisy: NoisySources,
    n_bootstrap: int,
    rng: np.random.RandomState,
) -> tuple[FloatArray, FloatArray]:
    """Return T̂_s[c, ·] = the label shares among source s's anchors of class c, and resamples.

    The labels of the anchors were not used to choose them, so that their shares are unbiased for
    the mean of P(Ỹ|x) over the anchors. Resamples draw labels again, for the same anchors.
    """
    counts = np.array(
        [
            [np.bincount(noisy.noisy_class[rows], minlength=noisy.n_classes) for rows in by_class]
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
