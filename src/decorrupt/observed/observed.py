"""Observed: everything that is known about the labels of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.exceptions import warn
from decorrupt.observed.counts import ClassCounts, read_counts
from decorrupt.observed.read import check_bags, check_upper, read_labels, shares_by_bag
from decorrupt.observed.shares import (
    check_whole,
    class_columns,
    factorize,
    inside,
    read_ids,
    read_weights,
    repeated_rows,
    take_rows,
)
from decorrupt.observed.sources import NO_SOURCE, Sources, read_sources


@dataclass(frozen=True, eq=False, repr=False)
class Observed:
    """Everything that is known about the labels of the rows, given to `fit` as y.

    Rows are in bags with known class shares; a row whose own label is known, noisy or unknown is a
    bag of one row. There is always one column per class. `from_bags`, `from_labels` and
    `from_sources` make it.

    scikit-learn's pipelines, GridSearchCV, permutation importance and splitter objects take it as
    y. ``cv=GroupKFold()`` with ``groups=observed.row_bag`` keeps bags whole.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The names of the classes.
    ids : ndarray of shape (n_bags,)
        The caller's id of each bag.
    row_bag : ndarray of int, shape (n_rows,)
        The number of each row's bag.
    proportions : ndarray of shape (n_bags, n_classes)
        P(Y=c) in each bag: the share, the middle of its range, or the nearest possible one to a
        noisy share.
    inexact : ClassCounts, optional
        The class counts if some are ranges or noisy; otherwise they are read from the shares.
    sources : Sources, optional
        The sources of the noisy labels, if some rows have one.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents, as integers if all are whole; 1 if not given. The
        labels of these rows are independent, and they have the same features and bag.
    is_part : ndarray of bool, shape (n_bags,), or False
        Whether only a part of the bag's rows was taken.

    Attributes
    ----------
    n_bags, n_classes : int
        Number of bags and classes.
    sizes : ndarray of shape (n_bags,)
        Rows of each bag, each as often as its weight says.
    n_rows : int or float
        The sum of the sizes; ``len`` is the number of rows, each counted once.
    is_inexact : bool
        Whether there are ranges or noisy counts instead of proportions.
    is_of_sources : bool
        Whether every row has the noisy label of a source.

    Examples
    --------
    >>> from decorrupt import Observed
    >>> observed = Observed.from_bags([0.5, 0.5, 0.0, 0.0], ["a", "a", "b", "b"])
    >>> observed
    <Observed: 4 rows in 2 bags, classes [0, 1]>
    >>> observed[:2].counts.lower.tolist()
    [[1.0, 1.0]]
    """

    classes: NDArray[Any]
    ids: NDArray[Any]
    row_bag: NDArray[np.intp]
    proportions: FloatArray
    inexact: ClassCounts | None = None
    sources: Sources | None = None
    weights: NDArray[Any] | None = None
    is_part: NDArray[np.bool_] | bool = False
    n_bags: int = field(init=False)
    n_classes: int = field(init=False)
    sizes: NDArray[Any] = field(init=False)
    n_rows: Any = field(init=False)
    is_inexact: bool = field(init=False)
    is_of_sources: bool = field(init=False)

    def __post_init__(self) -> None:
        weights, sources = self.weights, self.sources
        sizes = np.bincount(self.row_bag, weights, minlength=len(self.ids))
        if weights is None or weights.dtype.kind == "i":
            sizes = sizes.astype(np.intp, copy=False)
        is_of_sources = sources is not None
        if sources is not None:
            has_label = sources.row_source != NO_SOURCE
            is_of_sources = bool((has_label if weights is None else has_label[weights > 0]).all())
        vars(self).update(
            n_bags=len(self.ids),
            n_classes=self.proportions.shape[1],
            sizes=sizes,
            n_rows=sizes.sum().item(),
            is_inexact=self.inexact is not None and sources is None,
            is_of_sources=is_of_sources,
        )

    # --- constructors

    @classmethod
    def from_bags(
        cls,
        y: ArrayLike,
        bags: Any,
        *,
        upper: ArrayLike | None = None,
        count_noise: Any = None,
        sample_weight: Any = None,
        sources: Any = None,
        noise_rates: Any = None,
    ) -> Observed:
        """Return rows in bags of known class shares; other rows can have noisy labels, or nothing.

        Parameters
        ----------
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            The share of positives in each row's bag, or the share of every class: exact, rounded,
            noisy, or the lower end of its range. All rows of a bag have the same values. Of a row
            with a source, its noisy label: 0 or 1, or 1 in the column of the class.
        bags : array-like of shape (n_rows,)
            The bag of each row; any hashable ids.
        upper : array-like of the shape of y, optional
            The upper end of the range.
        count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None
            The noise of the counts of all bags, or by bag id. A number is the standard deviation
            of Gaussian noise.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0; whole numbers with ranges or noise.
        sources : array-like of shape (n_rows,), optional
            The source of each row. A row then has a bag, a source, or neither if nothing is known
            about its label; the others are None.
        noise_rates : mapping, data frame, pair or matrix, optional
            As in :meth:`from_sources`.

        Raises
        ------
        ValueError
            If an argument is invalid; the message names the bag, source or row.
        """
        weights = None if sample_weight is None else read_weights(sample_weight, _num_samples(bags))
        rows, labelled = None, None
        if sources is not None or noise_rates is not None:
            rows, labelled = _split(y, bags, sources, weights)
        elif weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
        if rows is not None:
            by_row = {"y": y, "bags": bags, "upper": upper}
            part = cls._of_some(rows, weights, cls.from_bags, by_row, count_noise=count_noise)
            if labelled is None:
                return part
            return part._with_labels(labelled, y, sources, noise_rates)
        ids, row_bag = factorize(bags, "bags")
        kind = "range" if upper is not None else "noisy" if count_noise is not None else "exact"
        if kind != "exact":
            check_whole(weights)
        shares = class_columns(shares_by_bag(ids, row_bag, y, kind))
        n_classes = shares.shape[1]
        names = getattr(y, "columns", ())
        classes = np.asarray(names if len(names) == n_classes else range(n_classes))
        observed = cls(classes, ids, row_bag, shares, weights=weights)
        if kind == "exact":
            return observed
        if upper is not None:
            check_upper(y, upper)
            upper = shares_by_bag(ids, row_bag, upper, "range", "upper")
        return observed.with_counts(upper, count_noise)

    @classmethod
    def from_labels(cls, y: ArrayLike, *, sample_weight: Any = None) -> Observed:
        """Return rows with class labels y, which are bags of one row.

        `sample_weight` is how many rows each row represents, at least 0.
        """
        weights = None if sample_weight is None else read_weights(sample_weight, _num_samples(y))
        if weights is not None and not weights.all():
            return cls._of_some(np.flatnonzero(weights), weights, cls.from_labels, {"y": y})
        classes, codes = read_labels(y)
        rows = np.arange(len(codes))
        return cls(classes, rows, rows, np.eye(len(classes))[codes], weights=weights)

    @classmethod
    def from_sources(
        cls,
        y: ArrayLike,
        sources: Any = None,
        noise_rates: Any = None,
        *,
        source_priors: Any = None,
        sample_weight: Any = None,
    ) -> Observed:
        """Return rows with noisy labels of sources.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Noisy labels.
        sources : array-like of shape (n_rows,), optional
            The source of each row; None for one source.
        noise_rates : mapping, data frame, pair, matrix, or None
            {source: (flip_pos, flip_neg)} or, for several classes, {source: T} with T[y, ỹ] =
            P(Ỹ=ỹ | Y=y); a data frame with the columns source (or indexed by source), flip_pos and
            flip_neg; one pair or matrix for all sources; None: the labels are right.
        source_priors : mapping, float or array-like of shape (n_classes,), optional
            The class shares of each source, or of all: the share of positives or one share per
            class. None: all sources have the same, which are estimated.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0.
        """
        weights = None if sample_weight is None else read_weights(sample_weight, _num_samples(y))
        if weights is not None and not weights.all():
            rows, by_row = np.flatnonzero(weights), {"y": y, "sources": sources}
            rates = {"noise_rates": noise_rates, "source_priors": source_priors}
            return cls._of_some(rows, weights, cls.from_sources, by_row, **rates)
        classes, codes = read_labels(y)
        read = read_sources(codes, classes, sources, noise_rates, source_priors)
        return cls.of_sources(classes, read, weights)

    @classmethod
    def of_sources(
        cls, classes: NDArray[Any], sources: Sources, weights: NDArray[Any] | None = None
    ) -> Observed:
        """Return each row as its own bag, of which only P(noisy label | class) is known."""
        rows = np.arange(len(sources.row_source))
        lower = np.zeros((len(rows), len(classes)))
        sizes = np.ones(len(rows)) if weights is None else weights
        counts = ClassCounts(lower, lower + sizes[:, None])
        observed = cls(classes, rows, rows, lower, counts, sources, weights)
        shares = observed.shares_of_labels(sources.row_source, sources.noisy_class)
        return replace(observed, proportions=shares)

    def with_counts(self, upper: FloatArray | None, count_noise: Any) -> Observed:
        """Return bags whose proportions are noisy, or the lower ends of ranges.

        `upper` has one end per bag, of the share of positives, or one per bag and class.
        """
        if upper is None and count_noise is None:
            return self
        proportions, counts = read_counts(self, upper, count_noise)
        inexact = None if counts.is_exact.all() else counts
        return replace(self, proportions=proportions, inexact=inexact)

    @classmethod
    def _of_some(
        cls,
        rows: NDArray[np.intp],
        weights: NDArray[Any] | None,
        read: Callable[..., Observed],
        by_row: dict[str, Any],
        **options: Any,
    ) -> Observed:
        """Return what is read of some rows; each of the others is a bag, its label unknown."""
        n_rows = _num_samples(by_row["y"])
        weights = np.ones(n_rows, dtype=np.intp) if weights is None else weights
        some = {name: take_rows(values, rows, n_rows) for name, values in by_row.items()}
        observed = read(**some, sample_weight=weights[rows], **options)
        is_other = np.ones(n_rows, dtype=bool)
        is_other[rows] = False
        others = np.flatnonzero(is_other)
        if not len(others):
            return observed
        row_bag = np.empty(n_rows, dtype=np.intp)
        row_bag[rows], row_bag[others] = observed.row_bag, observed.n_bags + np.arange(len(others))
        ids = np.empty(observed.n_bags + len(others), dtype=object)
        ids[:] = observed.ids.tolist() + [("row", row) for row in others.tolist()]
        sizes, equal = weights[others], np.full((len(others), observed.n_classes), 1.0)
        # Counts are needed only of rows that represent some; fractional weights have none.
        counts = observed.counts if sizes.any() else observed.inexact
        return replace(
            observed,
            ids=ids,
            row_bag=row_bag,
            proportions=np.vstack([observed.proportions, equal / observed.n_classes]),
            inexact=counts and counts.with_unknown(sizes),
            sources=observed.sources and observed.sources.among(rows, n_rows),
            weights=read_weights(weights, n_rows),
        )

    def _with_labels(
        self, rows: NDArray[np.intp], y: Any, sources: Any, noise_rates: Any
    ) -> Observed:
        """Return these bags with the noisy labels of some rows that are in no bag."""
        labels = np.asarray(take_rows(y, rows, len(self)), dtype=float)
        columns = class_columns(labels)
        for row in np.flatnonzero(~np.isin(columns, (0.0, 1.0)).all(axis=1))[:1]:
            raise ValueError(
                f"y[{rows[row]}] = {labels[row].tolist()} of a source is not a label: next to "
                "bags, noisy labels are 0 and 1 (of several classes, 1 in the column of the class)"
            )
        codes = columns.argmax(axis=1)
        read = read_sources(codes, self.classes, take_rows(sources, rows, len(self)), noise_rates)
        proportions = self.proportions.copy()
        proportions[self.row_bag[rows]] = np.eye(self.n_classes)[codes]
        return replace(self, proportions=proportions, sources=read.among(rows, len(self)))

    # --- as a y of scikit-learn

    def __len__(self) -> int:
        return len(self.row_bag)

    @property
    def shape(self) -> tuple[int]:
        """(n_rows,)."""
        return (len(self.row_bag),)

    def __getitem__(self, rows: Any) -> Observed:
        rows = rows[0] if isinstance(rows, tuple) else rows  # scikit-learn asks for [rows, ...]
        return self.take(np.atleast_1d(np.arange(len(self))[rows]))

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "an Observed is not an array of labels, which scikit-learn needs here. Instead of a "
            "number of folds, cv=3, give a splitter: cv=GroupKFold(3) with groups=observed.row_bag "
            "keeps bags whole, cv=KFold(3) cuts them. BagGridSearchCV and the criteria of "
            "decorrupt.model_selection replace searches and scores that need labels; voting, "
            "stacking, calibration and cross_val_predict always need them"
        )

    def __repr__(self) -> str:
        n_sources = 0 if self.sources is None else len(self.sources.ids)
        where = f"from {n_sources} sources" if self.is_of_sources else f"in {self.n_bags} bags"
        also = f" ({n_sources} sources)" if n_sources and not self.is_of_sources else ""
        return f"<Observed: {len(self)} rows {where}{also}, classes {self.classes.tolist()}>"

    def warn_of_parts(self) -> None:
        """Warn if bags were cut, as scikit-learn's KFold does: their counts are approximate."""
        n_parts = int(np.sum(self.is_part))
        if n_parts:
            warn(
                f"of {n_parts} of {self.n_bags} bags only a part of the rows is scored, so that "
                "their counts are approximate. Folds of whole bags: GroupKFold with "
                "groups=observed.row_bag"
            )

    # --- rows and bags

    @cached_property
    def used_rows(self) -> NDArray[np.intp]:
        """The rows that represent some."""
        return np.arange(len(self)) if self.weights is None else np.flatnonzero(self.weights)

    def used(self, X: Any) -> tuple[Any, Observed]:
        """Return the rows of X, and what is known about them, without those of weight 0."""
        check_consistent_length(X, self)
        if self.weights is None or self.weights.all():
            return X, self
        rows = self.used_rows
        weights = read_weights(self.weights[rows], len(rows))
        return _safe_indexing(X, rows), self.sampled(rows, weights)

    def sum_by_bag(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return Σ_j m_j·v_j over the rows of each bag, m_j the weight of row j."""
        weighted = values if self.weights is None else self.weights * values
        sums = np.bincount(self.row_bag, weighted, minlength=len(self.ids))
        return sums.astype(np.intp) if weighted.dtype.kind == "i" else sums

    def mean_by_bag(self, values: FloatArray) -> FloatArray:
        """Return the mean over the rows of each bag, column by column for a matrix."""
        sums = [self.sum_by_bag(column) for column in values.reshape(len(values), -1).T]
        return np.asarray((np.array(sums) / self.sizes).T.reshape(-1, *values.shape[1:]))

    def mean(self, values: NDArray[Any]) -> FloatArray:
        """Return the mean over all rows, each as often as its weight says."""
        if self.weights is None:
            return np.asarray(values.mean(axis=0))
        return np.asarray(np.average(values, axis=0, weights=self.weights))

    @property
    def row_proportions(self) -> FloatArray:
        """The proportions of each row's bag, shape (n_rows, n_classes)."""
        return np.asarray(self.proportions[self.row_bag])

    @cached_property
    def class_prior(self) -> FloatArray:
        """The class shares among all rows; those of sources are estimated if they are not given."""
        if self.is_of_sources:
            return np.average(self.source_priors, axis=0, weights=self.source_sizes)
        return np.average(self.proportions, axis=0, weights=self.sizes)

    @cached_property
    def inner_prior(self) -> FloatArray:
        """The class prior strictly between 0 and 1, so that its log-odds are finite."""
        return inside(self.class_prior, self.n_rows)

    @cached_property
    def counts(self) -> ClassCounts:
        """What is known about the class counts of each bag.

        Raises
        ------
        ValueError
            If a row of a bag with several classes represents a number of rows that is not whole.
        """
        if self.inexact is not None:
            return self.inexact
        if self.sizes.dtype.kind == "f":
            check_whole(self.weights, self.proportions.max(axis=1)[self.row_bag] < 1)
            counts = self.sizes[:, None] * self.proportions
            return ClassCounts(counts, counts)
        return ClassCounts.of_shares(self.proportions, self.sizes)

    def take(self, rows: NDArray[np.intp]) -> Observed:
        """Return what is known about some rows; bags without rows are dropped.

        A part of a bag has the bag's proportions, and counts in proportion to its rows.
        """
        return self.sampled(rows, None if self.weights is None else self.weights[rows])

    def sampled(self, rows: NDArray[np.intp], weights: NDArray[Any] | None) -> Observed:
        """Return what is known about some rows with other weights."""
        bags, row_bag = np.unique(self.row_bag[rows], return_inverse=True)
        old = self.sizes[bags]
        taken = np.divide(np.bincount(row_bag, weights), old, np.ones(len(bags)), where=old > 0)
        return Observed(
            self.classes,
            self.ids[bags],
            row_bag.astype(np.intp, copy=False),
            self.proportions[bags],
            self.inexact and self.inexact.take(bags, taken),
            self.sources and self.sources.take(rows),
            weights,
            np.broadcast_to(self.is_part, self.n_bags)[bags] | (taken < 1),
        )

    def single_rows(self, most: float, random_state: Any) -> tuple[NDArray[np.intp], Observed]:
        """Return row numbers, each as often as its weight says, and what is known about them.

        If they are more than `most`, a random sample; its counts are in proportion to its rows.
        """
        if self.weights is None:
            return np.arange(len(self.row_bag)), self
        rows = repeated_rows(self.weights, int(most), random_state)
        return rows, self.sampled(rows, None)

    # --- noisy labels of sources

    def only_sources(self) -> Sources:
        """Return the sources; raise ValueError if some row has none."""
        if self.sources is None or not self.is_of_sources:
            raise ValueError("this method needs noisy labels of sources")
        return self.sources

    @cached_property
    def given(self) -> FloatArray | None:
        """P(noisy label | Y=c) of each row; ones for rows without a noisy label."""
        if self.sources is None:
            return None
        source, label = self.sources.row_source, self.sources.noisy_class
        given = np.ones((len(self), self.n_classes))
        has_label = source != NO_SOURCE
        given[has_label] = self.sources.matrices[source[has_label], :, label[has_label]]
        return given

    @cached_property
    def label_counts(self) -> FloatArray:
        """Rows of each source and noisy label, shape (n_sources, n_classes)."""
        sources = self.only_sources()
        counts = np.zeros((len(sources.ids), self.n_classes))
        weights: Any = 1 if self.weights is None else self.weights
        np.add.at(counts, (sources.row_source, sources.noisy_class), weights)
        return counts

    @cached_property
    def source_sizes(self) -> FloatArray:
        """Rows of each source, each as often as its weight says."""
        return np.asarray(self.label_counts.sum(axis=1))

    @cached_property
    def source_priors(self) -> FloatArray:
        """The class shares of each source, shape (n_sources, n_classes).

        Those of all sources together if they are not given: the least-squares estimate of π from
        E[e_Ỹ] = Tᵀπ, row by row, with Σπ = 1.
        """
        sources = self.only_sources()
        if sources.given_priors is not None:
            return sources.given_priors
        matrices, n_rows = sources.matrices, self.source_sizes.sum()
        moments = np.einsum("s,syn,szn->yz", self.source_sizes, matrices, matrices)
        target = np.einsum("syn,sn->y", matrices, self.label_counts)
        # Lagrange's conditions; the two blocks have similar sizes.
        ones = np.ones((self.n_classes, 1))
        system = np.block([[moments / n_rows, ones], [ones.T, np.zeros((1, 1))]])
        shares = np.linalg.lstsq(system, np.append(target / n_rows, 1.0), rcond=None)[0][:-1]
        return np.tile(inside(shares, n_rows), (len(sources.ids), 1))

    def shares_of_labels(self, source: NDArray[np.intp], label: NDArray[np.intp]) -> FloatArray:
        """Return P(Y=c | Ỹ) of every class c, for noisy labels of sources."""
        joint = self.source_priors[source] * self.only_sources().matrices[source, :, label]
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    @cached_property
    def strata(self) -> Observed:
        """One bag per source and noisy label, with the class shares of its rows."""
        sources, n_classes = self.only_sources(), self.n_classes
        key = n_classes * sources.row_source + sources.noisy_class
        present, row_bag = np.unique(key, return_inverse=True)
        source, label = np.divmod(present, n_classes)
        names, labels = sources.ids.tolist(), self.classes.tolist()
        ids = [f"{names[key // n_classes]} labelled {labels[key % n_classes]}" for key in present]
        shares, row_bag = self.shares_of_labels(source, label), row_bag.astype(np.intp, copy=False)
        return Observed(self.classes, np.array(ids), row_bag, shares, weights=self.weights)


def as_observed(
    y: Any,
    *,
    bags: Any = None,
    upper: Any = None,
    sources: Any = None,
    noise_rates: Any = None,
    source_priors: Any = None,
    count_noise: Any = None,
    sample_weight: Any = None,
    check: bool = True,
) -> Observed:
    """Return what is known about the labels of all rows, from the arguments of `fit`.

    An Observed is returned as it is. With bags, y contains the proportions of each row's bag, with
    sources noisy labels, otherwise labels, which have no noise. The arguments are those of
    :meth:`Observed.from_bags` and :meth:`Observed.from_sources`; `check`: whether bags must
    distinguish the classes, as they must in a fit.
    """
    details = {"upper": upper, "count_noise": count_noise, "sample_weight": sample_weight}
    of_sources = {"sources": sources, "noise_rates": noise_rates}
    if isinstance(y, Observed):
        details |= {"bags": bags, "source_priors": source_priors, **of_sources}
        for name in (name for name, value in details.items() if value is not None):
            raise ValueError(
                f"{name} belongs to the Observed: give it to its constructor, Observed.from_bags, "
                "from_labels or from_sources"
            )
        return y
    if bags is None:
        if upper is not None:
            raise ValueError("upper is the upper end of a bag's proportion: pass bags= as well")
        if sources is None and noise_rates is None:
            return Observed.from_labels(y, sample_weight=sample_weight)
        details = {"source_priors": source_priors, "sample_weight": sample_weight}
        return Observed.from_sources(y, **of_sources, **details)
    check_consistent_length(y, bags)
    observed = Observed.from_bags(y, bags, **details, **of_sources)
    if check and sources is None:  # otherwise the sources distinguish the classes
        used = observed.sizes > 0
        check_bags(observed.sizes[used], observed.proportions[used], observed.classes.tolist())
    return observed


def _split(
    y: Any, bags: Any, sources: Any, weights: NDArray[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows in a bag and those with a source, without rows of weight 0."""
    if sources is None:
        raise ValueError("noise_rates need sources=: the source of each row that is in no bag")
    check_consistent_length(y, bags, sources)
    is_used = True if weights is None else weights > 0
    has_bag, has_source = (
        ~read_ids(ids, name)[1] & is_used for ids, name in ((bags, "bags"), (sources, "sources"))
    )
    for row in np.flatnonzero(has_bag & has_source)[:1]:
        raise ValueError(
            f"row {row} has a bag and a source: give one of them per row, and None for the other"
        )
    if not has_bag.any():
        raise ValueError("bags contain no id: leave them out")
    return np.flatnonzero(has_bag), np.flatnonzero(has_source)
