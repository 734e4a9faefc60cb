"""Baselines without features: the constant, and the rate of each row's own bag."""

from __future__ import annotations

from typing import Any

import numpy as np

from decorrupt.losses import score_shape
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.results import Result
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.observed import as_observed

CONSTANT = "constant"
GROUP_RATE = "group_rate"


def group_rate_accuracy(y: Any, *, bags: Any = None) -> float:
    """Return the balanced accuracy of guessing every row from the shares of its own bag.

    The guess in bag k is the class with the largest p_kc/p̄_c.

    It is exact, needs no model and no assumption, and is available for rows of known bags only:
    for a row of a new bag the baseline is the constant, whose balanced accuracy is 1 over the
    number of classes.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
        The proportion of each row's bag, or its class shares; an Observed contains the bags.
    bags : array-like of shape (n_rows,)
        The bag of each row.

    Examples
    --------
    >>> from decorrupt.model_selection import group_rate_accuracy
    >>> group_rate_accuracy([0.25] * 4 + [0.75] * 4, bags=[0] * 4 + [1] * 4)
    0.75
    """
    observed = as_observed(y, bags=bags, check=False)
    counts = observed.sizes[:, None] * observed.proportions
    per_class = counts / counts.sum(axis=0)
    return float(per_class.max(axis=1).sum() / counts.shape[1])


def constant_result(data: FoldedData, scorer: BagScorer) -> Result:
    """Return the score of the pooled class shares for every held-out row."""
    rows = np.unique(np.concatenate([test for _, test in data.folds]))
    tested = data.observed.take(rows)
    nothing = np.zeros((len(rows), *score_shape(tested.n_classes)))  # in a balanced population
    by_bag = scorer.by_bag(nothing, tested) if scorer.takes_scores else None
    score, std_error = scorer.score(nothing, tested)
    seconds = np.zeros(len(data.folds))
    return Result(CONSTANT, {}, score, std_error, by_bag, tested.sizes, seconds, nothing, nothing)
