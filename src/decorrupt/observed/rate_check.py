"""Test whether the noisy labels contradict the stated noise rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import kl_div
from scipy.stats import chi2

from decorrupt._typing import FloatArray
from decorrupt.observed.sources import NoisySources

# A warning has to be rare when the rates are right.
LEVEL = 1e-4
# Rates are rarely known better than this: a smaller difference of shares is not reported.
SMALLEST_DIFFERENCE = 0.02
# χ² is not the distribution of the statistic for smaller sources and counts.
FEWEST_ROWS, SMALLEST_EXPECTED = 50, 5.0
MAX_STEPS = 1000


def rate_notices(noisy: NoisySources) -> list[str]:
    """Return messages if noise rates are probably wrong.

    The shares of noisy labels in source s are T_sᵀπ, where π are the class shares. The test is the
    likelihood ratio of the observed shares and the best π: one for all sources, or one per source
    if `source_priors` are given, because those may be rough. It warns if χ² with (n_classes − 1)
    degrees of freedom per source rejects at the level 1e-4, and a share differs by 0.02 or more.
    Sources of fewer than 50 rows are not tested, and expected counts below 5 are taken as 5.

    A matrix whose rows are in another order gives the shares of a π in another order, so the
    labels do not contradict it. It is recognised by its diagonal: in another order of its rows,
    more labels would be right.
    """
    found = (_disorder(noisy), _contradiction(noisy))
    return [message for message in found if message is not None]


def _disorder(noisy: NoisySources) -> str | None:
    for source, matrix in zip(noisy.ids.tolist(), noisy.source_matrices, strict=True):
        classes, labels = linear_sum_assignment(matrix, maximize=True)
        if matrix[classes, labels].sum() > np.trace(matrix) + 1e-9:
            wrong = int(np.flatnonzero(classes != labels)[0])
            names = noisy.classes.tolist()
            return (
                f"noise_rates of source {source!r} seem to have their rows in another order: row "
                f"{wrong}, of class {names[wrong]!r}, looks like that of class "
                f"{names[labels[wrong]]!r}. Row y contains P(noisy label | true class y), and rows "
                f"and columns are in the sorted order of the classes, {names[:5]}"
            )
    return None


def _contradiction(noisy: NoisySources) -> str | None:
    counts = np.zeros((len(noisy.ids), noisy.n_classes))
    weights: Any = 1 if noisy.weights is None else noisy.weights
    np.add.at(counts, (noisy.row_source, noisy.noisy_class), weights)
    tested = np.flatnonzero(counts.sum(axis=1) >= FEWEST_ROWS)
    counts, matrices = counts[tested], noisy.source_matrices[tested]
    is_common = noisy.given_priors is None
    parts = [np.arange(len(tested))] if is_common else np.arange(len(tested))[:, None]
    expected, slack = np.zeros_like(counts), 0.0
    for part in parts if len(tested) else ():
        expected[part], own = _expected_counts(counts[part], matrices[part])
        slack += own
    statistics = 2 * _deviances(counts, expected).sum(axis=1)
    differences = np.abs(counts - expected).max(axis=1, initial=0) / counts.sum(axis=1)
    p_value = chi2.sf(statistics.sum() - slack, len(tested) * (noisy.n_classes - 1))
    if not (p_value < LEVEL and differences.max() >= SMALLEST_DIFFERENCE):
        return None
    worst = int(statistics.argmax())
    shares, stated = (
        ", ".join(f"{share:.2f}" for share in part[worst] / part[worst].sum())
        for part in (counts, expected)
    )
    priors = (
        "one class prior for all sources" if is_common and len(tested) > 1 else "any class prior"
    )
    return (
        f"the labels of source {noisy.ids.tolist()[tested[worst]]!r} contradict the noise_rates: "
        f"the shares of the labels {noisy.classes.tolist()[:5]} are {shares}, and the closest that "
        f"the rates allow with {priors} are {stated}. Check the rates and their order"
        + ("; if the sources have different class shares, give source_priors" * is_common)
    )


def _deviances(counts: FloatArray, expected: FloatArray) -> FloatArray:
    """Return N·log(N/E) − N + E, with E = 5 in place of smaller ones if N is larger, else 0."""
    floor = np.maximum(expected, SMALLEST_EXPECTED)
    is_small = (expected < SMALLEST_EXPECTED) & (counts < SMALLEST_EXPECTED)
    return np.where(is_small, 0.0, kl_div(counts, floor))


def _expected_counts(counts: FloatArray, matrices: FloatArray) -> tuple[FloatArray, float]:
    """Return the counts that the most likely π predicts, and a bound on what it can still gain.

    π is found by EM; 2n·(max gradient − 1) bounds the rest of the likelihood ratio, because the
    likelihood is concave. Subtracted from the statistic, it makes an early stop harmless.
    """
    n_rows, sizes = counts.sum(), counts.sum(axis=1, keepdims=True)
    prior = np.full(counts.shape[1], 1 / counts.shape[1])
    for _ in range(MAX_STEPS):
        shares = np.einsum("c,scl->sl", prior, matrices)
        gradient = np.einsum("scl,sl->c", matrices, counts / np.maximum(shares, 1e-300)) / n_rows
        slack = 2 * n_rows * float(gradient.max() - 1)
        if slack < 0.1:
            break
        prior = prior * gradient
    return sizes * shares, slack
