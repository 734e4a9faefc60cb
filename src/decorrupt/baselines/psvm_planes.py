"""The label planes of conv-∝SVM: the most violated labels, and the cutting plane method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from decorrupt._typing import FloatArray
from decorrupt.baselines.psvm_relaxation import Saddle, solve_saddle
from decorrupt.observed import Observed

# The eigenvectors that planes are searched in: this share of the trace, but at least 50.
TRACE_SHARE = 0.9
MIN_DIRECTIONS = 50
# A negative eigenvalue of K up to this share of the trace is rounding (single precision).
ROUNDING_SHARE = 1e-5
# Products of sizes and proportions are this close to a whole number if they should be one.
WHOLE = 1e-6


@dataclass(frozen=True)
class CountRanges:
    """Labels with lowest_k ≤ number of positives in bag k ≤ highest_k.

    Attributes
    ----------
    row_bag : ndarray of int, shape (n_rows,)
        The bag of each row.
    lowest, highest : ndarray of int, shape (n_bags,)
        The allowed numbers of positive labels.
    """

    row_bag: NDArray[np.intp]
    lowest: NDArray[np.intp]
    highest: NDArray[np.intp]

    def best_labels(self, terms: FloatArray, priorities: FloatArray) -> FloatArray:
        """Return argmax_y Σ_i y_i·terms_i over the allowed labels −1.0 and +1.0.

        Per bag, the rows with the largest terms are positive: as many as have a positive priority,
        or the nearest allowed number. Priorities have the sign of the terms; where terms are 0,
        which leaves the label open, they decide.
        """
        n_positive = np.bincount(self.row_bag, priorities > 0, minlength=len(self.lowest))
        wanted = np.clip(n_positive, self.lowest, self.highest)
        order = np.lexsort((-priorities, -terms, self.row_bag))
        sizes = np.bincount(self.row_bag, minlength=len(self.lowest))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        labels = np.empty(len(order))
        labels[order] = np.where(rank < np.repeat(wanted, sizes), 1.0, -1.0)
        return labels


def count_ranges(observed: Observed, tolerance: float) -> CountRanges:
    """Return ⌈n_k(p_k − tolerance)⌉ … ⌊n_k(p_k + tolerance)⌋ of every bag.

    A range without a whole number is widened to the nearest one, or two if both are equally near.
    """
    sizes, expected = observed.sizes, observed.sizes * observed.proportions[:, 1]
    radius = np.maximum(sizes * tolerance, np.abs(expected - np.rint(expected))) + WHOLE
    lowest = np.clip(np.ceil(expected - radius), 0, sizes).astype(np.intp)
    highest = np.clip(np.floor(expected + radius), 0, sizes).astype(np.intp)
    return CountRanges(observed.row_bag, lowest, highest)


def principal_directions(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K without negative eigenvalues by rounding, and F = UΛ^½ of the centred K.

    The columns of F are the kernel principal components of the rows. Without centring, the first
    would be nearly constant, and every labelling violates it: the numbers of positives decide.

    Raises
    ------
    ValueError
        If K has negative eigenvalues that are not rounding.
    """
    identity = np.eye(len(gram))
    try:
        np.linalg.cholesky(gram + ROUNDING_SHARE * abs(np.trace(gram)) * identity)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "the kernel matrix of the training rows has a negative eigenvalue: kernel must be "
            "positive semidefinite"
        ) from error
    means = gram.mean(axis=0)
    values, vectors = eigh(gram - means - means[:, None] + means.mean(), check_finite=False)
    smallest = float(values[0])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    explained = np.cumsum(values)
    n_kept = int(np.searchsorted(explained, TRACE_SHARE * explained[-1])) + 1
    n_kept = max(n_kept, MIN_DIRECTIONS)
    if smallest < 0:
        gram = gram - 2 * smallest * identity
    return gram, vectors[:, :n_kept] * np.sqrt(values[:n_kept])


def most_violated(dual: FloatArray, directions: FloatArray, ranges: CountRanges) -> FloatArray:
    """Return argmax_y max_j |Σ_i α_i y_i F_ij| over the allowed labels.

    It takes the place of the exact problem, argmax_y αᵀ(K∘yyᵀ)α: of the sum
    αᵀ(FFᵀ∘yyᵀ)α = Σ_j (Σ_i α_i y_i F_ij)² only the largest term counts. For each j and sign the
    best labels are found by sorting; a direction is left out if even Σ_i |α_i F_ij| is no more
    than the largest value so far.

    Parameters
    ----------
    dual : ndarray of shape (n_rows,)
        α.
    directions : ndarray of shape (n_rows, n_directions)
        F.
    ranges : CountRanges
        The allowed labels.
    """
    limits = dual @ np.abs(directions)
    best: FloatArray = np.empty(0)
    highest = -np.inf
    for j in np.argsort(-limits):
        if limits[j] <= highest:
            break
        for priorities in (directions[:, j], -directions[:, j]):
            terms = dual * priorities
            labels = ranges.best_labels(terms, priorities)
            if (value := float(labels @ terms)) > highest:
                best, highest = labels, value
    return best


@dataclass(frozen=True)
class Relaxation:
    """The result of the cutting planes.

    Attributes
    ----------
    saddle : Saddle
        α and the weights of the planes.
    planes : ndarray of shape (n_rows, n_planes)
        Label vectors as columns.
    history : list of float
        The saddle value after each plane.
    """

    saddle: Saddle
    planes: FloatArray
    history: list[float]

    def soft_labels(self) -> FloatArray:
        """Return v with vvᵀ nearest to Σ_t μ_t y_t y_tᵀ, with the sign of the labels' mean."""
        weighted = self.planes * np.sqrt(self.saddle.weights)
        left, sizes, _ = np.linalg.svd(weighted, full_matrices=False)
        v = np.asarray(left[:, 0] * sizes[0])
        return v if v @ (self.planes @ self.saddle.weights) >= 0 else -v


def cutting_planes(
    gram: FloatArray, ranges: CountRanges, cost: float, *, max_planes: int, tol: float
) -> Relaxation:
    """Return the saddle point over the convex hull of yyᵀ, approximated by label planes.

    Planes are added, each the most violated by the α so far, until the saddle value decreases by
    no more than `tol`, relatively, until a plane repeats or until there are `max_planes`.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        K.
    ranges : CountRanges
        The allowed labels.
    cost : float
        C.
    max_planes : int
        Maximum number of planes.
    tol : float
        Relative decrease at which to stop.
    """
    gram, directions = principal_directions(gram)
    dual = np.full(len(gram), 1 / len(gram))
    planes, history = np.empty((len(gram), 0)), []
    while True:
        plane = most_violated(dual, directions, ranges)
        if (planes == plane[:, None]).all(axis=0).any():
            break
        planes = np.column_stack([planes, plane])
        saddle = solve_saddle(gram, planes, cost)
        dual = saddle.dual
        history.append(saddle.value)
        if len(history) == max_planes:
            break
        if len(history) > 1 and history[-2] - history[-1] <= tol * history[-2]:
            break
    return Relaxation(saddle, planes, history)
