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
    check_rate_rows,
    check_strata,
    factorize,
    noisy_share,
    strata_from_bags,
    strata_from_labels,
)

BAG_CLASSES = (0, 1)  # `classes_` of a model trained on proportions


def read_labels(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int_]]:
    """Return the two classes in sorted order, and the labels as −1 and +1.

    Raises
    ------
    ValueError
        If y does not have exactly two classes.
    """
    labels = column_or_1d(y, warn=True)
    if type_of_target(labels) == "continuous":
        raise ValueError(
            "Unknown label type: continuous. Without bags, y must contain class labels; if it "
            "contains proportions of positives, pass bags= as well"
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(classes)} classes, {classes[:5].tolist()}"
        )
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()}: a classifier needs rows of two classes"
        )
    return classes, 2 * codes - 1


def read_strata(
    y: ArrayLike, bags: Any, *, rows_as_bags: bool = False
) -> tuple[NDArray[Any], Strata]:
    """Return the classes, and the strata of bags with proportions y, or of class labels y.

    Labels give two pure strata, or with `rows_as_bags` one pure bag per row.
    """
    if bags is None:
        classes, labels = read_labels(y)
        if rows_as_bags:
            rows = np.arange(len(labels))
            return classes, Strata(rows, rows, (labels > 0).astype(float))
        return classes, strata_from_labels(labels)
    targets = column_or_1d(y, warn=True)
    check_consistent_length(targets, bags)
    if targets.dtype.kind not in "fiub":
        raise ValueError(
            f"with bags, y must contain proportions (numbers in [0, 1]), got {targets.dtype}; "
            "decorrupt.bag_targets turns one proportion per bag into one per row"
        )
    strata = strata_from_bags(bags, targets)
    check_strata(strata.sizes, strata.proportions)
    return np.array(BAG_CLASSES), strata


@dataclass(frozen=True)
class NoisySources:
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
    """

    ids: NDArray[Any]
    row_source: NDArray[np.intp]
    is_pos: NDArray[np.bool_]
    rates: FloatArray

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of rows per source."""
        return np.bincount(self.row_source, minlength=len(self.ids))

    @property
    def source_rates(self) -> FloatArray:
        """(flip_pos, flip_neg) of each source, valid if they do not vary within it."""
        first_row = np.unique(self.row_source, return_index=True)[1]
        return np.asarray(self.rates[first_row])

    @property
    def rates_vary_within_source(self) -> bool:
        """Whether some rows of one source have different rates."""
        return bool((self.rates != self.source_rates[self.row_source]).any())

    def by_source(self, values: FloatArray) -> dict[Any, Any]:
        """Return {source: its value}."""
        return dict(zip(self.ids.tolist(), values.tolist(), strict=True))

    @property
    def rates_by_source(self) -> dict[Any, tuple[float, float]] | None:
        """{source: (flip_pos, flip_neg)}; None if they vary within a source."""
        if self.rates_vary_within_source:
            return None
        return {source: tuple(pair) for source, pair in self.by_source(self.source_rates).items()}


def read_sources(labels: NDArray[np.int_], sources: Any, noise_rates: Any) -> NoisySources:
    """Return sources and rates per row.

    Parameters
    ----------
    labels : ndarray of −1 and +1
        The noisy labels.
    sources : array-like of shape (n_rows,) or None
        The source of each row; None means one source.
    noise_rates : mapping, pair, NoiseRates, array of shape (n_rows, 2) or None
        By source, one pair for all rows, or one pair per row. None means clean labels and is
        allowed for one source only.
    """
    n_rows = len(labels)
    if sources is None:
        ids, row_source = np.array(["all rows"]), np.zeros(n_rows, dtype=np.intp)
    else:
        check_consistent_length(labels, sources)
        ids, row_source = factorize(sources, "sources")
    if isinstance(noise_rates, Mapping):
        if sources is None:
            raise ValueError(
                "noise_rates are given by source, but fit got no sources: pass sources=, the "
                "source of each row"
            )
        rates = np.array([list(_rates_of(source, noise_rates)) for source in ids.tolist()])
        rates = rates[row_source]
    elif noise_rates is None:
        if sources is not None:
            raise ValueError(
                f"there are {len(ids)} sources but no noise_rates: give a mapping from each "
                "source to its (flip_pos, flip_neg)"
            )
        rates = np.zeros((n_rows, 2))
    elif isinstance(noise_rates, NoiseRates) or np.ndim(noise_rates) == 1:
        rates = np.tile(list(NoiseRates.of(noise_rates)), (n_rows, 1))
    else:
        rates = check_rate_rows(noise_rates, n_rows)
    return NoisySources(ids, row_source, labels > 0, rates)


def _rates_of(source: Any, noise_rates: Mapping[Any, Any]) -> NoiseRates:
    if source not in noise_rates:
        known = ", ".join(map(repr, list(noise_rates)[:5]))
        raise ValueError(f"noise_rates have no entry for source {source!r} (they have: {known})")
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


def source_priors(class_priors: Any, noisy: NoisySources) -> FloatArray:
    """Return P(Y=1) of each source: as given, or one estimate for all from the noisy labels."""
    if class_priors is not None:
        return read_class_priors(class_priors, noisy.ids)
    return np.full(len(noisy.ids), _common_prior(noisy))


def _common_prior(noisy: NoisySources) -> float:
    """Return the least-squares estimate of π from E[1{Ỹ=1}] = ρ₋ + π(1−ρ₊−ρ₋), row by row."""
    flip_pos, flip_neg = noisy.rates.T
    signal = 1 - flip_pos - flip_neg
    prior = np.dot(signal, noisy.is_pos - flip_neg) / np.dot(signal, signal)
    margin = 0.5 / len(signal)  # a sample cannot show that a class does not exist
    return float(np.clip(prior, margin, 1 - margin))


def source_strata(noisy: NoisySources, priors: FloatArray) -> Strata:
    """Return two strata per source: its rows labelled − and its rows labelled +, if any.

    Bayes' rule gives their proportions P(Y=1|Ỹ) from the rates and the source's prior.
    """
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
