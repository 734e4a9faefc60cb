"""Diagnostics of a fit with a corrected loss for several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.diagnostics import is_overfitted
from decorrupt.theory.class_information import class_information


@dataclass
class ClassDiagnostics:
    """Information in the bags or labels and outcome of the fit; ``print`` shows it as a table.

    Attributes
    ----------
    n_rows, n_strata : int
        Number of training rows and of strata: bags, or the labels of each source.
    classes : list
        The classes.
    rows_by_class : ndarray of shape (n_classes,)
        The number of rows of known class c that would give the mean of class c with the same
        variance as the strata.
    condition_number : float
        Of ΓᵀNΓ, see :func:`decorrupt.theory.class_information`; large if some classes can hardly
        be distinguished.
    target_prior : ndarray of shape (n_classes,)
        The class shares in the target population of the risk.
    is_convex : bool
        Whether the objective is convex for every λ.
    training_risk, risk_std_error : float
        The corrected risk at the solution without penalty, and its standard error for rows drawn
        at random within their strata.
    stratum_word : str
        What a stratum is called: bags, or strata for the labels of sources.
    solver, solver_status, n_iter, gradient_norm
        The solver, its final status, number of iterations and ‖∇‖ at the solution.

    Notes
    -----
    There is no bound here: the theorems of Scott & Zhang (2019) are for two classes. For sources of
    one distribution see :func:`decorrupt.theory.bound_class_sources`.
    """

    n_rows: int
    n_strata: int
    classes: list[Any]
    rows_by_class: FloatArray
    condition_number: float
    target_prior: FloatArray
    is_convex: bool
    training_risk: float
    risk_std_error: float
    solver: str
    solver_status: str
    n_iter: int
    gradient_norm: float
    stratum_word: str = "bags"

    @property
    def is_overfitted(self) -> bool:
        """Whether the training risk is below zero by more than its noise explains."""
        return is_overfitted(self.training_risk, self.risk_std_error)

    def __str__(self) -> str:
        informed = zip(self.classes, self.rows_by_class, strict=True)
        rows = [
            ("rows", f"{self.n_rows:,} in {self.n_strata:,} {self.stratum_word}"),
            ("equivalent clean rows", ", ".join(f"{name}: {n:,.1f}" for name, n in informed)),
            ("condition number", f"{self.condition_number:.3g}"),
            ("target prior", ", ".join(f"{share:.4g}" for share in self.target_prior)),
            ("convex", "yes" if self.is_convex else "not certain"),
            ("training risk", f"{self.training_risk:.4g} ± {self.risk_std_error:.2g}"),
            (
                "solver",
                f"{self.solver}: {self.solver_status} after {self.n_iter} iterations, "
                f"gradient norm {self.gradient_norm:.2g}",
            ),
        ]
        return "\n".join(f"{name:<21}  {value}" for name, value in rows)


def describe_class_strata(strata: Strata, classes: list[Any]) -> dict[str, Any]:
    """Return the part of the diagnostics that is known before training."""
    told = class_information(strata.sizes, strata.proportions, classes=classes)
    return {
        "n_rows": int(strata.sizes.sum()),
        "n_strata": len(strata.ids),
        "classes": classes,
        "rows_by_class": told.rows_by_class,
        "condition_number": told.condition_number,
    }
