"""Parameter grids of the searches: kernels, kernel parameters and λ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from decorrupt.estimators import check_value
from decorrupt.features import (
    ON_COMPONENTS,
    WITHOUT_GAMMA,
    as_kernel,
    kernel_name,
    resolve_kernel_gamma,
)

DEFAULT_REG_STRENGTHS = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
ROWS_OF_GRIDS = 1000
# Multiples of kernel_gamma="scale": from nearly linear to as local as 1/(n_columns·Var X).
DEFAULT_GAMMA_FACTORS = (0.03, 0.3, 1.0)
# On principal components one width is enough: the components already are a scale of their own.
COMPONENT_GAMMA_FACTORS = (0.3,)


def check_lists(**tried: Any) -> None:
    """Raise ValueError unless each parameter is a list of one or more values, or None."""
    for name, values in tried.items():
        if values is not None and (isinstance(values, str) or len(values) == 0):
            raise ValueError(f"{name}={values!r} must be a list of one or more values to try")
    for k, reg_strength in enumerate(tried.get("reg_strengths") or ()):
        check_value(f"reg_strengths[{k}]", reg_strength, "not negative")


def resolve_kernel_gammas(
    kernel_gammas: Any,
    X: Any,
    factors: Sequence[float] = DEFAULT_GAMMA_FACTORS,
    weights: Any = None,
) -> list[float]:
    """Return kernel parameters as numbers; None means the factors times "scale"."""
    if kernel_gammas is None:
        scale = resolve_kernel_gamma("scale", X, weights)
        return [factor * scale for factor in factors]
    return [resolve_kernel_gamma(kernel_gamma, X, weights) for kernel_gamma in kernel_gammas]


def reg_strength_scale(n_rows: float) -> float:
    """Return by what the default λ are multiplied: 1 below 10,000 rows, then 0.1, 0.01, ….

    The penalty of a mean loss is a Gaussian prior whose λ is proportional to 1/n; the grids are for
    about a thousand rows.
    """
    return 10.0 ** -max(0, math.floor(math.log10(n_rows / ROWS_OF_GRIDS)))


def distinct_kernels(kernels: Sequence[Any], n_columns: int) -> list[Any]:
    """Return the kernels without those that equal another one: all components of few columns."""
    found: dict[Any, Any] = {}
    for kernel in kernels:
        options = as_kernel(kernel).get_params(deep=False)
        name = options.pop("name")
        n_components, inner = ON_COMPONENTS.get(name, (0, name))
        found.setdefault((min(n_components, n_columns), inner, repr(options)), kernel)
    return list(found.values())


def kernel_settings(
    kernels: Sequence[Any], kernel_gammas: Any, X: Any, weights: Any = None
) -> list[dict[str, Any]]:
    """Return every kernel with every kernel_gamma; a kernel without this parameter once."""
    return [
        {"kernel": kernel} | setting
        for kernel in kernels
        for setting in gamma_settings(kernel, kernel_gammas, X, weights)
    ]


def gamma_settings(
    kernel: Any, kernel_gammas: Any, X: Any, weights: Any = None
) -> list[dict[str, Any]]:
    """Return one setting per kernel_gamma; an empty one for a kernel without or with its own."""
    name = kernel_name(kernel)
    if name in WITHOUT_GAMMA or as_kernel(kernel).gamma != "scale":
        return [{}]
    factors = COMPONENT_GAMMA_FACTORS if name in ON_COMPONENTS else DEFAULT_GAMMA_FACTORS
    numbers = resolve_kernel_gammas(kernel_gammas, X, factors, weights)
    return [{"kernel_gamma": kernel_gamma} for kernel_gamma in numbers]
