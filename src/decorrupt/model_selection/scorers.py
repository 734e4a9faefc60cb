"""The criteria without labels as scikit-learn scorers.

A scorer is called as ``scorer(estimator, X, y, bags=bags)`` and requests `bags`, so it works in
scikit-learn's searches if metadata routing is enabled. :class:`BagGridSearchCV` enables it itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer_names
from sklearn.utils.metadata_routing import MetadataRequest

from decorrupt._typing import FloatArray
from decorrupt.losses import (
    balanced_scores,
    prior_scores,
    probabilities,
    unclipped_scores,
)
from decorrupt.model_selection.criteria import (
    Estimate,
    corrected_accuracy,
    corrected_risk,
    count_score,
    count_score_by_bag,
    proportion_risk,
    weighted_mean,
)
from decorrupt.observed import Observed, read_bags, without_weightless
from decorrupt.risks import noisy_label_risk

NOISY_LABELS = "noisy_label_log_likelihood"
CRITERIA: dict[str, Callable[..., Estimate]] = {
    "corrected_accuracy": corrected_accuracy,
    "corrected_risk": corrected_risk,
    "proportion_risk": proportion_risk,
    "count_log_likelihood": count_score,
}
LOWER_IS_BETTER = ("corrected_risk", "proportion_risk")
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
        The criterion. A callable is called as ``criterion(observed, decision_values)`` and returns
        an :class:`Estimate`; greater must be better.
    **options
        Arguments of the criterion, e.g. ``loss="logistic"`` for the corrected risk.
    """

    def __init__(self, name: str | Callable[..., Estimate], **options: Any) -> None:
        if not callable(name):
            check_scoring(name)
        self.name = name
        self.options = options

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, *, bags: Any, sample_weight: Any = None
    ) -> float:
        """Return the criterion of a fitted estimator's predictions for the rows X."""
        return self.estimate(estimator, X, y, bags=bags, sample_weight=sample_weight).value

    def estimate(
        self, estimator: Any, X: Any, y: ArrayLike, *, bags: Any, sample_weight: Any = None
    ) -> Estimate:
        """Return the criterion with its standard error."""
        X, y, known = without_weightless(X, y, bags=bags, sample_weight=sample_weight)
        observed = read_bags(y, **known)
        predictions = self.predictions(estimator, X, observed.inner_prior)
        return self.score(predictions, observed)

    @property
    def takes_scores(self) -> bool:
        """Whether the criterion uses probabilities instead of decision values."""
        return self.name == "count_log_likelihood"

    @property
    def needs_spread(self) -> bool:
        """Whether the criterion inverts the proportions.

        It cannot be computed if all bags have the same one, and assumes that the rows of a class
        look the same in every bag.
        """
        return self.name in NEED_SPREAD

    def predictions(self, estimator: Any, X: Any, class_prior: FloatArray) -> FloatArray:
        """Return the input of `score`: decision values, or scores in a balanced population.

        `class_prior` is that of probabilities of an estimator without `class_prior_`.
        """
        if not self.takes_scores:
            return np.asarray(estimator.decision_function(X))
        final = estimator[-1] if hasattr(estimator, "steps") else estimator
        if not hasattr(final, "predict_proba"):
            raise ValueError(
                f"scoring={self.name!r} needs probabilities, which {type(final).__name__} does not "
                "have: choose scoring='corrected_accuracy', or AutoLabelProportionsClassifier, "
                "which calibrates scores on held-out counts"
            )
        scores = unclipped_scores(estimator.predict_proba(X))
        return balanced_scores(scores, getattr(final, "class_prior_", class_prior))

    def score(self, predictions: FloatArray, observed: Observed) -> Estimate:
        """Return the criterion for the predictions of all rows of the bags together."""
        if self.takes_scores:
            return weighted_mean(self.by_bag(predictions, observed), observed.sizes)
        if callable(self.name):
            return Estimate(*self.name(observed, predictions, **self.options))
        value, std_error = CRITERIA[self.name](observed, predictions, **self.options)
        return Estimate(-value if self.name in LOWER_IS_BETTER else value, std_error)

    def by_bag(self, scores: FloatArray, observed: Observed) -> FloatArray:
        """Return the criterion of each bag, for probabilities at the pooled prior of the bags.

        `scores` are those in a balanced population.
        """
        shifted = scores + prior_scores(observed.inner_prior)
        return count_score_by_bag(probabilities(shifted), observed, **self.options)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the request for `bags` and weights, for scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        for name in ("bags", "sample_weight"):
            request.score.add_request(param=name, alias=True)
        return request

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"BagScorer({self.name!r}{options})"


class NoisyLabelScorer(BagScorer):
    """(1/n)·Σ_j log Σ_y P_s(y|x_j)·T_s[y, ỹ_j], s the source of row j: a proper scoring rule.

    Its bags are the rows.
    """

    def __init__(self) -> None:
        self.name = NOISY_LABELS
        self.options = {}

    @property
    def takes_scores(self) -> bool:
        """Whether the criterion uses probabilities instead of decision values: yes."""
        return True

    def by_bag(self, scores: FloatArray, observed: Observed) -> FloatArray:
        """Return log P(ỹ|x) of each row; `scores` are those in a balanced population."""
        noisy: Any = observed.sources
        return noisy_label_risk(noisy).log_likelihoods(scores)


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
    return BagScorer(scoring)
