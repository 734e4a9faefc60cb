"""Tables with given margins: proportional fitting, deterministic bounds, Goodman's regression."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from decorrupt._typing import FloatArray

# Largest difference between a sum of a fitted table and its margin, per person of the place.
FIT_TOL = 1e-10
MAX_SWEEPS = 2000
# Rates are at least this: margins that they exclude could not be fitted.
SMALLEST_RATE = 1e-9


def expected_tables(groups: FloatArray, rates: FloatArray) -> FloatArray:
    """Return N_br·P_brc, positive where a group has people, for :func:`fit_margins`.

    Parameters
    ----------
    groups : ndarray of shape (n_places, n_groups)
        N.
    rates : ndarray of shape (..., n_places, n_groups, n_outcomes)
        P.
    """
    return np.asarray(groups[:, :, None] * np.maximum(rates, SMALLEST_RATE))


def fit_margins(
    tables: FloatArray,
    groups: FloatArray,
    outcomes: FloatArray,
    *,
    tol: float = FIT_TOL,
    max_sweeps: int = MAX_SWEEPS,
) -> FloatArray:
    """Return tables scaled to given margins by iterative proportional fitting.

    T_rc = a_r·t_rc·b_c with Σ_c T_rc = N_r and Σ_r T_rc = K_c. It is the table closest to t, in
    relative entropy, that has the margins. The sums over outcomes are exact, those over groups
    within `tol` times the people of the place.

    Parameters
    ----------
    tables : ndarray of shape (..., n_groups, n_outcomes)
        t, positive.
    groups : ndarray of shape (..., n_groups)
        N.
    outcomes : ndarray of shape (..., n_outcomes)
        K, with the same total as N.
    """
    scale = np.ones(np.broadcast_shapes(outcomes.shape, tables.shape[:-2] + outcomes.shape[-1:]))
    allowed = tol * np.maximum(groups.sum(axis=-1), 1)[..., None]

    def rows_of(scale: FloatArray) -> FloatArray:
        sums = np.matmul(tables, scale[..., None])[..., 0]
        rows = np.divide(groups, sums, out=np.zeros(sums.shape), where=sums > 0)
        return np.asarray(rows)

    for _ in range(max_sweeps):
        rows = rows_of(scale)
        columns = np.matmul(rows[..., None, :], tables)[..., 0, :]
        done = np.abs(columns * scale - outcomes) <= allowed
        if done.all():
            break
        np.divide(outcomes, columns, out=scale, where=columns > 0)
        scale[np.broadcast_to(columns <= 0, scale.shape)] = 0.0
        scale /= scale.max(axis=-1, keepdims=True)
    else:
        rows = rows_of(scale)
    return np.asarray(rows[..., None] * tables * scale[..., None, :])


def bounds(groups: FloatArray, outcomes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest table that the margins allow, without any model.

    Σ_b max(0, N_br + K_bc − n_b) and Σ_b min(N_br, K_bc), the bounds of Duncan and Davis (1953).

    Parameters
    ----------
    groups, outcomes : ndarray of shape (n_places, n_groups) and (n_places, n_outcomes)
        N and K, with equal totals n.
    """
    size = groups.sum(axis=1)[:, None, None]
    group, outcome = groups[:, :, None], outcomes[:, None, :]
    least = np.maximum(group + outcome - size, 0)
    return least.sum(axis=0), np.minimum(group, outcome).sum(axis=0)


def goodman(groups: FloatArray, outcomes: FloatArray) -> FloatArray:
    """Return the rates of Goodman's regression of outcomes on groups.

    argmin_{P≥0} Σ_b ‖K_b − N_b·P‖²/n_b, with rows scaled to sum 1.

    Parameters
    ----------
    groups, outcomes : ndarray of shape (n_places, n_groups) and (n_places, n_outcomes)
        N and K.
    """
    weight = 1 / np.sqrt(groups.sum(axis=1))
    design = groups * weight[:, None]
    rates = np.column_stack([nnls(design, column * weight)[0] for column in outcomes.T])
    totals = rates.sum(axis=1, keepdims=True)
    common = np.maximum(outcomes.sum(axis=0), 0)
    return np.asarray(
        np.where(totals > 0, rates / np.where(totals > 0, totals, 1), common / common.sum())
    )
