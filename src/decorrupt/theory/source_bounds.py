"""Generalisation bounds for sources: Theorems 2 and 3 of the paper, and Theorem 2 for K classes.

The conventions are those of :mod:`decorrupt.theory.bounds`. For K classes the scores are
f = (f_1, …, f_K) with Σ_c ‖f_c‖² ≤ R², so that ‖f(x)‖₂ ≤ κR with κ = sup √k(x,x). Let each ℓ_y be
Lipschitz with constant L in the Euclidean norm of the K scores. The corrected loss of source s,
ℓ̃_ỹ = Σ_y T_s⁻¹[ỹ, y]·ℓ_y, is then Lipschitz with constant at most
L_s = L·max_ỹ Σ_y |T_s⁻¹[ỹ, y]|, by the triangle inequality.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import noise_scales, read_transitions
from decorrupt.theory.arguments import (
    norm,
    pair_signal_to_noise,
    positive_vector,
    resolve_source_weights,
    resolve_weights,
)
from decorrupt.theory.master import (
    DEFAULT_FAILURE_PROB,
    LOGISTIC_AT_ZERO,
    LOGISTIC_LIPSCHITZ,
    Ball,
)

# The constant in front of KRL·√(Σw²c²·log(2/δ)/2): (as printed, repaired).
COMMON_SOURCE_CONSTANTS = (4.0, 4.0)
VARYING_PRIORS_CONSTANTS = (2.0, 2.25)
# sup ‖softmax(f) − e_y‖₂, of the cross-entropy −log softmax(f)_y.
SOFTMAX_LIPSCHITZ = math.sqrt(2)


def bound_common_source(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    *,
    weights: str | ArrayLike = "optimal",
    radius: float,
    kernel_bound: float = 1.0,
    lipschitz: float = LOGISTIC_LIPSCHITZ,
    at_zero: float = LOGISTIC_AT_ZERO,
    failure_prob: float = DEFAULT_FAILURE_PROB,
    as_printed: bool = False,
) -> float:
    """Return the bound of Theorem 2, for sources of one population.

    4KRL·√(Σ w_i²c_i² · log(2/δ)/2), c_i² = (1+|ρ₊−ρ₋|)²/(n_i(1−ρ₊−ρ₋)²).

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        Number of rows of each source.
    flip_pos, flip_neg : array-like of shape (n_sources,) or float
        Noise rates of each source; all sources corrupt one clean distribution.
    weights : {"optimal", "size", "uniform"} or array-like of shape (n_sources,)
        A scheme of :func:`decorrupt.corruption.source_weights`, or weights ≥ 0 with sum 1.
    radius : float
        R, more than φ(0)/(K·L).
    kernel_bound : float, default=1.0
        K = sup √k(x,x).
    lipschitz, at_zero : float
        L and φ(0) of the loss; by default those of the logistic loss.
    failure_prob : float, default=0.05
        δ, at most ¼.
    as_printed : bool, default=False
        Use the paper's constant instead of the repaired one. Here they are equal.

    Raises
    ------
    ValueError
        If a condition of the theorem is not met; the message names it.

    Notes
    -----
    The printed constant 4 is correct. With equal costs both labels have the same corrected loss at
    zero, φ(0), so replacing one observation changes the loss by at most 2|ℓ_i|KR. The two terms
    are then 2KR·√… + 2KR·√…·√(log(2/δ)/2), at most 4KR·√…·√(log(2/δ)/2) for δ ≤ ¼.

    Examples
    --------
    >>> from decorrupt.theory import bound_common_source
    >>> round(bound_common_source([1000, 1000], [0.1, 0.4], [0.1, 0.4], radius=1), 4)
    0.2083
    """
    ball = Ball(radius, kernel_bound, lipschitz, at_zero, failure_prob)
    ball.require("Theorem 2")
    snr = pair_signal_to_noise(sizes, flip_pos, flip_neg)
    share = resolve_source_weights(weights, sizes, flip_pos, flip_neg)
    factor = norm(share / np.sqrt(snr))
    constant = _constant(COMMON_SOURCE_CONSTANTS, as_printed)
    return constant * ball.loss_reach * ball.confidence * factor


def bound_varying_priors(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    source_priors: ArrayLike,
    *,
    weights: str | ArrayLike = "optimal",
    radius: float,
    kernel_bound: float = 1.0,
    lipschitz: float = LOGISTIC_LIPSCHITZ,
    at_zero: float = LOGISTIC_AT_ZERO,
    failure_prob: float = DEFAULT_FAILURE_PROB,
    as_printed: bool = False,
) -> float:
    """Return the bound of Theorem 3, for sources with different class shares.

    2.25·KRL·√(Σ w_i²c_i² · log(2/δ)/2), c_i² as below.

    c_i² is that of :func:`bound_common_source` divided by min(π_i, 1−π_i)².

    Parameters
    ----------
    sizes, flip_pos, flip_neg
        As in :func:`bound_common_source`.
    source_priors : array-like of shape (n_sources,) or float
        P(Y=1) of each source, strictly between 0 and 1.
    weights : {"optimal", "exact", "size", "uniform"} or array-like of shape (n_sources,)
        As in :func:`decorrupt.corruption.source_weights`.
    radius : float
        R, more than 2φ(0)/(K·L).
    kernel_bound, lipschitz, at_zero, failure_prob
        As in :func:`bound_common_source`.
    as_printed : bool, default=False
        Use the paper's constant 2 instead of 2.25.

    Raises
    ------
    ValueError
        If a condition of the theorem is not met; the message names it.

    Notes
    -----
    Let s = 1−ρ₊−ρ₋ and α = (1/2π, 1/2(1−π)), the costs. The two labels' corrected losses at zero
    differ by φ(0)|α₊−α₋|/s ≤ φ(0)·max(α)/s, at most ½|ℓ_i|KR for R > 2φ(0)/KL. So replacing one
    observation changes the loss by at most 2.5|ℓ_i|KR, and (2 + 2.5)·max(α) = 2.25/min(π, 1−π).

    The printed constant 2 is also valid, but needs a step that the paper does not make. When the
    label changes too, the Lipschitz constants of the *two* labels add up to L(α₊+α₋)/s, not to
    twice the larger one, and φ(0)|α₊−α₋| + LKR(α₊+α₋) ≤ 2LKR·max(α) if R ≥ φ(0)/KL. So
    ``as_printed=True`` is a valid bound here; only its published proof is wrong.

    Examples
    --------
    >>> from decorrupt.theory import bound_varying_priors
    >>> round(bound_varying_priors([4000, 4000], 0.1, 0.1, [0.5, 0.2], radius=2), 4)
    0.2243
    """
    ball = Ball(radius, kernel_bound, lipschitz, at_zero, failure_prob)
    ball.require("Theorem 3", multiple=2.0)
    snr = pair_signal_to_noise(sizes, flip_pos, flip_neg, source_priors)
    share = resolve_source_weights(weights, sizes, flip_pos, flip_neg, source_priors)
    factor = norm(share / np.sqrt(snr))
    constant = _constant(VARYING_PRIORS_CONSTANTS, as_printed)
    return constant * ball.loss_reach * ball.confidence * factor


def _constant(constants: tuple[float, float], as_printed: bool) -> float:
    printed, repaired = constants
    return printed if as_printed else repaired


def corrected_lipschitz(transitions: Any, lipschitz: float = SOFTMAX_LIPSCHITZ) -> FloatArray:
    """Return the Lipschitz constant of the corrected loss of every source.

    L_s = L·max_ỹ Σ_y |T_s⁻¹[ỹ, y]| of source s.

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
    >>> from decorrupt.theory import corrected_lipschitz
    >>> corrected_lipschitz([[[0.9, 0.1], [0.4, 0.6]]], lipschitz=1.0).round(3).tolist()
    [2.6]
    """
    matrices = read_transitions(transitions)
    return lipschitz * noise_scales(matrices, np.ones(len(matrices)))


def bound_transitions(
    sizes: ArrayLike,
    transitions: Any,
    *,
    weights: str | ArrayLike = "optimal",
    radius: float,
    kernel_bound: float = 1.0,
    lipschitz: float = SOFTMAX_LIPSCHITZ,
    failure_prob: float = DEFAULT_FAILURE_PROB,
) -> float:
    """Return the bound for several classes with one transition matrix per source.

    (2√(2K) + 2√(log(2/δ)/2))·κR·√(Σ_s w_s²L_s²/n_s).

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
    >>> from decorrupt.theory import bound_transitions
    >>> clean, noisy = np.eye(3), 0.4 * np.eye(3) + 0.2
    >>> round(bound_transitions([20_000, 20_000], [clean, noisy], radius=1), 4)
    0.0722
    """
    rows = positive_vector("sizes", sizes)
    steepness = corrected_lipschitz(transitions, lipschitz)
    if len(steepness) != len(rows):
        raise ValueError(f"there are {len(steepness)} matrices for {len(rows)} sizes")
    ball = Ball(radius, kernel_bound, lipschitz, 0.0, failure_prob)
    schemes = {"optimal": rows / steepness**2, "size": rows, "uniform": np.ones_like(rows)}
    share = resolve_weights(weights, schemes) / np.sqrt(rows)
    n_classes = np.shape(transitions)[-1]
    factor = 2 * math.sqrt(2 * n_classes) + 2 * ball.confidence
    return factor * ball.score_bound * norm(share * steepness)
