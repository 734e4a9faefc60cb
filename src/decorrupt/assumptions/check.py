"""Both tests on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length

from decorrupt.assumptions.count_dispersion import check_count_dispersion
from decorrupt.assumptions.report import AssumptionReport
from decorrupt.corruption import check_class_means
from decorrupt.features import check_magnitude
from decorrupt.observed import Observed, as_observed


def check_assumptions(
    X: Any, y: ArrayLike, *, bags: Any, sample_weight: Any = None, random_state: Any = None
) -> AssumptionReport:
    """Test whether the bags satisfy what methods for bags assume, without labels.

    (A) Common class distributions: the rows of a class look the same in every bag. Then the mean of
    a column in bag k is Σ_c p_kc·μ_c. Corrected loss, mean map, InvCal and corrected accuracy
    need it. (B) Common P(y|x): rows with equal features have equal class
    probabilities in every bag. Count likelihood and proportion matching need it. Bags drawn at
    random satisfy both. Bags formed by a column of X satisfy (B) only.

    (A) is tested by permuting rows between bags, (B) by simulating the counts of held-out bags
    under a count model, see `docs/evidence/assumptions.md`. No labels are used.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        Numeric columns. Encode categories first; their names appear in the report.
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The proportion of positives in each row's bag, or the share of each class.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row represents, a whole number of at least 0.
    random_state : int, RandomState or None
        Seed of permutations, simulations and, for large data, of the subsets of bags. (A) uses up
        to 20 million cells, (B) up to 20,000 rows; the report contains the numbers used.

    Returns
    -------
    AssumptionReport
        ``print`` it, or use `to_frame()`.

    Raises
    ------
    ValueError
        If y, bags or X is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import check_assumptions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> labels = (X[:, 0] + rng.normal(size=600) > 0).astype(float)
    >>> by_feature = np.digitize(X[:, 0], np.linspace(-1.5, 1.5, 11))
    >>> y = (np.bincount(by_feature, labels) / np.bincount(by_feature))[by_feature]
    >>> report = check_assumptions(X, y, bags=by_feature, random_state=0)
    >>> report.common_classes_rejected, report.common_probabilities_rejected
    (True, False)
    """
    names = [str(name) for name in getattr(X, "columns", [])]
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    check_magnitude(X, names or None, n_rows=X.shape[0])
    check_consistent_length(X, y, bags)
    known = as_observed(y, bags=bags, sample_weight=sample_weight, check=False)
    return check_observed_assumptions(*known.used(X), names, random_state=random_state)


def check_observed_assumptions(
    X: Any, observed: Observed, names: Sequence[str] | None, *, random_state: Any
) -> AssumptionReport:
    """Return the report on validated rows; without `names`, columns are numbered."""
    rng = check_random_state(random_state)
    if names is None or not len(names):
        names = [f"column {k}" for k in range(X.shape[1])]
    return AssumptionReport(
        class_means=check_class_means(X, observed, random_state=rng),
        count_dispersion=check_count_dispersion(X, observed, random_state=rng),
        sizes=observed.sizes,
        n_classes=observed.n_classes,
        column_names=tuple(map(str, names)),
    )
