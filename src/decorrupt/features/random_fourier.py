"""Random Fourier features: z(x) with ⟨z(x), z(x')⟩ ≈ k(x − x'), drawn without data.

A kernel of x − x' is the characteristic function of its frequencies w (Bochner's theorem), so
k(x − x') = E cos⟨w, x − x'⟩ (Rahimi & Recht 2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.features.kernels import KernelFunction

RANDOM_FEATURE_KERNELS = ("rbf", "exponential", "laplacian")
DEFAULT_N_FEATURES = 512
BLOCK_ROWS = 8192
# Rows whose pairs estimate the error of the approximation: 32,640 pairs.
ERROR_ROWS = 256


@dataclass(frozen=True)
class RandomFourierMap:
    """z(x) = m^−½·(cos⟨w_1, x−c⟩, …, cos⟨w_m, x−c⟩, sin⟨w_1, x−c⟩, …, sin⟨w_m, x−c⟩).

    ‖z(x)‖ = 1 = k(x, x) exactly. A kernel of differences does not depend on the centre c, nor do
    fitted models, up to rounding; rows far from the origin lose digits without it.

    Attributes
    ----------
    frequencies : ndarray of shape (n_frequencies, n_columns)
        w_1, …, w_m.
    centre : ndarray of shape (n_columns,) or 0
        c; 0 for sparse rows.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = KernelFunction("rbf", 0.5)
    >>> rule = RandomFourierMap.draw(kernel, n_columns=3, n_features=2048, seed=0)
    >>> X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> z = rule.transform(X)
    >>> bool(abs(z[0] @ z[1] - np.exp(-0.5)) < 0.05)
    True
    """

    frequencies: FloatArray
    centre: FloatArray | float = 0.0

    @classmethod
    def draw(
        cls,
        kernel: KernelFunction,
        n_columns: int,
        n_features: int = DEFAULT_N_FEATURES,
        seed: Any = None,
        *,
        centre: FloatArray | float = 0.0,
    ) -> RandomFourierMap:
        """Return a map that depends on its arguments only, the same for any rows.

        Parameters
        ----------
        kernel : KernelFunction
            rbf, exponential or laplacian, with its γ.
        n_columns : int
            Columns of X.
        n_features : int
            Columns of z(x): two per frequency, so an odd number is rounded down, but at least 2.
        seed : int, RandomState or None
            Source of the frequencies; the same integer gives the same frequencies.
        centre : ndarray of shape (n_columns,) or 0
            Subtracted from dense rows.

        Raises
        ------
        ValueError
            If the kernel is not a function of x − x' with known frequencies.
        """
        check_has_frequencies(kernel.name)
        rng = check_random_state(seed)
        frequencies = _frequencies(kernel, max(n_features // 2, 1), n_columns, rng)
        return cls(frequencies, centre)

    @property
    def n_features(self) -> int:
        """Columns of z(x)."""
        return 2 * len(self.frequencies)

    def transform(self, X: Any) -> FloatArray:
        """Return z(x) of every row, dense or sparse, in the precision of X."""
        features = np.empty((X.shape[0], self.n_features), dtype=X.dtype)
        for rows in _blocks(X.shape[0]):
            self._fill(X[rows], features[rows])
        return features

    def scores(self, X: Any, coef: FloatArray) -> FloatArray:
        """Return ⟨θ, z(x)⟩ of every row, or one score per column of θ, in blocks of rows."""
        coef = coef.astype(X.dtype, copy=False)
        scores = np.empty((X.shape[0], *coef.shape[1:]), dtype=X.dtype)
        for rows in _blocks(X.shape[0]):
            scores[rows] = self.transform(X[rows]) @ coef
        return scores

    def _fill(self, X: Any, out: FloatArray) -> None:
        n_frequencies, dtype = len(self.frequencies), X.dtype
        if np.ndim(self.centre):
            X = X - np.asarray(self.centre, dtype=dtype)
        # The angles are where the cosines will be: new memory costs as much as the product.
        angles = out[:, :n_frequencies]
        if issparse(X):
            angles[...] = X @ self.frequencies.T.astype(dtype)
        else:
            np.matmul(X, self.frequencies.T.astype(dtype), out=angles)
        np.sin(angles, out=out[:, n_frequencies:])
        np.cos(angles, out=angles)
        out *= dtype.type(n_frequencies**-0.5)

    def error(self, kernel: KernelFunction, X: Any, random_state: np.random.RandomState) -> float:
        """Return the root mean squared error of ⟨z(x), z(x')⟩ over pairs of rows of X."""
        n_sampled = min(X.shape[0], ERROR_ROWS)
        if n_sampled < 2:
            return 0.0  # k(x, x) is exact
        sample = X[np.sort(random_state.choice(X.shape[0], n_sampled, replace=False))]
        features = self.transform(sample)
        errors = features @ features.T - kernel.block(sample, sample)
        pairs = errors[np.triu_indices(n_sampled, k=1)]
        return float(np.sqrt(np.mean(np.square(pairs, dtype=float))))


def check_has_frequencies(name: Any) -> None:
    """Raise ValueError unless a kernel can be approximated by random features."""
    if name not in RANDOM_FEATURE_KERNELS:
        raise ValueError(
            f"features='random' needs kernel={' or '.join(map(repr, RANDOM_FEATURE_KERNELS))}, "
            f"whose frequencies are known, got kernel={name!r}: use features='landmarks'"
        )


def _blocks(n_rows: int) -> list[slice]:
    return [slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS)]


def _frequencies(
    kernel: KernelFunction, n_frequencies: int, n_columns: int, rng: np.random.RandomState
) -> FloatArray:
    """Return independent frequencies, or orthogonal ones for the two isotropic kernels.

    rbf: w is normal with variance 2γ. exponential: w is γ times multivariate Cauchy, a normal
    vector divided by an independent |normal|. laplacian: every coordinate is γ times Cauchy.
    """
    if kernel.name == "laplacian":
        return np.asarray(kernel.gamma * rng.standard_cauchy((n_frequencies, n_columns)))
    directions = _orthogonal_directions(n_frequencies, n_columns, rng)
    lengths = np.sqrt(rng.chisquare(n_columns, n_frequencies))
    if kernel.name == "rbf":
        lengths *= np.sqrt(2 * kernel.gamma)
    else:
        lengths *= kernel.gamma / np.abs(rng.standard_normal(n_frequencies))
    return np.asarray(lengths[:, None] * directions)


def _orthogonal_directions(
    n_directions: int, n_columns: int, rng: np.random.RandomState
) -> FloatArray:
    """Return uniform unit vectors, orthogonal within blocks of up to n_columns rows.

    They have a smaller error than independent ones for the same number (Yu et al. 2016).
    """
    blocks, left = [], n_directions
    while left > 0:
        normal = rng.standard_normal((n_columns, min(left, n_columns)))
        basis, triangle = np.linalg.qr(normal)
        # The signs make the distribution uniform: LAPACK's choice of sign depends on the rows.
        blocks.append((basis * np.copysign(1.0, np.diag(triangle))).T)
        left -= n_columns
    return np.concatenate(blocks)
