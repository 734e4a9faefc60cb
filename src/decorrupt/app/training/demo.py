"""The demo: a model trained on bags of embedded data, compared with one trained on labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.evaluate import evaluate_labels
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.results import Comparison, Measured
from decorrupt.app.training.roles import BagRows, Table
from decorrupt.app.training.train import Settings, TrainedModel, train_bags
from decorrupt.corruption import Strata
from decorrupt.datasets import load_breast_cancer_bags, load_digits_bags, load_wine_bags

DATA = {
    "breast-cancer": (load_breast_cancer_bags, "Breast cancer"),
    "digits": (load_digits_bags, "Handwritten digits"),
    "wine": (load_wine_bags, "Wine"),
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
    title, positive_class : str
        The names of the data and of the positive class.
    """

    trained: TrainedModel
    test: Comparison
    title: str
    positive_class: str


def run_demo(name: str, bag_size: int, *, seed: int, n_jobs: int | None) -> DemoResult:
    """Train a model on bags of embedded data and one on their labels, and test both.

    Raises
    ------
    ValueError
        If the name is unknown, or there are too few rows for bags of this size.
    """
    if name not in DATA:
        raise ValueError(f"unknown --data {name!r}: choose one of {', '.join(DATA)}")
    load, title = DATA[name]
    settings = Settings(seed=seed, n_jobs=n_jobs)
    data = load(bag_size, random_state=seed)
    # With one row per bag the proportions are labels; the same seed gives the same test rows.
    labelled = load(1, random_state=seed)
    trained = _train(data, settings)
    models = {FROM_BAGS: trained, FROM_LABELS: _train(labelled, settings)}
    test = Comparison(
        n_rows=len(data.X_test),
        models={name: _metrics(model, data) for name, model in models.items()},
    )
    return DemoResult(trained, test, title, data.positive_class)


def _frame(X: Any, names: Any) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(X), columns=list(names))


def _train(data: Any, settings: Settings) -> TrainedModel:
    table = Table(_frame(data.X, data.feature_names), data.name)
    shares = np.array([data.y[data.bags == bag][0] for bag in np.unique(data.bags)])
    strata = Strata(np.unique(data.bags).astype(str).astype(object), data.bags, shares)
    rows = BagRows(table, strata, ())
    return train_bags(rows, choose_features(table.frame, roles=()), settings)


def _metrics(model: TrainedModel, data: Any) -> dict[str, Measured]:
    predictor = Predictor.of(model.model, dict(model.card), data.name)
    predictions = predictor.predict(_frame(data.X_test, data.feature_names))
    prior, positive = predictor.training_prior, data.positive_class
    return evaluate_labels(predictions, data.y_test == 1, prior, positive)["metrics"]
