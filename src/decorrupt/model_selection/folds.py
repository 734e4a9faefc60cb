"""Folds for searches: default folds, and checks of whether a fold is usable."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt.exceptions import SkippedFoldWarning, quiet, warn
from decorrupt.observed import Observed, as_observed, as_targets, check_bags
from decorrupt.splitters import BagKFold, BagSplitter, Fold, WithinBagKFold

DEFAULT_FOLDS = 5
# With fewer bags, too few remain for training if whole bags are held out.
FEWEST_BAGS_TO_LEAVE_OUT = 5
EQUAL = "all have the same proportion"


def usable_folds(cv: Any, X: Any, observed: Observed, *, needs_spread: bool) -> list[Fold]:
    """Return the folds of `cv` (an int makes a BagKFold) on which the criterion can be computed.

    A fold is skipped for all candidates if its training bags do not distinguish the classes (two
    classes: they all have the same proportion), or if its held-out bags all have the same
    proportions and `needs_spread` is True. A SkippedFoldWarning names the skipped folds.
    """
    if cv is None or isinstance(cv, int | np.integer):
        cv = BagKFold(DEFAULT_FOLDS if cv is None else int(cv))
    targets = as_targets(observed.row_proportions)
    folds = _split(cv, X, targets, observed.row_bag, observed.weights)
    skipped = {}
    for k, (train, test) in enumerate(folds):
        if not _tells_classes_apart(observed.take(train)):  # nothing can be learned from them
            problem = "do not distinguish all classes" if _differ(observed.take(train)) else EQUAL
            skipped[k] = f"training bags {problem}"
        elif needs_spread and not _differ(observed.take(test)):
            skipped[k] = f"held-out bags {EQUAL}"
    if not skipped:
        return folds
    if len(skipped) == len(folds):
        advice = "use fewer folds, or scoring='count_log_likelihood'"
        if skipped[0].startswith("training"):
            advice = (
                f"{observed.n_bags} bags are too few to hold some out and train on at least "
                f"{observed.n_classes}, one per class. Give more bags, split inside the bags with "
                "cv=WithinBagKFold(), or fit one method with fixed parameters, such as "
                "CountLikelihoodClassifier"
            )
        raise ValueError(
            f"in every fold the {skipped[0]}, so candidates cannot be compared: {advice}"
        )
    named = "; ".join(f"fold {k}, because its {problem}" for k, problem in skipped.items())
    warn(f"not used for the selection: {named}", SkippedFoldWarning)
    return [fold for k, fold in enumerate(folds) if k not in skipped]


def has_usable_folds(observed: Observed, folds: Sequence[Fold]) -> bool:
    """Return whether every fold holds out rows, and its training bags distinguish the classes."""
    return all(len(test) and _tells_classes_apart(observed.take(train)) for train, test in folds)


def _differ(observed: Observed) -> bool:
    """Return whether the bags have different proportions."""
    return bool(np.ptp(observed.proportions, axis=0).any())


def _tells_classes_apart(observed: Observed) -> bool:
    """Return whether the proportions differ, and no class's column depends on the others."""
    try:
        check_bags(observed.sizes, observed.proportions)
    except ValueError:
        return False
    return True


def _split(cv: Any, X: Any, y: Any, bags: Any, weights: Any) -> list[Fold]:
    """Return the folds of a splitter of bags, of scikit-learn, or of a list."""
    if not hasattr(cv, "split"):
        return list(cv)
    if isinstance(cv, BagSplitter):
        return list(cv.split(X, y, bags=bags, sample_weight=weights))
    return list(cv.split(X, y, groups=bags))


def folds_of_used(cv: Any, rows: NDArray[np.intp]) -> Any:
    """Return the folds of a list among these rows, with their new numbers; others as they are."""
    if cv is None or isinstance(cv, Integral) or hasattr(cv, "split"):
        return cv
    return [tuple(np.flatnonzero(np.isin(rows, some)) for some in fold) for fold in cv]


def source_folds(observed: Observed, cv: Any, random_state: Any = None) -> list[Fold]:
    """Return the folds of `cv` for noisy labels; an int splits each source and label."""
    if isinstance(cv, int | np.integer):
        cv = WithinBagKFold(int(cv), shuffle=True, random_state=random_state)
    labels = observed.strata.row_bag
    return _split(cv, labels, labels, labels, observed.weights)


def bag_folds(
    y: Any, *, bags: Any = None, n_splits: int = DEFAULT_FOLDS, random_state: Any = None
) -> list[Fold]:
    """Return folds of whole bags, or folds within bags if there are fewer than 5 bags.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
        The proportion of each row's bag, or its class shares; an Observed contains the bags.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    n_splits : int, default=5
        Number of folds; at most the number of bags (or of rows, within bags). Folds whose training
        bags all have the same proportion are left out.
    random_state : int, RandomState or None
        Seed of the order of bags or rows.

    Returns
    -------
    list of (train, test)
        Row numbers; can be passed as `cv` to every search.

    Raises
    ------
    ValueError
        If no fold is usable.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.model_selection import bag_folds
    >>> bags = np.repeat([0, 1, 2, 3, 4, 5], 4)
    >>> y = np.repeat([0.0, 0.25, 0.5, 0.5, 0.75, 1.0], 4)
    >>> len(bag_folds(y, bags=bags, n_splits=3, random_state=0))
    3
    """
    observed = as_observed(y, bags=bags, check=False)
    n_rows, n_bags = len(observed.row_bag), observed.n_bags
    cv: BagSplitter
    if n_bags >= FEWEST_BAGS_TO_LEAVE_OUT:
        cv = BagKFold(min(n_splits, n_bags), shuffle=True, random_state=random_state)
    else:
        cv = WithinBagKFold(min(n_splits, n_rows), shuffle=True, random_state=random_state)
    try:
        with quiet():
            return usable_folds(cv, np.empty((n_rows, 0)), observed, needs_spread=False)
    except ValueError:
        raise ValueError(
            f"{n_rows} rows in {n_bags} bags are too few: in every fold the remaining bags all "
            "have the same proportion; more bags are needed"
        ) from None
