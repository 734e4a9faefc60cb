"""The Laplacian mean map: class means that vary smoothly from bag to bag.

The logistic loss is log(2·cosh(f/2)) − y·f/2: labels enter through the mean operator E[y·z(x)]
alone. Every estimate of it as a weighted sum of bag means is a combination whose coefficients a_k
and b_k of bag k have the sum n_k/n, and as difference the weight of its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import kneighbors_graph

from decorrupt._typing import FloatArray
from decorrupt.observed import Observed, check_bags

# Up to this many bags all pairs are linked (200 MB); above it, each bag and its nearest bags.
ALL_PAIRS_BAGS = 5000
NEIGHBOURS = 100
# All bags are linked by at least this share of the mean link. Otherwise the class means of bags
# without similar bags would be undetermined.
WEAK_LINK = 1e-4
SOLVE_TOL = 1e-10


def bag_means(rows: Any, observed: Observed) -> Any:
    """Return the mean row of every bag, shape (n_bags, n_columns); sparse rows stay sparse."""
    weight = (1 / observed.sizes)[observed.row_bag]
    weight = weight if observed.weights is None else weight * observed.weights
    return bag_sums(rows, observed.row_bag, observed.n_bags, weight)


def bag_sums(rows: Any, codes: NDArray[np.intp], n_bags: int, weight: Any = None) -> Any:
    """Return the weighted sum of the rows of every bag; the bag of each row is its code."""
    n_rows = len(codes)
    weight = np.ones(n_rows) if weight is None else weight
    picks = sparse.csr_array((weight, (codes, np.arange(n_rows))), shape=(n_bags, n_rows))
    return picks @ rows


def gaussian_similarity(means: Any) -> Any:
    """Return exp(−‖mean_k − mean_l‖²/σ²), σ² the mean squared distance between two bag means.

    An (M, M) array up to `ALL_PAIRS_BAGS` bags; beyond, a sparse matrix that links every bag with
    its `NEIGHBOURS` nearest ones. O(M²·n_columns) operations either way.
    """
    n_bags = means.shape[0]
    if not sparse.issparse(means):
        means = means - means.mean(axis=0)  # distances far from the origin lose digits to rounding
    scale = _mean_squared_distance(means) or 1.0  # coinciding means are at distance 0 anyway
    if n_bags <= ALL_PAIRS_BAGS:
        return np.exp(euclidean_distances(means, squared=True) / -scale)
    links = kneighbors_graph(means, NEIGHBOURS, mode="distance")
    links.data = np.exp(links.data**2 / -scale)
    return links.maximum(links.T) + sparse.eye_array(n_bags)


def _mean_squared_distance(means: Any) -> float:
    """Return the mean of ‖m_k − m_l‖² over all pairs: 2/(M−1) times Σ‖m_k − m̄‖²."""
    squares = means.multiply(means) if sparse.issparse(means) else means**2
    centre = np.asarray(means.mean(axis=0)).ravel()
    n_bags = means.shape[0]
    spread = float(squares.sum() - n_bags * (centre @ centre))
    return 2 * max(spread, 0.0) / (int(n_bags) - 1)


def laplacian_combination(
    sizes: FloatArray, proportions: FloatArray, similarity: Any, smoothness: float
) -> tuple[FloatArray, bool]:
    """Return the Laplacian mean map's combination of bag means, and whether the solver converged.

    In the map of Patrini et al. (2014) the class means of every bag are, with shares s_k = n_k/n
    and q_k = 1−p_k,

        argmin Σ_k s_k·‖mean_k − p_kμ_k⁺ − q_kμ_k⁻‖²
               + (smoothness/2)·Σ_kl v_kl·(‖μ_k⁺−μ_l⁺‖² + ‖μ_k⁻−μ_l⁻‖²),
        v_kl = s_k·s_l·(similarity_kl/mean similarity + WEAK_LINK),

    where the mean similarity is Σ_kl s_k·s_l·similarity_kl. The mean operator is
    Σ_k s_k(p_kμ_k⁺ − q_kμ_k⁻), a weighted sum of bag means. It does not depend on the scale of the
    similarities, and splitting a bag into two equal bags does not change it. If all bags have the
    same class means it is unbiased for every similarity; for smoothness → ∞ it is the mean map.

    Parameters
    ----------
    sizes, proportions : array-like of shape (n_bags,)
        Rows and share of positives of each bag.
    similarity : array or sparse matrix of shape (n_bags, n_bags)
        As :func:`gaussian_similarity` or :func:`check_similarity` returns it.
    smoothness : float
        Strength of the smoothness penalty, above 0.

    Raises
    ------
    ValueError
        If `smoothness` is not positive, or all proportions are equal.

    Notes
    -----
    One system of 2·n_bags unknowns is solved, regardless of the number of features, by conjugate
    gradients started at the mean map. It takes a few tens of steps with two products with
    `similarity` per step: O(n_bags²), or O(n_bags·neighbours) for a sparse matrix.
    """
    sizes, shares = check_bags(sizes, proportions)
    proportions = shares[:, 1]
    if not (np.isfinite(smoothness) and smoothness > 0):
        raise ValueError(
            f"smoothness={smoothness!r} must be a positive number: without it the two class "
            "means of a bag are not determined"
        )
    share = sizes / sizes.sum()
    system = _LaplacianSystem(share, proportions, similarity, float(smoothness))
    by_class = np.vstack([share * proportions, -share * (1 - proportions)])
    solution, converged = system.solve(by_class)
    # m̂ = cᵀA⁻¹ΠᵀS·means: the weights of the bag means are SΠ·(A⁻¹c).
    odd = share * (proportions * solution[0] + (1 - proportions) * solution[1])
    return np.column_stack([share - odd, share + odd]) / 2, converged


def check_similarity(similarity: Any, n_bags: int) -> Any:
    """Return `similarity` as a float array or sparse matrix; raise a ValueError if invalid."""
    similarity = similarity if sparse.issparse(similarity) else np.asarray(similarity)
    if similarity.shape != (n_bags, n_bags) or similarity.dtype.kind not in "fiub":
        raise ValueError(
            f"similarity must be 'gaussian' or a matrix of numbers of shape ({n_bags}, {n_bags}), "
            f"the bags in sorted order of their ids; got shape {similarity.shape}"
        )
    similarity = similarity.astype(float)
    values = similarity.data if sparse.issparse(similarity) else similarity
    if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise ValueError("similarity must hold finite numbers of at least 0, not all of them 0")
    if abs(similarity - similarity.T).max() > 1e-8 * abs(similarity).max():
        raise ValueError("similarity must be symmetric: similarity[i, j] = similarity[j, i]")
    return similarity


@dataclass(frozen=True)
class _LaplacianSystem:
    """A = ΠᵀSΠ + smoothness·diag(L, L), on class means of shape (2, n_bags).

    Π·means = pμ⁺ + qμ⁻, S the shares, and L = diag(Σ_l v_kl) − v.
    """

    share: FloatArray
    proportions: FloatArray
    similarity: Any
    smoothness: float

    def solve(self, rhs: FloatArray) -> tuple[FloatArray, bool]:
        """Return A⁻¹·rhs by conjugate gradients, and whether they converged.

        Class means common to all bags belong to the smallest eigenvalues of A (L maps them to 0).
        They are solved for directly, which gives the mean map; conjugate gradients, deflated by
        them, solve for the rest.
        """
        n_bags = len(self.share)
        common = np.kron(np.eye(2), np.ones((n_bags, 1)))
        seen = np.column_stack([self._apply(column) for column in common.T])
        coarse = np.linalg.inv(common.T @ seen)

        def deflated(means: FloatArray) -> FloatArray:
            return means - seen @ (coarse @ (common.T @ means))

        start = common @ (coarse @ (common.T @ rhs.ravel()))
        correction, failed = cg(
            self._operator(lambda means: deflated(self._apply(means))),
            deflated(rhs.ravel()),
            rtol=SOLVE_TOL,
            atol=SOLVE_TOL * float(np.linalg.norm(rhs)),
            M=self._operator(self._precondition),
        )
        correction -= common @ (coarse @ (seen.T @ correction))
        return np.asarray((start + correction).reshape(2, n_bags)), not failed

    def _apply(self, flat_means: FloatArray) -> FloatArray:
        means = flat_means.reshape(2, -1)
        fitted = self.share * (self._by_class * means).sum(axis=0)
        reached = (self.similarity @ (self.share * means).T).T / self._mean_similarity
        linked = self.share * (reached + WEAK_LINK * (means @ self.share)[:, None])
        smooth = self._degree * means - linked
        return np.asarray(self._by_class * fitted + self.smoothness * smooth).ravel()

    def _precondition(self, flat_means: FloatArray) -> FloatArray:
        """Return the solution without links between bags: a 2×2 system (rank one + I) per bag."""
        means = flat_means.reshape(2, -1)
        ridge = self.smoothness * self._degree
        fitted = self.share * (self._by_class * means).sum(axis=0)
        fitted /= ridge + self.share * (self._by_class**2).sum(axis=0)
        return np.asarray((means - self._by_class * fitted) / ridge).ravel()

    def _operator(self, function: Any) -> LinearOperator:
        n_unknowns = 2 * len(self.share)
        return LinearOperator((n_unknowns, n_unknowns), matvec=function, dtype=float)

    @cached_property
    def _by_class(self) -> FloatArray:
        return np.vstack([self.proportions, 1 - self.proportions])

    @cached_property
    def _reach(self) -> FloatArray:
        return np.asarray(self.similarity @ self.share)

    @cached_property
    def _mean_similarity(self) -> float:
        return float(self._reach @ self.share)

    @cached_property
    def _degree(self) -> FloatArray:
        return np.asarray(self.share * (self._reach / self._mean_similarity + WEAK_LINK))
