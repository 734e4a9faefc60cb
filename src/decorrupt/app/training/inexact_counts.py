"""Ranges and noisy counts of positives: cells such as ``<5``, and noise such as ``laplace:2``."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decorrupt.observed import CountNoise

# Names of --count-noise, each with the class and what its number is.
NOISES = {
    "laplace": ("LaplaceNoise", "scale"),
    "gaussian": ("GaussianNoise", "standard deviation"),
    "geometric": ("GeometricNoise", "epsilon"),
}
# Methods that model counts; searches compare those among their candidates that do.
METHODS = ("auto", "count-likelihood", "em")
_BELOW = re.compile(r"(<=?|≤)\s*(\d+)")
_FROM_TO = re.compile(r"(\d+)\s*[-–—]\s*(\d+)")  # hyphen, en dash, em dash


def count_range(cell: Any) -> tuple[float, float] | None:
    """Return the smallest and largest count of a cell such as ``<5``, ``≤4`` or ``0–4``, or None.

    Examples
    --------
    >>> count_range("< 5"), count_range("3-7"), count_range("5")
    ((0.0, 4.0), (3.0, 7.0), None)
    """
    text = str(cell).strip()
    if found := _BELOW.fullmatch(text):
        return 0.0, float(found[2]) - (found[1] == "<")
    if found := _FROM_TO.fullmatch(text):
        return float(found[1]), float(found[2])
    return None


def read_noise(text: str) -> tuple[str, float]:
    """Return the name and the number of --count-noise.

    Raises
    ------
    ValueError
        If it is not such a name and a positive number, separated by a colon.
    """
    name, _, number = text.partition(":")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if name not in NOISES or not (math.isfinite(value) and value > 0):
        kinds = ", ".join(f"{one}:{what.upper().split()[-1]}" for one, (_, what) in NOISES.items())
        raise ValueError(
            f"--count-noise {text!r}: give one of {kinds}, with a positive number of rows "
            "(geometric: the privacy level), such as laplace:2"
        )
    return name, value


def make_noise(text: str) -> CountNoise:
    """Return the noise that --count-noise describes."""
    from decorrupt import observed

    name, value = read_noise(text)
    noise: CountNoise = getattr(observed, NOISES[name][0])(value)
    return noise


def check_method(name: str, why: str) -> None:
    """Raise ValueError if a method needs exact counts; `why` they are not exact."""
    if name not in METHODS:
        raise ValueError(
            f"--method {name} needs exact counts and cannot be used with {why}: choose "
            f"{', '.join(METHODS[1:-1])} or {METHODS[-1]}"
        )
