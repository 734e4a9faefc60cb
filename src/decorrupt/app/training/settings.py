"""Settings of the training, names of `--method`, and the search candidates of each name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Settings:
    """Settings of the training.

    Attributes
    ----------
    method : str
        A key of `BAG_METHODS` or of `SOURCE_METHODS`.
    decision : {"balanced", "accuracy"}
        The measure that predictions maximise: balanced accuracy or accuracy.
    n_folds : int
        Number of folds for the choice of the method and for the held-out results.
    seed : int
        For folds, kernel pivots and shuffled columns.
    n_jobs : int or None
        Number of parallel fits.
    kernels, kernel_gammas, reg_strengths : tuple or None
        The values to try; a single value fixes the parameter. None: the default search.
    class_names : tuple of str or None
        The names of the negative and the positive class of bags; None for those of the tables.
    """

    method: str = "auto"
    decision: str = "balanced"
    n_folds: int = 5
    seed: int = 0
    n_jobs: int | None = None
    kernels: tuple[str, ...] | None = None
    kernel_gammas: tuple[float | str, ...] | None = None
    reg_strengths: tuple[float, ...] | None = None
    class_names: tuple[str, str] | None = None

    def search_parameters(self) -> dict[str, Any]:
        """Return the parameters that the automatic choices for bags and for sources share."""
        return {
            "kernels": self.kernels,
            "kernel_gammas": self.kernel_gammas,
            "reg_strengths": self.reg_strengths,
            "decision": self.decision,
            "n_jobs": self.n_jobs,
            "random_state": self.seed,
        }


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
