"""Label noise between several classes: transition matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) per source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_shares import SHARE_TOL, inseparable_classes, is_share_row


def check_transitions(noise_rates: Mapping[Any, ArrayLike], n_classes: int) -> FloatArray:
    """Return the matrices as an array of shape (n_sources, n_classes, n_classes).

    Parameters
    ----------
    noise_rates : mapping
        T_s of every source: row y holds P(Ỹ=ỹ | Y=y) and sums to 1 (within 1e-6).
    n_classes : int
        Rows and columns of each matrix.

    Raises
    ------
    ValueError
        If a matrix has another shape, is not row-stochastic, or is singular; the message names
        the source.

    Examples
    --------
    >>> from decorrupt.corruption import check_transitions
    >>> check_transitions({"web": [[0.9, 0.1], [0.2, 0.8]]}, 2).shape
    (1, 2, 2)
    """
    return np.array([_check(source, T, n_classes) for source, T in noise_rates.items()])


def check_transition_rows(noise_rates: ArrayLike, n_rows: int, n_classes: int) -> FloatArray:
    """Return one matrix per row of X, shape (n_rows, n_classes, n_classes).

    Raises
    ------
    ValueError
        If the shape is another, or a matrix is not row-stochastic; the message names the row.
    """
    rates = np.asarray(noise_rates, dtype=float)
    if rates.shape != (n_rows, n_classes, n_classes):
        raise ValueError(
            f"noise_rates of {n_classes} classes must be one matrix of shape ({n_classes}, "
            f"{n_classes}) per source, for all rows, or for each of the {n_rows} rows; got an "
            f"array of shape {rates.shape}"
        )
    for row in np.flatnonzero(~is_share_row(rates).all(axis=1))[:1]:
        raise ValueError(
            f"noise_rates of row {row} are {rates[row].tolist()}: each row of the matrix must "
            f"hold probabilities in [0, 1] that sum to 1 (within {SHARE_TOL:g})"
        )
    return rates


def draw_noisy_classes(
    codes: NDArray[np.intp], n_classes: int, noise_rates: ArrayLike, random_state: Any
) -> NDArray[np.intp]:
    """Draw Ỹ_j from T[Y_j, ·]; the matrix of all rows, or one matrix per row."""
    matrices = np.asarray(noise_rates, dtype=float)
    if matrices.ndim == 2:
        matrices = np.broadcast_to(matrices, (len(codes), *matrices.shape))
    matrices = check_transition_rows(matrices, len(codes), n_classes)
    ends = np.cumsum(matrices[np.arange(len(codes)), codes], axis=1)[:, :-1]
    drawn = check_random_state(random_state).uniform(size=(len(codes), 1))
    return np.asarray((drawn >= ends).sum(axis=1))


def _check(source: Any, transition: ArrayLike, n_classes: int) -> FloatArray:
    try:
        matrix = np.asarray(transition, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"noise_rates of source {source!r} are not a matrix of numbers: {transition!r}"
        ) from None
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"noise_rates of source {source!r} have shape {matrix.shape}: give a matrix of shape "
            f"({n_classes}, {n_classes}), row y with P(noisy label | true class y)"
        )
    for label, row in enumerate(matrix):
        if not is_share_row(row):
            raise ValueError(
                f"noise_rates of source {source!r}: row {label} is {row.tolist()}; it must hold "
                f"probabilities in [0, 1] that sum to 1 (within {SHARE_TOL:g})"
            )
    together = inseparable_classes(matrix.T)
    if together:
        raise ValueError(
            f"noise_rates of source {source!r} are singular: its labels do not distinguish the "
            f"classes {', '.join(map(str, together))}; leave out the source"
        )
    return matrix


def backward_coefficients(
    transitions: FloatArray, row_source: NDArray[np.intp], noisy_class: NDArray[np.intp]
) -> FloatArray:
    """Return T_s⁻¹[ỹ, ·] of every row: ℓ̃(f, ỹ) = Σ_y T_s⁻¹[ỹ, y]·ℓ_y(f), unbiased as T_s·ℓ̃ = ℓ.

    Parameters
    ----------
    transitions : ndarray of shape (n_sources, n_classes, n_classes)
        From :func:`check_transitions`.
    row_source, noisy_class : ndarray of int, shape (n_rows,)
        The source and the noisy label of each row, as indices.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
    """
    return np.asarray(np.linalg.inv(transitions)[row_source, noisy_class])


def noise_scales(transitions: FloatArray, sizes: ArrayLike) -> FloatArray:
    """Return c_s = max_ỹ Σ_y |T_s⁻¹[ỹ, y]| / √n_s; the best source weights are ∝ 1/c_s².

    For two classes this is the paper's c_i, see :func:`signal_to_noise`.
    """
    largest = np.abs(np.linalg.inv(transitions)).sum(axis=2).max(axis=1)
    return np.asarray(largest / np.sqrt(np.asarray(sizes, dtype=float)))
