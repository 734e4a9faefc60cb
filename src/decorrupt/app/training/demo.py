"""The demo: a model trained on bags of embedded data, compared with one trained on labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.evaluate import evaluate_labels
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.results import Comparison, LabelResults
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.settings import Settings
from decorrupt.app.training.table import Table
from decorrupt.app.training.train import TrainedModel, train
from decorrupt.datasets import TEST_SIZE, load_breast_cancer_bags
from decorrupt.observed import Observed, class_columns

# A smaller search than the default keeps ten classes below a minute. It contains the parameters
# that the default search chooses on held-out bags of this data set with the seed 0.
SETTINGS = {
    "digits": Settings(
        n_folds=3, kernels=("rbf",), kernel_gammas=(0.005,), reg_strengths=(1e-4, 1e-6)
    )
}
FROM_BAGS, FROM_LABELS = "proportions of bags only", "true labels (upper limit)"


@dataclass(frozen=True)
class DemoData:
    """Training rows in bags, and test rows with labels; no label of a training row.

    Attributes
    ----------
    name, title : str
        Name of the data and its title.
    X : ndarray of shape (n_rows, n_columns)
        The training rows.
    observed : Observed
        Their bags and the names of the classes.
    X_test, labels_test : ndarray
        The test rows and the numbers of their classes.
    feature_names : tuple of str
        The columns.
    positive_class : str
        The positive one of two classes, which are called 0 and 1.
    image_shape : tuple of int or None
        Height and width if rows are images.
    """

    name: str
    title: str
    X: FloatArray
    observed: Observed
    X_test: FloatArray
    labels_test: NDArray[np.intp]
    feature_names: tuple[str, ...]
    positive_class: str = ""
    image_shape: tuple[int, int] | None = None


def load_demo(name: str, bag_size: int | None, seed: int) -> DemoData:
    """Return the data of a demo in bags of `bag_size` rows, None for the usual size.

    Raises
    ------
    ValueError
        If the name is unknown, or there are too few rows for bags of this size.
    """
    if name not in DATA:
        raise ValueError(f"unknown --data {name!r}: choose one of {', '.join(DATA)}")
    load, usual_size = DATA[name]
    return load(bag_size or usual_size, seed)


def _breast_cancer(bag_size: int, seed: int) -> DemoData:
    data = load_breast_cancer_bags(bag_size, random_state=seed)
    ids, first = np.unique(data.bags, return_index=True)
    return DemoData(
        name=data.name,
        title="Breast cancer",
        X=np.asarray(data.X),
        observed=Observed(
            np.array(["0", "1"]),
            ids.astype(str).astype(object),
            data.bags,
            class_columns(data.y[first]),
        ),
        X_test=np.asarray(data.X_test),
        labels_test=np.asarray(data.y_test),
        feature_names=data.feature_names,
        positive_class=data.positive_class,
    )


def _digits(bag_size: int, seed: int) -> DemoData:
    return _all_classes(load_digits(), "digits", "Handwritten digits", bag_size, seed, (8, 8))


def _wine(bag_size: int, seed: int) -> DemoData:
    return _all_classes(load_wine(), "wine", "Wine", bag_size, seed)


def _all_classes(
    data: Any,
    name: str,
    title: str,
    bag_size: int,
    seed: int,
    image_shape: tuple[int, int] | None = None,
) -> DemoData:
    """Hold out test rows; of the training labels keep only the bags' shares."""
    rng = check_random_state(seed)
    # Not stratified: the training labels are used only for the proportions.
    train, test = train_test_split(
        np.arange(len(data.target)), test_size=TEST_SIZE, random_state=rng
    )
    n_bags = len(train) // bag_size
    classes = tuple(map(str, data.target_names))
    if n_bags < len(classes):
        raise ValueError(
            f"--bag-size {bag_size}: {len(train)} training rows make {n_bags} bags, but "
            f"{len(classes)} classes need at least {len(classes)} bags"
        )
    rows, bags = train[: n_bags * bag_size], np.repeat(np.arange(n_bags), bag_size)
    shares = _class_shares(data.target[rows], bags, len(classes))
    return DemoData(
        name=name,
        title=title,
        X=data.data[rows],
        observed=Observed(
            np.array(classes), (np.arange(n_bags) + 1).astype(str).astype(object), bags, shares
        ),
        X_test=data.data[test],
        labels_test=data.target[test],
        feature_names=tuple(map(str, data.feature_names)),
        image_shape=image_shape,
    )


def _class_shares(labels: NDArray[np.intp], bags: NDArray[np.intp], n_classes: int) -> FloatArray:
    """Return the shares of the classes in each bag, one row per bag."""
    counts = np.zeros((bags.max() + 1, n_classes))
    np.add.at(counts, (bags, labels), 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


# {name: loader and usual bag size}.
DATA: dict[str, tuple[Callable[[int, int], DemoData], int]] = {
    "digits": (_digits, 32),
    "wine": (_wine, 8),
    "breast-cancer": (_breast_cancer, 16),
}


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
