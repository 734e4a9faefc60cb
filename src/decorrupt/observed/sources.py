"""Noisy labels of several sources with transition matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.observed.counts import nothing_known
from decorrupt.observed.ids import factorize
from decorrupt.observed.observed import Observed
from decorrupt.observed.rates import (
    FLIPS,
    check_transition,
    check_transitions,
    is_for_all_rows,
    rates_of_frame,
    rates_of_matrix,
)
from decorrupt.observed.shares import SHARE_TOL, as_targets, class_columns, inside, is_share_row
from decorrupt.observed.weights import read_weights

# How rates that differ between the rows of a source are given.
EACH_ROW = (
    "For rates per row, every row is a source: sources=range(n_rows), "
    "noise_rates=dict(enumerate(rates))"
)


@dataclass(frozen=True, eq=False)
class NoisySources:
    """Noisy labels, their sources, and the transition matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y).

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The names of the classes.
    ids : ndarray of shape (n_sources,)
        The caller's id of each source.
    row_source, noisy_class : ndarray of int, shape (n_rows,)
        The number of each row's source and noisy label.
    source_matrices : ndarray of shape (n_sources, n_classes, n_classes)
        The transition matrix of each source.
    given_priors : ndarray of shape (n_sources, n_classes), optional
        The class shares of each source as the user knows them. Without them all sources have the
        same, which are estimated.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; 1 if not given.
    """

    classes: NDArray[Any]
    ids: NDArray[Any]
    row_source: NDArray[np.intp]
    noisy_class: NDArray[np.intp]
    source_matrices: FloatArray
    given_priors: FloatArray | None = None
    weights: NDArray[Any] | None = None

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.classes)

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """Rows of each source, each as often as its weight says."""
        counts = np.bincount(self.row_source, self.weights, minlength=len(self.ids))
        return counts.astype(np.intp if self.weights is None else self.weights.dtype, copy=False)

    @cached_property
    def priors(self) -> FloatArray:
        """The class shares of each source, shape (n_sources, n_classes)."""
        if self.given_priors is not None:
            return self.given_priors
        return np.tile(common_class_shares(self), (len(self.ids), 1))

    @cached_property
    def class_prior(self) -> FloatArray:
        """The class shares among the rows of all sources."""
        return np.average(self.priors, axis=0, weights=self.sizes)

    @cached_property
    def given(self) -> FloatArray:
        """P(Ỹ=ỹ_j | Y=c) of every row j and class c."""
        return np.asarray(self.source_matrices[self.row_source, :, self.noisy_class])

    @cached_property
    def row_shares(self) -> FloatArray:
        """P(Y=c | Ỹ=ỹ_j) of every row j and class c, in its source."""
        joint = self.priors[self.row_source] * self.given
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    @property
    def rates_by_source(self) -> dict[Any, Any]:
        """{source: its pair of rates or its matrix}."""
        return dict(zip(self.ids.tolist(), map(rates_of_matrix, self.source_matrices), strict=True))

    def by_source(self, values: FloatArray) -> dict[Any, Any]:
        """Return {source: its value}; class shares of two classes become the share of positives."""
        own = values if values.ndim == 1 else as_targets(values)
        named = own.tolist() if own.ndim == 1 else list(own)
        return dict(zip(self.ids.tolist(), named, strict=True))

    @cached_property
    def strata(self) -> Observed:
        """One bag per source and noisy label, with the class shares of its rows."""
        n_classes = self.n_classes
        key = n_classes * self.row_source + self.noisy_class
        present, row_bag = np.unique(key, return_inverse=True)
        sources, labels = self.ids.tolist(), self.classes.tolist()
        ids = [f"{sources[k // n_classes]} labelled {labels[k % n_classes]}" for k in present]
        bags = Observed(
            self.classes,
            np.array(ids),
            row_bag.astype(np.intp, copy=False),
            np.empty((len(ids), n_classes)),
            weights=self.weights,
        )
        sums = [bags.sum_by_bag(column) for column in self.row_shares.T]
        return replace(bags, proportions=np.column_stack(sums) / bags.sizes[:, None])

    def observed(self) -> Observed:
        """Return each row as its own bag, of which only P(noisy label | class) is known."""
        rows = np.arange(len(self.row_source))
        sizes = np.ones(len(rows), dtype=np.intp) if self.weights is None else self.weights
        return Observed(
            self.classes,
            rows,
            rows,
            self.row_shares,
            reported=nothing_known(sizes, self.n_classes),
            given=self.given,
            sources=self,
            weights=self.weights,
        )

    def take(self, rows: NDArray[np.intp]) -> NoisySources:
        """Return the labels of some rows only; sources without rows are dropped."""
        present, row_source = np.unique(self.row_source[rows], return_inverse=True)
        return replace(
            self,
            ids=self.ids[present],
            row_source=row_source.astype(np.intp, copy=False),
            noisy_class=self.noisy_class[rows],
            source_matrices=self.source_matrices[present],
            given_priors=None if self.given_priors is None else self.given_priors[present],
            weights=None if self.weights is None else self.weights[rows],
        )

    def fit_arguments(self) -> tuple[NDArray[Any], dict[str, Any]]:
        """Return y and the other arguments with which `fit` reads the same labels."""
        own = {
            "sources": self.ids[self.row_source],
            "noise_rates": dict(zip(self.ids.tolist(), self.source_matrices, strict=True)),
        }
        if self.weights is not None:
            own["sample_weight"] = self.weights
        return np.asarray(self.classes[self.noisy_class]), own

    def check_one_population(self) -> None:
        """Raise ValueError if class shares differ between sources."""
        if np.ptp(self.priors, axis=0).any():
            raise ValueError(
                "source_priors differ between sources: a model of the labels of all sources "
                "together needs samples of one population. Choose CorruptedSourcesClassifier or "
                "ForwardSourcesClassifier"
            )


def common_class_shares(noisy: NoisySources) -> FloatArray:
    """Return the least-squares estimate of π from E[e_Ỹ] = Tᵀπ, row by row, with Σπ = 1."""
    matrices, by_source = noisy.source_matrices, np.zeros((len(noisy.ids), noisy.n_classes))
    weight = 1.0 if noisy.weights is None else noisy.weights
    np.add.at(by_source, (noisy.row_source, noisy.noisy_class), weight)
    rows = by_source.sum(axis=1)
    moments = np.einsum("s,syn,szn->yz", rows, matrices, matrices)
    target = np.einsum("syn,sn->y", matrices, by_source)
    n_rows = rows.sum()
    # Lagrange's conditions; the two blocks have similar sizes.
    ones = np.ones((len(target), 1))
    system = np.block([[moments / n_rows, ones], [ones.T, np.zeros((1, 1))]])
    shares = np.linalg.lstsq(system, np.append(target / n_rows, 1.0), rcond=None)[0][:-1]
    return inside(shares, n_rows)


def read_sources(
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    sources: Any,
    noise_rates: Any,
    source_priors: Any = None,
    sample_weight: Any = None,
) -> NoisySources:
    """Return the noisy labels with their sources, rates and class shares.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        The number of each row's noisy label.
    classes : ndarray of shape (n_classes,)
        The names of the classes.
    sources : array-like of shape (n_rows,) or None
        The source of each row; None for one source.
    noise_rates : mapping, data frame, pair of rates, matrix, or None
        A mapping from each source to its pair or matrix, or a data frame, see
        :func:`rates_of_frame`; one pair or matrix is that of all sources; None: the labels are
        right.
    source_priors : mapping, float or array-like of shape (n_classes,), optional
        The class shares of each source, or of all: the share of positives or one share per class.
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row represents.

    Raises
    ------
    ValueError
        If rates or shares are invalid or missing for a source, which the message names.
    """
    n_rows, n_classes = len(codes), len(classes)
    is_frame = set(FLIPS) <= set(getattr(noise_rates, "columns", ()))
    if is_frame:
        noise_rates = rates_of_frame(noise_rates)
    _check_class_count(noise_rates, classes.tolist())
    ids, row_source = _read_source_ids(n_rows, sources, noise_rates)
    if is_frame and len(noise_rates) == n_rows > len(ids):
        raise ValueError(
            f"noise_rates are a data frame with an entry for each of the {n_rows} rows of X: a "
            f"data frame has one entry per source. {EACH_ROW}"
        )
    if isinstance(noise_rates, Mapping):
        named = {source: noise_rates[source] for source in ids.tolist()}
        matrices = check_transitions(named, n_classes)
    elif noise_rates is None:
        matrices = np.eye(n_classes)[None]
    elif is_for_all_rows(noise_rates, n_classes):
        everyone = ", ".join(map(str, ids.tolist()))
        matrix = check_transition(everyone, noise_rates, n_classes)
        matrices = np.repeat(matrix[None], len(ids), axis=0)
    else:
        raise ValueError(
            f"noise_rates have shape {np.shape(noise_rates)}, so they are neither one pair of "
            "rates nor one matrix: give a mapping from each source to its own, or a data frame "
            f"with the columns source, flip_pos and flip_neg. {EACH_ROW}"
        )
    priors = None if source_priors is None else _read_priors(source_priors, ids, n_classes)
    weights = read_weights(sample_weight, n_rows)
    return NoisySources(classes, ids, row_source, codes, matrices, priors, weights)


def _check_class_count(noise_rates: Any, classes: Sequence[Any]) -> None:
    """Raise ValueError if a matrix has more or fewer classes than y."""
    by_source = noise_rates if isinstance(noise_rates, Mapping) else {"all rows": noise_rates}
    for source, matrix in by_source.items():
        try:
            shape = np.shape(matrix)
        except ValueError:  # rows of different lengths, which are refused later
            continue
        if len(shape) == 2 and shape[0] == shape[1] != len(classes):
            fewer = "a class that no source reports cannot be learned; " * (shape[0] > len(classes))
            raise ValueError(
                f"noise_rates of source {source!r} have {shape[0]} classes, but y has "
                f"{len(classes)}: {list(classes)[:5]}; {fewer}give a row and a column for each "
                "class in y, in sorted order"
            )


def _read_source_ids(
    n_rows: int, sources: Any, noise_rates: Any
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sources and the number of each row's; check that rates fit to them."""
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


def _read_priors(source_priors: Any, ids: NDArray[Any], n_classes: int) -> FloatArray:
    """Return the class shares of each source, from one value for all or a mapping by source."""
    if isinstance(source_priors, Mapping):
        for source in (source for source in ids.tolist() if source not in source_priors):
            raise ValueError(f"source_priors have no entry for source {source!r}")
        by_source = [source_priors[source] for source in ids.tolist()]
    else:
        by_source = [source_priors] * len(ids)
    found = []
    for source, own in zip(ids.tolist(), by_source, strict=True):
        shares = np.asarray(own, dtype=float)
        shares = class_columns([shares])[0] if shares.ndim == 0 else shares
        is_valid = shares.shape == (n_classes,) and is_share_row(shares) and (shares > 0).all()
        if not is_valid:
            raise ValueError(
                f"source_priors of source {source!r} are {own!r}: give {n_classes} positive shares "
                f"that sum to 1 (within {SHARE_TOL:g}), or the share of positives of two classes, "
                "strictly between 0 and 1"
            )
        found.append(shares)
    return np.array(found)
