"""Bags cut by a feature: a warning, the right method, no impossible estimate."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from decorrupt import AutoLabelProportionsClassifier, MeanMapClassifier, estimate_accuracy
from decorrupt.exceptions import BagAssumptionWarning
from decorrupt.model_selection import bag_folds, corrected_accuracy, fold_models
from decorrupt.observed import Observed


@pytest.fixture(scope="module")
def by_radius():
    """Breast cancer in 20 bags of neighbouring mean radius; the labels are for the assertions."""
    data = load_breast_cancer()
    labels = (data.target == 0).astype(int)
    bags = np.argsort(np.argsort(data.data[:, 0], kind="stable")) * 20 // len(labels)
    y = (np.bincount(bags, labels) / np.bincount(bags))[bags]
    return StandardScaler().fit_transform(data.data), labels, y, bags


def test_bags_by_a_feature(by_radius):
    X, labels, y, bags = by_radius
    with pytest.warns(BagAssumptionWarning, match="column"):
        MeanMapClassifier(kernel="linear", reg_strength=10.0).fit(X, y, bags=bags)
    options = {"kernels": ("linear",), "reg_strengths": (0.1, 0.01), "random_state": 0}
    model = AutoLabelProportionsClassifier(**options).fit(X, y, bags=bags)
    assert model.assumptions_.common_classes_rejected
    assert model.assumptions_.columns[0].column in {"column 0", "column 2", "column 3"}  # sizes
    assert model.best_method_ == "count_likelihood"
    accuracy = balanced_accuracy_score(labels, model.predict(X))
    assert accuracy > 0.9

    folds = bag_folds(y, bags=bags, random_state=0)
    decisions = np.empty(len(y))
    for one, test in fold_models(model.best_estimator_, X, Observed.from_bags(y, bags), folds):
        decisions[test] = one.decision_function(X[test])
    assert corrected_accuracy(y, decisions, bags=bags).value > 1  # impossible
    found = estimate_accuracy(model, X, y, bags=bags, random_state=0)
    assert found == model.accuracy_
    assert found.low < accuracy < found.high + 0.02
    assert found.evidence == "strong"
