"""Theorem 2 for several classes: sources that corrupt one distribution by matrices T_s.

The scores are f = (f_1, …, f_K) with Σ_c ‖f_c‖² ≤ R², so that ‖f(x)‖₂ ≤ κR with κ = sup √k(x,x).
Let each ℓ_y be Lipschitz with constant L in the Euclidean norm of the K scores. The corrected loss
of source s, ℓ̃_ỹ = Σ_y T_s⁻¹[ỹ, y]·ℓ_y, is then Lipschitz with constant at most
L_s = L·max_ỹ Σ_y |T_s⁻¹[ỹ, y]|, by the triangle inequality.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import noise_scales
from decorrupt.observed import check_transitions
from decorrupt.theory.arguments import norm, positive_vector, resolve_weights
from decorrupt.theory.ball import DEFAULT_FAILURE_PROB, Ball

# sup ‖softmax(f) − e_y‖₂, of the cross-entropy −log softmax(f)_y.
SOFTMAX_LIPSCHITZ = math.sqrt(2)


def corrected_class_lipschitz(transitions: Any, lipschitz: float = SOFTMAX_LIPSCHITZ) -> FloatArray:
    """Return L_s = L·max_ỹ Σ_y |T_s⁻¹[ỹ, y]| of every source.

    For two classes the factor of L is the paper's (1+|ρ₊−ρ₋|)/(1−ρ₊−ρ₋).

    Parameters
    ----------
    transitions : array-like of shape (n_sources, n_classes, n_classes)
        T_s[y, ỹ] = P(Ỹ=ỹ | Y=y).
    lipschitz : float
        L; by default √2, that of softmax cross-entropy.

    Raises
    ------
    ValueError
        If a matrix is not stochastic or is singular; the message names the source by its number.

    Examples
    --------
    >>> from decorrupt.theory import corrected_class_lipschitz
    >>> corrected_class_lipschitz([[[0.9, 0.1], [0.4, 0.6]]], lipschitz=1.0).round(3).tolist()
    [2.6]
    """
    matrices = _check(transitions)
    return lipschitz * noise_scales(matrices, np.ones(len(matrices)))


def bound_class_sources(
    sizes: ArrayLike,
    transitions: Any,
    *,
    weights: str | ArrayLike = "optimal",
    radius: float,
    kernel_bound: float = 1.0,
    lipschitz: float = SOFTMAX_LIPSCHITZ,
    failure_prob: float = DEFAULT_FAILURE_PROB,
) -> float:
    """Return (2√(2K) + 2√(log(2/δ)/2))·κR·√(Σ_s w_s²L_s²/n_s), for K classes.

    With probability at least 1−δ it bounds the largest |corrected empirical risk − true risk| over
    all f with Σ_c ‖f_c‖² ≤ R².

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        n_s, rows of each source.
    transitions : array-like of shape (n_sources, n_classes, n_classes)
        T_s[y, ỹ] = P(Ỹ=ỹ | Y=y); all sources corrupt one clean distribution.
    weights : {"optimal", "size", "uniform"} or array-like of shape (n_sources,)
        "optimal" is w ∝ n_s/L_s². Or an array of weights ≥ 0 with sum 1.
    radius : float
        R.
    kernel_bound : float, default=1.0
        κ = sup √k(x,x).
    lipschitz : float
        L of every ℓ_y in the Euclidean norm; by default √2, that of softmax cross-entropy.
    failure_prob : float, default=0.05
        δ.

    Raises
    ------
    ValueError
        If an argument is out of range or a matrix is singular or not stochastic.

    Notes
    -----
    The mean of the supremum is at most 2·E sup Σ_j ε_j·h_j(f(x_j)) (symmetrisation), where h_j is
    w_s/n_s times the corrected loss. Maurer's (2016) vector contraction bounds this by
    2√2·E sup Σ_j (w_s/n_s)L_s·Σ_c ε_jc·f_c(x_j), which Cauchy–Schwarz and Jensen bound by
    2√2·R·κ·√(K·Σ_s w_s²L_s²/n_s). The rows of T⁻¹ sum to 1, so if all classes have the same loss at
    zero (log K for cross-entropy), so have all corrected losses. Replacing one observation then
    changes the loss by at most 2L_sκR, and McDiarmid's inequality gives the second term.

    For two classes the first term is twice that of the scalar contraction in
    :func:`bound_common_source`, the second is the same. Not covered: an unpenalised intercept,
    sources with different class priors, and rates that were estimated from the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.theory import bound_class_sources
    >>> clean, noisy = np.eye(3), 0.4 * np.eye(3) + 0.2
    >>> round(bound_class_sources([20_000, 20_000], [clean, noisy], radius=1), 4)
    0.0722
    """
    rows = positive_vector("sizes", sizes)
    steepness = corrected_class_lipschitz(transitions, lipschitz)
    if len(steepness) != len(rows):
        raise ValueError(f"there are {len(steepness)} matrices for {len(rows)} sizes")
    ball = Ball(radius, kernel_bound, lipschitz, 0.0, failure_prob)
    schemes = {"optimal": rows / steepness**2, "size": rows, "uniform": np.ones_like(rows)}
    share = resolve_weights(weights, schemes) / np.sqrt(rows)
    n_classes = np.shape(transitions)[-1]
    factor = 2 * math.sqrt(2 * n_classes) + 2 * ball.confidence
    return factor * ball.score_bound * norm(share * steepness)


def _check(transitions: Any) -> FloatArray:
    matrices = [np.asarray(matrix, dtype=float) for matrix in transitions]
    return check_transitions(dict(enumerate(matrices)), len(matrices[0]))
