"""The criteria without labels as scikit-learn scorers.

A scorer is called as ``scorer(estimator, X, y, bags=bags)`` and requests `bags`, so it works in
scikit-learn's searches if metadata routing is enabled. :class:`BagGridSearchCV` enables it itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.metrics import get_scorer_names
from sklearn.utils.metadata_routing import MetadataRequest

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.priors import (
    BALANCED,
    log_prior,
    score_probabilities,
    shift_prior,
)
from decorrupt.model_selection.criteria import (
    Estimate,
    bag_strata,
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
# Criteria that invert the proportions: they cannot be computed if all bags have the same one, and
# assume that the rows of a class look the same in every bag.
NEED_SPREAD = ("corrected_accuracy", "corrected_risk")


def check_scoring(name: str) -> None:
    """Raise ValueError unless `name` is a criterion."""
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

    On the estimator's training bags every criterion is too optimistic.

    Parameters
    ----------
    name : {"corrected_accuracy", "corrected_risk", "proportion_risk", "count_log_likelihood"} \
or callable
        The criterion. A callable is called as ``criterion(y, decision_values, bags=bags)`` and
        returns an :class:`Estimate`; greater must be better.
    **options
        Arguments of the criterion, e.g. ``loss="logistic"`` for the corrected risk.
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
        """Return the criterion with its standard error."""
        strata = bag_strata(y, bags)
        prior = pooled_prior(strata.row_proportions)
        return self.score(self.predictions(estimator, X, prior), strata)

    @property
    def takes_log_odds(self) -> bool:
        """Whether the criterion uses probabilities instead of decision values."""
        return self.name == "count_log_likelihood"

    @property
    def needs_spread(self) -> bool:
        """Whether the criterion cannot be computed if all bags have the same proportion."""
        return self.name in NEED_SPREAD

    @property
    def needs_common_classes(self) -> bool:
        """Whether the criterion assumes that the rows of a class look the same in every bag."""
        return self.name in NEED_SPREAD

    def predictions(self, estimator: Any, X: Any, prior: Any) -> FloatArray:
        """Return the input of `score`: decision values, or log-odds in a balanced population.

        For several classes the latter are log-probabilities, up to a constant per row. The
        probabilities of an estimator with `score_prior_` are those at these class shares, all
        others at `prior`.
        """
        if not self.takes_log_odds:
            return np.asarray(estimator.decision_function(X))
        final = estimator[-1] if hasattr(estimator, "steps") else estimator
        probabilities = estimator.predict_proba(X)
        if probabilities.shape[1] == 2:
            scores = logit(probabilities[:, 1])
        else:
            scores = np.log(np.maximum(probabilities, np.finfo(float).tiny))
        return shift_prior(scores, getattr(final, "score_prior_", prior), BALANCED)

    def score(self, predictions: FloatArray, strata: Strata) -> Estimate:
        """Return the criterion for the predictions of all rows of the strata together."""
        if self.takes_log_odds:
            return weighted_mean(self.by_bag(predictions, strata), strata.sizes)
        criterion = self.name if callable(self.name) else CRITERIA[self.name]
        y, bags = strata.row_proportions, strata.row_stratum
        value, std_error = criterion(y, predictions, bags=bags, **self.options)
        return Estimate(-value if self.name in LOWER_IS_BETTER else value, std_error)

    def by_bag(self, log_odds: FloatArray, strata: Strata) -> FloatArray:
        """Return the criterion of each bag, for probabilities at the pooled prior of the strata."""
        prior = pooled_prior(strata.row_proportions)
        shifted = log_odds + log_prior(prior)  # a balanced population has log_prior 0
        return count_score_by_bag(score_probabilities(shifted), strata, **self.options)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the request for `bags`, for scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="bags", alias=True)
        return request

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"BagScorer({self.name!r}{options})"


def pooled_prior(y: ArrayLike) -> Any:
    """Return the mean of the proportions y, strictly between 0 and 1; one per class if several."""
    y = np.asarray(y, dtype=float)
    margin = 0.5 / len(y)
    pooled = np.clip(y.mean(axis=0), margin, 1 - margin)
    return pooled / pooled.sum() if pooled.ndim else float(pooled)


BAG_SCORERS = {name: BagScorer(name) for name in CRITERIA}


def get_bag_scorer(scoring: Any) -> BagScorer:
    """Return the scorer for the name of a criterion; a BagScorer is returned as it is.

    Raises
    ------
    ValueError
        If `scoring` is anything else: scikit-learn's scorers need labels.
    """
    if isinstance(scoring, BagScorer):
        return scoring
    if not isinstance(scoring, str):
        raise ValueError(
            f"scoring={scoring!r}: choose one of {', '.join(CRITERIA)}, or give a BagScorer. "
            "scikit-learn's scorers need labels, which bags do not have"
        )
    check_scoring(scoring)
    return BAG_SCORERS[scoring]
