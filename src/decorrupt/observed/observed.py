"""Observed: everything that is known about the labels of the rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.observed.counts import ClassCounts, read_counts
from decorrupt.observed.read import (
    bag_classes,
    check_bags,
    check_upper,
    read_labels,
    shares_by_bag,
)
from decorrupt.observed.shares import (
    UsedRows,
    check_whole,
    class_columns,
    factorize,
    inside,
    is_missing_id,
    read_weights,
    repeated_rows,
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
        check_upper(y, upper)
        used = UsedRows.of(bags, sample_weight)
        has_bag, has_source = used.is_used, np.zeros_like(used.is_used)
        if sources is not None:
            has_bag, has_source = _split(y, bags, sources, used.is_used)
        elif noise_rates is not None:
            raise ValueError("noise_rates need sources=: the source of each row that is in no bag")
        rows = used.among(has_bag)
        ids, row_bag = factorize(rows.take(bags), "bags")
        kind = "range" if upper is not None else "noisy" if count_noise is not None else "exact"
        if kind != "exact":
            check_whole(rows.weights)
        shares = class_columns(shares_by_bag(ids, row_bag, rows.take(y), kind))
        if upper is not None:
            upper = shares_by_bag(ids, row_bag, rows.take(upper), "range", "upper")
        part = cls(bag_classes(y), ids, row_bag, shares, weights=rows.weights)
        observed = part.with_counts(upper, count_noise).spread(rows)
        if sources is None:
            return observed
        return observed.with_labels(used.among(has_source), y, sources, noise_rates)

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, sample_weight: Any = None, rows_as_bags: bool = True
    ) -> Observed:
        """Return rows with class labels y: bags of one row, or one pure bag per class.

        `sample_weight` is how many rows each row represents, at least 0.
        """
        used = UsedRows.of(y, sample_weight)
        classes, codes = read_labels(used.take(y))
        ids, row_bag, shares = np.arange(len(codes)), np.arange(len(codes)), np.eye(len(classes))
        if rows_as_bags:
            shares = shares[codes]
        else:
            ids, row_bag = np.array([f"label {name}" for name in classes.tolist()]), codes
        return cls(classes, ids, row_bag, shares, weights=used.weights).spread(used)

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
        used = UsedRows.of(y, sample_weight)
        classes, codes = read_labels(used.take(y))
        read = read_sources(codes, classes, used.take(sources), noise_rates, source_priors)
        return cls.of_sources(classes, read, used.weights).spread(used)

    @classmethod
    def of_sources(
        cls, classes: NDArray[Any], sources: Sources, weights: NDArray[Any] | None = None
    ) -> Observed:
        """Return each row as its own bag, of which only P(noisy label | class) is known."""
        rows = np.arange(len(sources.row_source))
        sizes = np.ones(len(rows), dtype=np.intp) if weights is None else weights
        counts = ClassCounts.unknown(sizes, len(classes))
        observed = cls(classes, rows, rows, counts.lower, counts, sources, weights)
        return replace(observed, proportions=observed.row_shares)

    @classmethod
    def of_bags(
        cls, ids: NDArray[Any], proportions: FloatArray, sizes: NDArray[np.intp], classes: Any
    ) -> Observed:
        """Return one entry per bag, with the number of its rows as weight."""
        return cls(np.asarray(classes), ids, np.arange(len(ids)), proportions, weights=sizes)

    def with_counts(self, upper: FloatArray | None, count_noise: Any) -> Observed:
        """Return bags whose proportions are noisy, or the lower ends of ranges.

        `upper` has one end per bag, of the share of positives, or one per bag and class.
        """
        if upper is None and count_noise is None:
            return self
        proportions, counts = read_counts(self, upper, count_noise)
        inexact = None if counts.is_exact.all() else counts
        return replace(self, proportions=proportions, inexact=inexact)

    def with_count_noise(self, count_noise: Any) -> Observed:
        """Return bags with noisy counts; labels, and bags with ranges or noise, as they are."""
        is_labelled = (self.proportions.max(axis=1) == 1).all()
        if self.inexact is not None or is_labelled:
            return self
        return self.with_counts(None, count_noise)

    def spread(self, used: UsedRows) -> Observed:
        """Return these rows among others of which nothing is known, each a bag of its own."""
        others = np.flatnonzero(~used.is_used)
        if not len(others):
            return self
        n_rows = len(used.is_used)
        row_bag = np.empty(n_rows, dtype=np.intp)
        row_bag[used.rows], row_bag[others] = self.row_bag, self.n_bags + np.arange(len(others))
        ids = np.empty(self.n_bags + len(others), dtype=object)
        ids[:] = self.ids.tolist() + [("row", int(row)) for row in others]
        shares = np.full((len(others), self.n_classes), 1 / self.n_classes)
        sizes = used.all_weights[others]
        # Counts are needed only of rows that represent some; fractional weights have none.
        counts = self.counts if sizes.any() else self.inexact
        return replace(
            self,
            ids=ids,
            row_bag=row_bag,
            proportions=np.concatenate([self.proportions, shares]),
            inexact=counts and counts.followed_by(ClassCounts.unknown(sizes, self.n_classes)),
            sources=self.sources and self.sources.among(used.rows, n_rows),
            weights=read_weights(used.all_weights, n_rows),
        )

    def with_labels(self, rows: UsedRows, y: Any, sources: Any, noise_rates: Any) -> Observed:
        """Return these bags with the noisy labels of some rows that are in no bag."""
        labels = np.asarray(rows.take(y), dtype=float)
        columns = class_columns(labels)
        for place in np.flatnonzero(~np.isin(columns, (0.0, 1.0)).all(axis=1))[:1]:
            raise ValueError(
                f"y[{rows.rows[place]}] = {labels[place].tolist()} of a source is not a label: "
                "next to bags, noisy labels are 0 and 1 (of several classes, 1 in the column of "
                "the class)"
            )
        codes = columns.argmax(axis=1)
        read = read_sources(codes, self.classes, rows.take(sources), noise_rates)
        proportions = self.proportions.copy()
        proportions[self.row_bag[rows.rows]] = np.eye(self.n_classes)[codes]
        return replace(self, proportions=proportions, sources=read.among(rows.rows, len(self)))

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
            warnings.warn(
                f"of {n_parts} of {self.n_bags} bags only a part of the rows is scored, so that "
                "their counts are approximate. Folds of whole bags: GroupKFold with "
                "groups=observed.row_bag",
                UserWarning,
                stacklevel=3,
            )

    # --- rows and bags

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.proportions.shape[1])

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.ids)

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """Rows of each bag, each as often as its weight says."""
        return self.sum_by_bag(np.ones(len(self.row_bag), dtype=np.intp))

    @cached_property
    def n_rows(self) -> Any:
        """Rows of all bags, each as often as its weight says."""
        return self.sizes.sum().item()

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        """Rows of each bag, however many each represents."""
        return np.bincount(self.row_bag, minlength=self.n_bags)

    @cached_property
    def rows_by_bag(self) -> NDArray[np.intp]:
        """All rows, bag by bag; the rows of a bag in their order."""
        return np.argsort(self.row_bag, kind="stable")

    @cached_property
    def used_rows(self) -> NDArray[np.intp]:
        """The rows that represent some."""
        return np.arange(len(self)) if self.weights is None else np.flatnonzero(self.weights)

    def used(self, X: Any) -> tuple[Any, Observed]:
        """Return the rows of X, and what is known about them, without those of weight 0."""
        check_consistent_length(X, self)
        rows = self.used_rows
        if self.weights is None or len(rows) == len(self):
            return X, self
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
            return ClassCounts.without_noise(counts, counts)
        return ClassCounts.of_shares(self.proportions, self.sizes)

    @property
    def is_inexact(self) -> bool:
        """Whether there are ranges or noisy counts instead of proportions."""
        return self.inexact is not None and self.sources is None

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

    @cached_property
    def is_of_sources(self) -> bool:
        """Whether every row has the noisy label of a source."""
        if self.sources is None:
            return False
        return bool((self.sources.row_source[self.used_rows] != NO_SOURCE).all())

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
        sources, rows = self.only_sources(), self.used_rows
        counts = np.zeros((len(sources.ids), self.n_classes))
        weights: Any = 1 if self.weights is None else self.weights[rows]
        np.add.at(counts, (sources.row_source[rows], sources.noisy_class[rows]), weights)
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

    @cached_property
    def row_shares(self) -> FloatArray:
        """P(Y=c | Ỹ=ỹ_j) of every row j and class c, in its source."""
        sources = self.only_sources()
        given = sources.matrices[sources.row_source, :, sources.noisy_class]
        joint = self.source_priors[sources.row_source] * given
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    @cached_property
    def strata(self) -> Observed:
        """One bag per source and noisy label, with the class shares of its rows."""
        sources, n_classes = self.only_sources(), self.n_classes
        key = n_classes * sources.row_source + sources.noisy_class
        present, row_bag = np.unique(key, return_inverse=True)
        names, labels = sources.ids.tolist(), self.classes.tolist()
        ids = [f"{names[k // n_classes]} labelled {labels[k % n_classes]}" for k in present]
        row_bag = row_bag.astype(np.intp, copy=False)
        shares = np.empty((len(ids), n_classes))
        bags = Observed(self.classes, np.array(ids), row_bag, shares, weights=self.weights)
        return replace(bags, proportions=bags.mean_by_bag(self.row_shares))

    def check_one_population(self) -> None:
        """Raise ValueError if class shares differ between sources."""
        if np.ptp(self.source_priors, axis=0).any():
            raise ValueError(
                "source_priors differ between sources: a model of the labels of all sources "
                "together needs samples of one population. Choose CorruptedSourcesClassifier or "
                "ForwardSourcesClassifier"
            )


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
    known = {"upper": upper, "count_noise": count_noise, "sample_weight": sample_weight}
    if isinstance(y, Observed):
        known |= {"bags": bags, "sources": sources, "noise_rates": noise_rates}
        known |= {"source_priors": source_priors}
        for name in (name for name, value in known.items() if value is not None):
            raise ValueError(
                f"{name} belongs to the Observed: give it to its constructor, Observed.from_bags, "
                "from_labels or from_sources"
            )
        return y
    if upper is not None and bags is None:
        raise ValueError("upper is the upper end of a bag's proportion: pass bags= as well")
    if bags is None and sources is None and noise_rates is None:
        return Observed.from_labels(y, sample_weight=sample_weight)
    if bags is None:
        return Observed.from_sources(
            y, sources, noise_rates, source_priors=source_priors, sample_weight=sample_weight
        )
    check_consistent_length(y, bags)
    observed = Observed.from_bags(y, bags, **known, sources=sources, noise_rates=noise_rates)
    if check and sources is None:  # otherwise the sources distinguish the classes
        used = observed.sizes > 0
        check_bags(observed.sizes[used], observed.proportions[used], observed.classes.tolist())
    return observed


def _split(
    y: Any, bags: Any, sources: Any, is_used: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows are in a bag, and which have a source."""
    check_consistent_length(y, bags, sources)
    has_bag, has_source = ~is_missing_id(bags, "bags"), ~is_missing_id(sources, "sources")
    for row in np.flatnonzero(has_bag & has_source & is_used)[:1]:
        raise ValueError(
            f"row {row} has a bag and a source: give one of them per row, and None for the other"
        )
    if not (has_bag & is_used).any():
        raise ValueError("bags contain no id: leave them out")
    return has_bag, has_source
