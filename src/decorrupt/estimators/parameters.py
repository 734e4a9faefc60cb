"""Parameter validation; a parameter name has the same meaning and check in all estimators."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from decorrupt.features import Kernel

AUTO = "auto"


def check_finite(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a finite number."""
    if not (isinstance(value, Real) and np.isfinite(float(value))):
        raise ValueError(f"{name}={value!r} must be a finite number")


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a finite number above zero."""
    if not (isinstance(value, Real) and 0 < float(value) < np.inf):
        raise ValueError(f"{name}={value!r} must be a positive number")


def check_not_negative(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a finite number, zero or above."""
    if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
        raise ValueError(f"{name}={value!r} must be a finite number, at least 0")


def check_reg_strength(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is "auto" or a finite number, zero or above."""
    if isinstance(value, str) and value == AUTO:
        return
    try:
        check_not_negative(name, value)
    except ValueError as error:
        raise ValueError(f"{error}, or {AUTO!r}") from None


def check_share(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number strictly between 0 and 1."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise ValueError(f"{name}={value!r} must lie strictly between 0 and 1")


def check_count(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a whole number of at least 1."""
    if not (isinstance(value, Integral) and int(value) >= 1):
        raise ValueError(f"{name}={value!r} must be a whole number, at least 1")


def check_count_or_none(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a whole number of at least 1, or None."""
    if value is not None and not (isinstance(value, Integral) and int(value) >= 1):
        raise ValueError(f"{name}={value!r} must be a whole number, at least 1, or None")


def check_flag(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False")


def check_two_or_more(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a whole number of at least 2."""
    if not (isinstance(value, Integral) and int(value) >= 2):
        raise ValueError(f"{name}={value!r} must be a whole number, at least 2")


def check_unit(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number from 0 to 1."""
    if not (isinstance(value, Real) and 0 <= float(value) <= 1):
        raise ValueError(f"{name}={value!r} must be a number from 0 to 1")


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Raise ValueError unless `value` is one of the known names."""
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}: choose one of {', '.join(known)}")


# Parameters with a list of choices are checked in the module that defines the choices.
CHECKS: dict[str, Callable[[str, Any], None]] = {
    "bags_per_batch": check_count,
    "blend": check_unit,
    "C": check_positive,
    "C_p": check_positive,
    "calibrate": check_flag,
    "check_assumptions": check_flag,
    "coef0": check_finite,
    "degree": check_positive,
    "early_stopping": check_flag,
    "epsilon": check_not_negative,
    "fit_intercept": check_flag,
    "lr": check_positive,
    "max_epochs": check_count,
    "max_iter": check_count,
    "max_rank": check_count_or_none,
    "n_draws": check_two_or_more,
    "n_starts": check_count,
    "rank_tol": check_not_negative,
    "reg_strength": check_reg_strength,
    "tol": check_not_negative,
    "tolerance": check_unit,
}


def check_parameters(estimator: Any) -> None:
    """Raise ValueError if a parameter of the estimator or its kernel fails its check."""
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, Kernel):
            check_parameters(value)
        elif name in CHECKS:
            CHECKS[name](name, value)
