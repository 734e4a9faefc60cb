"""Draws of P(y|x) from the posterior of a count model on low-rank features.

The model is P(Y=c|x) = softmax(Zθ)_c with θ ~ N(0, s²) on features of mean squared length 1, and a
flat intercept. Prior variances and bag effects are weighted by their evidence (Laplace
approximation); elliptical slice sampling then corrects the normal approximation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from decorrupt._typing import FloatArray
from decorrupt.model_selection.draw_likelihoods import Likelihood
from decorrupt.progress import track

# Prior variances of the log-odds, each as probable as the others.
PRIOR_VARIANCES = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
# Standard deviations of what the bags add to their shares, and of its normal prior.
BAG_EFFECTS = (0.0, 0.04, 0.1, 0.2)
BAG_EFFECT_SCALE = 0.06
N_NEWTON_STEPS = 8
N_HALVINGS = 5
# Of the sampler. Its chains start at the mode: draws of the normal approximation, which is too wide
# where classes are nearly separable, need far more steps. Few large bags need the most.
N_CHAINS, N_KEPT = 40, 3
N_SLICE_STEPS, STEPS_APART = 32, 8
N_SHRINKS = 10
RIDGE = 1e-8
# Modes whose log-evidence is lower than the best by more have no noticeable weight.
NEGLIGIBLE = 6.0
# Modes with less weight are not sampled.
LEAST_WEIGHT = 1 / N_CHAINS
MOST_LOG_ODDS = 500.0


@dataclass(frozen=True)
class Mode:
    """The normal approximation of a posterior: its mode, the Cholesky factor of its precision."""

    matrix: FloatArray
    likelihood: Likelihood
    prior: FloatArray
    coef: FloatArray
    factor: FloatArray
    log_evidence: float


def draw_probabilities(modes: Sequence[Mode], rng: np.random.RandomState) -> FloatArray:
    """Return draws of P(Y=c|x_j) of shape (n_classes, n_rows, n_draws), modes by their evidence."""
    weights = mode_weights(modes)
    weights[weights < min(LEAST_WEIGHT, weights.max())] = 0.0
    weights /= weights.sum()
    ends = np.floor(np.cumsum(weights) * N_CHAINS + rng.uniform()).astype(int)
    sizes = np.diff(np.append(0, np.minimum(ends, N_CHAINS)))
    parts = [
        probabilities_of(mode.matrix, _sample(mode, size, rng))
        for mode, size in zip(modes, sizes, strict=True)
        if size
    ]
    return np.concatenate(parts, axis=2)


def mode_weights(modes: Sequence[Mode]) -> FloatArray:
    """Return the posterior probability of each mode."""
    evidence = np.array([mode.log_evidence for mode in modes])
    weights = np.exp(evidence - evidence.max())
    return np.asarray(weights / weights.sum())


def find_modes(
    matrices: Sequence[FloatArray], likelihoods: Sequence[Likelihood], class_prior: FloatArray
) -> list[Mode]:
    """Return the modes of all features, prior variances and bag effects that are not negligible.

    Parameters
    ----------
    matrices : sequence of ndarray of shape (n_rows, n_features)
        Features of mean squared length 1.
    likelihoods : sequence of Likelihood
        One per bag effect; the first one decides which prior variances are tried with the others.
    class_prior : ndarray of shape (n_classes,)
        The class shares, from which the search starts.
    """
    modes: list[Mode] = []
    for features in track(matrices, "estimating the accuracy", len(matrices)):
        matrix = np.column_stack([features, np.ones(len(features))])
        first = np.zeros((matrix.shape[1], len(class_prior) - 1))
        first[-1] = np.log(class_prior[1:] / class_prior[0])
        variances: Sequence[float] = PRIOR_VARIANCES
        for likelihood in likelihoods:
            coef, found = first, []
            for variance in variances:
                found.append(_find_mode(matrix, likelihood, variance, coef))
                coef = found[-1].coef
            best = max(mode.log_evidence for mode in found)
            modes += found
            variances = [
                variance
                for variance, mode in zip(variances, found, strict=True)
                if mode.log_evidence > best - NEGLIGIBLE
            ]
    return modes


def probabilities_of(matrix: FloatArray, coef: FloatArray) -> FloatArray:
    """Return softmax(Zθ) of shape (n_classes, n_rows, n_draws); the first class has score 0."""
    _, n_free, n_draws = coef.shape
    odds = np.ones((n_free + 1, len(matrix), n_draws))
    for c in range(n_free):
        np.exp(np.clip(matrix @ coef[:, c], -MOST_LOG_ODDS, MOST_LOG_ODDS), out=odds[c + 1])
    odds /= odds.sum(axis=0)
    return odds


def _find_mode(
    matrix: FloatArray, likelihood: Likelihood, variance: float, coef: FloatArray
) -> Mode:
    """Return the mode by Fisher scoring; steps are halved until the posterior increases."""
    n_features, n_free = coef.shape
    classes = 2 / variance * (np.eye(n_free) - 1 / (n_free + 1))
    slopes = np.append(np.ones(n_features - 1), 0.0)
    prior = np.kron(np.diag(slopes), classes)

    def log_posterior(own: FloatArray) -> float:
        flat = own.reshape(-1)
        value = likelihood.log_likelihood(probabilities_of(matrix, own[:, :, None]))[0]
        return float(value - 0.5 * flat @ prior @ flat)

    value = log_posterior(coef)
    for step in range(N_NEWTON_STEPS + 1):
        prob = probabilities_of(matrix, coef[:, :, None])[:, :, 0]
        slope, information = likelihood.slope_and_information(matrix, prob)
        precision = information + prior + RIDGE * np.eye(len(prior))
        if step == N_NEWTON_STEPS:
            break
        move = np.linalg.solve(precision, slope - prior @ coef.reshape(-1)).reshape(coef.shape)
        for _ in range(N_HALVINGS):
            moved = log_posterior(coef + move)
            if moved >= value:
                break
            move = move / 2
        if moved < value + 1e-2:
            break
        coef, value = coef + move, moved
    factor = np.linalg.cholesky(precision)
    log_prior = 0.5 * (n_features - 1) * np.linalg.slogdet(classes)[1]
    log_evidence = value + log_prior - np.log(np.diag(factor)).sum() + likelihood.log_prior
    return Mode(matrix, likelihood, prior, coef, factor, float(log_evidence))


def _sample(mode: Mode, n_chains: int, rng: np.random.RandomState) -> FloatArray:
    """Return draws of θ by elliptical slice sampling (Murray, Adams and MacKay 2010).

    The ellipses are those of the normal approximation; the target is the posterior divided by it.
    """
    centre = mode.coef.reshape(-1, 1)
    spread = solve_triangular(mode.factor, np.eye(len(mode.factor)), lower=True).T

    def draw() -> FloatArray:
        return np.asarray(spread @ rng.normal(size=(len(spread), n_chains)))

    def target(away: FloatArray) -> FloatArray:
        coef = centre + away
        prob = probabilities_of(mode.matrix, coef.reshape(*mode.coef.shape, -1))
        log_prior = -0.5 * np.sum(coef * (mode.prior @ coef), axis=0)
        log_normal = -0.5 * np.sum((mode.factor.T @ away) ** 2, axis=0)
        return np.asarray(mode.likelihood.log_likelihood(prob) + log_prior - log_normal)

    away: FloatArray = np.zeros((len(spread), n_chains))
    value = np.repeat(target(away[:, :1]), n_chains)
    states = []
    for _ in range(N_SLICE_STEPS):
        away, value = _slice_step(away, value, draw(), target, rng)
        states.append(away)
    kept = np.concatenate(states[::-STEPS_APART][:N_KEPT], axis=1)
    return np.asarray((centre + kept).reshape(*mode.coef.shape, -1))


def _slice_step(
    away: FloatArray, value: FloatArray, other: FloatArray, target: Any, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Return the next state of all chains; a chain that finds none stays where it is."""
    least = value + np.log(rng.uniform(size=len(value)))
    angle = rng.uniform(0, 2 * np.pi, size=len(value))
    low, high = angle - 2 * np.pi, angle.copy()
    start, away, value = away, away.copy(), value.copy()
    waits = np.arange(len(value))
    for _ in range(N_SHRINKS):
        own = angle[waits]
        proposed = start[:, waits] * np.cos(own) + other[:, waits] * np.sin(own)
        found = target(proposed)
        is_in = found > least[waits]
        away[:, waits[is_in]], value[waits[is_in]] = proposed[:, is_in], found[is_in]
        waits = waits[~is_in]
        if not len(waits):
            break
        own = angle[waits]
        low[waits] = np.where(own < 0, own, low[waits])
        high[waits] = np.where(own < 0, high[waits], own)
        angle[waits] = rng.uniform(low[waits], high[waits])
    return away, value
