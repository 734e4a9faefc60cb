"""Noisy labels of several classes: sources, transition matrices and class shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, check_transition_rows, check_transitions
from decorrupt.corruption.class_shares import SHARE_TOL, is_share_row


class SourceRows(ABC):
    """What noisy labels of two and of several classes have in common: rows grouped by source."""

    ids: NDArray[Any]
    row_source: NDArray[np.intp]
    multiplicity: NDArray[np.intp] | None

    @property
    @abstractmethod
    def source_rates(self) -> FloatArray:
        """The rates of each source, valid if they do not vary within it."""

    @property
    @abstractmethod
    def rates_vary_within_source(self) -> bool:
        """Whether some rows of one source have different rates."""

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of rows per source."""
        counts = np.bincount(self.row_source, self.multiplicity, minlength=len(self.ids))
        return counts.astype(np.intp, copy=False)

    @property
    def _first_row(self) -> NDArray[np.intp]:
        """A row of each source."""
        return np.unique(self.row_source, return_index=True)[1]

    def by_source(self, values: FloatArray) -> dict[Any, Any]:
        """Return {source: its value}; class shares and matrices stay arrays."""
        own = values.tolist() if values.ndim == 1 else list(values)
        return dict(zip(self.ids.tolist(), own, strict=True))

    @property
    def rates_by_source(self) -> dict[Any, Any] | None:
        """{source: its rates}, pairs or matrices; None if they vary within a source."""
        if self.rates_vary_within_source:
            return None
        return self.by_source(self.source_rates)


@dataclass(frozen=True, eq=False)
class ClassSources(SourceRows):
    """Noisy labels, sources and transition matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y).

    Attributes
    ----------
    ids : ndarray of shape (n_sources,)
        The caller's id of each source.
    row_source : ndarray of int, shape (n_rows,)
        The index in `ids` of each row's source.
    noisy_class : ndarray of int, shape (n_rows,)
        The number of each row's noisy label.
    matrices : ndarray of shape (n_matrices, n_classes, n_classes)
        The different matrices.
    row_matrix : ndarray of int, shape (n_rows,)
        The index in `matrices` of each row's matrix.
    classes : list
        The classes, for messages.
    multiplicity : ndarray of int, shape (n_rows,), or None
        How many rows of the data an entry represents; None for one each. With it, one entry per
        source and label describes data of any size.
    """

    ids: NDArray[Any]
    row_source: NDArray[np.intp]
    noisy_class: NDArray[np.intp]
    matrices: FloatArray
    row_matrix: NDArray[np.intp]
    classes: list[Any]
    multiplicity: NDArray[np.intp] | None = None

    @property
    def rates(self) -> FloatArray:
        """The matrix of each row, shape (n_rows, n_classes, n_classes)."""
        return np.asarray(self.matrices[self.row_matrix])

    @property
    def source_rates(self) -> FloatArray:
        """The matrix of each source, valid if it does not vary within the source."""
        return np.asarray(self.matrices[self._first_matrix])

    @property
    def rates_vary_within_source(self) -> bool:
        """Whether some rows of one source have different matrices."""
        return bool((self.row_matrix != self._first_matrix[self.row_source]).any())

    @property
    def _first_matrix(self) -> NDArray[np.intp]:
        return np.asarray(self.row_matrix[self._first_row])

    @property
    def n_classes(self) -> int:
        """Number of classes, and of scores per row."""
        return len(self.classes)

    def take(self, rows: NDArray[np.intp]) -> ClassSources:
        """Return the labels of some rows only; sources without rows are dropped."""
        present, row_source = np.unique(self.row_source[rows], return_inverse=True)
        return replace(
            self,
            ids=self.ids[present],
            row_source=row_source,
            noisy_class=self.noisy_class[rows],
            row_matrix=self.row_matrix[rows],
        )


def read_class_sources(
    codes: NDArray[np.intp],
    classes: Sequence[Any],
    ids: NDArray[Any],
    row_source: NDArray[np.intp],
    noise_rates: Any,
) -> ClassSources:
    """Return sources and matrices per row.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        The number of each row's noisy label in `classes`.
    classes : sequence
        The classes in the order of the matrices' rows and columns.
    ids, row_source : ndarray
        The sources, and the source of each row.
    noise_rates : mapping, matrix, array of shape (n_rows, n_classes, n_classes) or None
        By source, one matrix for all rows, or one matrix per row. None means clean labels.

    Raises
    ------
    ValueError
        If a matrix has another shape, is not stochastic or is singular; the message names the
        source or the row.
    """
    n_rows, n_classes = len(codes), len(classes)
    if isinstance(noise_rates, Mapping):
        named = {source: noise_rates[source] for source in ids.tolist()}
        matrices, row_matrix = check_transitions(named, n_classes), row_source
    elif noise_rates is None:
        matrices, row_matrix = np.eye(n_classes)[None], np.zeros(n_rows, dtype=np.intp)
    elif np.ndim(noise_rates) < 3:
        everyone = {", ".join(map(str, ids.tolist())): noise_rates}
        matrices = check_transitions(everyone, n_classes)
        row_matrix = np.zeros(n_rows, dtype=np.intp)
    else:
        rates = check_transition_rows(noise_rates, n_rows, n_classes)
        matrices, row_matrix = np.unique(rates, axis=0, return_inverse=True)
        row_matrix = row_matrix.ravel()  # numpy 2.0 returned another shape
        check_transitions(_named_by_row(matrices, row_matrix, ids, row_source), n_classes)
    return ClassSources(ids, row_source, codes, matrices, row_matrix, list(classes))


def _named_by_row(
    matrices: FloatArray, row_matrix: NDArray[np.intp], ids: NDArray[Any], row_source: Any
) -> dict[str, FloatArray]:
    first_row = np.unique(row_matrix, return_index=True)[1]
    return {
        f"{ids.tolist()[row_source[row]]} (row {row})": matrix
        for row, matrix in zip(first_row, matrices, strict=True)
    }


def check_class_count(noise_rates: Any, classes: Sequence[Any]) -> None:
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


def read_class_shares(class_priors: Any, ids: NDArray[Any], classes: Sequence[Any]) -> FloatArray:
    """Return the class shares of each source, from one vector for all or a mapping by source."""
    if isinstance(class_priors, Mapping):
        missing = [source for source in ids.tolist() if source not in class_priors]
        if missing:
            raise ValueError(f"class_priors have no entry for source {missing[0]!r}")
        by_source = [class_priors[source] for source in ids.tolist()]
    else:
        by_source = [class_priors] * len(ids)
    for source, given in zip(ids.tolist(), by_source, strict=True):
        shares = np.asarray(given, dtype=float)
        fine = shares.shape == (len(classes),) and is_share_row(shares) and (shares > 0).all()
        if not fine:
            raise ValueError(
                f"class_priors of source {source!r} are {given!r}: give {len(classes)} positive "
                f"shares, one per class, that sum to 1 (within {SHARE_TOL:g})"
            )
    return np.array(by_source, dtype=float)


def common_class_shares(noisy: ClassSources) -> FloatArray:
    """Return the least-squares estimate of π from E[e_Ỹ] = Tᵀπ, row by row, with Σπ = 1.

    For one source this solves Tᵀπ = the shares of the noisy labels. Estimates below ½/n, which
    the noise of the shares can make negative, are raised to ½/n, and the sum is made 1 again.
    """
    by_matrix = np.zeros((len(noisy.matrices), len(noisy.classes)))
    weight = 1.0 if noisy.multiplicity is None else noisy.multiplicity
    np.add.at(by_matrix, (noisy.row_matrix, noisy.noisy_class), weight)
    rows = by_matrix.sum(axis=1)
    moments = np.einsum("m,myn,mzn->yz", rows, noisy.matrices, noisy.matrices)
    target = np.einsum("myn,mn->y", noisy.matrices, by_matrix)
    n_rows = rows.sum()
    # Lagrange's conditions; the two blocks have similar sizes.
    ones = np.ones((len(target), 1))
    system = np.block([[moments / n_rows, ones], [ones.T, np.zeros((1, 1))]])
    shares = np.linalg.lstsq(system, np.append(target / n_rows, 1.0), rcond=None)[0][:-1]
    margin = 0.5 / n_rows  # a sample cannot show that a class does not exist
    shares = np.clip(shares, margin, 1 - margin)
    return np.asarray(shares / shares.sum())


def class_source_strata(noisy: ClassSources, priors: FloatArray) -> Strata:
    """Return one stratum per source and noisy label, with its class shares.

    Bayes' rule: P(Y=y|Ỹ=ỹ) ∝ π_s(y)·T_s[y, ỹ]; averaged if the matrix varies within the source.
    """
    joint = priors[noisy.row_source] * noisy.matrices[noisy.row_matrix, :, noisy.noisy_class]
    row_shares = joint / joint.sum(axis=1, keepdims=True)
    key = len(noisy.classes) * noisy.row_source + noisy.noisy_class
    present, row_stratum = np.unique(key, return_inverse=True)
    names = [
        f"{noisy.ids.tolist()[k // len(noisy.classes)]} labelled "
        f"{noisy.classes[k % len(noisy.classes)]}"
        for k in present
    ]
    sums = [np.bincount(row_stratum, column) for column in row_shares.T]
    shares = np.column_stack(sums) / np.bincount(row_stratum)[:, None]
    return Strata(np.array(names), row_stratum.astype(np.intp), shares)
