"""Reading rows with noisy labels from sources, and the noise rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt.app.tables import TableError, join_names, listed, split_names
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.preprocess import as_text
from decorrupt.app.training.table import Table, as_numbers, check_shares, group_codes, near_match
from decorrupt.observed import NoisySources, Observed
from decorrupt.observed import read_sources as read_noisy_sources

SHOWN_VALUES = 6
ALL_ROWS = "all rows"
NUMBERS, SIGNS = np.array([0, 1]), {"0": "−", "1": "+"}


@dataclass(frozen=True)
class Labels:
    """A column of labels read as positive or not.

    Attributes
    ----------
    is_pos : ndarray of bool
        Whether each row has the positive label.
    negative, positive : str
        The names of the two classes.
    negatives : tuple of str
        The values that were read as negative.
    """

    is_pos: NDArray[np.bool_]
    negative: str
    positive: str
    negatives: tuple[str, ...] = ()


def read_labels(table: Table, column: str, positive_label: str | None = None) -> Labels:
    """Return which rows are labelled positive.

    Without `positive_label` the labels must be 0 and 1, −1 and 1, or false and true. With it (one
    value, or several, see :mod:`decorrupt.app.tables.names`) all other values are negative.

    Raises
    ------
    TableError
        If a label is missing, there is only one class, or the positive class is not clear.
    """
    names = read_label_names(table, column)
    values = sorted(set(names.tolist()))
    positives = _positive_values(table.name, column, values, positive_label)
    negatives = [value for value in values if value not in positives]
    if not negatives:
        raise TableError(
            f"{table.name}: column {column!r} contains the positive label only: {values}"
        )
    is_pos = np.isin(names.astype(str), positives)
    positive = positives[0] if len(positives) == 1 else join_names(positives)
    negative = negatives[0] if len(negatives) == 1 else f"not {positive}"
    return Labels(is_pos, negative, positive, tuple(negatives))


def note_negatives(table: str, column: str, labels: Labels, *, is_known: bool) -> list[str]:
    """Return a note on several values that were read as negative; one may be a misspelt positive.

    Raises TableError unless the user named the positive label (`is_known`).
    """
    if len(labels.negatives) < 2:
        return []
    where, shown = f"{table}: column {column!r}", listed(labels.negatives, SHOWN_VALUES)
    if is_known:
        return [f"{where}: {shown} are read as negative, {labels.positive!r} as positive"]
    raise TableError(
        f"{where} contains {shown} besides {labels.positive!r}: if these are negative, give "
        f"--positive-label {quote(labels.positive)}"
    )


def read_label_names(table: Table, column: str) -> NDArray[Any]:
    """Return the labels of a column as text; raise TableError if a row has none."""
    need_columns(table.frame, [column], table.name, "--label-column")
    names = as_text(table.frame[column])
    empty = np.flatnonzero(pd.isna(names))
    if len(empty):
        raise TableError(
            f"{table.name}, row {empty[0] + 1}: column {column!r} is empty, not a label"
        )
    return names


def _positive_values(
    table: str, column: str, values: Sequence[str], positive_label: str | None
) -> list[str]:
    shown = listed(values, SHOWN_VALUES)
    if positive_label is None:
        for negative, positive in (("0", "1"), ("-1", "1"), ("False", "True"), ("false", "true")):
            if set(values) <= {negative, positive}:
                return [positive]
        raise TableError(
            f"{table}: column {column!r} contains {shown}: give the positive label with "
            "--positive-label"
        )
    wanted = [positive_label] if positive_label in values else split_names(positive_label)
    unknown = [value for value in wanted if value not in values]
    if unknown and len(values) == 1:
        raise TableError(
            f"{table}: the labelled rows contain no {unknown[0]!r}: column {column!r} contains "
            f"{shown} only"
        )
    if unknown:
        raise TableError(
            f"{table}: column {column!r} has no label {unknown[0]!r} (--positive-label); it "
            f"contains {shown}"
        )
    return wanted


@dataclass(frozen=True)
class SourceRows:
    """Rows with noisy labels by source.

    Attributes
    ----------
    table : Table
        The rows, with all their columns.
    labels : Labels
        The noisy labels.
    sources : ndarray of str
        The source of each row.
    rates : dict or None
        {source: (flip_pos, flip_neg)}; None if they are to be estimated.
    class_priors : dict or None
        {source: P(Y=1)} if the table of rates has them.
    roles : tuple of str
        Columns of the table that are not features.
    """

    table: Table
    labels: Labels
    sources: NDArray[Any]
    rates: dict[str, tuple[float, float]] | None
    class_priors: dict[str, float] | None
    roles: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def noisy(self, rates: Mapping[Any, Any]) -> NoisySources:
        """Return the labels as the library takes them, with known or estimated rates."""
        codes, sources = self.labels.is_pos.astype(np.intp), self.sources.astype(str)
        known = (rates, self.class_priors, self.table.weights)
        return read_noisy_sources(codes, NUMBERS, sources, *known)


def named_strata(noisy: NoisySources) -> Observed:
    """Return the rows of each source and label as bags called such as "nurse labelled +"."""
    strata = noisy.strata
    names = [f"{name[:-1]}{SIGNS[name[-1]]}" for name in strata.ids.tolist()]
    return replace(strata, ids=np.array(names))


def read_sources(
    rows: Table,
    noise_rates: Table | None = None,
    *,
    label_column: str,
    source_column: str | None = None,
    positive_label: str | None = None,
) -> SourceRows:
    """Return rows with their noisy labels, sources and known noise rates.

    Parameters
    ----------
    rows : Table
        One row per instance.
    noise_rates : Table, optional
        One row per source: source, flip_pos (share of true positives labelled negative), flip_neg
        (share of true negatives labelled positive) and, if known, class_prior. Without
        `source_column`, a single row. None: the rates are to be estimated.
    label_column, source_column : str
        The columns of noisy labels and of sources; no source column means one source.
    positive_label : str, optional
        See :func:`read_labels`.
    """
    labels = read_labels(rows, label_column, positive_label)
    roles = [label_column]
    if source_column is None:
        sources = np.full(len(rows.frame), ALL_ROWS, dtype=object)
    else:
        need_columns(rows.frame, [source_column], rows.name, "--source-column")
        ids, codes = group_codes(rows, source_column, "have a source")
        sources = ids[codes]
        roles.append(source_column)
    if noise_rates is None:
        return SourceRows(rows, labels, sources, None, None, tuple(roles))
    rates, priors, said = _read_rates(noise_rates, rows.name, sorted(set(sources.tolist())))
    notes = noise_rates.notes
    return SourceRows(rows, labels, sources, rates, priors, tuple(roles), said, notes)


def _read_rates(
    table: Table, rows_name: str, sources: list[str]
) -> tuple[dict[str, tuple[float, float]], dict[str, float] | None, tuple[str, ...]]:
    if {"true", "noisy", "rate"} <= set(table.frame.columns):
        raise TableError(
            f"{table.name}: the columns true, noisy and rate are for several classes, which the "
            "command line does not support for sources: give flip_pos and flip_neg, or use "
            "CorruptedSourcesClassifier in Python"
        )
    need_columns(table.frame, ["flip_pos", "flip_neg"], table.name, "--noise-rates")
    if sources == [ALL_ROWS] and "source" not in table.frame.columns and len(table.frame) == 1:
        names = np.array([ALL_ROWS], dtype=object)
    else:
        need_columns(table.frame, ["source"], table.name, "--noise-rates")
        names = as_text(table.frame["source"])
    flips = [as_numbers(table, column, "a rate") for column in ("flip_pos", "flip_neg")]
    rates: dict[str, tuple[float, float]] = {}
    for row, (name, flip_pos, flip_neg) in enumerate(zip(names.tolist(), *flips, strict=True)):
        where = f"{table.name}, row {row + 1}: source {name!r}"
        if name in rates:
            raise TableError(f"{where} is already listed")
        if flip_pos < 0 or flip_neg < 0 or flip_pos + flip_neg >= 1:
            raise TableError(
                f"{where} has flip_pos={flip_pos:g} and flip_neg={flip_neg:g}: rates must be at "
                "least 0 and sum to less than 1"
            )
        rates[name] = (float(flip_pos), float(flip_neg))
    lost = [source for source in sources if source not in rates]
    if lost:
        raise TableError(
            f"{table.name}: there are no rates for source {lost[0]!r} of {rows_name}"
            + near_match(lost[0], list(rates))
        )
    priors = None
    if "class_prior" in table.frame.columns:
        shares = as_numbers(table, "class_prior", "a share of positives")
        check_shares(table.name, "class_prior", names, shares)
        by_source = dict(zip(names.tolist(), shares.tolist(), strict=True))
        priors = {source: by_source[source] for source in sources}
    idle = [name for name in rates if name not in sources]
    said = [
        f"{rows_name} has no rows of source {name!r}, which {table.name} lists" for name in idle
    ]
    return {source: rates[source] for source in sources}, priors, tuple(said)
