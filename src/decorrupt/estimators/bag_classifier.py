"""The `fit` that all estimators on bags share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, pooled_proportion
from decorrupt.estimators.inputs import read_strata
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.notices import Notice, emit_notices


class BagClassifier(ScoreClassifier):
    """A classifier trained on bags with known proportions; a subclass has `_fit_strata`."""

    # So that bags reach fit through pipelines and searches without set_fit_request.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}
    # Whether a labelled row is a bag of one row; otherwise the rows of a label are one bag.
    _labels_as_bags: ClassVar[bool] = False

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None) -> Self:
        """Train on the rows of X, whose labels are known through y only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows; frames keep their column names.
        y : array-like of shape (n_rows,)
            The proportion of positives in each row's bag (:func:`decorrupt.bag_targets` makes it
            from one number per bag); without `bags`, class labels of two values, and the model is
            an ordinary classifier.
        bags : array-like of shape (n_rows,), optional
            The bag of each row; any hashable ids.

        Returns
        -------
        self
            The fitted model itself.

        Raises
        ------
        ValueError
            If y, bags or a parameter is not what it must be, or nothing can be learned because
            all proportions are equal.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it was done.
        OneClassWarning
            If the model predicts one class for all training rows.
        NegativeRiskWarning, NonConvexRiskWarning, DroppedBagsWarning, RoundedCountsWarning
            Where the method has a corrected risk or counts, see `decorrupt.exceptions`.
        """
        emit_notices(self._train(X, y, bags=bags))
        return self

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        X, strata = self._read_bags(X, y, bags)
        self._note_one_class(self._fit_strata(X, strata))
        return self._take_notices()

    def _read_bags(self, X: Any, y: ArrayLike, bags: Any) -> tuple[Any, Strata]:
        """Check all that is given; set what is known before training; return rows and strata."""
        self._take_notices()  # of a fit that failed
        self._check_parameters()
        X = self._read_rows(X, reset=True)
        check_consistent_length(X, y)
        self.classes_, strata = read_strata(y, bags, rows_as_bags=self._labels_as_bags)
        self.score_prior_ = self._score_prior(strata)
        self.decision_threshold_ = self._threshold(self.score_prior_)
        return X, strata

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is wrong regardless of the data."""

    def _score_prior(self, strata: Strata) -> float:
        """Return the share of positives in the population the score is for."""
        return pooled_proportion(strata.sizes, strata.proportions)

    @abstractmethod
    def _fit_strata(self, X: Any, strata: Strata) -> FloatArray:
        """Train on rows that have been checked; return their raw scores."""
