"""What a fitted model can say about itself, as data and as a table to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from decorrupt.corruption import Combination, RiskTerms, Strata, stratum_information
from decorrupt.losses import MarginLoss
from decorrupt.losses.margin import FloatArray

SHOWN_IDS = 5


@dataclass
class Diagnostics:
    """How much the data could tell, and how the fit went; ``print`` it for a table.

    Attributes
    ----------
    n_rows, n_strata : int
        What was given.
    dropped : dict of str to list
        Strata that carry no weight, by reason.
    stratum_ids, stratum_sizes, stratum_proportions, stratum_information : list or ndarray
        One entry a stratum; n_k(γ_k−γ̄)² is what stratum k contributes to `information`.
    information : float
        V = Σn_k(γ_k−γ̄)².
    effective_sample_size : float
        Clean labelled rows that would give the same generalisation bound.
    target_prior : float
        The share of positives in the population the risk is for.
    is_convex : bool
        Whether every row's term is convex, whatever λ.
    convexity_floor : float
        The λ from which on the objective is certainly convex; 0 if it always is.
    reg_strength : float
        λ of this fit.
    training_risk : float
        The corrected risk at the solution, penalty and risk correction left out.
    kernel_rank, kernel_error : int, float
        Columns of the feature matrix and its relative mean trace error.
    solver, solver_status : str
        Which solver ran and how it ended.
    n_iter : int
        Its iterations.
    gradient_norm : float
        ‖∇‖ where it ended.
    """

    n_rows: int
    n_strata: int
    dropped: dict[str, list[Any]]
    stratum_ids: list[Any]
    stratum_sizes: FloatArray
    stratum_proportions: FloatArray
    stratum_information: FloatArray
    information: float
    effective_sample_size: float
    target_prior: float
    is_convex: bool
    convexity_floor: float
    reg_strength: float
    training_risk: float
    kernel_rank: int
    kernel_error: float
    solver: str
    solver_status: str
    n_iter: int
    gradient_norm: float
    stratum_word: str = field(default="bags")

    @property
    def n_strata_used(self) -> int:
        """Strata with weight in the risk."""
        return self.n_strata - sum(map(len, self.dropped.values()))

    @property
    def is_risk_negative(self) -> bool:
        """Whether the training risk fell below zero."""
        return self.training_risk < 0

    @property
    def is_convex_at_reg_strength(self) -> bool:
        """Whether the objective that was minimised is certainly convex."""
        return self.reg_strength >= self.convexity_floor

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("rows", f"{self.n_rows:,}"),
            (f"{self.stratum_word} used", f"{self.n_strata_used:,} of {self.n_strata:,}"),
        ]
        rows += [("  left out", f"{_some(ids)}: {reason}") for reason, ids in self.dropped.items()]
        rows += [
            ("information V", f"{self.information:.4g}"),
            ("effective sample size", f"{self.effective_sample_size:,.1f} clean rows"),
            ("target prior", f"{self.target_prior:.4g}"),
            ("convex", self._convexity()),
            ("training risk", f"{self.training_risk:.4g}" + self._negative()),
            ("kernel rank", f"{self.kernel_rank:,} (mean trace error {self.kernel_error:.2g})"),
            (
                "solver",
                f"{self.solver}: {self.solver_status} after {self.n_iter} iterations, "
                f"gradient norm {self.gradient_norm:.2g}",
            ),
        ]
        return rows

    def _convexity(self) -> str:
        if self.is_convex:
            return "yes, row by row"
        at_reg = "yes" if self.is_convex_at_reg_strength else "not certain"
        return (
            f"{at_reg} at reg_strength={self.reg_strength:g}; not row by row, "
            f"certain from {self.convexity_floor:.3g}"
        )

    def _negative(self) -> str:
        return " (negative: overfitted)" if self.is_risk_negative else ""


def _some(ids: list[Any]) -> str:
    shown = ", ".join(map(str, ids[:SHOWN_IDS]))
    more = len(ids) - SHOWN_IDS
    return f"{len(ids)} ({shown}" + (f", and {more} more)" if more > 0 else ")")


def dropped_strata(strata: Strata, combination: Combination, reason: str) -> dict[str, list[Any]]:
    """Return the ids of strata without any weight, under their reason."""
    idle = (combination.pos == 0) & (combination.neg == 0)
    return {reason: strata.ids[idle].tolist()} if idle.any() else {}


def describe_strata(strata: Strata) -> dict[str, Any]:
    """Return the part of the diagnostics that is known before any training."""
    sizes = strata.sizes.astype(float)
    information = stratum_information(sizes, strata.proportions)
    return {
        "n_rows": len(strata.row_stratum),
        "n_strata": len(strata.ids),
        "stratum_ids": strata.ids.tolist(),
        "stratum_sizes": sizes,
        "stratum_proportions": strata.proportions,
        "stratum_information": information,
        "information": float(information.sum()),
    }


def describe_risk(terms: RiskTerms, loss: MarginLoss, scores: FloatArray) -> dict[str, Any]:
    """Return the part that is known of the risk and its minimiser."""
    return {
        "effective_sample_size": terms.effective_sample_size,
        "is_convex": not np.any(terms.concavity(loss)),
        "training_risk": terms.risk(loss, scores),
    }
