"""Permutation importance of columns, without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from decorrupt.losses import score_shape
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.scorers import BagScorer, get_bag_scorer
from decorrupt.observed import Observed, as_observed
from decorrupt.progress import track
from decorrupt.splitters import Fold


class ColumnImportance(NamedTuple):
    """The drop of a criterion when a column is shuffled, with its standard error over shuffles."""

    column: Any
    drop: float
    std_error: float


def fold_models(
    estimator: Any, X: Any, observed: Observed, folds: Sequence[Fold]
) -> list[tuple[Any, NDArray[np.intp]]]:
    """Return a clone of an estimator for every fold, and its held-out rows.

    Parameters
    ----------
    estimator : estimator
        For an automatic choice ``estimators_[0]``, the heaviest member of its average.
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The rows.
    observed : Observed
        What is known about their labels.
    folds : sequence of (train, test)
        Row numbers.
    """
    data = FoldedData(X, observed, list(folds))
    with threadpool_limits(1, user_api="blas"):  # small products: threads would only wait
        fits = (data.fit_fold(estimator, fold) for fold in range(len(folds)))
        models = list(track(fits, "fitting the heaviest model on folds", len(folds)))
    return [(model, test) for model, (_, test) in zip(models, folds, strict=True)]


def bag_permutation_importance(
    models: Any,
    X: Any,
    y: Any,
    *,
    bags: Any = None,
    scoring: str | BagScorer = "count_log_likelihood",
    n_repeats: int = 5,
    max_rows: int = 4000,
    random_state: int = 0,
) -> list[ColumnImportance]:
    """Return how much a criterion drops if a column is shuffled, for every column.

    The drop is C(X) − mean C(X with the column shuffled); the largest is first.

    Parameters
    ----------
    models : fitted classifier, or list of (classifier, rows)
        A model that was not trained on X; or models, each with the numbers of the rows of X on
        which it was not trained, as :func:`fold_models` returns them.
    X : array-like or pandas DataFrame of shape (n_rows, n_columns)
        The rows.
    y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
        The proportion of each row's bag, or its class shares; an Observed contains the bags.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    scoring : str or BagScorer, default="count_log_likelihood"
        The criterion C.
    n_repeats : int, default=5
        Number of shuffles per column.
    max_rows : int, default=4000
        Approximate number of rows to use. Whole bags are sampled for criteria that compare a bag's
        count or share with the predictions for all its rows.
    random_state : int, default=0
        Seed of the sample and the shuffles.

    Returns
    -------
    list of ColumnImportance
        With the column names of a data frame, or column numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import MeanMapClassifier
    >>> from decorrupt.model_selection import bag_permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> bags = np.repeat(np.arange(80), 10)
    >>> labels = rng.random(800) < rng.random(80)[bags]        # not used in training
    >>> X = rng.normal(size=(800, 3)) + np.outer(labels, [0, 2, 0])
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> model = MeanMapClassifier(kernel="linear").fit(X[:400], y[:400], bags=bags[:400])
    >>> found = bag_permutation_importance(model, X[400:], y[400:], bags=bags[400:])
    >>> found[0].column
    1
    """
    observed, scorer = as_observed(y, bags=bags, check=False), get_bag_scorer(scoring)
    prior, rng = observed.inner_prior, np.random.default_rng(random_state)
    if not isinstance(models, Sequence):
        models = [(models, np.arange(len(observed.row_bag)))]
    tests = [np.asarray(rows) for _, rows in models]
    if scorer.needs_spread:  # these criteria are unbiased on any sample of rows
        samples = _sample_rows(tests, max_rows, rng)
    else:
        samples = _sample_bags(observed, tests, max_rows, rng)
    kept = np.concatenate(samples)
    parts = np.split(np.arange(len(kept)), np.cumsum([len(sample) for sample in samples])[:-1])
    tested = observed.take(kept)
    X = _safe_indexing(X if hasattr(X, "iloc") else np.asarray(X), kept)

    def value(rows: Any) -> float:
        predictions = np.empty((len(kept), *score_shape(observed.n_classes)))
        for (model, _), part in zip(models, parts, strict=True):
            predictions[part] = scorer.predictions(model, _safe_indexing(rows, part), prior)
        try:
            return scorer.score(predictions, tested).value
        except ValueError:  # the sampled bags do not distinguish the classes
            return float("nan")

    base, found = value(X), []
    names = getattr(X, "columns", range(X.shape[1]))
    for place, name in enumerate(track(names, "shuffling columns", X.shape[1])):
        drops = base - np.array([value(_shuffled(X, place, rng)) for _ in range(n_repeats)])
        std_error = float(drops.std(ddof=1) / np.sqrt(n_repeats)) if n_repeats > 1 else np.nan
        found.append(ColumnImportance(name, float(drops.mean()), std_error))
    return sorted(found, key=lambda one: -np.nan_to_num(one.drop))


def _sample_bags(
    observed: Observed, tests: Sequence[NDArray[np.intp]], max_rows: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Return rows of whole bags of every fold, about `max_rows` in total.

    All folds use the same random order of bags, so a bag that is split over folds is also sampled
    as a whole. Every fold keeps at least one bag of any size; a single fold keeps two, because
    shuffling within one bag changes little.
    """
    n_rows, least = sum(map(len, tests)), 2 if len(tests) == 1 else 1
    order = rng.permutation(len(observed.ids))
    samples = []
    for test in tests:
        bags = observed.row_bag[test]
        present = order[np.isin(order, bags)]
        place = np.cumsum(np.bincount(bags, minlength=len(order))[present])
        n_bags = int(np.searchsorted(place, max_rows * len(test) / n_rows, "right"))
        samples.append(test[np.isin(bags, present[: max(least, n_bags)])])
    return samples


def _sample_rows(
    tests: Sequence[NDArray[np.intp]], max_rows: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Return about `max_rows` random rows, the same share of every fold."""
    share = min(1.0, max_rows / sum(map(len, tests)))
    return [rng.permutation(test)[: int(np.ceil(share * len(test)))] for test in tests]


def _shuffled(X: Any, place: int, rng: np.random.Generator) -> Any:
    """Return a copy of X with the values of one column in random order."""
    order, X = rng.permutation(len(X)), X.copy()
    if hasattr(X, "iloc"):
        X.isetitem(place, X.iloc[order, place].array)
    else:
        X[:, place] = X[order, place]
    return X
