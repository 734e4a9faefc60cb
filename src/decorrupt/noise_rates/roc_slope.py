"""Flip rates from the slopes of a smooth ROC curve, extrapolated to its two ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import norm

from decorrupt._typing import FloatArray

KNOT_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
# Prior: neighbouring slopes of the log-odds differ by a factor of about exp(1/√5) = 1.6. It is
# fixed, so that its influence decreases as rows are added.
SLOPE_PRECISION = 5.0
LARGEST_LOG_SLOPE = 6.0
SHARE_MARGIN = 1e-6
START_SHARE = 0.1  # share of the bins, at each end, assumed pure for the starting values
START_SLOPE = 2.0
MAX_STEPS = 200
MIN_GAIN = 1e-5  # of the log-likelihood per step: below it the rates no longer change


def roc_slope_flips(counts: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Return (ρ₊, ρ₋) per source, from the ends of the curve of :func:`fit_roc`."""
    bottom, top, _, _ = _split(fit_roc(counts, start), counts.shape[1])
    return np.column_stack([1 - top, bottom])


def fit_roc(counts: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Maximise Σ log P_i(ỹ|b), P_i(+|b) = ρ₋ + (1−ρ₊−ρ₋)·σ(g(b)), over rates and increasing g.

    g is piecewise linear in the class score of the rank (:func:`class_scores`). Its first and last
    pieces extrapolate beyond the data, to where rows would be pure. Only ranks are used, so any
    increasing transform of the score gives the same rates. Slopes are positive, and a fixed prior
    keeps neighbouring slopes similar. The maximum is found by damped Fisher scoring.

    Parameters
    ----------
    counts : ndarray of shape (n_bins, n_sources, 2)
        Number of rows per bin of the score in ascending order, source and noisy label (−, +).
    start : ndarray, optional
        Starting parameters, in the form returned.

    Returns
    -------
    ndarray
        P_i(+) at the lower end, P_i(+) at the upper end, g at the first knot, log-slopes.
    """
    basis = _linear_basis(len(counts))
    params = _start(counts, basis.shape[1]) if start is None else start
    loss, damping = _loss(params, counts, basis), 1e-3
    for _ in range(MAX_STEPS):
        gradient, fisher = _scoring(params, counts, basis)
        scale = np.diag(np.diag(fisher) + np.finfo(float).eps)
        tried = _clip_params(
            params - np.linalg.solve(fisher + damping * scale, gradient), counts.shape[1]
        )
        tried_loss = _loss(tried, counts, basis)
        if tried_loss > loss:
            damping *= 4
            if damping > 1 / MIN_GAIN:
                break
            continue
        gain, params, loss = loss - tried_loss, tried, tried_loss
        damping /= 5
        if gain < MIN_GAIN:
            break
    return params


def _split(params: FloatArray, n_sources: int) -> tuple[FloatArray, FloatArray, float, FloatArray]:
    bottom, top = params[:n_sources], params[n_sources : 2 * n_sources]
    return bottom, top, float(params[2 * n_sources]), params[2 * n_sources + 1 :]


def class_scores(ranks: ArrayLike) -> FloatArray:
    """Return F⁻¹(rank), F the equal mixture of N(−1, 1) and N(1, 1).

    On this scale the log-odds of two normal classes are nearly linear up to the ends of the range;
    on the scale of one normal distribution they are curved at the ends.
    """
    grid = np.linspace(-9.0, 9.0, 3601)
    cdf = (norm.cdf(grid - 1) + norm.cdf(grid + 1)) / 2
    return np.asarray(np.interp(np.asarray(ranks, dtype=float), cdf, grid))


def _linear_basis(n_bins: int) -> FloatArray:
    """Return the piecewise linear basis: the length of each piece below each bin's class score."""
    score = class_scores((np.arange(n_bins) + 0.5) / n_bins)
    knots = class_scores(KNOT_QUANTILES)
    first = np.minimum(score, knots[0]) - knots[0]
    between = [np.clip(score, *ends) - ends[0] for ends in pairwise(knots)]
    return np.column_stack([first, *between, np.maximum(score - knots[-1], 0)])


def _start(counts: FloatArray, n_pieces: int) -> FloatArray:
    n_end = max(1, int(START_SHARE * len(counts)))
    ends = [counts[:n_end].sum(axis=0), counts[-n_end:].sum(axis=0)]
    bottom, top = ((end[:, 1] + 1) / (end.sum(axis=1) + 2) for end in ends)
    first_knot = START_SLOPE * float(class_scores(KNOT_QUANTILES[0]))
    return np.concatenate([bottom, top, [first_knot], np.full(n_pieces, np.log(START_SLOPE))])


def _clip_params(params: FloatArray, n_sources: int) -> FloatArray:
    bottom, top, first_knot, log_slopes = _split(params, n_sources)
    return np.concatenate(
        [
            np.clip([*bottom, *top], SHARE_MARGIN, 1 - SHARE_MARGIN),
            [first_knot],
            np.clip(log_slopes, -LARGEST_LOG_SLOPE, LARGEST_LOG_SLOPE),
        ]
    )


def _posterior(first_knot: float, log_slopes: FloatArray, basis: FloatArray) -> FloatArray:
    return np.asarray(expit(first_knot + basis @ np.exp(log_slopes)))


def _loss(params: FloatArray, counts: FloatArray, basis: FloatArray) -> float:
    """Return the negative log-likelihood plus the negative log-prior of the slopes."""
    bottom, top, first_knot, log_slopes = _split(params, counts.shape[1])
    share = bottom + np.outer(_posterior(first_knot, log_slopes, basis), top - bottom)
    steps = np.diff(log_slopes)
    likelihood = np.sum(counts[..., 1] * np.log(share) + counts[..., 0] * np.log1p(-share))
    return float(SLOPE_PRECISION / 2 * steps @ steps - likelihood)


def _scoring(
    params: FloatArray, counts: FloatArray, basis: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the gradient of the loss, and the expected Hessian of the likelihood plus prior."""
    n_bins, n_sources, _ = counts.shape
    bottom, top, first_knot, log_slopes = _split(params, n_sources)
    posterior = _posterior(first_knot, log_slopes, basis)[:, None]
    share = bottom + posterior * (top - bottom)

    by_odds = posterior * (1 - posterior) * (top - bottom)
    by_shape = np.column_stack([np.ones(n_bins), basis * np.exp(log_slopes)])
    by_source = np.zeros((n_bins, n_sources, len(params)))
    own = np.arange(n_sources)
    by_source[:, own, own] = 1 - posterior
    by_source[:, own, n_sources + own] = posterior
    by_source[:, :, 2 * n_sources :] = by_odds[:, :, None] * by_shape[:, None, :]
    jacobian = by_source.reshape(n_bins * n_sources, len(params))

    rows = counts.sum(axis=2)
    precision = 1 / (share * (1 - share))
    gradient = jacobian.T @ (precision * (rows * share - counts[..., 1])).ravel()
    fisher = jacobian.T @ (jacobian * (precision * rows).reshape(-1, 1))

    differences = np.diff(np.eye(len(log_slopes)), axis=0)
    prior = SLOPE_PRECISION * differences.T @ differences
    gradient[2 * n_sources + 1 :] += prior @ log_slopes
    fisher[2 * n_sources + 1 :, 2 * n_sources + 1 :] += prior
    return gradient, fisher
