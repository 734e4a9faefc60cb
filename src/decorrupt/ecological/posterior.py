"""Draws of the table from the posterior of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.ecological.model import Rates
from decorrupt.ecological.tables import bounds, expected_tables, fit_margins

# Draws are this many times as far from the estimate as the posterior says, so that 95 % intervals
# cover 95 % of the cells of real elections; docs/evidence/elections.md has the coverage on others.
CALIBRATION = 1.4
# Draws need fewer digits than the estimate.
DRAW_TOL = 1e-4
DRAW_SWEEPS = 100
# Entries of the largest array of tables.
MAX_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws from the posterior.

    Attributes
    ----------
    tables : ndarray of shape (n_draws, n_groups, n_outcomes)
        Draws of the table.
    place_tables : ndarray of shape (n_places, n_groups, n_outcomes)
        The mean table of every place.
    """

    tables: FloatArray
    place_tables: FloatArray


def draw_tables(
    rates: Rates, outcomes: FloatArray, n_draws: int, rng: np.random.Generator
) -> Draws:
    """Return draws of the table, in antithetic pairs.

    Θ ~ N(Θ̂, κ²·(F + I/s²)⁻¹) is the Laplace posterior of the rates with its calibration κ, and
    proportional fitting gives every place its margins. People vary around the rates of their group
    in addition, within the margins, see :func:`people_covariance`.

    Parameters
    ----------
    rates : Rates
        The fitted model.
    outcomes : ndarray of shape (n_places, n_outcomes)
        The margins of the tables.
    n_draws : int
        Number of draws.
    rng : numpy Generator
        The source of randomness.
    """
    groups = rates.layout.margins.groups
    spread = np.linalg.inv(np.linalg.cholesky(rates.information()))
    steps = CALIBRATION * _pairs(rng, n_draws, len(spread)) @ spread
    tables, place_tables = np.empty((n_draws, *rates.prob.shape[1:])), np.zeros(rates.prob.shape)
    chunk = max(1, MAX_ENTRIES // rates.prob.size)
    for first in range(0, n_draws, chunk):
        coef = rates.coef + steps[first : first + chunk].reshape(-1, *rates.coef.shape)
        expected = expected_tables(groups, rates.of_coef(coef))
        fitted = fit_margins(expected, groups, outcomes, tol=DRAW_TOL, max_sweeps=DRAW_SWEEPS)
        tables[first : first + chunk] = fitted.sum(axis=1)
        place_tables += fitted.sum(axis=0) / n_draws
    people = _pairs(rng, n_draws, tables[0].size) @ _root(people_covariance(rates))
    return Draws(_possible(tables + people.reshape(tables.shape), rates, outcomes), place_tables)


def _possible(tables: FloatArray, rates: Rates, outcomes: FloatArray) -> FloatArray:
    """Return tables within the bounds and with the totals; those of noisy outcomes may vary."""
    groups = rates.layout.margins.groups
    people = groups.sum(axis=0)
    if rates.layout.count_noise is not None:
        tables = np.maximum(tables, 0)
        return np.asarray(tables * (people[:, None] / tables.sum(axis=-1, keepdims=True)))
    tables = np.clip(tables, *bounds(groups, outcomes))
    return fit_margins(tables, people, outcomes.sum(axis=0), tol=DRAW_TOL, max_sweeps=DRAW_SWEEPS)


def _pairs(rng: np.random.Generator, n_draws: int, length: int) -> FloatArray:
    """Return standard normal draws z and −z in turn: their mean is 0."""
    half = rng.standard_normal((-(-n_draws // 2), length))
    return np.stack([half, -half], axis=1).reshape(-1, length)[:n_draws]


def people_covariance(rates: Rates) -> FloatArray:
    """Return Σ_b φ_b·(diag V_br − V_br·S_b⁻¹·V_bs): the table's covariance if rates are known.

    V_br is the covariance of the outcomes of group r, S_b that of the place's outcomes, which are
    known. The cells are in the order of ``table.ravel()``.
    """
    n_groups, n_outcomes = rates.prob.shape[1:]
    n_cells = n_groups * n_outcomes
    total = np.zeros((n_groups, n_outcomes, n_groups, n_outcomes))
    explained = np.zeros((n_cells, n_cells))
    for some in rates.chunks():
        own, scale = rates.group_covariances(some), rates.dispersion[some]
        stacked = own.reshape(len(own), n_cells, n_outcomes)
        bent = stacked @ (rates.precision[some] * scale[:, None, None])
        explained += np.tensordot(bent, stacked, axes=((0, 2), (0, 2)))
        by_group = np.einsum("b,brcd->rcd", scale, own)
        for r in range(n_groups):
            total[r, :, r] += by_group[r]
    return total.reshape(n_cells, n_cells) - explained


def _root(covariance: FloatArray) -> FloatArray:
    """Return A with AᵀA = covariance, which is singular: margins do not vary."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(np.sqrt(np.maximum(values, 0))[:, None] * vectors.T)
