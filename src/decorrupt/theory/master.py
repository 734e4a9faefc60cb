"""The norm ball of all bounds, and the master theorem with the repaired step of its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.losses import LogisticLoss
from decorrupt.theory.arguments import norm, positive_vector, resolve_weights, vector

LOGISTIC_LIPSCHITZ = LogisticLoss.lipschitz
LOGISTIC_AT_ZERO = LogisticLoss.at_zero
DEFAULT_FAILURE_PROB = 0.05
# δ ≤ ¼ makes log(2/δ)/2 ≥ 1, which lets the theorems merge their two terms into one.
MAX_FAILURE_PROB = 0.25


@dataclass(frozen=True)
class Ball:
    """{f : ‖f‖ ≤ R} in the RKHS of a kernel with √k(x,x) ≤ K, with an L-Lipschitz loss φ.

    Parameters
    ----------
    radius : float
        R.
    kernel_bound : float
        K = sup √k(x,x), 1 for a Gaussian kernel. The paper writes "k bounded by K" but uses
        ‖k(·,x)‖ ≤ K.
    lipschitz : float
        L of the uncorrected loss.
    at_zero : float
        φ(0).
    failure_prob : float
        δ.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names it.
    """

    radius: float
    kernel_bound: float = 1.0
    lipschitz: float = LOGISTIC_LIPSCHITZ
    at_zero: float = LOGISTIC_AT_ZERO
    failure_prob: float = DEFAULT_FAILURE_PROB

    def __post_init__(self) -> None:
        for name in ("radius", "kernel_bound", "lipschitz"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                hint = ": the bounds need a Lipschitz loss" if name == "lipschitz" else ""
                raise ValueError(f"{name}={value!r} must be a positive, finite number{hint}")
        if not (math.isfinite(self.at_zero) and self.at_zero >= 0):
            raise ValueError(f"at_zero={self.at_zero!r} is φ(0): it must be finite and at least 0")
        if not 0 < self.failure_prob <= 1:
            raise ValueError(f"failure_prob={self.failure_prob!r} must lie in (0, 1]")

    @property
    def score_bound(self) -> float:
        """K·R ≥ |f(x)| for all f in the ball (Cauchy–Schwarz)."""
        return self.kernel_bound * self.radius

    @property
    def loss_reach(self) -> float:
        """K·R·L ≥ |φ(f(x)) − φ(0)| for all f in the ball."""
        return self.score_bound * self.lipschitz

    @property
    def confidence(self) -> float:
        """√(log(2/δ)/2), the factor of McDiarmid's inequality (two-sided)."""
        return math.sqrt(math.log(2 / self.failure_prob) / 2)

    def require(self, theorem: str, multiple: float = 1.0) -> None:
        """Raise ValueError unless R > multiple·φ(0)/(K·L) and δ ≤ ¼."""
        least = multiple * self.at_zero / (self.kernel_bound * self.lipschitz)
        if not self.radius > least:
            factor = "" if multiple == 1 else f"{multiple:g}·"
            raise ValueError(
                f"radius={self.radius!r} is too small for {theorem}: it must exceed "
                f"{factor}at_zero/(kernel_bound·lipschitz) = {least:.4g}"
            )
        if self.failure_prob > MAX_FAILURE_PROB:
            raise ValueError(
                f"failure_prob={self.failure_prob!r} is too large for {theorem}: "
                f"it must be at most {MAX_FAILURE_PROB}"
            )


def replacement_change(
    lipschitz: ArrayLike, at_zero_gap: ArrayLike, score_bound: float
) -> FloatArray:
    """Return the largest change of a corrected loss if one observation is replaced.

    D = |ℓ(0,1) − ℓ(0,−1)| + 2|ℓ|KR ≥ sup |ℓ(t,y) − ℓ(t',y')| over |t|, |t'| ≤ KR.

    An upper bound of how much replacing one observation changes a corrected loss, which can be
    negative. The paper uses the largest value |ℓ|₀ + |ℓ|KR instead.

    Parameters
    ----------
    lipschitz : array-like
        |ℓ|, the larger Lipschitz constant of the corrected loss over the two labels.
    at_zero_gap : array-like
        |ℓ(0,1) − ℓ(0,−1)|.
    score_bound : float
        K·R.
    """
    return np.asarray(np.asarray(at_zero_gap) + 2 * np.asarray(lipschitz) * score_bound)


def bound_master(
    sizes: ArrayLike,
    lipschitz: ArrayLike,
    at_zero: ArrayLike,
    *,
    at_zero_gap: ArrayLike | None = None,
    weights: str | ArrayLike = "optimal",
    radius: float,
    kernel_bound: float = 1.0,
    failure_prob: float = DEFAULT_FAILURE_PROB,
    as_printed: bool = False,
) -> float:
    """Return the bound of the master theorem, from the constants of each corrected loss.

    2KR·√(Σ w_i²|ℓ_i|²/n_i) + √(Σ w_i²D_i²/n_i · log(2/δ)/2).

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        Number of rows of each source.
    lipschitz : array-like of shape (n_sources,) or float
        |ℓ_i|, the Lipschitz constant of each source's corrected loss.
    at_zero : array-like of shape (n_sources,) or float
        |ℓ_i|₀ = max over the two labels of |ℓ_i(0, y)|.
    at_zero_gap : array-like of shape (n_sources,) or float, optional
        |ℓ_i(0, 1) − ℓ_i(0, −1)|, by default its largest possible value, 2|ℓ_i|₀.
    weights : {"optimal", "size", "uniform"} or array-like of shape (n_sources,)
        "optimal" is w ∝ n/|ℓ|². Or an array of weights.
    radius, kernel_bound : float
        R and K = sup √k(x,x); R can be any positive number.
    failure_prob : float, default=0.05
        δ, up to 1.
    as_printed : bool, default=False
        Use D_i = |ℓ_i|₀ + |ℓ_i|KR, which is too small for signed losses, instead of
        :func:`replacement_change`.

    Raises
    ------
    ValueError
        If a condition of the theorem is not met; the message names it.

    Examples
    --------
    >>> from decorrupt.theory import bound_master
    >>> round(bound_master([1000], 2.0, 0.7, at_zero_gap=0.0, radius=1.0), 4)
    0.2983
    """
    rows = positive_vector("sizes", sizes)
    slope = vector("lipschitz", lipschitz, len(rows))
    zero = vector("at_zero", at_zero, len(rows))
    # Ball checks its arguments: the smallest value of each covers all sources.
    ball = Ball(radius, kernel_bound, float(slope.min()), float(zero.min()), failure_prob)
    gap = 2 * zero if at_zero_gap is None else vector("at_zero_gap", at_zero_gap, len(rows))
    schemes = {"optimal": rows / slope**2, "size": rows, "uniform": np.ones_like(rows)}
    share = resolve_weights(weights, schemes) / np.sqrt(rows)
    change = replacement_change(slope, gap, ball.score_bound)
    if as_printed:
        change = zero + slope * ball.score_bound
    mean = 2 * ball.score_bound * norm(share * slope)
    return mean + ball.confidence * norm(share * change)
