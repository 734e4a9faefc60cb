"""Names of `--method`, and the search candidates of each name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from decorrupt import glossary


def _hyphens(methods: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): label for name, label in methods.items()}


BAG_METHODS = glossary.BAG_SEARCHES | _hyphens(glossary.BAG_METHODS)
SOURCE_METHODS = glossary.SOURCE_SEARCHES | _hyphens(glossary.SOURCE_METHODS)
# Methods for two classes only.
FOR_TWO_CLASSES = [name.replace("_", "-") for name in glossary.FOR_TWO_CLASSES]
PAIRS = "corrected_loss_pairs"


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


def bag_candidates(name: str) -> Any:
    """Return the `candidates` of :class:`decorrupt.AutoLabelProportionsClassifier`.

    Pairs of bags use the published kernel, other methods those of the search.
    """
    if name == "auto":
        return None
    candidate = name.replace("-", "_")
    if candidate != PAIRS:
        return [candidate]
    from decorrupt.estimators import CorrectedLossClassifier

    return [(PAIRS, CorrectedLossClassifier(kernel="rbf", combine="pairs"))]
