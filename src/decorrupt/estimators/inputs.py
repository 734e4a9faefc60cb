"""Validation of the arguments of fit: labels, bags and proportions, sources and noise rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    NoiseRates,
    Strata,
    check_class_strata,
    check_rate_rows,
    check_strata,
    factorize,
    is_two_class_matrix,
    noisy_share,
    strata_from_labels,
)
from decorrupt.estimators.class_sources import (
    ClassSources,
    SourceRows,
    check_class_count,
    class_source_strata,
    common_class_shares,
    read_class_shares,
    read_class_sources,
)
from decorrupt.risks.bag_observations import observe_bags
from decorrupt.risks.observations import CountObservations

BAG_CLASSES = (0, 1)  # `classes_` of a model trained on proportions


def read_labels(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int_]]:
    """Return the two classes in sorted order, and the labels as −1 and +1.

    Raises
    ------
    ValueError
        If y does not have exactly two classes.
    """
    classes, codes = read_class_labels(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(classes)} classes, {classes[:5].tolist()}"
        )
    return classes, 2 * codes - 1


def has_class_columns(y: Any) -> bool:
    """Return whether y has one column per class rather than one entry per row."""
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def read_class_labels(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int_]]:
    """Return the classes in sorted order, and the number of each row's class.

    Raises
    ------
    ValueError
        If y has fewer than two classes, or does not contain labels.
    """
    if has_class_columns(y):
        raise ValueError(
            f"y should be a 1d array of labels, got shape {np.asarray(y).shape}. If it contains "
            "the shares of the classes, pass bags= as well"
        )
    labels = column_or_1d(y, warn=True)
    if type_of_target(labels) == "continuous":
        raise ValueError(
            "Unknown label type: continuous. Without bags, y must contain class labels; if it "
            "contains proportions of positives, pass bags= as well"
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()}: a classifier needs rows of two classes"
        )
    return classes, codes


def read_strata(
    y: ArrayLike, bags: Any, *, rows_as_bags: bool = False
) -> tuple[NDArray[Any], Strata]:
    """Return the classes, and the strata of bags with proportions y, or of class labels y.

    Labels give one pure stratum per class, or with `rows_as_bags` one pure bag per row. Two
    classes have one proportion per stratum; several have one per class.
    """
    if bags is None:
        classes, labels = read_class_labels(y)
        return classes, strata_from_labels(labels, classes, rows_as_bags=rows_as_bags)
    classes, strata, _ = read_observations(y, bags)
    return classes, strata


def read_observations(
    y: ArrayLike, bags: Any, *, upper: ArrayLike | None = None, count_noise: Any = None
) -> tuple[NDArray[Any], Strata, CountObservations | None]:
    """Return the classes, the strata of bags, and what is observed about their counts.

    Parameters are those of :func:`decorrupt.risks.bag_observations.observe_bags`.
    """
    check_consistent_length(y, bags)
    if not has_class_columns(y):
        y = _read_proportions(y)
    classes = bag_classes(y)
    strata, observed = observe_bags(y, bags, upper=upper, count_noise=count_noise)
    if strata.n_classes is None:
        check_strata(strata.sizes, strata.proportions)
    else:
        check_class_strata(strata.sizes, strata.proportions, classes.tolist())
    return classes, strata, observed


def check_upper_has_bags(upper: Any, bags: Any) -> None:
    """Raise ValueError if there are upper ends of ranges but no bags."""
    if upper is not None and bags is None:
        raise ValueError("upper is the upper end of a bag's proportion: pass bags= as well")


def bag_classes(y: ArrayLike) -> NDArray[Any]:
    """Return the names of y's columns, or their numbers; 0 and 1 for one share per row."""
    if not has_class_columns(y):
        return np.array(BAG_CLASSES)
    return np.asarray(getattr(y, "columns", range(np.asarray(y).shape[1])))


def _read_proportions(y: ArrayLike) -> NDArray[Any]:
    targets = column_or_1d(y, warn=True)
    if targets.dtype.kind not in "fiub":
        raise ValueError(
            f"with bags, y must contain proportions (numbers in [0, 1]), got {targets.dtype}; "
            "decorrupt.bag_targets turns one proportion per bag into one per row"
        )
    return np.asarray(targets)


@dataclass(frozen=True)
class NoisySources(SourceRows):
    """Noisy labels, sources and noise rates, one entry per row.

    Attributes
    ----------
    ids : ndarray of shape (n_sources,)
        The caller's id of each source.
    row_source : ndarray of int, shape (n_rows,)
        The index in `ids` of each row's source.
    is_pos : ndarray of bool, shape (n_rows,)
        Whether the row's noisy label is the positive class.
    rates : ndarray of shape (n_rows, 2)
        (flip_pos, flip_neg) of each row.
    multiplicity : ndarray of int, shape (n_rows,), or None
        How many rows of the data an entry represents; None for one each. With it, one entry per
        source and label describes data of any size.
    """

    ids: NDArray[Any]
    row_source: NDArray[np.intp]
    is_pos: NDArray[np.bool_]
    rates: FloatArray
    multiplicity: NDArray[np.intp] | None = None

    @property
    def source_rates(self) -> FloatArray:
        """(flip_pos, flip_neg) of each source, valid if they do not vary within it."""
        return np.asarray(self.rates[self._first_row])

    @property
    def rates_vary_within_source(self) -> bool:
        """Whether some rows of one source have different rates."""
        return bool((self.rates != self.source_rates[self.row_source]).any())

    @property
    def n_classes(self) -> None:
        """None: two classes have one score per row."""
        return None

    def take(self, rows: NDArray[np.intp]) -> NoisySources:
        """Return the labels of some rows only; sources without rows are dropped."""
        present, row_source = np.unique(self.row_source[rows], return_inverse=True)
        return NoisySources(self.ids[present], row_source, self.is_pos[rows], self.rates[rows])

    def by_source(self, values: FloatArray) -> dict[Any, Any]:
        """Return {source: its value}; a pair becomes a tuple."""
        own = values.tolist()
        return dict(
            zip(self.ids.tolist(), map(tuple, own) if values.ndim == 2 else own, strict=True)
        )


def read_noisy_labels(
    codes: NDArray[np.int_], classes: NDArray[Any], sources: Any, noise_rates: Any
) -> NoisySources | ClassSources:
    """Return sources and rates per row: a pair of rates for two classes, a matrix for several.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        The number of each row's noisy label in `classes`.
    classes : ndarray of shape (n_classes,)
        The classes.
    sources : array-like of shape (n_rows,) or None
        The source of each row; None means one source.
    noise_rates : mapping, pair or matrix, array or None
        See :func:`read_sources` and :func:`read_class_sources`.
    """
    check_class_count(noise_rates, classes.tolist())
    if len(classes) == 2:
        return read_sources(2 * codes - 1, sources, noise_rates)
    ids, row_source = _read_source_ids(len(codes), sources, noise_rates)
    return read_class_sources(codes, classes.tolist(), ids, row_source, noise_rates)


def read_sources(labels: NDArray[np.int_], sources: Any, noise_rates: Any) -> NoisySources:
    """Return sources and rates per row.

    Parameters
    ----------
    labels : ndarray of −1 and +1
        The noisy labels.
    sources : array-like of shape (n_rows,) or None
        The source of each row; None means one source.
    noise_rates : mapping, pair, NoiseRates, matrix, array of shape (n_rows, 2) or None
        By source, one pair for all rows, or one pair per row; everywhere a matrix of shape (2, 2)
        can be given instead of a pair. None means clean labels and is allowed for one source only.
    """
    n_rows = len(labels)
    ids, row_source = _read_source_ids(n_rows, sources, noise_rates)
    if isinstance(noise_rates, Mapping):
        rates = np.array([list(_rates_of(source, noise_rates)) for source in ids.tolist()])
        rates = rates[row_source]
    elif noise_rates is None:
        rates = np.zeros((n_rows, 2))
    elif (
        isinstance(noise_rates, NoiseRates)
        or np.ndim(noise_rates) == 1
        or is_two_class_matrix(noise_rates)
    ):
        rates = np.tile(list(NoiseRates.of(noise_rates)), (n_rows, 1))
    else:
        rates = check_rate_rows(noise_rates, n_rows)
    return NoisySources(ids, row_source, labels > 0, rates)


def _read_source_ids(
    n_rows: int, sources: Any, noise_rates: Any
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sources and the index of each row's; check that rates fit to them."""
    is_mapping = isinstance(noise_rates, Mapping)
    if sources is None:
        if is_mapping:
            raise ValueError(
                "noise_rates are given by source, but fit got no sources: pass sources=, the "
                "source of each row"
            )
        return np.array(["all rows"]), np.zeros(n_rows, dtype=np.intp)
    check_consistent_length(np.empty(n_rows), sources)
    ids, row_source = factorize(sources, "sources")
    if noise_rates is None:
        raise ValueError(
            f"there are {len(ids)} sources but no noise_rates: give a mapping from each source to "
            "its (flip_pos, flip_neg), or for several classes to its matrix"
        )
    missing = [source for source in ids.tolist() if is_mapping and source not in noise_rates]
    if missing:
        known = ", ".join(map(repr, list(noise_rates)[:5]))
        raise ValueError(
            f"noise_rates have no entry for source {missing[0]!r} (they have: {known})"
        )
    return ids, row_source


def _rates_of(source: Any, noise_rates: Mapping[Any, Any]) -> NoiseRates:
    try:
        return NoiseRates.of(noise_rates[source])
    except ValueError as error:
        raise ValueError(f"noise_rates of source {source!r}: {error}") from None


def read_class_priors(class_priors: Any, ids: NDArray[Any]) -> FloatArray:
    """Return P(Y=1) of each source, from one number for all or a mapping by source."""
    if isinstance(class_priors, Mapping):
        missing = [source for source in ids.tolist() if source not in class_priors]
        if missing:
            raise ValueError(f"class_priors have no entry for source {missing[0]!r}")
        priors = np.array([class_priors[source] for source in ids.tolist()], dtype=float)
    else:
        priors = np.full(len(ids), class_priors, dtype=float)
    bad = np.flatnonzero(~((priors > 0) & (priors < 1)))
    if len(bad):
        raise ValueError(
            f"class_priors of source {ids.tolist()[bad[0]]!r} is {priors[bad[0]]:g}: it must be a "
            "share of positives strictly between 0 and 1"
        )
    return priors


def source_priors(class_priors: Any, noisy: NoisySources | ClassSources) -> FloatArray:
    """Return P(Y=1) of each source: as given, or one estimate for all from the noisy labels.

    For several classes, the shares of all classes, shape (n_sources, n_classes).
    """
    if isinstance(noisy, ClassSources):
        if class_priors is not None:
            return read_class_shares(class_priors, noisy.ids, noisy.classes)
        return np.tile(common_class_shares(noisy), (len(noisy.ids), 1))
    if class_priors is not None:
        return read_class_priors(class_priors, noisy.ids)
    return np.full(len(noisy.ids), _common_prior(noisy))


def _common_prior(noisy: NoisySources) -> float:
    """Return the least-squares estimate of π from E[1{Ỹ=1}] = ρ₋ + π(1−ρ₊−ρ₋), row by row."""
    flip_pos, flip_neg = noisy.rates.T
    signal = 1 - flip_pos - flip_neg
    weight = signal if noisy.multiplicity is None else signal * noisy.multiplicity
    prior = np.dot(weight, noisy.is_pos - flip_neg) / np.dot(weight, signal)
    margin = 0.5 / noisy.sizes.sum()  # a sample cannot show that a class does not exist
    return float(np.clip(prior, margin, 1 - margin))


def source_strata(noisy: NoisySources | ClassSources, priors: FloatArray) -> Strata:
    """Return two strata per source: its rows labelled − and its rows labelled +, if any.

    Bayes' rule gives their proportions P(Y=1|Ỹ) from the rates and the source's prior. For several
    classes there is one stratum per source and label, with the shares of all classes.
    """
    if isinstance(noisy, ClassSources):
        return class_source_strata(noisy, priors)
    flip_pos, flip_neg = noisy.rates.T
    prior = priors[noisy.row_source]
    share_pos = noisy_share(prior, flip_pos, flip_neg)
    row_proportion = np.where(
        noisy.is_pos,
        prior * (1 - flip_pos) / share_pos,
        prior * flip_pos / np.maximum(1 - share_pos, np.finfo(float).tiny),
    )
    key = 2 * noisy.row_source + noisy.is_pos
    present, row_stratum = np.unique(key, return_inverse=True)
    sizes = np.bincount(row_stratum)
    names = [f"{noisy.ids[k // 2]} labelled {'+' if k % 2 else '−'}" for k in present]
    return Strata(
        ids=np.array(names),
        row_stratum=row_stratum.astype(np.intp),
        proportions=np.bincount(row_stratum, row_proportion) / sizes,
    )
