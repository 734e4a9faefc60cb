"""The label-free criteria as scikit-learn scorers, ready to be routed.

A scorer is called as ``scorer(estimator, X, y, bags=bags)`` and requests `bags` by itself, so that
with metadata routing on it works in scikit-learn's own searches as it is; :class:`BagGridSearchCV`
switches routing on by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.utils.metadata_routing import MetadataRequest

from decorrupt.losses.margin import FloatArray
from decorrupt.model_selection.criteria import (
    Estimate,
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)

CRITERIA: dict[str, Callable[..., Estimate]] = {
    "corrected_accuracy": corrected_accuracy,
    "corrected_risk": corrected_risk,
    "proportion_risk": proportion_risk,
    "count_log_likelihood": count_score,
}
LOWER_IS_BETTER = ("corrected_risk", "proportion_risk")
# Criteria that say nothing on bags which all have the same proportion.
NEED_SPREAD = ("corrected_accuracy", "corrected_risk")


def check_scoring(name: str) -> None:
    """Raise a ValueError unless there is such a criterion."""
    if name not in CRITERIA:
        raise ValueError(f"unknown scoring {name!r}: choose one of {', '.join(CRITERIA)}")


class BagScorer:
    """A criterion on held-out bags; greater is always better, so risks are negated.

    Parameters
    ----------
    name : {"corrected_accuracy", "corrected_risk", "proportion_risk", "count_log_likelihood"}
        The criterion.
    **options
        Passed on to it, e.g. ``loss="logistic"`` for the corrected risk.
    """

    def __init__(self, name: str, **options: Any) -> None:
        check_scoring(name)
        self.name = name
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, *, bags: Any) -> float:
        """Return the criterion of a fitted estimator's predictions for the rows X."""
        return self.estimate(estimator, X, y, bags=bags).value

    def estimate(self, estimator: Any, X: Any, y: ArrayLike, *, bags: Any) -> Estimate:
        """Return the same with its standard error."""
        if self.name == "count_log_likelihood":
            predictions = mixture_probabilities(estimator, X, y)
        else:
            predictions = estimator.decision_function(X)
        value, std_error = CRITERIA[self.name](y, predictions, bags=bags, **self.options)
        return Estimate(-value if self.name in LOWER_IS_BETTER else value, std_error)

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn that `bags` are wanted."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="bags", alias=True)
        return request

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"BagScorer({self.name!r}{options})"


def mixture_probabilities(estimator: Any, X: Any, y: ArrayLike) -> FloatArray:
    """Return P(Y=1|x) for a population with the share of positives that y shows.

    A model's probabilities are for the prior it was trained for; where it says which
    (`score_prior_`), they are moved to that of the bags they are compared with.
    """
    probabilities = estimator.predict_proba(X)[:, 1]
    final = estimator[-1] if hasattr(estimator, "steps") else estimator
    prior = getattr(final, "score_prior_", None)
    if prior is None:
        return np.asarray(probabilities)
    return np.asarray(expit(logit(probabilities) + logit(pooled_prior(y)) - logit(prior)))


def pooled_prior(y: ArrayLike) -> float:
    """Return the share of positives among rows of proportions y, never quite 0 or 1."""
    y = np.asarray(y, dtype=float)
    margin = 0.5 / len(y)
    return float(np.clip(y.mean(), margin, 1 - margin))


BAG_SCORERS = {name: BagScorer(name) for name in CRITERIA}
