"""Learning from everything that can be observed about labels: base class, folds of whole bags."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from decorrupt.estimators import (
    DECISIONS,
    ScoreClassifier,
    as_observed,
    check_choice,
    check_parameters,
    warn_of_rates,
)
from decorrupt.meta.soft_labels import learner_rows
from decorrupt.observed import Observed, read_observed, without_weightless
from decorrupt.risks import LabelLikelihood
from decorrupt.splitters import BagKFold

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


class ObservedClassifier(ScoreClassifier):
    """A classifier trained on bags, noisy labels of sources, both, or labels.

    Subclasses have the parameters `decision`, `random_state` and `count_noise`, and define
    `_fit_observed`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "bags": True,
        "upper": True,
        "sources": True,
        "noise_rates": True,
        "sample_weight": True,
    }

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        bags: Any = None,
        upper: Any = None,
        sources: Any = None,
        noise_rates: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Train on bags, on noisy labels of sources, on both, or on labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            The rows. A data frame is passed to the learner with its categories and missing
            values, if the learner takes them.
        y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
            The proportion of positives in each row's bag, or the share of each class; noisy labels
            of rows with a source; class labels without bags and sources. If there are both bags
            and sources, noisy labels are 0 and 1, or rows of the identity matrix for several
            classes.
        bags : array-like of shape (n_rows,), optional
            The bag of each row; any hashable ids.
        upper : array-like of shape (n_rows,) or (n_rows, n_classes), optional
            The upper end of the range of each row's bag, or of each class, see
            :func:`label_posterior`.
        sources : array-like of shape (n_rows,), optional
            The source of each row. With `bags`, each row has a bag, a source, or neither if nothing
            is known about its label; the others are None.
        noise_rates : mapping, data frame, pair or matrix, optional
            {source: (flip_pos, flip_neg)}, a data frame with the columns source, flip_pos and
            flip_neg, or one pair for all rows; for several classes matrices
            T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0; whole numbers in bags of several classes.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If an argument or a parameter is invalid.

        Warns
        -----
        OneClassWarning
            If the model predicts one class for all training rows.
        ContradictedRatesWarning
            If there are no bags, and the shares of noisy labels contradict the rates.
        """
        check_parameters(self)
        check_choice("decision", self.decision, DECISIONS)
        self._check_parameters()
        X = self._read_rows(X, reset=True)
        known = {"bags": bags, "upper": upper, "sources": sources, "noise_rates": noise_rates}
        if isinstance(y, Observed):
            known |= {"sample_weight": sample_weight, "count_noise": self.count_noise}
            return self.fit_observed(X, as_observed(X, y, **known))
        X, y, known = without_weightless(X, y, sample_weight=sample_weight, **known)
        is_labelled = all(known.get(name) is None for name in ("bags", "sources", "noise_rates"))
        noise = None if is_labelled else self.count_noise
        observed = read_observed(y, **known, count_noise=noise)
        if observed.sources is not None:
            warn_of_rates(observed.sources)
        return self.fit_observed(X, observed)

    def fit_observed(self, X: Any, observed: Observed) -> Self:
        """Fit validated rows of which it is known what is observed."""
        likelihood = LabelLikelihood(observed)
        self.classes_ = observed.classes
        self.set_class_prior(likelihood.class_prior)
        train = self._fit_labels if likelihood.is_convex else self._fit_observed
        train(X, likelihood, check_random_state(self.random_state))
        return self

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        missing = self._takes_missing_values()
        return learner_rows(self, X, reset=reset, takes_missing_values=missing)

    def _takes_missing_values(self) -> bool:
        return False

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""

    @abstractmethod
    def _fit_observed(
        self, X: Any, likelihood: LabelLikelihood, random: np.random.RandomState
    ) -> None:
        """Train on validated rows and what is observed about their labels."""

    def _fit_labels(
        self, X: Any, likelihood: LabelLikelihood, random: np.random.RandomState
    ) -> None:
        """Train on validated rows with known labels, each a bag of one row."""
        self._fit_observed(X, likelihood, random)


def seed(random: np.random.RandomState) -> int:
    """Return a seed for another random state."""
    return int(random.randint(2**31))


def bag_folds(observed: Observed, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Return new folds of whole bags, at most as many as there are bags."""
    splitter = BagKFold(min(n_folds, observed.n_bags), shuffle=True, random_state=seed(random))
    bags = observed.row_bag
    shares, weights = observed.row_proportions, observed.weights
    return list(splitter.split(bags, shares, bags=bags, sample_weight=weights))
