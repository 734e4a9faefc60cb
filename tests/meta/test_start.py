"""The start of EM: what held-out bags allow."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from decorrupt import EMClassifier
from decorrupt.features import kernel_name
from decorrupt.meta.observed_classifier import bag_folds
from decorrupt.meta.start import START_KERNELS, LikelihoodStart, fit_start
from decorrupt.observed import Observed
from decorrupt.risks import count_risk


def in_bags(X, labels, bags):
    y = (np.bincount(bags, labels) / np.bincount(bags))[bags]
    return X, labels, y, bags


@pytest.fixture(scope="module")
def by_a_column():
    """Thirty bags are intervals of the first column, on which the label depends most."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    labels = (rng.random(700) < 1 / (1 + np.exp(-3 * X[:, 0] + X[:, 1]))).astype(int)
    return in_bags(X, labels, np.digitize(X[:, 0], np.linspace(-2, 2, 29)))


@pytest.fixture(scope="module")
def rings():
    """Random bags; no linear model tells the classes apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    return in_bags(X, (np.sum(X**2, axis=1) > 1.4).astype(int), np.arange(600) // 5)


@pytest.mark.parametrize(("data", "chosen"), [("by_a_column", "linear"), ("rings", "rbf")])
def test_held_out_bags_choose_the_kernel_of_the_start(data, chosen, request):
    X, _, y, bags = request.getfixturevalue(data)
    observed = Observed.from_bags(y, bags)
    folds = bag_folds(observed, 5, np.random.RandomState(0))
    start, held_out = fit_start(X, count_risk(observed), folds, 0)
    assert kernel_name(start.kernel) == chosen
    trials = [
        LikelihoodStart(kernel=kernel, random_state=0).try_folds(X, observed, folds)
        for kernel in START_KERNELS
    ]
    best = max(trials, key=lambda trial: trial.log_likelihood)
    assert held_out == pytest.approx(best.held_out)
    assert abs(trials[0].log_likelihood - trials[1].log_likelihood) > 1


def test_em_is_not_lost_in_bags_by_a_column(by_a_column):
    X, labels, y, bags = by_a_column
    model = EMClassifier(LogisticRegression(), random_state=0).fit(X, y, bags=bags)
    assert model.score(X, labels) > 0.8
