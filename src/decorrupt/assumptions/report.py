"""The report of both tests: numbers, a printed summary and a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from decorrupt._typing import FloatArray
from decorrupt.assumptions.count_dispersion import FEWEST_BAGS, CountDispersionTest
from decorrupt.corruption import LEVEL, ClassMeansTest

CLASSES_NAME = "common class distributions"
PROBABILITIES_NAME = "common P(y|x)"
# Probability with which a difference is detected.
POWER = 0.8


class ColumnDispersion(NamedTuple):
    """One column's test of common class distributions; `p_value` is adjusted for all columns."""

    column: str
    dispersion: float
    p_value: float


@dataclass(frozen=True, eq=False)
class AssumptionReport:
    """What the bags satisfy; made by :func:`decorrupt.check_assumptions`.

    Attributes
    ----------
    class_means : ClassMeansTest or None
        The test of (A), common class distributions; None if it cannot be tested.
    count_dispersion : CountDispersionTest or None
        The test of (B), common P(y|x); None if it cannot be tested.
    sizes : ndarray of shape (n_bags,)
        Rows per bag.
    n_classes : int
        Number of classes.
    column_names : tuple of str
        All columns of X.
    """

    class_means: ClassMeansTest | None
    count_dispersion: CountDispersionTest | None
    sizes: NDArray[np.intp]
    n_classes: int
    column_names: tuple[str, ...]

    @property
    def common_classes_rejected(self) -> bool | None:
        """Whether (A) is rejected at the 5 % level; None if it cannot be tested."""
        return None if self.class_means is None else self.class_means.p_value <= LEVEL

    @property
    def common_probabilities_rejected(self) -> bool | None:
        """Whether (B) is rejected at the 5 % level; None if it cannot be tested."""
        return None if self.count_dispersion is None else self.count_dispersion.p_value <= LEVEL

    @property
    def bag_effect(self) -> float:
        """The estimated bag effect in the share; 0 if (B) cannot be tested."""
        return 0.0 if self.count_dispersion is None else self.count_dispersion.bag_effect

    @property
    def columns(self) -> list[ColumnDispersion]:
        """The tested columns, the largest dispersion first."""
        if self.class_means is None:
            return []
        test = self.class_means
        order = np.argsort(-test.dispersions, kind="stable")
        return [
            ColumnDispersion(
                self.column_names[test.columns[k]],
                float(test.dispersions[k]),
                float(test.p_values[k]),
            )
            for k in order
        ]

    @property
    def violating_columns(self) -> list[ColumnDispersion]:
        """The columns that are significant at the 5 % level."""
        return [column for column in self.columns if column.p_value <= LEVEL]

    @property
    def detectable_class_difference(self) -> float:
        """The difference between bags that the test of (A) detects with a probability of 80 %.

        It is the standard deviation of a class's mean between bags, in standard deviations of the
        column; NaN if it cannot be tested.
        """
        if self.class_means is None:
            return float("nan")
        sizes = self.sizes[self.sizes >= 2].astype(float)
        return detectable_effect(sizes, float(np.median(self.class_means.critical)))

    @property
    def detectable_bag_effect(self) -> float:
        """The standard deviation of the bags' own shares that the test of (B) detects with 80 %."""
        if self.count_dispersion is None:
            return float("nan")
        test = self.count_dispersion
        return detectable_effect(test.inflation, test.critical)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one row per assumption, then one per column of (A)."""
        import pandas as pd  # imported where it is needed: it takes half a second

        return pd.DataFrame(
            self._rows(), columns=["assumption", "column", "dispersion", "p_value", "rejected"]
        )

    def _rows(self) -> list[tuple[str, str | None, float, float, bool | None]]:
        means, counts, nan = self.class_means, self.count_dispersion, float("nan")
        columns = self.columns
        return [
            (
                CLASSES_NAME,
                None,
                columns[0].dispersion if columns else nan,
                means.p_value if means else nan,
                self.common_classes_rejected,
            ),
            (
                PROBABILITIES_NAME,
                None,
                counts.dispersion if counts else nan,
                counts.p_value if counts else nan,
                self.common_probabilities_rejected,
            ),
            *((CLASSES_NAME, *column, column.p_value <= LEVEL) for column in columns),
        ]

    def __str__(self) -> str:
        rows = f"{int(self.sizes.sum()):,} rows in {len(self.sizes):,} bags"
        return "\n".join([f"What the bags satisfy ({rows})", *self._classes(), *self._counts()])

    def _classes(self) -> list[str]:
        test = self.class_means
        head = self._verdict("A. Common class distributions", self.common_classes_rejected, test)
        if test is None:
            return [head, f"   it needs more than {self.n_classes} bags and a column that varies"]
        lines = [head]
        if violating := self.violating_columns:
            worst = ", ".join(f"{c.column} ({c.dispersion:.3g})" for c in violating[:5])
            more = len(violating) - 5
            lines.append(f"   columns that differ most (dispersion): {worst}" + _and_more(more))
        if test.n_rows < self.sizes.sum() or len(test.columns) < len(self.column_names):
            lines.append(f"   tested on {test.n_rows:,} rows and {len(test.columns):,} columns")
        effect = self.detectable_class_difference
        what = f"{effect:.2g} standard deviations of a column between bags"
        return [*lines, _detectable(effect, what)]

    def _counts(self) -> list[str]:
        test = self.count_dispersion
        head = self._verdict("B. Common P(y|x)", self.common_probabilities_rejected, test)
        if test is None:
            return [
                head,
                f"   it needs {FEWEST_BAGS} bags of two rows or more, of different shares",
            ]
        lines = [head, f"   dispersion of held-out counts {test.dispersion:.3g}"]
        lines[-1] += f", estimated bag effect {test.bag_effect:.2g} in the share"
        if test.n_rows < self.sizes.sum():
            lines.append(f"   tested on {test.n_rows:,} rows")
        effect = self.detectable_bag_effect
        return [*lines, _detectable(effect, f"a bag effect of {effect:.2g} in the share")]

    @staticmethod
    def _verdict(
        name: str, rejected: bool | None, test: ClassMeansTest | CountDispersionTest | None
    ) -> str:
        if test is None:
            return f"{name}: cannot be tested"
        return f"{name}: {'rejected' if rejected else 'not rejected'} (p = {test.p_value:.3g})"


def _and_more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def _detectable(effect: float, what: str) -> str:
    if not np.isfinite(effect):
        return "   with so few bags, no difference would be detected reliably"
    return f"   detectable with a probability of {POWER:.0%}: {what}"


def detectable_effect(inflation: FloatArray, critical: float) -> float:
    """Return the s for which P(Σ_k z_k² > critical·M) = 80 %, E z_k² = 1 + a_k·s².

    Normal approximation of Σ_k z_k² with variance 2·Σ_k (1 + a_k·s²)².

    Parameters
    ----------
    inflation : ndarray of shape (n_bags,)
        a_k: n_k for the means of a column in units of its standard deviation, n_k²/V_k for counts.
    critical : float
        The dispersion above which the test rejects.

    Returns
    -------
    float
        ∞ if no effect reaches this power with so few bags.
    """
    quantile = norm.ppf(POWER)

    def margin(effect: float) -> float:
        squares = 1 + inflation * effect**2
        spread = np.sqrt(2 * np.sum(squares**2))
        return float(squares.sum() - quantile * spread - critical * len(squares))

    # With few bags the spread grows as fast as the mean.
    highest = 1.0 / np.sqrt(np.median(inflation))
    for _ in range(40):
        if margin(highest) > 0:
            return float(brentq(margin, 0.0, highest)) if margin(0.0) < 0 else 0.0
        highest *= 2
    return float("inf")
