"""Base class of the estimators for bags."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from decorrupt.corruption import quick_violation
from decorrupt.estimators.kernel_classifier import KernelClassifier
from decorrupt.exceptions import BagAssumptionWarning
from decorrupt.features import kernel_name
from decorrupt.notices import Notice, emit_notices
from decorrupt.observed import Observed, as_observed


class BagClassifier(KernelClassifier):
    """Base class of the classifiers trained on bags with known proportions."""

    # Pipelines and searches pass bags to fit without set_fit_request.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True, "sample_weight": True}
    # Without bags: whether each labelled row is its own bag; otherwise each class is one bag.
    labels_as_bags: ClassVar[bool] = False
    # Whether the method assumes that the rows of a class look the same in every bag; it then has
    # the parameter `check_assumptions`.
    needs_common_classes: ClassVar[bool] = False
    # Whether it assumes that P(y|x) is the same in every bag.
    needs_common_probabilities: ClassVar[bool] = False

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None, sample_weight: Any = None) -> Self:
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
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If y, bags, sample_weight or a parameter is invalid, or if the proportions do not
            distinguish the classes (for example, if they are equal in all bags).

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        OneClassWarning
            If the model predicts one class for all training rows.
        UnscaledColumnsWarning
            If distances between rows hardly depend on at least half of the columns.
        NegativeRiskWarning, NonConvexRiskWarning, DroppedBagsWarning, RoundedCountsWarning
            Methods with a corrected risk or with counts only, see `decorrupt.exceptions`.
        BagAssumptionWarning
            If the rows of a class differ between bags (1 % level). Only of methods that assume that
            they do not, which have the parameter `check_assumptions`.
        """
        emit_notices(self._train(X, y, bags=bags, sample_weight=sample_weight, is_checked=True))
        return self

    def train(
        self, X: Any, y: ArrayLike, *, bags: Any = None, sample_weight: Any = None
    ) -> list[Notice]:
        """Fit as `fit` does, and return the warnings; without the check of the assumptions."""
        return self._train(X, y, bags=bags, sample_weight=sample_weight)

    def _train(
        self,
        X: Any,
        y: ArrayLike,
        *,
        bags: Any,
        sample_weight: Any,
        is_checked: bool = False,
        **known: Any,
    ) -> list[Notice]:
        """Read what is known about the labels once, and train with it."""
        self._take_notices()  # discard those of an earlier fit that failed
        weights = y.weights if isinstance(y, Observed) else sample_weight
        X = self._read_rows(X, reset=True, sample_weight=weights)
        if bags is None and not isinstance(y, Observed) and not self.labels_as_bags:
            observed = Observed.from_labels(y, sample_weight=sample_weight, rows_as_bags=False)
        else:
            observed = as_observed(y, bags=bags, sample_weight=sample_weight, **known)
        X, observed = observed.used(X)
        notices = self._train_rows(X, observed)
        if is_checked and (bags is not None or isinstance(y, Observed)):
            notices = self.assumption_notices(X, observed) + notices
        return notices

    def check(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""
        super().check()
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter that only this method has is invalid."""

    def assumption_notices(
        self, X: Any, observed: Observed, user: str | None = None
    ) -> list[Notice]:
        """Return the notice of a fit by the user; searches and folds do not repeat the check.

        The message calls the class that needs the assumption `user`, by default its own name.
        """
        if not needs_common_classes(self) or not self.check_assumptions:
            return []
        names = getattr(self, "feature_names_in_", None)
        return common_classes_notices(X, observed, user or type(self).__name__, names)


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
