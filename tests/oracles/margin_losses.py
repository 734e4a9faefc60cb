"""The margin losses again, in decimals of many digits, and derivatives by differences.

The unhinged loss is only here: it attains constants of the theory.
"""

from decimal import Decimal, localcontext

import numpy as np

from decorrupt.losses import MarginLoss

DIGITS = 320  # exp(−600) must not vanish beside 1


def _logistic(margin: Decimal) -> Decimal:
    return (1 + (-margin).exp()).ln()


def _squared(margin: Decimal) -> Decimal:
    return (1 - margin) ** 2


def _huber(margin: Decimal) -> Decimal:
    if margin < -1:
        return -4 * margin
    return (1 - margin) ** 2 if margin <= 1 else Decimal(0)


def _sigmoid(margin: Decimal) -> Decimal:
    return 1 / (1 + margin.exp())


FORMULAS = {
    "logistic": _logistic,
    "squared": _squared,
    "huber": _huber,
    "sigmoid": _sigmoid,
}


def exact_value(name: str, margin: float) -> float:
    """Return φ(m), correctly rounded but for the last digit."""
    with localcontext() as context:
        context.prec = DIGITS
        return float(FORMULAS[name](Decimal(margin)))


def exact_slope(name: str, margin: float) -> float:
    """Return φ'(m) by a central difference of step 1e-20, exact to double precision."""
    with localcontext() as context:
        context.prec = DIGITS
        formula, at, step = FORMULAS[name], Decimal(margin), Decimal("1e-20")
        return float((formula(at + step) - formula(at - step)) / (2 * step))


def exact_curvature(name: str, margin: float) -> float:
    """Return φ''(m) by a second difference of step 1e-15, exact to double precision."""
    with localcontext() as context:
        context.prec = DIGITS
        formula, at, step = FORMULAS[name], Decimal(margin), Decimal("1e-15")
        return float((formula(at + step) - 2 * formula(at) + formula(at - step)) / step**2)


class UnhingedLoss(MarginLoss):
    """φ(m) = 1 − m; symmetric and convex, unbounded below (van Rooyen et al. 2015)."""

    name = "unhinged"
    lipschitz = 1.0
    at_zero = 1.0
    curvature_bound = 0.0
    is_convex = True
    is_symmetric = True
    has_even_curvature = True
    slope_limits = (-1.0, -1.0)

    def value(self, margin):
        return 1 - np.asarray(margin)

    def slope(self, margin):
        return np.full_like(margin, -1.0, dtype=float)

    def curvature(self, margin):
        return np.zeros_like(margin, dtype=float)
