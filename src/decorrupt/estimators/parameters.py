"""Parameter validation; a parameter name has the same meaning and check in all estimators."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from decorrupt.features import Kernel

AUTO = "auto"


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and bool(np.isfinite(float(value)))


def _is_whole(value: Any, least: int = 1) -> bool:
    return isinstance(value, Integral) and int(value) >= least


# What a parameter must be: its check, and the end of the sentence about a value that fails it.
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "finite": (_is_number, "be a finite number"),
    "positive": (lambda v: _is_number(v) and v > 0, "be a positive number"),
    "not negative": (lambda v: _is_number(v) and v >= 0, "be a finite number, at least 0"),
    "strength": (
        lambda v: (isinstance(v, str) and v == AUTO) or (_is_number(v) and v >= 0),
        f"be a finite number, at least 0, or {AUTO!r}",
    ),
    "effect": (
        lambda v: v == "estimate" or (_is_number(v) and v >= 0),
        "be 'estimate' or a number of at least 0",
    ),
    "share": (lambda v: _is_number(v) and 0 < v < 1, "lie strictly between 0 and 1"),
    "unit": (lambda v: _is_number(v) and 0 <= v <= 1, "be a number from 0 to 1"),
    "count": (_is_whole, "be a whole number, at least 1"),
    "count or None": (
        lambda v: v is None or _is_whole(v),
        "be a whole number, at least 1, or None",
    ),
    "two or more": (lambda v: _is_whole(v, 2), "be a whole number, at least 2"),
    "flag": (lambda v: isinstance(v, bool | np.bool_), "be True or False"),
}
# Parameters with a list of choices are checked in the module that defines the choices.
PARAMETERS = {
    "finite": ("coef0",),
    "count": ("bags_per_batch", "max_epochs", "max_iter", "n_starts"),
    "unit": ("blend", "tolerance"),
    "positive": ("C", "C_p", "degree", "lr"),
    "flag": ("calibrate", "check_assumptions", "early_stopping", "fit_intercept"),
    "not negative": ("epsilon", "rank_tol", "tol"),
    "count or None": ("max_rank",),
    "two or more": ("n_draws",),
    "strength": ("reg_strength",),
    "effect": ("bag_effect",),
}
RULE_OF = {name: rule for rule, names in PARAMETERS.items() for name in names}


def check_value(name: str, value: Any, rule: str) -> None:
    """Raise ValueError unless a value is what one of the `RULES` says."""
    is_valid, words = RULES[rule]
    if not is_valid(value):
        raise ValueError(f"{name}={value!r} must {words}")


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Raise ValueError unless `value` is one of the known names."""
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}: choose one of {', '.join(known)}")


def check_parameters(estimator: Any) -> None:
    """Raise ValueError if a parameter of the estimator or its kernel fails its check."""
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, Kernel):
            check_parameters(value)
        elif name in RULE_OF:
            check_value(name, value, RULE_OF[name])
