"""Options for the parameters of a method: one fixed value, or several to try."""

from __future__ import annotations

import math
from typing import Annotated, TypedDict

import typer

from decorrupt.app.cli.conventions import option
from decorrupt.app.training.methods import (
    BAG_METHODS,
    FOR_PAIR_KERNELS,
    KERNELS,
    KERNELS_WITHOUT_GAMMA,
    PAIR_KERNELS,
    SOURCE_METHODS,
    WITHOUT_KERNEL,
    WITHOUT_REG_STRENGTH,
    method_name,
)
from decorrupt.app.training.name_lists import split_names

GAMMA_WORDS = ("scale", "auto")

Kernel = Annotated[
    str | None,
    option("--kernel", help=f"{', '.join(KERNELS)}; several are compared.", metavar="NAMES"),
]
KernelGamma = Annotated[
    str | None,
    option(
        "--kernel-gamma",
        help="Kernel parameter: a positive number, scale or auto; several are compared.",
        metavar="VALUES",
    ),
]
RegStrength = Annotated[
    str | None,
    option(
        "--reg-strength",
        help="λ of the penalty λ‖f‖², larger is smoother; several are compared.",
        metavar="VALUES",
    ),
]


class Parameters(TypedDict):
    """Fields of `Settings` with the values to try; None for the default search."""

    kernels: tuple[str, ...] | None
    kernel_gammas: tuple[float | str, ...] | None
    reg_strengths: tuple[float, ...] | None


def read_parameters(
    method: str,
    kernel: str | None,
    kernel_gamma: str | None,
    reg_strength: str | None,
    *,
    of_bags: bool,
) -> Parameters:
    """Return the fields of `Settings` that the options give.

    Raises
    ------
    BadParameter
        If a value is invalid, or the method or kernel has no such parameter.
    """
    name = method_name(method, BAG_METHODS if of_bags else SOURCE_METHODS)
    if reg_strength is not None and name in WITHOUT_REG_STRENGTH:
        raise typer.BadParameter(
            f"--reg-strength cannot be used with --method {name}: there is no reg_strength in "
            f"{WITHOUT_REG_STRENGTH[name]}"
        )
    if (kernel is not None or kernel_gamma is not None) and name in WITHOUT_KERNEL:
        raise typer.BadParameter(
            f"--kernel and --kernel-gamma cannot be used with --method {name}, which has no kernel"
        )
    kernels = list(dict.fromkeys(split_names(kernel)))
    unknown = [one for one in kernels if one not in KERNELS]
    if unknown:
        raise typer.BadParameter(f"--kernel {unknown[0]!r}: choose among {', '.join(KERNELS)}")
    of_all_rows = [one for one in kernels if one not in PAIR_KERNELS]
    if of_all_rows and name in FOR_PAIR_KERNELS:
        raise typer.BadParameter(
            f"--kernel {of_all_rows[0]} cannot be used with --method {name}: choose among "
            f"{', '.join(PAIR_KERNELS)}"
        )
    if kernel_gamma is not None and kernels and set(kernels) <= set(KERNELS_WITHOUT_GAMMA):
        raise typer.BadParameter(
            f"--kernel-gamma cannot be used with --kernel {kernels[0]}, which has no parameter"
        )
    gammas = [
        text if text in GAMMA_WORDS else _positive("--kernel-gamma", text)
        for text in split_names(kernel_gamma)
    ]
    strengths = [_positive("--reg-strength", text) for text in split_names(reg_strength)]
    return Parameters(
        kernels=tuple(kernels) or None,
        kernel_gammas=tuple(gammas) or None,
        reg_strengths=tuple(strengths) or None,
    )


def _positive(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{name} {text!r} must be a positive number")
    return value
