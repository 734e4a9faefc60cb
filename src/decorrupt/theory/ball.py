"""Common assumptions of all bounds: norm ball, Lipschitz loss, failure probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

from decorrupt.losses import LogisticLoss

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
