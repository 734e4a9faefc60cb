"""Settings of the training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from decorrupt.model_selection import DEFAULT_FOLDS


@dataclass(frozen=True)
class Settings:
    """Settings of the training.

    Attributes
    ----------
    method : str
        A name of :mod:`decorrupt.app.training.methods`.
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
    n_folds: int = DEFAULT_FOLDS
    seed: int = 0
    n_jobs: int | None = None
    kernels: tuple[str, ...] | None = None
    kernel_gammas: tuple[float | str, ...] | None = None
    reg_strengths: tuple[float, ...] | None = None
    class_names: tuple[str, str] | None = None

    def search_parameters(self) -> dict[str, Any]:
        """Return the parameters that the automatic choices for bags and for sources share."""
        return {
            "kernel_gammas": self.kernel_gammas,
            "reg_strengths": self.reg_strengths,
            "decision": self.decision,
            "n_jobs": self.n_jobs,
            "random_state": self.seed,
        }
