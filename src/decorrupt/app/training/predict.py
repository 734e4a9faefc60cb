"""Predictions of a loaded model for the blocks of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import CATEGORY, Column, need_columns
from decorrupt.app.training.model_card import ModelCard, read_card
from decorrupt.app.training.preprocess import known_levels, name_of, prepare

PREDICTION, PROBABILITY = "prediction", "probability"


@dataclass(frozen=True)
class Predictions:
    """Predictions for some rows.

    Attributes
    ----------
    is_pos : ndarray of bool
        Whether the predicted class is the positive one.
    probabilities : ndarray of float
        P(Y=1|x) for the requested class prior.
    decisions : ndarray of float
        The model's own decision values.
    """

    is_pos: NDArray[np.bool_]
    probabilities: FloatArray
    decisions: FloatArray


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
        Values for the negative and the positive class.
    training_prior : float
        The share of positives that its probabilities assume.
    card : ModelCard
        The model's card.
    unseen : Counter
        {(column, level): rows} of categories unknown in training, over all parts so far.
    """

    model: Any
    columns: list[Column]
    classes: tuple[Any, Any]
    training_prior: float
    card: ModelCard
    unseen: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, model: Any, metadata: dict[str, Any], name: str) -> Predictor:
        """Return the predictor of a loaded model; see :func:`read_card` for the errors."""
        card = read_card(metadata, name)
        columns = [
            Column(column["name"], column["kind"], column["n_missing"], column["n_distinct"])
            for column in card["columns"]
        ]
        classes = (_value(card["classes"]["negative"]), _value(card["classes"]["positive"]))
        return cls(model, columns, classes, card["training_prior"], card)

    @property
    def has_class_names(self) -> bool:
        """Whether the user named the classes, through labels or options."""
        return self.card["situation"] == "sources" or self.classes != (0, 1)

    def predict(
        self,
        frame: pd.DataFrame,
        *,
        class_prior: float | None = None,
        table: str = "rows",
        first_row: int = 1,
    ) -> Predictions:
        """Return classes and probabilities for the rows of a frame with columns in any order.

        Without `class_prior` the class is the model's own decision, and the probability is for the
        training rows' share of positives. With it the class is the more probable one in a
        population with that share.
        """
        prepared = prepare(frame, self.columns, table=table, first_row=first_row)
        self._count_unseen(prepared)
        decisions = self.model.decision_function(prepared)
        probabilities = self.model.predict_proba(prepared, class_prior=self.training_prior)[:, 1]
        if class_prior is None:
            return Predictions(decisions > 0, probabilities, decisions)
        if not 0 < class_prior < 1:
            raise ValueError(f"--class-prior {class_prior:g} must lie strictly between 0 and 1")
        shift = logit(class_prior) - logit(self.training_prior)
        with np.errstate(divide="ignore"):
            probabilities = expit(logit(probabilities) + shift)
        return Predictions(probabilities > 0.5, probabilities, decisions)

    def table_of(
        self, frame: pd.DataFrame, predictions: Predictions, keep: Sequence[str], *, proba: bool
    ) -> pd.DataFrame:
        """Return the columns to keep, the prediction and, if `proba`, the probability."""
        negative, positive = self.classes
        answer = frame[list(keep)].copy()
        answer[PREDICTION] = np.where(predictions.is_pos, positive, negative)
        if proba:
            answer[PROBABILITY] = predictions.probabilities
        return answer

    def check_keep(self, frame: pd.DataFrame, keep: Sequence[str], table: str) -> None:
        """Raise TableError if a column to keep is missing or has the name of an output column."""
        need_columns(frame, keep, table, "--keep")
        taken = [name for name in keep if name in (PREDICTION, PROBABILITY)]
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


def _value(name: str) -> Any:
    """Return the name of a class, as a number if it is the text of a number."""
    return int(name) if re.fullmatch("-?[0-9]+", name) and name_of(int(name)) == name else name
