"""Sources of noisy labels: reading of ids, rates and priors, and a test of the rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import kl_div
from scipy.stats import chi2
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.observed.rates import (
    FLIPS,
    is_common,
    rates_of_frame,
    rates_of_matrix,
    transition_matrix,
)
from decorrupt.observed.shares import as_targets, factorize, positive_shares

if TYPE_CHECKING:
    from decorrupt.observed.observed import Observed

# How rates that differ between the rows of a source are given.
EACH_ROW = (
    "For rates per row, every row is a source: sources=range(n_rows), "
    "noise_rates=dict(enumerate(rates))"
)
NO_SOURCE = -1
# Of the test of the rates: a warning has to be rare when they are right.
LEVEL = 1e-4
# Rates are rarely known better than this: a smaller difference of shares is not reported.
MIN_DIFFERENCE = 0.02
# χ² is not the distribution of the statistic for smaller sources and counts.
MIN_ROWS, MIN_EXPECTED = 50, 5.0
MAX_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Sources:
    """The sources of noisy labels and their transition matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y).

    Parameters
    ----------
    ids : ndarray of shape (n_sources,)
        The caller's id of each source.
    matrices : ndarray of shape (n_sources, n_classes, n_classes)
        The transition matrix of each source.
    row_source, noisy_class : ndarray of int, shape (n_rows,)
        The number of each row's source, −1 for a row without one, and of its noisy label.
    given_priors : ndarray of shape (n_sources, n_classes), optional
        The class shares of each source as the user knows them. Without them all sources have the
        same, which are estimated.
    """

    ids: NDArray[Any]
    matrices: FloatArray
    row_source: NDArray[np.intp]
    noisy_class: NDArray[np.intp]
    given_priors: FloatArray | None = None

    @property
    def rates(self) -> dict[Any, Any]:
        """{source: its pair of rates or its matrix}."""
        return dict(zip(self.ids.tolist(), map(rates_of_matrix, self.matrices), strict=True))

    def by_source(self, values: FloatArray) -> dict[Any, Any]:
        """Return {source: its value}; class shares of two classes become the share of positives."""
        values = values if values.ndim == 1 else as_targets(values)
        named = values.tolist() if values.ndim == 1 else list(values)
        return dict(zip(self.ids.tolist(), named, strict=True))

    def take(self, rows: NDArray[np.intp]) -> Sources:
        """Return the labels of some rows only; sources without rows are dropped."""
        old = self.row_source[rows]
        present = np.unique(old[old != NO_SOURCE])
        number = np.where(old == NO_SOURCE, NO_SOURCE, np.searchsorted(present, old))
        return Sources(
            self.ids[present],
            self.matrices[present],
            number,
            self.noisy_class[rows],
            None if self.given_priors is None else self.given_priors[present],
        )

    def among(self, rows: NDArray[np.intp], n_rows: int) -> Sources:
        """Return these rows as some of `n_rows` rows, of which the others have no source."""
        row_source, noisy_class = np.full(n_rows, NO_SOURCE), np.zeros(n_rows, dtype=np.intp)
        row_source[rows], noisy_class[rows] = self.row_source, self.noisy_class
        return replace(self, row_source=row_source, noisy_class=noisy_class)


def read_sources(
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    sources: Any,
    noise_rates: Any,
    source_priors: Any = None,
) -> Sources:
    """Return the sources of noisy labels, given as numbers of `classes`, with rates and priors.

    See :meth:`Observed.from_sources` for the other arguments.
    """
    n_rows, names = len(codes), classes.tolist()
    is_frame = set(FLIPS) <= set(getattr(noise_rates, "columns", ()))
    if is_frame:
        noise_rates = rates_of_frame(noise_rates)
    ids, row_source = _read_ids(n_rows, sources, noise_rates)
    if is_frame and len(noise_rates) == n_rows > len(ids):
        raise ValueError(
            f"noise_rates are a data frame with an entry for each of the {n_rows} rows of X: a "
            f"data frame has one entry per source. {EACH_ROW}"
        )
    if isinstance(noise_rates, Mapping):
        rates = [(f"source {source!r}", noise_rates[source]) for source in ids.tolist()]
    elif noise_rates is None or is_common(noise_rates, len(names)):
        everyone = f"source {', '.join(map(str, ids.tolist()))!r}"
        rates = [(everyone, np.eye(len(names)) if noise_rates is None else noise_rates)]
    else:
        raise ValueError(
            f"noise_rates have shape {np.shape(noise_rates)}, so they are neither one pair of "
            "rates nor one matrix: give a mapping from each source to its own, or a data frame "
            f"with the columns source, flip_pos and flip_neg. {EACH_ROW}"
        )
    matrices = [transition_matrix(name, matrix, names) for name, matrix in rates]
    by_source = np.empty((len(ids), len(names), len(names)))
    by_source[:] = np.reshape(matrices, (-1, *by_source.shape[1:]))  # one for all is repeated
    priors = None if source_priors is None else _read_priors(source_priors, ids, len(names))
    return Sources(ids, by_source, row_source, codes, priors)


def _read_ids(n_rows: int, sources: Any, noise_rates: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
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
    if noise_rates is None and len(ids):
        raise ValueError(
            f"there are {len(ids)} sources but no noise_rates: give a mapping from each source to "
            "its (flip_pos, flip_neg), or for several classes to its matrix"
        )
    missing = [source for source in ids.tolist() if is_mapping and source not in noise_rates]
    for source in missing:
        named = ", ".join(map(repr, list(noise_rates)[:5]))
        raise ValueError(f"noise_rates have no entry for source {source!r} (they have: {named})")
    return ids, row_source


def _read_priors(source_priors: Any, ids: NDArray[Any], n_classes: int) -> FloatArray:
    """Return the class shares of each source, from one value for all or a mapping by source."""
    is_mapping = isinstance(source_priors, Mapping)
    for source in ids.tolist():
        if is_mapping and source not in source_priors:
            raise ValueError(f"source_priors have no entry for source {source!r}")
    return np.array(
        [
            positive_shares(
                source_priors[source] if is_mapping else source_priors,
                n_classes,
                f"source_priors of source {source!r}",
            )
            for source in ids.tolist()
        ]
    )


def rate_notices(observed: Observed) -> list[str]:
    """Return messages if noise rates are probably wrong.

    The shares of noisy labels in source s are T_sᵀπ, where π are the class shares. The test is the
    likelihood ratio of the observed shares and the best π: one for all sources, or one per source
    if `source_priors` are given, because those may be rough. It warns if χ² with (n_classes − 1)
    degrees of freedom per source rejects at the level 1e-4, and a share differs by 0.02 or more.
    Sources of fewer than 50 rows are not tested, and expected counts below 5 are taken as 5.

    A matrix whose rows are in another order gives the shares of a π in another order, so the
    labels do not contradict it. It is recognised by its diagonal: in another order of its rows,
    more labels would be right.
    """
    sources, names = observed.only_sources(), observed.classes.tolist()
    messages = []
    for source, matrix in zip(sources.ids.tolist(), sources.matrices, strict=True):
        classes, labels = linear_sum_assignment(matrix, maximize=True)
        if matrix[classes, labels].sum() > np.trace(matrix) + 1e-9:
            wrong = int(np.flatnonzero(classes != labels)[0])
            messages.append(
                f"noise_rates of source {source!r} seem to have their rows in another order: row "
                f"{wrong}, of class {names[wrong]!r}, looks like that of class "
                f"{names[labels[wrong]]!r}. Row y contains P(noisy label | true class y), and rows "
                f"and columns are in the sorted order of the classes, {names[:5]}"
            )
    contradiction = _contradiction(sources, names, observed.label_counts)
    return [*messages[:1], *[contradiction] * bool(contradiction)]


def _contradiction(sources: Sources, classes: list[Any], counts: FloatArray) -> str:
    tested = np.flatnonzero(counts.sum(axis=1) >= MIN_ROWS)
    if not len(tested):
        return ""
    counts, matrices = counts[tested], sources.matrices[tested]
    is_common = sources.given_priors is None
    parts = [np.arange(len(tested))] if is_common else np.arange(len(tested))[:, None]
    expected, slack = np.zeros_like(counts), 0.0
    for part in parts:
        expected[part], gap = _expected_counts(counts[part], matrices[part])
        slack += gap
    # N·log(N/E) − N + E, with E = 5 in place of smaller ones if N is larger, else 0.
    is_small = (expected < MIN_EXPECTED) & (counts < MIN_EXPECTED)
    deviances = np.where(is_small, 0.0, kl_div(counts, np.maximum(expected, MIN_EXPECTED)))
    statistics = 2 * deviances.sum(axis=1)
    differences = np.abs(counts - expected).max(axis=1) / counts.sum(axis=1)
    p_value = chi2.sf(statistics.sum() - slack, len(tested) * (len(classes) - 1))
    if p_value >= LEVEL or differences.max() < MIN_DIFFERENCE:
        return ""
    worst = int(statistics.argmax())
    shares, stated = (
        ", ".join(f"{share:.2f}" for share in part[worst] / part[worst].sum())
        for part in (counts, expected)
    )
    priors = (
        "one class prior for all sources" if is_common and len(tested) > 1 else "any class prior"
    )
    return (
        f"the labels of source {sources.ids.tolist()[tested[worst]]!r} contradict the noise_rates: "
        f"the shares of the labels {classes[:5]} are {shares}, and the closest that the rates "
        f"allow with {priors} are {stated}. Check the rates and their order"
        + ("; if the sources have different class shares, give source_priors" * is_common)
    )


def _expected_counts(counts: FloatArray, matrices: FloatArray) -> tuple[FloatArray, float]:
    """Return the counts that the most likely π predicts, and a bound on what it can still gain.

    π is found by EM; 2n·(max gradient − 1) bounds the rest of the likelihood ratio, because the
    likelihood is concave. Subtracted from the statistic, it makes an early stop harmless.
    """
    n_rows, sizes = counts.sum(), counts.sum(axis=1, keepdims=True)
    prior = np.full(counts.shape[1], 1 / counts.shape[1])
    for _ in range(MAX_STEPS):
        shares = np.einsum("c,scl->sl", prior, matrices)
        gradient = np.einsum("scl,sl->c", matrices, counts / np.maximum(shares, 1e-300)) / n_rows
        slack = 2 * n_rows * float(gradient.max() - 1)
        if slack < 0.1:
            break
        prior = prior * gradient
    return sizes * shares, slack
