"""The `fit` of the estimators for bags, and the check of their main assumption."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from decorrupt.corruption import quick_violation
from decorrupt.exceptions import BagAssumptionWarning, is_quiet, warn
from decorrupt.features import kernel_name
from decorrupt.observed import Observed


class BagFitMixin:
    """`fit` on bags with known proportions, on labels, or on an `Observed`."""

    # Pipelines and searches pass bags to fit without set_fit_request.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "bags": True,
        "upper": True,
        "sample_weight": True,
    }
    # Whether the method assumes that the rows of a class look the same in every bag.
    needs_common_classes: ClassVar[bool] = False
    # Whether it assumes that P(y|x) is the same in every bag.
    needs_common_probabilities: ClassVar[bool] = False
    # Whether it cannot use ranges of proportions and noisy counts.
    needs_exact_counts: ClassVar[bool] = True

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        bags: Any = None,
        upper: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Train on bags with known, rounded, noisy or bounded proportions, or on labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows. Column names of a data frame are kept.
        y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
            The proportion of positives in each row's bag, or the share of each class; the shares
            of a row sum to 1 (within 1e-6), and column names become `classes_`.
            :func:`decorrupt.bag_targets` computes y from one entry per bag. A proportion that is
            not a multiple of 1/n_k was rounded: for a likelihood of counts all counts that round to
            it are possible. Without `bags`: class labels, and the model is an ordinary classifier.
        bags : array-like of shape (n_rows,), optional
            The bag of each row; any hashable ids.
        upper : array-like of shape (n_rows,) or (n_rows, n_classes), optional
            The upper end of the range of each row's bag, or of each class; y is then the lower end.
            A suppressed count "fewer than 5" is the range from 0 to 4/n_k; a row about which
            nothing is known is a bag of one row with the range from 0 to 1. Only methods that model
            counts can use it.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0. For counts whole numbers in bags of
            several classes; their labels are independent: a count is a sum of binomials.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If an argument or a parameter is invalid, a range contains no whole number of rows, or
            the proportions do not distinguish the classes (for example, if they are equal in all
            bags).

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
            If the rows of a class differ between bags (1 % level), and the method assumes that they
            do not.
        """
        is_labelled = bags is None and not isinstance(y, Observed)
        noise = None if is_labelled else getattr(self, "count_noise", None)  # labels have none
        known = {"bags": bags, "upper": upper, "count_noise": noise}
        return self._fit(X, y, sample_weight=sample_weight, **known)  # type: ignore[attr-defined, no-any-return]

    def _keep_observed(self, X: Any, observed: Observed) -> tuple[Any, Observed]:
        if self.needs_exact_counts and observed.is_inexact:
            raise ValueError(
                f"{type(self).__name__} needs exact proportions, and these are ranges or noisy: "
                "choose CountLikelihoodClassifier or EMClassifier"
            )
        X, observed = super()._keep_observed(X, observed)  # type: ignore[misc]
        # Rows with labels of their own are in no bag that could differ from the others.
        if self.needs_common_classes and observed.n_bags < len(observed.row_bag):
            names = getattr(self, "feature_names_in_", None)
            warn_of_assumption(self, X, observed, names=names)
        return X, observed


def needs_common_classes(model: Any) -> bool:
    """Return whether an estimator assumes common class distributions of the columns of X."""
    final = model[-1] if hasattr(model, "steps") else model
    # The columns of a precomputed kernel are no features.
    is_similarity = kernel_name(getattr(final, "kernel", None)) == "precomputed"
    return bool(getattr(final, "needs_common_classes", False)) and not is_similarity


def warn_of_assumption(
    model: Any, X: Any, bags: Observed, *, user: str | None = None, names: Any = None
) -> None:
    """Warn if the rows of a class differ between bags, at the 1 % level; not inside `quiet`.

    Parameters
    ----------
    model : estimator
        Without `user` it is checked whether it needs the assumption.
    X : array or sparse matrix of shape (n_rows, n_columns)
        Validated rows.
    bags : Observed
        Their bags.
    user : str, optional
        What needs the assumption, the subject of the message; by default the name of the class.
    names : sequence of str, optional
        The names of the columns.
    """
    if is_quiet() or (user is None and not needs_common_classes(model)):
        return
    test = quick_violation(X, bags)
    if test is None:
        return
    place = int((test.dispersions / test.critical).argmax())
    column = int(test.columns[place])
    name = f"column {column}" if names is None else f"column {names[column]!r}"
    warn(
        f"{user or type(model).__name__} assumes that the rows of a class look the same in every "
        f"bag, but the means of {name} differ {test.dispersions[place]:.3g} times as much between "
        "bags as random bags would (dispersion; 1 is expected). Do not trust classes and "
        "probabilities: count likelihood or proportion matching do not need this assumption, and "
        "decorrupt.check_assumptions shows the details",
        BagAssumptionWarning,
    )
