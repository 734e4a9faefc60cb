"""Predictions of a loaded model for the blocks of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError, join_names
from decorrupt.app.training.columns import CATEGORY, Column, need_columns
from decorrupt.app.training.model_card import ModelCard, class_names, other_version, read_card
from decorrupt.app.training.preprocess import known_levels, name_of, prepare
from decorrupt.losses import chosen_classes
from decorrupt.observed import SHARE_TOL, is_share_row

PREDICTION, PROBABILITY = "prediction", "probability"
# The share of positives, or of several classes {name: share}, as the user gives it.
ClassShares = float | Mapping[str, float]


@dataclass(frozen=True)
class Predictions:
    """Predictions for some rows.

    Attributes
    ----------
    chosen : ndarray of int
        The number of the predicted class; of two classes 1 is the positive one.
    probabilities : ndarray of shape (n_rows, n_classes)
        P(Y=c|x) for the requested class prior.
    decisions : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The model's own decision values.
    """

    chosen: NDArray[np.intp]
    probabilities: FloatArray
    decisions: FloatArray

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """Return the predictions for some of the rows."""
        return Predictions(self.chosen[rows], self.probabilities[rows], self.decisions[rows])


@dataclass
class Predictor:
    """A model with the columns it needs; it counts categories unknown in training.

    Attributes
    ----------
    model : Pipeline
        The pipeline that `decorrupt fit` trained.
    columns : list of Column
        The columns it was trained on.
    classes : tuple
        The values of the classes; of two, the negative class first.
    class_prior : list of float
        The class shares that its probabilities assume.
    card : ModelCard
        The model's card.
    unseen : Counter
        {(column, level): rows} of categories unknown in training, over all parts so far.
    filled : set of str
        Columns with a value in some row, over all parts so far.
    """

    model: Any
    columns: list[Column]
    classes: tuple[Any, ...]
    class_prior: list[float]
    card: ModelCard
    unseen: Counter[tuple[str, str]] = field(default_factory=Counter)
    filled: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, model: Any, metadata: dict[str, Any], name: str) -> Predictor:
        """Return the predictor of a loaded model; see :func:`read_card` for the errors."""
        card = read_card(metadata, name)
        columns = [
            Column(column["name"], column["kind"], column["n_missing"], column["n_distinct"])
            for column in card["columns"]
        ]
        classes = tuple(_value(name) for name in class_names(card))
        return cls(model, columns, classes, list(card["class_shares"].values()), card)

    @property
    def has_several_classes(self) -> bool:
        """Whether there are more than two classes."""
        return len(self.classes) > 2

    @property
    def has_class_names(self) -> bool:
        """Whether the user named the classes, through labels or options."""
        return self.card["situation"] == "sources" or self.classes != (0, 1)

    def predict(
        self,
        frame: pd.DataFrame,
        *,
        class_prior: ClassShares | None = None,
        table: str = "rows",
        first_row: int = 1,
    ) -> Predictions:
        """Return classes and probabilities for the rows of a frame with columns in any order.

        Without `class_prior` the class is the model's own decision, and the probability is for the
        training rows' share of positives. With it the class is the more probable one in a
        population with that share. Several classes have one share each, by name.
        """
        prior = self.prior(class_prior)
        prepared = prepare(frame, self.columns, table=table, first_row=first_row)
        self._count_unseen(prepared)
        self.filled.update(prepared.columns[prepared.notna().any()])
        decisions = self.model.decision_function(prepared)
        probabilities = self.model.predict_proba(prepared, class_prior=prior)
        if class_prior is None:
            return Predictions(chosen_classes(decisions), probabilities, decisions)
        return Predictions(probabilities.argmax(axis=1), probabilities, decisions)

    def prior(self, class_prior: ClassShares | None) -> list[float]:
        """Return the class shares that the probabilities are for; raise ValueError if invalid."""
        if class_prior is None:
            return self.class_prior
        if not self.has_several_classes:
            if isinstance(class_prior, Mapping):
                raise ValueError("--class-prior of a model of two classes is one number")
            if not 0 < class_prior < 1:
                raise ValueError(f"--class-prior {class_prior:g} must lie strictly between 0 and 1")
            return [1 - class_prior, class_prior]
        names = class_names(self.card)
        if not isinstance(class_prior, Mapping) or set(class_prior) != set(names):
            wanted = join_names(f"{name}=SHARE" for name in names)
            raise ValueError(f"--class-prior must name the share of each class: {wanted}")
        shares = [class_prior[name] for name in names]
        if not is_share_row(np.array(shares)) or min(shares) <= 0:
            raise ValueError(
                f"--class-prior={shares!r} must contain {len(names)} positive shares, one per "
                f"class, that sum to 1 (within {SHARE_TOL:g})"
            )
        return shares

    def table_of(
        self, frame: pd.DataFrame, predictions: Predictions, keep: Sequence[str], *, proba: bool
    ) -> pd.DataFrame:
        """Return the columns to keep, the prediction and, if `proba`, the probabilities."""
        answer = frame[list(keep)].copy()
        answer[PREDICTION] = np.array(_of_one_type(self.classes))[predictions.chosen]
        if proba:
            names = self.probability_columns
            # Of two classes only the probability of the positive one.
            for name, column in zip(names, predictions.probabilities.T[-len(names) :], strict=True):
                answer[name] = column
        return answer

    @property
    def probability_columns(self) -> list[str]:
        """Names of the columns of probabilities: one for two classes, else one per class."""
        if not self.has_several_classes:
            return [PROBABILITY]
        return [f"{PROBABILITY}_{name}" for name in class_names(self.card)]

    def check_keep(self, frame: pd.DataFrame, keep: Sequence[str], table: str) -> None:
        """Raise TableError if a column to keep is missing or has the name of an output column."""
        need_columns(frame, keep, table, "--keep")
        taken = [name for name in keep if name in (PREDICTION, *self.probability_columns)]
        if taken:
            raise TableError(f"{table}: --keep {taken[0]!r} is the name of an output column")

    def _count_unseen(self, prepared: pd.DataFrame) -> None:
        levels = known_levels(self.model[0])
        for column in self.columns:
            if column.kind != CATEGORY:
                continue
            present = prepared[column.name].dropna()
            new = present[~present.isin(levels[column.name])]
            self.unseen.update((column.name, level) for level in new)

    def warnings(self) -> list[str]:
        """Return what speaks against the predictions so far."""
        empty = [
            f"column {column.name!r} is empty in all rows, unlike in training: its values are "
            "imputed"
            for column in self.columns
            if column.name not in self.filled
        ]
        return [*other_version(self.card), *empty, *self.unseen_in_words()]

    def unseen_in_words(self) -> list[str]:
        """Return one message per column with levels unknown in training."""
        by_column: dict[str, list[str]] = {}
        for (column, level), n_rows in self.unseen.most_common():
            by_column.setdefault(column, []).append(f"{level!r} ({n_rows} rows)")
        return [
            f"column {column!r}: categories unknown in training, treated as rare ones: "
            + ", ".join(named[:5])
            + (", …" if len(named) > 5 else "")
            for column, named in by_column.items()
        ]


def _of_one_type(classes: Sequence[Any]) -> Sequence[Any]:
    """Return classes as they are if all are numbers, else as text."""
    return classes if all(isinstance(one, int) for one in classes) else [*map(str, classes)]


def _value(name: str) -> Any:
    """Return the name of a class, as a number if it is the text of a number."""
    return int(name) if re.fullmatch("-?[0-9]+", name) and name_of(int(name)) == name else name
