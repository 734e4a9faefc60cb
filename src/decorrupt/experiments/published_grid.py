"""The published method with its whole grid: 216 settings from 18 shared descents a kernel.

With α = Kc the paper's step α ← α − η_t·K(g + 2λα) reads c ← c − η_t·(g + 2λKc), f = K²c. In the
eigenbasis of K the penalty acts on every coordinate alone, iteration counts are checkpoints of one
descent, and all (η₀, decay, λ) descend together as columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations, product
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from decorrupt.corruption import RiskTerms, Strata, combine_strata, strata_from_bags
from decorrupt.features import Kernel, kernel_scores
from decorrupt.losses import get_loss
from decorrupt.losses.margin import FloatArray
from decorrupt.model_selection.search import usable_folds

LOSS = get_loss("logistic")
# Modes stepped one step at a time at least: they are cheap, and swing where steps are too long.
LEAST_FAST_MODES = 24
# Ends of blocks through which the slow modes' scores are extrapolated into the next block.
HISTORY = 5
LONGEST_BLOCK = 25
# How far the slow modes may relax in a block; the extrapolation errs by about its fifth power.
BLOCK_MOVEMENT = 0.02


@dataclass(frozen=True)
class PublishedGrid:
    """η₀ × decay × iterations × λ × kernel γ, by default the paper's 216 settings."""

    step_sizes: tuple[float, ...] = (0.1, 0.01, 0.001)
    step_decays: tuple[float, ...] = (0.01, 0.001, 0.0001)
    iterations: tuple[int, ...] = (100, 800, 1600, 3200)
    reg_strengths: tuple[float, ...] = (0.001, 0.0)
    kernel_gammas: tuple[float, ...] = (0.001, 0.1, 1.0)

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            values = getattr(self, name)
            zero_is_fine = name in ("step_decays", "reg_strengths")
            if not values or any(not (v > 0 or (v == 0 and zero_is_fine)) for v in values):
                least = "of at least 0" if zero_is_fine else "above 0"
                raise ValueError(
                    f"{name}={values!r} must be a tuple of one or more numbers {least}"
                )

    def settings(self) -> list[Setting]:
        """Return all settings, the kernel slowest, the iterations fastest."""
        paths = product(self.kernel_gammas, self.step_sizes, self.step_decays, self.reg_strengths)
        return [
            Setting(size, decay, n_steps, reg_strength, kernel_gamma)
            for kernel_gamma, size, decay, reg_strength in paths
            for n_steps in self.checkpoints
        ]

    @property
    def checkpoints(self) -> list[int]:
        """The iteration counts in ascending order."""
        return sorted(set(self.iterations))


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    step_size: float
    step_decay: float
    n_steps: int
    reg_strength: float
    kernel_gamma: float


@dataclass(frozen=True)
class PublishedModel:
    """f(x) = Σ_i α_i k(x, x_i), no intercept."""

    dual_coef: FloatArray
    training_rows: FloatArray = field(repr=False)
    kernel_gamma: float

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) of every row."""
        kernel = Kernel("rbf", self.kernel_gamma)
        return kernel_scores(np.asarray(X, float), kernel, self.training_rows, self.dual_coef)

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return 1 where f(x) > 0, else 0."""
        return (self.decision_function(X) > 0).astype(int)


@dataclass(frozen=True)
class PublishedChoice:
    """The setting of least held-out corrected risk, refitted, and what all others came to.

    Attributes
    ----------
    setting : Setting
        The chosen point of the grid.
    criterion : float
        Its mean corrected logistic risk on held-out bags; it can lie far below zero.
    settings : list of Setting
        The whole grid.
    criteria : ndarray of shape (n_settings, n_folds)
        The risk of each on each usable fold; +∞ where a descent left the finite numbers.
    model : PublishedModel
        The chosen setting fitted on all rows.
    """

    setting: Setting
    criterion: float
    settings: list[Setting]
    criteria: FloatArray
    model: PublishedModel


def search_published_grid(
    X: Any,
    y: Any,
    bags: Any = None,
    *,
    folds: Any = 5,
    grid: PublishedGrid = PublishedGrid(),  # noqa: B008 — frozen
) -> PublishedChoice:
    """Return argmin over the grid of Σ_j coef_pos·ℓ(f_j,1) + coef_neg·ℓ(f_j,−1) on held-out bags.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        The training rows.
    y : array-like of shape (n_rows,), or Strata
        The proportion of each row's bag; strata hold bags and proportions both.
    bags : array-like of shape (n_rows,)
        The bag of each row, unless y is Strata.
    folds : int, splitter or list of (train, test)
        An int is the number of folds of :class:`decorrupt.BagKFold`. Held-out bags are paired anew.
    grid : PublishedGrid
        What to try.

    Warns
    -----
    SkippedFoldWarning
        If the training or held-out bags of a fold all have one proportion; it is left out.

    Notes
    -----
    Sec. 5 of Scott & Zhang (2019). Where long steps make a descent swing chaotically, rounding
    decides where it ends, in this as in any other order of the same sums.
    """
    X = np.asarray(X, dtype=float)
    strata = y if isinstance(y, Strata) else strata_from_bags(bags, y)
    splits = usable_folds(folds, X, strata.row_proportions, strata.row_stratum, needs_spread=True)
    criteria = np.column_stack([_fold_criteria(X, strata, fold, grid) for fold in splits])
    settings = grid.settings()
    means = criteria.mean(axis=1)
    best = int(means.argmin())
    model = fit_published(X, strata, settings[best])
    return PublishedChoice(settings[best], float(means[best]), settings, criteria, model)


def fit_published(X: Any, strata: Strata, setting: Setting) -> PublishedModel:
    """Return f = Σα_i k(·, x_i) after the setting's steps on all rows."""
    X = np.asarray(X, dtype=float)
    s = setting
    grid = PublishedGrid(
        (s.step_size,), (s.step_decay,), (s.n_steps,), (s.reg_strength,), (s.kernel_gamma,)
    )
    gram = Kernel("rbf", s.kernel_gamma).block(X, X)
    alphas = descend_together(gram, pair_terms(strata), grid)
    return PublishedModel(alphas[0, :, 0], X, s.kernel_gamma)


def pair_terms(strata: Strata) -> RiskTerms:
    """Return the paper's coefficients a row, from the optimal pairing."""
    combination = combine_strata(strata.sizes, strata.proportions, method="pairs")
    return combination.row_terms(strata)


def _fold_criteria(X: FloatArray, strata: Strata, fold: Any, grid: PublishedGrid) -> FloatArray:
    train, test = fold
    terms, held_out = pair_terms(strata.take(train)), pair_terms(strata.take(test))
    criteria = []
    for kernel_gamma in grid.kernel_gammas:
        kernel = Kernel("rbf", kernel_gamma)
        alphas = descend_together(kernel.block(X[train], X[train]), terms, grid)
        with np.errstate(all="ignore"):  # told by the criterion instead
            scores = kernel.block(X[test], X[train]) @ alphas
            risks = held_out.coef_pos @ LOSS.value(scores) + held_out.coef_neg @ LOSS.value(-scores)
        criteria.append(risks.T.ravel())
    found = np.concatenate(criteria)
    return np.where(np.isfinite(found), found, np.inf)


def descend_together(gram: FloatArray, terms: RiskTerms, grid: PublishedGrid) -> FloatArray:
    """Return α of every checkpoint (axis 0) and every (η₀, decay, λ) (axis 2).

    The few fast modes of K take every step. The scores the many slow ones add are known exactly at
    the ends of blocks and extrapolated inside the next; what every mode gains by a block is summed
    from all its steps. The longest block on which slow modes hardly move is taken, one step (no
    extrapolation at all) where they do.
    """
    descent = _Descent(gram, terms, grid)
    found = []
    with np.errstate(all="ignore"):  # what leaves the finite numbers is told by the criterion
        for checkpoint in grid.checkpoints:
            descent.advance(checkpoint)
            found.append(descent.alphas())
    return np.stack(found)


class _Descent:
    """ĉ = Uᵀc of all descents, one a row, so that a row's η and λ meet whole rows of memory."""

    def __init__(self, gram: FloatArray, terms: RiskTerms, grid: PublishedGrid) -> None:
        paths = np.array(list(product(grid.step_sizes, grid.step_decays, grid.reg_strengths)))
        self.step_size, self.step_decay, self.reg_strength = paths.T[:, :, None]
        self.coef_sum, self.coef_pos = terms.coef_pos + terms.coef_neg, terms.coef_pos
        common = gcd(*grid.checkpoints)
        self.block = max(k for k in range(1, LONGEST_BLOCK + 1) if common % k == 0)
        self.extrapolation = _extrapolation_weights(self.block, self.step_decay)
        self._split_modes(gram)
        self.step = 0
        self.fast = np.zeros((len(paths), len(self.fast_values)))
        self.slow = np.zeros((len(paths), len(self.slow_values)))
        # At the ends of past blocks.
        self.slow_scores: list[FloatArray] = [np.zeros((len(paths), len(gram)))]

    def _split_modes(self, gram: FloatArray) -> None:
        """Call a mode slow if it cannot relax by more than BLOCK_MOVEMENT in a block."""
        values, modes = np.linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        curvature = LOSS.curvature_bound * float(np.abs(self.coef_sum).max())
        rates = values**2 * curvature + 2 * values * self.reg_strength.max()
        slow = rates * self.step_size.max() * self.block <= BLOCK_MOVEMENT
        slow[-LEAST_FAST_MODES:] = False  # eigh sorts in ascending order
        self.slow_values, self.fast_values = values[slow], values[~slow]
        self.slow_modes = np.ascontiguousarray(modes[:, slow])
        self.fast_modes = np.ascontiguousarray(modes[:, ~slow])
        # g = (coef_pos + coef_neg)·σ(f) − coef_pos, its products with the modes prepared.
        self.fast_to_scores = np.square(self.fast_values)[:, None] * self.fast_modes.T
        self.scores_to_fast = self.coef_sum[:, None] * self.fast_modes
        self.fast_at_zero = self.coef_pos @ self.fast_modes

    def advance(self, checkpoint: int) -> None:
        """Go on to step number `checkpoint`, an end of a block."""
        while self.step < checkpoint:
            if len(self.slow_scores) < HISTORY:
                self.slow_scores.append(self._slow_scores())
                for _ in range(self.block):
                    self._take(self.slow_scores[-1][:, None].copy())
                    self.slow_scores[-1] = self._slow_scores()
            else:
                ahead = self.extrapolation @ np.stack(self.slow_scores, axis=1)
                self._take(ahead)
                self.slow_scores = [*self.slow_scores[1:], self._slow_scores()]

    def _take(self, scores: FloatArray) -> None:
        """Take a step for each of the slow scores (n_descents, n_steps, n_rows), overwritten."""
        n_steps = scores.shape[1]
        steps = np.arange(self.step, self.step + n_steps)
        lengths = self.step_size * np.exp(-self.step_decay * steps)
        shrinks = 2 * lengths * self.reg_strength
        for s in range(n_steps):
            self._step_fast(scores[:, s], lengths[:, [s]], shrinks[:, [s]])
        self._catch_up(scores, lengths, shrinks)
        self.step += n_steps

    def _step_fast(self, scores: FloatArray, length: FloatArray, shrink: FloatArray) -> None:
        """Step the fast modes, and leave σ(f) in place of the slow scores."""
        scores += self.fast @ self.fast_to_scores
        expit(scores, out=scores)
        slope = scores @ self.scores_to_fast
        slope -= self.fast_at_zero
        slope *= length
        self.fast *= 1 - shrink * self.fast_values
        self.fast -= slope

    def _catch_up(self, sigmoids: FloatArray, lengths: FloatArray, shrinks: FloatArray) -> None:
        """Give the slow modes all slopes of a block at once."""
        later = np.cumsum(shrinks[:, ::-1], axis=1)[:, ::-1] - shrinks  # the penalty after a step
        later -= np.average(later, axis=1, weights=lengths)[:, None]
        weights = np.stack([lengths, lengths * later], axis=1)
        gained = (weights @ sigmoids) * self.coef_sum
        gained -= weights.sum(axis=2, keepdims=True) * self.coef_pos
        kept, mean_kept = _penalty_of_block(shrinks, self.slow_values)
        self.slow *= kept
        # Exact for a slope that does not change in the block, to first order in its change.
        self.slow -= mean_kept * (gained[:, 0] @ self.slow_modes)
        if shrinks.shape[1] > 1 and shrinks.any():
            self.slow += self.slow_values * (gained[:, 1] @ self.slow_modes)

    def _slow_scores(self) -> FloatArray:
        return np.asarray((np.square(self.slow_values) * self.slow) @ self.slow_modes.T)

    def alphas(self) -> FloatArray:
        """Return α = UΛĉ, one column a descent."""
        fast = self.fast_modes @ (self.fast_values * self.fast).T
        return np.asarray(fast + self.slow_modes @ (self.slow_values * self.slow).T)


def _penalty_of_block(shrinks: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Π_s(1 − x_sΛ) and Σ_s x_s·Π_{r>s}(1 − x_rΛ) / Σ_s x_s = (1 − Π)/(ΛΣx), x = 2ηλ.

    What the penalty leaves of the past, and of the block's own steps. x_sΛ is far below one for
    slow modes, so that four terms of the logarithm are exact.
    """
    powers = (np.sum(shrinks**k, axis=1, keepdims=True) * values**k / k for k in range(1, 5))
    log_kept = np.negative(sum(powers))
    total = shrinks.sum(axis=1, keepdims=True) * values
    shares = np.divide(-np.expm1(log_kept), total, out=np.ones_like(total), where=total > 0)
    return np.exp(log_kept), shares


def _extrapolation_weights(block: int, step_decay: FloatArray) -> FloatArray:
    """Return the Lagrange weights of the last HISTORY block ends at each step of the next block.

    Shape (n_descents, block, HISTORY). Time is counted in Ση, in which a descent goes evenly; up
    to a factor, which weights do not feel, it looks the same from every block.
    """
    nodes = _travelled(block * np.arange(1.0 - HISTORY, 1.0), step_decay)
    steps = _travelled(np.arange(float(block)), step_decay)
    weights = np.ones((len(step_decay), block, HISTORY))
    for k, other in permutations(range(HISTORY), 2):
        node = nodes[:, [other]]
        weights[:, :, k] *= (steps - node) / (nodes[:, [k]] - node)
    return weights


def _travelled(steps: FloatArray, step_decay: FloatArray) -> FloatArray:
    """Return (1 − exp(−decay·t))/decay, t itself without decay."""
    decay = np.maximum(step_decay, np.finfo(float).tiny)
    return np.where(step_decay * LONGEST_BLOCK < 1e-12, steps, -np.expm1(-decay * steps) / decay)
