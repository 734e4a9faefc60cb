"""The candidate methods of the automatic choice and their parameter grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.estimators import (
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    KernelClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
)
from decorrupt.features import FROM_ALL_ROWS, OF_SINGLE_ROWS, kernel_name
from decorrupt.meta import EMClassifier
from decorrupt.model_selection.evaluation import Configuration
from decorrupt.model_selection.grids import (
    DEFAULT_REG_STRENGTHS,
    distinct_kernels,
    gamma_settings,
    kernel_settings,
    reg_strength_scale,
)


@dataclass(frozen=True)
class Candidate:
    """A method and its grid.

    Attributes
    ----------
    name : str
        Its name in the leaderboard.
    estimator : estimator
        The template.
    grid : dict of str to list
        Parameters searched in addition to those of the kernel; with a λ path also λ.
    any_kernel : bool
        Whether kernels are searched; an estimator given by the user keeps its kernel.
    """

    name: str
    estimator: Any
    grid: dict[str, list[Any]] = field(default_factory=dict)
    any_kernel: bool = False

    def _usable(self, kernels: Sequence[Any], weights: Any) -> Sequence[Any]:
        """Return the kernels without those that the method, or weighted rows, cannot use."""
        unusable: Sequence[str] = () if weights is None else OF_SINGLE_ROWS
        if not has_path(self.estimator):  # it needs k(x, x')
            unusable = FROM_ALL_ROWS
        return [kernel for kernel in kernels if kernel_name(kernel) not in unusable] or kernels

    def configurations(
        self,
        X: Any,
        kernels: Sequence[Any],
        kernel_gammas: Sequence[float | str] | None,
        reg_strengths: Sequence[float] | None,
        weights: Any = None,
    ) -> list[Configuration]:
        """Return the grid for every kernel, with a λ path where possible.

        The default λ are for a kernel with k(x,x) = 1. They are multiplied by the mean of k(x,x),
        so that a linear kernel is searched in the same range regardless of the number of columns
        and their scale.
        """
        if "kernel_gamma" not in self.estimator.get_params(deep=False):
            settings: list[dict[str, Any]] = [{}]
        elif self.any_kernel:
            tried = distinct_kernels(self._usable(kernels, weights), X.shape[1])
            settings = kernel_settings(tried, kernel_gammas, X, weights)
        else:
            kernel = getattr(self.estimator, "kernel", "rbf")
            settings = gamma_settings(kernel, kernel_gammas, X, weights)
        found = []
        for params in (own | setting for setting in settings for own in ParameterGrid(self.grid)):
            estimator, path = clone(self.estimator).set_params(**params), reg_strengths
            if not has_path(estimator):
                path = None
            elif path is None:
                size = estimator.kernel_size(X, weights=weights)
                size *= reg_strength_scale(X.shape[0] if weights is None else weights.sum())
                path = [size * reg_strength for reg_strength in DEFAULT_REG_STRENGTHS]
            path = None if path is None else tuple(path)
            found.append(Configuration(self.name, estimator, params, path))
        return found


def has_path(estimator: Any) -> bool:
    """Return whether λ is searched with warm-started paths over shared features."""
    return isinstance(estimator, KernelClassifier) and estimator.has_path


_CANDIDATES = (
    Candidate("mean_map", MeanMapClassifier()),
    Candidate("corrected_loss", CorrectedLossClassifier()),
    Candidate("invcal", InvCalClassifier(), {"C_p": [0.1, 1.0, 10.0], "epsilon": [0.0, 0.1]}),
    Candidate("proportion_matching", ProportionMatchingClassifier()),
    Candidate("count_likelihood", CountLikelihoodClassifier()),
    Candidate(
        "alternating_psvm",
        AlternatingPSVMClassifier(n_starts=1),
        {"C": [0.1, 1.0, 10.0], "C_p": [1.0, 10.0, 100.0]},
    ),
)
CANDIDATES = {one.name: replace(one, any_kernel=True) for one in _CANDIDATES}
# By name only: its cost is for the user to choose.
ANY_LEARNER = ("em",)
DEFAULT_CANDIDATES = ("mean_map", "count_likelihood")


def resolve_candidates(candidates: Sequence[Any] | None) -> list[Candidate]:
    """Return the candidates that are listed, or those of the default.

    Parameters
    ----------
    candidates : sequence or None
        Names of known methods, estimators, (name, estimator) pairs, and (name, estimator, grid)
        triples; estimators keep their kernel.
    """
    resolved = [_resolve(candidate) for candidate in candidates or DEFAULT_CANDIDATES]
    names = [candidate.name for candidate in resolved]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"candidates must be a list of different methods, got {names}")
    return resolved


def takes_several_classes(estimator: Any) -> bool:
    """Return whether an estimator is for more than two classes, too."""
    return bool(get_tags(estimator).classifier_tags.multi_class)


def _resolve(candidate: Any) -> Candidate:
    if isinstance(candidate, Candidate):
        return candidate
    if isinstance(candidate, str):
        if candidate in ANY_LEARNER:
            return Candidate(candidate, EMClassifier())
        if candidate not in CANDIDATES:
            names = ", ".join((*CANDIDATES, *ANY_LEARNER))
            raise ValueError(f"unknown candidate {candidate!r}: choose among {names}")
        return CANDIDATES[candidate]
    if isinstance(candidate, tuple):
        return Candidate(*candidate)
    return Candidate(type(candidate).__name__, candidate)
