"""Names of `--method`, and the search candidates of each name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from decorrupt import glossary
from decorrupt.glossary import Method


def _hyphens(methods: dict[str, Method]) -> dict[str, Method]:
    return {name.replace("_", "-"): method for name, method in methods.items()}


BAG_METHODS = glossary.BAG_SEARCHES | _hyphens(glossary.BAG_METHODS)
SOURCE_METHODS = glossary.SOURCE_SEARCHES | _hyphens(glossary.SOURCE_METHODS)
# Methods for two classes only.
FOR_TWO_CLASSES = [name.replace("_", "-") for name in glossary.FOR_TWO_CLASSES]
# Kernels that can be computed from a table's rows.
PAIR_KERNELS = ("linear", "rbf", "exponential", "laplacian", "polynomial")
KERNELS = (*PAIR_KERNELS, "knn", "pca_rbf", "pca8_rbf", "pca_knn")
KERNELS_WITHOUT_GAMMA = ("linear", "knn", "pca_knn")
PRESETS = {"auto": "fast", "thorough": "thorough"}
PAIRS, PUBLISHED_KERNELS = "corrected_loss_pairs", ("rbf",)
# Support vector machines, and searches that try them, have other parameters.
WITHOUT_REG_STRENGTH = {
    "thorough": "invcal and alternating-psvm",
    "invcal": "invcal",
    "alternating-psvm": "alternating-psvm",
    "convex-psvm": "convex-psvm",
    "em": "em",
    "boosted": "boosted",
}
# They need kernels of two rows.
FOR_PAIR_KERNELS = ("thorough", "invcal", "alternating-psvm")
# Their learners are trees; the start of EM chooses its own kernel.
WITHOUT_KERNEL = ("em", "boosted")


def method_name(method: str, known: Iterable[str]) -> str:
    """Return the name under which a method is listed in `known`.

    Raises
    ------
    ValueError
        If there is none; the message lists all names.
    """
    name, names = method.lower().replace("_", "-"), list(known)
    if name not in names:
        close = "".join(f" (did you mean {one}?)" for one in get_close_matches(name, names, 1))
        raise ValueError(f"unknown --method {method!r}{close}: choose one of {', '.join(names)}")
    return name


def check_several_classes(name: str) -> None:
    """Raise ValueError if a method is for two classes only."""
    if name in FOR_TWO_CLASSES:
        others = ", ".join(one for one in BAG_METHODS if one not in FOR_TWO_CLASSES)
        raise ValueError(
            f"--method {name} is for two classes; for several classes choose one of {others}"
        )


def bag_candidates(name: str, kernels: Sequence[str] | None = None) -> Any:
    """Return the `candidates` of :class:`decorrupt.AutoLabelProportionsClassifier`.

    Pairs of bags use the published kernel unless `kernels` are given. Other methods use the kernels
    of the search.
    """
    if name in PRESETS:
        return PRESETS[name]
    candidate = name.replace("-", "_")
    if candidate != PAIRS:
        return [candidate]
    from decorrupt.estimators import CorrectedLossClassifier

    pairs = [
        CorrectedLossClassifier(kernel=kernel, combine="pairs", fit_intercept=True)
        for kernel in kernels or PUBLISHED_KERNELS
    ]
    if len(pairs) == 1:
        return [(PAIRS, pairs[0])]
    return [(f"{PAIRS}_{one.kernel}", one) for one in pairs]
