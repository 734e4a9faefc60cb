"""Base class of the estimators for bags."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, pooled_proportion
from decorrupt.estimators.bag_assumptions import common_classes_notices, needs_common_classes
from decorrupt.estimators.inputs import read_strata
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.notices import Notice, emit_notices


class BagClassifier(ScoreClassifier):
    """A classifier trained on bags with known proportions; subclasses define `_fit_strata`."""

    # Pipelines and searches pass bags to fit without set_fit_request.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}
    # Without bags: whether each labelled row is its own bag; otherwise each class is one bag.
    _labels_as_bags: ClassVar[bool] = False
    # Whether the method assumes that the rows of a class look the same in every bag; it then has
    # the parameter `check_assumptions`.
    _needs_common_classes: ClassVar[bool] = False
    # Whether it assumes that P(y|x) is the same in every bag.
    _needs_common_probabilities: ClassVar[bool] = False

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None) -> Self:
        """Train on bags with known proportions, or on labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows. Column names of a data frame are kept.
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            The proportion of positives in each row's bag, or the share of each class; the shares
            of a row sum to 1 (within 1e-6), and column names become `classes_`.
            :func:`decorrupt.bag_targets` computes y from one entry per bag. Without `bags`: class
            labels, and the model is an ordinary classifier.
        bags : array-like of shape (n_rows,), optional
            The bag of each row; any hashable ids.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If y, bags or a parameter is invalid, or if the proportions do not distinguish the
            classes (for example, if they are equal in all bags).

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        OneClassWarning
            If the model predicts one class for all training rows.
        NegativeRiskWarning, NonConvexRiskWarning, DroppedBagsWarning, RoundedCountsWarning
            Methods with a corrected risk or with counts only, see `decorrupt.exceptions`.
        BagAssumptionWarning
            If the rows of a class clearly differ between bags. Only of methods that assume that
            they do not, which have the parameter `check_assumptions`.
        """
        X, strata = self._read_bags(X, y, bags)
        notices = self._train_rows(X, strata)
        emit_notices(notices if bags is None else self._assumption_notices(X, strata) + notices)
        return self

    def _assumption_notices(self, X: Any, strata: Strata) -> list[Notice]:
        """Return the notice of a fit by the user; searches and folds do not repeat the check."""
        if not needs_common_classes(self) or not self.check_assumptions:
            return []
        names = getattr(self, "feature_names_in_", None)
        return common_classes_notices(X, strata, type(self).__name__, names)

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        return self._train_rows(*self._read_bags(X, y, bags))

    def _train_rows(self, X: Any, strata: Strata) -> list[Notice]:
        self._note_one_class(self._fit_strata(X, strata))
        return self._take_notices()

    def _read_bags(self, X: Any, y: ArrayLike, bags: Any) -> tuple[Any, Strata]:
        """Validate the input, set the attributes known before training, return rows and strata."""
        self._take_notices()  # discard those of an earlier fit that failed
        self._check_parameters()
        X = self._read_rows(X, reset=True)
        check_consistent_length(X, y)
        self.classes_, strata = self._read_strata(y, bags)
        if strata.n_classes is not None:
            self._check_several_classes(strata.n_classes)
        self.score_prior_ = self._score_prior(strata)
        self.decision_threshold_ = self._threshold(self.score_prior_)
        return X, strata

    def _read_strata(self, y: ArrayLike, bags: Any) -> tuple[NDArray[Any], Strata]:
        """Return the classes and the strata of bags, or of labels if `bags` is None."""
        return read_strata(y, bags, rows_as_bags=self._labels_as_bags)

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""

    def _score_prior(self, strata: Strata) -> Any:
        """Return the class shares in the population that the scores describe."""
        return pooled_proportion(strata.sizes, strata.proportions)

    @abstractmethod
    def _fit_strata(self, X: Any, strata: Strata) -> FloatArray:
        """Train on validated rows; return their raw scores."""
