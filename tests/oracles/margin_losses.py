"""The margin losses again, in decimals of many digits, and derivatives by differences."""

from decimal import Decimal, localcontext

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


def _unhinged(margin: Decimal) -> Decimal:
    return 1 - margin


FORMULAS = {
    "logistic": _logistic,
    "squared": _squared,
    "huber": _huber,
    "sigmoid": _sigmoid,
    "unhinged": _unhinged,
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
