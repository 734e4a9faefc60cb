"""Diagnostics of a fit with a corrected loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.extras import import_pyplot
from decorrupt.losses import MarginLoss
from decorrupt.notebook import html_table
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk
from decorrupt.theory import bound_bags, information

SHOWN_IDS = 5


@dataclass
class Diagnostics:
    """Information in the data and outcome of the fit; ``print`` shows it as a table.

    Attributes
    ----------
    n_rows, n_bags : int
        Number of training rows and of bags.
    dropped : dict of str to list
        Bags without weight in the risk, by reason.
    bag_ids, bag_sizes, bag_proportions, bag_information : list or ndarray
        One entry per bag: its id, rows, class shares, and what it contributes to `information`.
    information : float
        V = Σn_k(γ_k−γ̄)², see :func:`decorrupt.theory.information`.
    classes, rows_by_class : list, ndarray
        The classes, and the rows of known class that would give its mean as precisely.
    condition_number : float
        Of ΓᵀNΓ: large if the bags hardly distinguish some classes.
    effective_sample_size : float
        Number of clean labelled rows with the same generalisation bound.
    class_prior : ndarray of shape (n_classes,)
        The class shares in the target population of the risk.
    is_convex : bool
        Whether every row's term is convex, so that the objective is convex for every λ.
    convexity_floor : float
        The objective is convex for every λ from this value on; 0 if it is always convex.
    reg_strength : float
        λ of this fit.
    training_risk : float
        The corrected risk at the solution, without penalty and risk correction.
    risk_std_error : float
        Its standard error, for rows drawn at random within their bags.
    risk_at_zero : float
        φ(0), the risk of the constant score 0.
    radius : float
        ‖f‖, without the intercept.
    bound : float
        With probability 95 %, every function in the ball of this radius has a training risk within
        this distance of its true risk (:func:`decorrupt.theory.bound_bags`), if the radius had
        been fixed before training. NaN if the theorem does not apply: with an unpenalised
        intercept, or with the squared loss, which is not Lipschitz.
    kernel_rank, kernel_error : int, float
        Columns of the feature matrix and the error of the kernel, see `kernel_error_`.
    solver, solver_status : str
        The solver and its final status.
    n_iter : int
        Number of iterations.
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
    >>> found.n_rows, found.n_bags_used, found.is_overfitted
    (400, 40, False)
    """

    n_rows: int
    n_bags: int
    dropped: dict[str, list[Any]]
    bag_ids: list[Any]
    bag_sizes: FloatArray
    bag_proportions: FloatArray
    bag_information: FloatArray
    information: float
    classes: list[Any]
    rows_by_class: FloatArray
    condition_number: float
    effective_sample_size: float
    class_prior: FloatArray
    is_convex: bool
    convexity_floor: float
    reg_strength: float
    training_risk: float
    risk_at_zero: float
    radius: float
    bound: float
    kernel_rank: int
    kernel_error: float
    solver: str
    solver_status: str
    n_iter: int
    gradient_norm: float
    risk_std_error: float
    word: str = field(default="bags")

    @property
    def n_bags_used(self) -> int:
        """Number of bags with weight in the risk."""
        return self.n_bags - sum(map(len, self.dropped.values()))

    @property
    def is_risk_negative(self) -> bool:
        """Whether the training risk is below zero; an unbiased estimate of a small risk can be."""
        return self.training_risk < 0

    @property
    def is_overfitted(self) -> bool:
        """Whether the training risk is below zero by more than its noise explains."""
        return is_overfitted(self.training_risk, self.risk_std_error)

    @property
    def is_bound_vacuous(self) -> bool:
        """Whether the bound allows the true risk to exceed that of the constant score 0."""
        return not self.training_risk + self.bound < self.risk_at_zero

    @property
    def is_convex_at_reg_strength(self) -> bool:
        """Whether the objective is known to be convex at the λ of this fit."""
        return self.reg_strength >= self.convexity_floor

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def _repr_html_(self) -> str:
        return html_table("Diagnostics", [], self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("rows", f"{self.n_rows:,}"),
            (f"{self.word} used", f"{self.n_bags_used:,} of {self.n_bags:,}"),
        ]
        rows += [("  left out", f"{_some(ids)}: {reason}") for reason, ids in self.dropped.items()]
        rows += [
            ("information V", f"{self.information:.4g}"),
            ("effective sample size", f"{self.effective_sample_size:,.1f} clean rows"),
            ("equivalent rows by class", self._by_class()),
            ("condition number", f"{self.condition_number:.3g}"),
            ("class prior", ", ".join(f"{share:.4g}" for share in self.class_prior)),
            ("convex", self._convexity()),
            ("training risk", f"{self.training_risk:.4g}" + self._negative()),
            ("bound on its error", self._bound()),
            ("kernel rank", f"{self.kernel_rank:,} (error {self.kernel_error:.2g})"),
            (
                "solver",
                f"{self.solver}: {self.solver_status} after {self.n_iter} iterations, "
                f"gradient norm {self.gradient_norm:.2g}",
            ),
        ]
        return rows

    def _by_class(self) -> str:
        pairs = zip(self.classes, self.rows_by_class, strict=True)
        return ", ".join(f"{name}: {n_rows:,.1f}" for name, n_rows in pairs)

    def _convexity(self) -> str:
        if self.is_convex:
            return "yes, row by row"
        at_reg = "yes" if self.is_convex_at_reg_strength else "not certain"
        return (
            f"{at_reg} at reg_strength={self.reg_strength:g}; not row by row, "
            f"certain from reg_strength={self.convexity_floor:.3g}"
        )

    def _bound(self) -> str:
        if np.isnan(self.bound):
            return "none: the theorem covers Lipschitz losses without an intercept"
        verdict = "vacuous: it does not exclude a risk above that of f = 0" * self.is_bound_vacuous
        return f"± {self.bound:.3g} for ‖f‖ ≤ {self.radius:.3g}" + (
            f" ({verdict})" if verdict else ""
        )

    def plot(self, axes: Any = None) -> Any:
        """Plot each bag's proportion and its contribution to the information.

        Parameters
        ----------
        axes : sequence of two matplotlib axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        ndarray of two axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'decorrupt[plot]'``).
        """
        plt = import_pyplot("plot()")
        if axes is None:
            _, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
        last = self.bag_proportions[:, -1]
        order = np.argsort(last, kind="stable")
        place = np.arange(len(order))
        pooled = np.average(last, weights=self.bag_sizes)
        axes[0].scatter(place, last[order], s=12)
        axes[0].axhline(pooled, linestyle="--", color="gray", label=f"pooled, {pooled:.3f}")
        axes[0].set(ylabel=f"share of {self.classes[-1]}", ylim=(-0.03, 1.03))
        axes[0].legend(loc="upper left")
        share = self.bag_information[order] / self.information
        axes[1].bar(place, share, width=1.0)
        axes[1].set(
            ylabel="share of the information",
            xlabel=f"{self.word}, by share of {self.classes[-1]}",
            title=f"{self.n_rows:,} rows, equivalent to {self.effective_sample_size:,.0f} clean "
            "labelled rows",
        )
        return np.asarray(axes)

    def _negative(self) -> str:
        if self.is_overfitted:
            return f" ± {self.risk_std_error:.2g} (negative: overfitted)"
        return " (negative, within its noise)" if self.is_risk_negative else ""


def _some(ids: list[Any]) -> str:
    shown = ", ".join(map(str, ids[:SHOWN_IDS]))
    more = len(ids) - SHOWN_IDS
    return f"{len(ids)} ({shown}" + (f", and {more} more)" if more > 0 else ")")


def dropped_bags(observed: Observed, coef: FloatArray, reason: str) -> dict[str, list[Any]]:
    """Return {reason: ids of the bags without weight}, empty if there are none."""
    idle = (coef == 0).all(axis=1)
    return {reason: observed.ids[idle].tolist()} if idle.any() else {}


def describe_bags(observed: Observed) -> dict[str, Any]:
    """Return the part of the diagnostics that is known before training."""
    classes = observed.classes.tolist()
    found = information(observed.sizes, observed.proportions, classes=classes)
    return {
        "n_rows": observed.n_rows,
        "n_bags": observed.n_bags,
        "bag_ids": observed.ids.tolist(),
        "bag_sizes": observed.sizes.astype(float),
        "bag_proportions": observed.proportions,
        "bag_information": found.by_bag,
        "information": found.total,
        "classes": classes,
        "rows_by_class": found.rows_by_class,
        "condition_number": found.condition_number,
    }


def describe_dropped(dropped: dict[str, list[Any]], word: str) -> str:
    """Return a sentence that names the unused bags and the reason."""
    parts = [
        f"{len(ids)} {word} {reason} (the first: {ids[0]!r})" for reason, ids in dropped.items()
    ]
    return f"{'; '.join(parts)}: their rows are not used"


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


def generalization_bound(risk: CorrectedRisk, radius: float, kernel_bound: float) -> float:
    """Return the bound for the ball of this radius with one bag per row; NaN if there is none.

    It covers Lipschitz losses of two classes.
    """
    loss: Any = risk.loss
    if not isinstance(loss, MarginLoss) or not np.isfinite(loss.lipschitz) or radius == 0:
        return float("nan")
    return bound_bags(
        np.ones(len(risk.coef)) if risk.weights is None else risk.weights,
        risk.coef,
        radius=radius,
        kernel_bound=kernel_bound,
        lipschitz=loss.lipschitz,
        at_zero=0.0,  # removes a condition on the radius that fixed bags do not need
    )
