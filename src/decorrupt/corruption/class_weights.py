"""Weights of corrupted sources of several classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption.transitions import noise_scales
from decorrupt.corruption.weights import WEIGHT_SCHEMES


def class_source_weights(
    sizes: ArrayLike,
    transitions: FloatArray,
    *,
    class_priors: FloatArray | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return w_s ∝ 1/c_s² on the simplex, the minimiser of Σ w_s²c_s².

    For two classes these are the weights of :func:`decorrupt.corruption.source_weights`.

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        n_s, rows of each source.
    transitions : ndarray of shape (n_sources, n_classes, n_classes)
        T_s, from :func:`check_transitions`.
    class_priors : ndarray of shape (n_sources, n_classes), optional
        π_s, the class shares of each source. Without it, all sources have the same clean
        distribution; with it, only the class-conditional distributions are the same.
    scheme : {"optimal", "exact", "size", "uniform"}
        - ``optimal``: c_s = max_ỹ Σ_y |T_s⁻¹[ỹ, y]| / √n_s, with class priors also / min_y π_s(y).
        - ``exact``: c_s² = Σ_ỹ q_s(ỹ)·(Σ_y |T_s⁻¹[ỹ, y]|/(K·π_s(y)))² / n_s with q_s = T_sᵀπ_s:
          the mean square over the noisy labels instead of the maximum; needs `class_priors`.
        - ``size``: 1/c_s² = n_s.
        - ``uniform``: 1 for every source.

    Raises
    ------
    ValueError
        If the scheme is unknown, or needs class priors.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import class_source_weights
    >>> noisy = 0.4 * np.eye(3) + 0.2
    >>> class_source_weights([100, 100], np.array([np.eye(3), noisy])).round(3).tolist()
    [0.9, 0.1]
    """
    sizes = np.asarray(sizes, dtype=float)
    if scheme == "uniform":
        snr = np.ones_like(sizes)
    elif scheme == "size":
        snr = sizes
    elif scheme == "optimal":
        balance = 1.0 if class_priors is None else class_priors.min(axis=1)
        snr = (balance / noise_scales(transitions, sizes)) ** 2
    elif scheme == "exact":
        if class_priors is None:
            raise ValueError(
                "scheme='exact' needs class_priors: it depends on the class shares per source"
            )
        snr = sizes / _mean_square(transitions, class_priors)
    else:
        raise ValueError(f"unknown scheme {scheme!r}: choose one of {', '.join(WEIGHT_SCHEMES)}")
    return np.asarray(snr / snr.sum())


def _mean_square(transitions: FloatArray, class_priors: FloatArray) -> FloatArray:
    """Return Σ_ỹ q(ỹ)·(Σ_y |T⁻¹[ỹ, y]|/(K·π(y)))² of every source."""
    costs = 1 / (class_priors.shape[1] * class_priors)
    reach = np.einsum("sny,sy->sn", np.abs(np.linalg.inv(transitions)), costs)
    label_shares = np.einsum("syn,sy->sn", transitions, class_priors)
    return np.asarray(np.sum(label_shares * reach**2, axis=1))
