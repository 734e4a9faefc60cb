"""The demo: a model trained on bags of embedded data, compared with one trained on labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from decorrupt._typing import FloatArray
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.demo_data import DemoData, load_demo
from decorrupt.app.training.evaluate import evaluate_labels
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.results import Comparison, LabelResults
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.settings import Settings
from decorrupt.app.training.table import Table
from decorrupt.app.training.train import TrainedModel, train

# A smaller search than the default keeps ten classes below a minute. It contains the parameters
# that the default search chooses on held-out bags of this data set with the seed 0.
SETTINGS = {
    "digits": Settings(
        n_folds=3, kernels=("rbf",), kernel_gammas=(0.005,), reg_strengths=(1e-4, 1e-6)
    )
}
FROM_BAGS, FROM_LABELS = "proportions of bags only", "true labels (upper limit)"


@dataclass(frozen=True)
class DemoResult:
    """A model from bags, and its comparison with a model from labels.

    Attributes
    ----------
    trained : TrainedModel
        From the bags.
    test : Comparison
        Both models on the same test rows.
    data : DemoData
        What was learned from.
    labels : LabelResults
        The model from bags on the test rows.
    """

    trained: TrainedModel
    test: Comparison
    data: DemoData
    labels: LabelResults

    @property
    def has_several_classes(self) -> bool:
        """Whether there are more than two classes."""
        return self.data.observed.n_classes > 2


def run_demo(name: str, bag_size: int | None, *, seed: int, n_jobs: int | None) -> DemoResult:
    """Train a model on bags of embedded data and one on their labels, and test both.

    Raises
    ------
    ValueError
        If the name is unknown, or there are too few rows for bags of this size.
    """
    data = load_demo(name, bag_size, seed)
    settings = replace(SETTINGS.get(name, Settings()), seed=seed, n_jobs=n_jobs)
    trained = _train(data, settings)
    # With one row per bag the proportions are labels; the same seed gives the same test rows.
    models = {FROM_BAGS: trained, FROM_LABELS: _train(load_demo(name, 1, seed), settings)}
    tested = {own: _tested(model, data) for own, model in models.items()}
    test = Comparison(
        n_rows=len(data.X_test), models={own: found["metrics"] for own, found in tested.items()}
    )
    return DemoResult(trained, test, data, tested[FROM_BAGS])


def _frame(X: FloatArray, names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(X), columns=list(names))


def _train(data: DemoData, settings: Settings) -> TrainedModel:
    table = Table(_frame(data.X, data.feature_names), data.name)
    rows = BagRows(table, data.observed, (), are_named=data.observed.n_classes > 2)
    return train(rows, choose_features(table.frame, roles=()), settings)


def _tested(model: TrainedModel, data: DemoData) -> LabelResults:
    predictor = Predictor.of(model.model, dict(model.card), data.name)
    predictions = predictor.predict(_frame(data.X_test, data.feature_names))
    return evaluate_labels(predictions, data.labels_test, model.card["class_shares"])
