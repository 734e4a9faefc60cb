"""Grid search of the published method: 216 settings from 18 gradient descents per kernel.

Iteration counts are checkpoints of one descent; all (η₀, decay, λ) of a kernel are one batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt.corruption import combine_bags, row_coefficients
from decorrupt.features import Kernel, kernel_scores
from decorrupt.losses import get_loss
from decorrupt.observed import Observed
from reproduction import FloatArray
from reproduction.batched_descents import Descents, descend_together

LOSS = get_loss("logistic")


@dataclass(frozen=True)
class PublishedGrid:
    """η₀ × decay × iterations × λ × kernel γ, by default the paper's 216 settings."""

    step_sizes: tuple[float, ...] = (0.1, 0.01, 0.001)
    step_decays: tuple[float, ...] = (0.01, 0.001, 0.0001)
    iterations: tuple[int, ...] = (100, 800, 1600, 3200)
    reg_strengths: tuple[float, ...] = (0.001, 0.0)
    kernel_gammas: tuple[float, ...] = (0.001, 0.1, 1.0)

    def settings(self) -> list[Setting]:
        """Return all settings; kernel γ varies slowest, iterations fastest."""
        return [
            Setting(size, decay, n_steps, reg_strength, kernel_gamma)
            for kernel_gamma in self.kernel_gammas
            for size, decay, reg_strength in self._paths()
            for n_steps in self.checkpoints
        ]

    def descents(self) -> Descents:
        """Return the descents whose checkpoints are the settings of one kernel."""
        return Descents(*np.array(self._paths()).T)

    def _paths(self) -> list[tuple[float, float, float]]:
        return list(product(self.step_sizes, self.step_decays, self.reg_strengths))

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

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return f(x) per row."""
        kernel = Kernel("rbf", gamma=self.kernel_gamma)
        return kernel_scores(X, kernel, self.training_rows, self.dual_coef)

    def predict(self, X: FloatArray) -> NDArray[np.int_]:
        """Return 1 where f(x) > 0, else 0."""
        return (self.decision_function(X) > 0).astype(int)


@dataclass(frozen=True)
class PublishedChoice:
    """The setting with the least held-out corrected risk, its model, and all criteria.

    Attributes
    ----------
    setting : Setting
        The chosen point of the grid.
    criterion : float
        Its mean corrected logistic risk on held-out bags; can be far below zero.
    settings : list of Setting
        The whole grid.
    criteria : ndarray of shape (n_settings, n_folds)
        The risk of each setting on each fold; +∞ where a descent diverged.
    model : PublishedModel
        The chosen setting fitted on all rows.
    """

    setting: Setting
    criterion: float
    settings: list[Setting]
    criteria: FloatArray
    model: PublishedModel


def search_published_grid(
    X: FloatArray,
    observed: Observed,
    folds: Iterable[Any],
    grid: PublishedGrid = PublishedGrid(),  # noqa: B008 — frozen
) -> PublishedChoice:
    """Return argmin over the grid of Σ_j coef[j,1]·ℓ(f_j,1) + coef[j,0]·ℓ(f_j,−1) on held-out bags.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The training rows.
    observed : Observed
        Their bags and proportions.
    folds : iterable of (train, test)
        Rows of whole bags; both parts need bags of different proportions. Held-out bags get new
        pairs.
    grid : PublishedGrid
        The settings to try.

    Notes
    -----
    Sec. 5 of Scott & Zhang (2019). With long steps a descent can be chaotic: rounding then decides
    the result, here as in any other implementation.
    """
    criteria = np.column_stack([fold_criteria(X, observed, fold, grid) for fold in folds])
    settings = grid.settings()
    means = criteria.mean(axis=1)
    best = int(means.argmin())
    model = fit_published(X, observed, settings[best])
    return PublishedChoice(settings[best], float(means[best]), settings, criteria, model)


def fit_published(X: FloatArray, observed: Observed, setting: Setting) -> PublishedModel:
    """Return f = Σα_i k(·, x_i) after `setting.n_steps` steps on all rows."""
    s = setting
    grid = PublishedGrid(
        (s.step_size,), (s.step_decay,), (s.n_steps,), (s.reg_strength,), (s.kernel_gamma,)
    )
    gram = Kernel("rbf", gamma=s.kernel_gamma).block(X, X)
    alphas = descend_together(gram, pair_coefficients(observed), grid.descents(), grid.checkpoints)
    return PublishedModel(alphas[0, :, 0], X, s.kernel_gamma)


def pair_coefficients(observed: Observed) -> FloatArray:
    """Return the paper's coefficients of every row and class, from the optimal pairing."""
    coef = combine_bags(observed.sizes, observed.proportions, method="pairs")
    return row_coefficients(coef, observed)


def fold_criteria(X: FloatArray, observed: Observed, fold: Any, grid: PublishedGrid) -> FloatArray:
    """Return the corrected risk of every setting on the held-out part of fold = (train, test).

    It is +∞ where a descent diverged.
    """
    train, test = fold
    coef = pair_coefficients(observed.take(train))
    neg, pos = pair_coefficients(observed.take(test)).T
    descents, criteria = grid.descents(), []
    for kernel_gamma in grid.kernel_gammas:
        kernel = Kernel("rbf", gamma=kernel_gamma)
        gram = kernel.block(X[train], X[train])
        alphas = descend_together(gram, coef, descents, grid.checkpoints)
        with np.errstate(all="ignore"):  # non-finite scores give an infinite criterion
            scores = kernel.block(X[test], X[train]) @ alphas
            risks = pos @ LOSS.value(scores) + neg @ LOSS.value(-scores)
        criteria.append(risks.T.ravel())
    found = np.concatenate(criteria)
    return np.where(np.isfinite(found), found, np.inf)
