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
    check_transition_rows,
    check_transitions,
    distinct_matrices,
    is_for_all_rows,
    rates_of_frame,
    rates_of_matrix,
)
from decorrupt.observed.shares import SHARE_TOL, as_targets, class_columns, inside, is_share_row
from decorrupt.observed.weights import read_weights


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
    matrices : ndarray of shape (n_matrices, n_classes, n_classes)
        The different transition matrices.
    row_matrix : ndarray of int, shape (n_rows,)
        The number of each row's matrix.
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
    matrices: FloatArray
    row_matrix: NDArray[np.intp]
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
        return np.asarray(self.matrices[self.row_matrix, :, self.noisy_class])

    @cached_property
    def row_shares(self) -> FloatArray:
        """P(Y=c | Ỹ=ỹ_j) of every row j and class c, in its source."""
        joint = self.priors[self.row_source] * self.given
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    @cached_property
    def source_matrices(self) -> FloatArray:
        """The matrix of each source, valid if it does not vary within the source."""
        return np.asarray(self.matrices[self._first_matrix])

    @cached_property
    def rates_vary_within_source(self) -> bool:
        """Whether some rows of one source have different matrices."""
        return bool((self.row_matrix != self._first_matrix[self.row_source]).any())

    @cached_property
    def _first_matrix(self) -> NDArray[np.intp]:
        first_row = np.unique(self.row_source, return_index=True)[1]
        return np.asarray(self.row_matrix[first_row])

    @property
    def rates_by_source(self) -> dict[Any, Any] | None:
        """{source: its pair of rates or its matrix}; None if they vary within a source."""
        if self.rates_vary_within_source:
            return None
        return dict(zip(self.ids.tolist(), map(rates_of_matrix, self.source_matrices), strict=True))

    def by_source(self, values: FloatArray) -> dict[Any, Any]:
        """Return {source: its value}; class shares of two classes become the share of positives."""
        own = values if values.ndim == 1 else as_targets(values)
        named = own.tolist() if own.ndim == 1 else list(own)
        return dict(zip(self.ids.tolist(), named, strict=True))

    @cached_property
    def strata(self) -> Observed:
        """One bag per source and noisy label, with the class shares of its rows.

        Where rates vary within a source, the shares are means over the rows.
        """
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
            row_matrix=self.row_matrix[rows],
            given_priors=None if self.given_priors is None else self.given_priors[present],
            weights=None if self.weights is None else self.weights[rows],
        )

    def fit_arguments(self) -> tuple[NDArray[Any], dict[str, Any]]:
        """Return y and the other arguments with which `fit` reads the same labels."""
        own = {
            "sources": self.ids[self.row_source],
            "noise_rates": self.matrices[self.row_matrix],
        }
        if self.weights is not None:
            own["sample_weight"] = self.weights
        return np.asarray(self.classes[self.noisy_class]), own

    def check_one_population(self) -> None:
        """Raise ValueError if class shares differ between sources, or rates within a source."""
        if self.rates_vary_within_source:
            raise ValueError(
                "noise_rates differ within a source: give one pair of rates (or one matrix) per "
                "source, and rows with other rates a source of their own"
            )
        if np.ptp(self.priors, axis=0).any():
            raise ValueError(
                "source_priors differ between sources: a model of the labels of all sources "
                "together needs samples of one population. Choose CorruptedSourcesClassifier or "
                "ForwardSourcesClassifier"
            )


def common_class_shares(noisy: NoisySources) -> FloatArray:
    """Return the least-squares estimate of π from E[e_Ỹ] = Tᵀπ, row by row, with Σπ = 1."""
    by_matrix = np.zeros((len(noisy.matrices), noisy.n_classes))
    weight = 1.0 if noisy.weights is None else noisy.weights
    np.add.at(by_matrix, (noisy.row_matrix, noisy.noisy_class), weight)
    rows = by_matrix.sum(axis=1)
    moments = np.einsum("m,myn,mzn->yz", rows, noisy.matrices, noisy.matrices)
    target = np.einsum("myn,mn->y", noisy.matrices, by_matrix)
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
    noise_rates : mapping, data frame, pair of rates, matrix, array with one per row, or None
        A mapping from each source to its pair or matrix, or a data frame, see
        :func:`rates_of_frame`; None: the labels are right.
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
            "data frame has one entry per source; for rates per row give noise_rates.to_numpy()"
        )
    row_matrix = np.zeros(n_rows, dtype=np.intp)
    if isinstance(noise_rates, Mapping):
        named = {source: noise_rates[source] for source in ids.tolist()}
        matrices, row_matrix = check_transitions(named, n_classes), row_source
    elif noise_rates is None:
        matrices = np.eye(n_classes)[None]
    elif is_for_all_rows(noise_rates, n_classes):
        everyone = {", ".join(map(str, ids.tolist())): noise_rates}
        matrices = check_transitions(everyone, n_classes)
    else:
        rates = check_transition_rows(noise_rates, n_rows, n_classes)
        matrices, row_matrix = distinct_matrices(rates)
        check_transitions(_named_by_row(matrices, row_matrix, ids, row_source), n_classes)
    priors = None if source_priors is None else _read_priors(source_priors, ids, n_classes)
    weights = read_weights(sample_weight, n_rows)
    return NoisySources(classes, ids, row_source, codes, matrices, row_matrix, priors, weights)


def _named_by_row(
    matrices: FloatArray, row_matrix: NDArray[np.intp], ids: NDArray[Any], row_source: Any
) -> dict[str, FloatArray]:
    first_row = np.unique(row_matrix, return_index=True)[1]
    return {
        f"{ids.tolist()[row_source[row]]} (row {row})": matrix
        for row, matrix in zip(first_row, matrices, strict=True)
    }


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
