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
from sklearn.metrics import get_scorer_names
from sklearn.utils.metadata_routing import MetadataRequest

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, strata_from_bags
from decorrupt.estimators.score_classifier import BALANCED, shift_prior
from decorrupt.model_selection.criteria import (
    Estimate,
    corrected_accuracy,
    corrected_risk,
    count_score,
    count_score_by_bag,
    proportion_risk,
    weighted_mean,
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
    if name in CRITERIA:
        return
    known = ", ".join(CRITERIA)
    if name in get_scorer_names():
        raise ValueError(
            f"scoring={name!r} needs the label of each row, which bags do not have: choose one of "
            f"{known}"
        )
    raise ValueError(f"unknown scoring {name!r}: choose one of {known}")


class BagScorer:
    """A criterion on held-out bags; greater is always better, so risks are negated.

    Bags that the estimator was trained on make every criterion too good.

    Parameters
    ----------
    name : {"corrected_accuracy", "corrected_risk", "proportion_risk", "count_log_likelihood"} \
or callable
        The criterion. A callable is called as ``criterion(y, decision_values, bags=bags)`` and
        returns an :class:`Estimate`, of which greater is better.
    **options
        Passed on to it, e.g. ``loss="logistic"`` for the corrected risk.
    """

    def __init__(self, name: str | Callable[..., Estimate], **options: Any) -> None:
        if not callable(name):
            check_scoring(name)
        self.name = name
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, *, bags: Any) -> float:
        """Return the criterion of a fitted estimator's predictions for the rows X."""
        return self.estimate(estimator, X, y, bags=bags).value

    def estimate(self, estimator: Any, X: Any, y: ArrayLike, *, bags: Any) -> Estimate:
        """Return the same with its standard error."""
        predictions = self.predictions(estimator, X, pooled_prior(y))
        return self.score(predictions, strata_from_bags(bags, y))

    @property
    def takes_log_odds(self) -> bool:
        """Whether the criterion is for probabilities, and not for decision values."""
        return self.name == "count_log_likelihood"

    @property
    def needs_spread(self) -> bool:
        """Whether the criterion says nothing about bags that all have the same proportion."""
        return self.name in NEED_SPREAD

    def predictions(self, estimator: Any, X: Any, prior: float) -> FloatArray:
        """Return what `score` takes: decision values, or log-odds in a balanced population.

        An estimator whose probabilities are for a prior of its own says so by `score_prior_`;
        those of any other are taken as for `prior`.
        """
        if not self.takes_log_odds:
            return np.asarray(estimator.decision_function(X))
        final = estimator[-1] if hasattr(estimator, "steps") else estimator
        log_odds = logit(estimator.predict_proba(X)[:, 1])
        return shift_prior(log_odds, getattr(final, "score_prior_", prior), BALANCED)

    def score(self, predictions: FloatArray, strata: Strata) -> Estimate:
        """Return the criterion of the predictions for all rows of the strata together."""
        if self.takes_log_odds:
            return weighted_mean(self.by_bag(predictions, strata), strata.sizes)
        criterion = self.name if callable(self.name) else CRITERIA[self.name]
        y, bags = strata.row_proportions, strata.row_stratum
        value, std_error = criterion(y, predictions, bags=bags, **self.options)
        return Estimate(-value if self.name in LOWER_IS_BETTER else value, std_error)

    def by_bag(self, log_odds: FloatArray, strata: Strata) -> FloatArray:
        """Return each bag's share of a criterion for probabilities, at the prior of these bags."""
        prior = pooled_prior(strata.row_proportions)
        return count_score_by_bag(expit(shift_prior(log_odds, BALANCED, prior)), strata)

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn that `bags` are wanted."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="bags", alias=True)
        return request

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"BagScorer({self.name!r}{options})"


def pooled_prior(y: ArrayLike) -> float:
    """Return the share of positives among rows of proportions y, never quite 0 or 1."""
    y = np.asarray(y, dtype=float)
    margin = 0.5 / len(y)
    return float(np.clip(y.mean(), margin, 1 - margin))


BAG_SCORERS = {name: BagScorer(name) for name in CRITERIA}


def get_bag_scorer(scoring: Any) -> BagScorer:
    """Return the scorer of a criterion's name, or the BagScorer given.

    Raises
    ------
    ValueError
        If `scoring` is anything else: a scorer of scikit-learn needs labels.
    """
    if isinstance(scoring, BagScorer):
        return scoring
    if not isinstance(scoring, str):
        raise ValueError(
            f"scoring={scoring!r}: choose one of {', '.join(CRITERIA)}, or give a BagScorer. "
            "Scorers of scikit-learn need labels, which bags do not have"
        )
    check_scoring(scoring)
    return BAG_SCORERS[scoring]
