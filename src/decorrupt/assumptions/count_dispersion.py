"""Do rows with equal features have equal class probabilities in every bag? A test of counts.

Under a model of P(y|x) that is common to all bags, a held-out bag's counts deviate from Σ_j p_j
with covariance V_k = Σ_j diag(p_j) − p_j p_jᵀ, plus the error of the fitted model. Larger
deviations mean that bags differ by more than their rows explain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.assumptions.count_model import (
    BagMoments,
    CountModel,
    FoldModel,
    bag_moments,
    fit_count_models,
    penalty_matrix,
)
from decorrupt.corruption import LEVEL, sums_by_bag
from decorrupt.observed import Observed
from decorrupt.progress import track
from decorrupt.risks import effect_covariance, estimate_bag_effect

# With fewer bags the model cannot be fitted to some and compared with the others.
FEWEST_BAGS = 6
# Rows of the model; with more, a random subset of the bags is used.
MOST_ROWS = 20_000
N_SIMULATIONS = 199
# Simulated counts are drawn for this many cells (rows × simulations) at once.
BLOCK_CELLS = 4e6


@dataclass(frozen=True)
class CountDispersionTest:
    """The outcome of :func:`check_count_dispersion`.

    Attributes
    ----------
    dispersion : float
        Σ_k z_k² over its mean in the simulations; 1 on average if the assumption holds.
    p_value : float
        The share of simulations with at least this Σ_k z_k², the data included.
    bag_effect : float
        The standard deviation s of the bags' own part of their shares: the maximum of the normal
        likelihood with covariance V_k + n_k²·s²·E; 0 if the counts do not vary more than expected.
    critical : float
        The dispersion that the 5 % level needs.
    inflation : ndarray of shape (n_bags,)
        n_k²·tr(V_k⁻¹E)/(K − 1): what a bag effect of s² = 1 adds to z_k², per class.
    n_rows : int
        The rows used.
    """

    dispersion: float
    p_value: float
    bag_effect: float
    critical: float
    inflation: FloatArray
    n_rows: int


def check_count_dispersion(
    X: Any,
    observed: Observed,
    *,
    n_simulations: int = N_SIMULATIONS,
    most_rows: int = MOST_ROWS,
    random_state: np.random.RandomState,
) -> CountDispersionTest | None:
    """Return the test of Σ_k z_k², z_k² = (c_k − Σp)ᵀ V_k⁻¹ (c_k − Σp), on held-out bags.

    A linear count model is fitted on folds of bags. If the counts deviate too much from it, an rbf
    kernel is tried, and the model that predicts held-out bags better decides. The distribution of
    Σ_k z_k² under the assumption is simulated: counts are drawn from the held-out probabilities,
    and each fold's coefficients move with the counts of its training bags, by one Newton step of
    the penalised likelihood. Without this step the model's own error would look like differences
    between bags. Bags of one row are used for training only.

    Returns
    -------
    CountDispersionTest or None
        None if it cannot be tested: fewer than 6 bags of two rows, or a class in no training bag.
    """
    observed, X = _subset(observed, X, most_rows, random_state)
    tested = observed.sizes >= 2
    if tested.sum() < FEWEST_BAGS:
        return None
    best: tuple[CountModel, CountDispersionTest] | None = None
    for model in fit_count_models(X, observed, random_state):
        if model is None:
            break
        if best is None or model.log_likelihood > best[0].log_likelihood:
            best = model, _test(model, tested, n_simulations, random_state)
        if best[1].p_value > LEVEL:
            break
    return None if best is None else best[1]


def _test(
    model: CountModel, tested: NDArray[np.bool_], n_simulations: int, rng: np.random.RandomState
) -> CountDispersionTest:
    expected = _held_out_moments(model)
    residuals = _counts(model.observed) - expected.mean
    simulated = _simulate(model, expected, n_simulations, rng)
    inverse = np.linalg.inv(expected.covariance[tested])
    found = _squares(residuals[None, tested], inverse)[0]
    squares = _squares(simulated[:, tested], inverse)
    return _outcome(found, squares, residuals[tested], expected.covariance[tested], model)


def _outcome(
    found: FloatArray,
    squares: FloatArray,
    residuals: FloatArray,
    covariance: FloatArray,
    model: CountModel,
) -> CountDispersionTest:
    totals, n_free, observed = squares.sum(axis=1), residuals.shape[1], model.observed
    sizes = observed.sizes[observed.sizes >= 2].astype(float)
    # The model's own error, as simulated, is part of the covariance of a bag's residual.
    own = covariance * (squares.mean(axis=0) / n_free)[:, None, None]
    effect = effect_covariance(n_free + 1)
    trace = np.trace(np.linalg.inv(own) @ effect, axis1=1, axis2=2) / n_free
    return CountDispersionTest(
        dispersion=float(found.sum() / totals.mean()),
        p_value=float((1 + np.sum(totals >= found.sum())) / (1 + len(totals))),
        bag_effect=estimate_bag_effect(residuals, own, sizes),
        critical=float(np.quantile(totals, 1 - LEVEL) / totals.mean()),
        inflation=sizes**2 * trace,
        n_rows=observed.n_rows,
    )


def _squares(residuals: FloatArray, inverse: FloatArray) -> FloatArray:
    """Return r_kᵀ V_k⁻¹ r_k of every simulation and bag."""
    return np.asarray(np.einsum("skc,kcd,skd->sk", residuals, inverse, residuals, optimize=True))


def _subset(
    observed: Observed, X: Any, most_rows: int, rng: np.random.RandomState
) -> tuple[Observed, Any]:
    order = rng.permutation(observed.n_bags)
    n_kept = int(np.searchsorted(np.cumsum(observed.sizes[order]), most_rows, side="right"))
    # At least enough bags for the test, however large they are.
    kept = np.isin(observed.row_bag, order[: max(n_kept, 2 * FEWEST_BAGS)])
    rows = np.flatnonzero(kept)
    return (observed, X) if kept.all() else (observed.take(rows), X[rows])


def _counts(observed: Observed) -> FloatArray:
    """Return the counts of all classes but the first."""
    return np.asarray(observed.sizes[:, None] * observed.proportions[:, 1:])


def _held_out_moments(model: CountModel) -> BagMoments:
    """Return the moments of every bag under the model that did not train on it."""
    parts = [(fold.test, bag_moments(model, fold)) for fold in model.folds]
    arrays = []
    for name in ("mean", "covariance", "slope"):
        whole = np.empty_like(getattr(parts[0][1], name))
        for test, moments in parts:
            whole[test] = getattr(moments, name)[test]
        arrays.append(whole)
    return BagMoments(*arrays)


def _simulate(
    model: CountModel, expected: BagMoments, n_simulations: int, rng: np.random.RandomState
) -> FloatArray:
    """Return simulated residuals of shape (n_simulations, n_bags, n_classes − 1)."""
    deviations = _draw_counts(model, n_simulations, rng) - expected.mean
    residuals = deviations.copy()
    for fold in model.folds:
        move = _moved_coef(model, fold, deviations)
        shift = np.einsum("kcp,ps->skc", expected.slope[fold.test], move, optimize=True)
        residuals[:, fold.test] -= shift
    return residuals


def _moved_coef(model: CountModel, fold: FoldModel, deviations: FloatArray) -> FloatArray:
    """Return the Newton step of the coefficients in every simulation, shape (n_coef, n_sims).

    H⁻¹·(Σ_k J_kᵀ V_k⁻¹ (c*_k − Σp) − ∇penalty), where H is the Fisher information of the training
    counts plus the penalty: the penalty shrinks the simulated fit once more.
    """
    moments, penalty = bag_moments(model, fold), penalty_matrix(model, fold)
    slope = moments.slope[fold.train]
    weighted = np.linalg.solve(moments.covariance[fold.train], slope)
    n_coef = slope.shape[2]
    flat = weighted.reshape(-1, n_coef)
    information = flat.T @ slope.reshape(-1, n_coef) + penalty
    pull = flat.T @ deviations[:, fold.train].reshape(len(deviations), -1).T
    step = pull - (penalty @ fold.coef.reshape(-1))[:, None]
    return np.linalg.lstsq(information, step, rcond=1e-10)[0]


def _draw_binomials(
    observed: Observed, edges: FloatArray, n_simulations: int, rng: np.random.RandomState
) -> FloatArray:
    """Return the counts of rows that represent many; `edges` are sums of their probabilities."""
    n_bags, n_free = observed.n_bags, edges.shape[1]
    counts = np.empty((n_simulations, n_bags, n_free))
    for simulation in track(range(n_simulations), "simulating counts", n_simulations):
        left: Any = observed.weights
        below: FloatArray = np.zeros(len(edges))
        for c in range(n_free):
            share = np.clip((edges[:, c] - below) / np.maximum(1 - below, 1e-300), 0.0, 1.0)
            drawn = rng.binomial(left, share)
            counts[simulation, :, c] = np.bincount(observed.row_bag, drawn, n_bags)
            left, below = left - drawn, edges[:, c]
    return counts


def _draw_counts(model: CountModel, n_simulations: int, rng: np.random.RandomState) -> FloatArray:
    """Return counts drawn from the held-out probabilities, (n_simulations, n_bags, n_classes−1)."""
    bags, n_bags = model.observed.row_bag, model.observed.n_bags
    n_rows, n_free = len(bags), model.folds[0].coef.shape[1]
    edges = np.empty((n_rows, n_free))
    for fold in model.folds:
        own = np.isin(bags, fold.test)
        edges[own] = np.cumsum(model.probabilities(fold), axis=1)[own]
    if model.observed.weights is not None:
        return _draw_binomials(model.observed, edges, n_simulations, rng)
    counts = np.empty((n_simulations, n_bags, n_free))
    block = max(int(BLOCK_CELLS / n_rows), 1)
    starts = range(0, n_simulations, block)
    for start in track(starts, "simulating counts", len(starts)):
        size = min(block, n_simulations - start)
        draws = rng.uniform(size=(n_rows, size))
        below: FloatArray = np.zeros((n_bags, size))
        for c in range(n_free):
            up_to = sums_by_bag((draws < edges[:, c : c + 1]).astype(float), bags, n_bags)
            counts[start : start + size, :, c] = (up_to - below).T
            below = up_to
    return counts
