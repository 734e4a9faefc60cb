"""The warning of methods that assume common class distributions, if the bags differ."""

from __future__ import annotations

from typing import Any

from decorrupt.corruption import quick_violation
from decorrupt.exceptions import BagAssumptionWarning
from decorrupt.features import kernel_name
from decorrupt.notices import Notice
from decorrupt.observed import Observed


def needs_common_classes(estimator: Any) -> bool:
    """Return whether an estimator assumes common class distributions of the columns of X."""
    final = estimator[-1] if hasattr(estimator, "steps") else estimator
    # The columns of a precomputed kernel are no features.
    is_similarity = kernel_name(getattr(final, "kernel", None)) == "precomputed"
    return bool(getattr(final, "needs_common_classes", False)) and not is_similarity


def common_classes_notices(X: Any, bags: Observed, user: str, names: Any = None) -> list[Notice]:
    """Return a notice if the rows of a class differ between bags, at the 1 % level.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        Validated rows.
    bags : Observed
        Their bags.
    user : str
        What needs the assumption, the subject of the message.
    names : sequence of str, optional
        The names of the columns.
    """
    test = quick_violation(X, bags)
    if test is None:
        return []
    place = int((test.dispersions / test.critical).argmax())
    column = int(test.columns[place])
    name = f"column {column}" if names is None else f"column {names[column]!r}"
    return [
        Notice(
            BagAssumptionWarning,
            f"{user} assumes that the rows of a class look the same in every bag, but the means "
            f"of {name} differ {test.dispersions[place]:.3g} times as much between bags as random "
            "bags would (dispersion; 1 is expected). Do not trust classes and probabilities: count "
            "likelihood or proportion matching do not need this assumption, "
            "decorrupt.check_assumptions shows the details, and check_assumptions=False switches "
            "this check off",
        )
    ]
