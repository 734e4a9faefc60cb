"""Diagnostics of a fit with a corrected loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.observed import Observed


@dataclass(frozen=True)
class Diagnostics:
    """Numbers that describe a fit with a corrected loss.

    Attributes
    ----------
    n_bags : int
        Number of bags; of sources, the rows of one source and noisy label are a bag.
    n_dropped : int
        Number of bags without weight in the risk.
    effective_sample_size : float
        Number of clean labelled rows with the same generalisation bound.
    training_risk : float
        The corrected risk at the solution, without penalty and risk correction.
    risk_std_error : float
        Its standard error, for rows drawn at random within their bags.
    is_convex : bool
        Whether the objective is known to be convex at the λ of this fit.
    convexity_floor : float
        The objective is convex for every λ from this value on; 0 if every row's term is convex.
    converged : bool
        Whether the solver reached its tolerance.
    gradient_norm : float
        ‖∇‖ at the solution.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CorrectedLossClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels, bags = rng.integers(0, 2, 400), np.arange(400) // 10
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> found = CorrectedLossClassifier(random_state=0).fit(X, y, bags=bags).diagnostics_
    >>> found.n_bags, found.n_dropped, found.is_overfitted
    (40, 0, False)
    """

    n_bags: int
    n_dropped: int
    effective_sample_size: float
    training_risk: float
    risk_std_error: float
    is_convex: bool
    convexity_floor: float
    converged: bool
    gradient_norm: float

    @property
    def is_overfitted(self) -> bool:
        """Whether the training risk is below zero by more than its noise explains."""
        return is_overfitted(self.training_risk, self.risk_std_error)


def within_std_error(row_terms: FloatArray, observed: Observed) -> float:
    """Return √Σ_k n_k·Var_k of one term per row, Var_k their variance within bag k.

    The variance in a bag of one row cannot be estimated and counts as 0; if all bags have one row,
    it is that of all rows. The term of a row that represents several is the sum of theirs.
    """
    sizes, row_bag = observed.sizes, observed.row_bag
    if observed.n_bags == len(row_terms) > 1:
        return float(np.sqrt(len(row_terms)) * np.std(row_terms, ddof=1))
    if observed.weights is not None:
        row_terms = row_terms / observed.weights
    means = observed.sum_by_bag(row_terms) / sizes
    squares = observed.sum_by_bag((row_terms - means[row_bag]) ** 2)
    return float(np.sqrt(np.sum(squares * sizes / np.maximum(sizes - 1, 1))))


def is_overfitted(risk: float, std_error: float) -> bool:
    """Return whether a corrected risk is below zero by more than two standard errors.

    A small true risk has estimates below zero half of the time.
    """
    return risk < -2 * std_error


def describe_overfitting(risk: float, std_error: float) -> str:
    """Return a sentence about a risk far below zero, with advice."""
    return (
        f"the corrected training risk is {risk:.3g}, below zero by more than two standard errors "
        f"({std_error:.2g}). A true risk cannot be negative: the model overfits. Raise reg_strength"
    )
