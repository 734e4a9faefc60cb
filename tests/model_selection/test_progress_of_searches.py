"""Every phase of a long computation reports, until the end."""

import logging

import pytest
from sklearn.linear_model import LogisticRegression

from decorrupt import (
    AutoLabelProportionsClassifier,
    AutoSourcesClassifier,
    CountLikelihoodClassifier,
    EMClassifier,
)
from decorrupt.model_selection import bag_permutation_importance, estimate_accuracy, fold_models
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.observed import Observed
from decorrupt.splitters import BagKFold

QUICK = {"kernels": ("linear", "rbf"), "kernel_gammas": ("scale",), "reg_strengths": (1e-2, 1e-4)}


@pytest.fixture
def phases(caplog):
    """Return a function that returns the reported phases in order, with their lines."""
    caplog.set_level(logging.INFO, logger="decorrupt")

    def read():
        found = {}
        for message in caplog.messages:
            found.setdefault(message.split(":")[0], []).append(message)
        caplog.clear()
        return found

    return read


def test_the_automatic_choice_reports_until_its_end(bag_data, phases):
    d = bag_data
    model = AutoLabelProportionsClassifier(**QUICK, cv=3, random_state=0)
    model.fit(d.X, d.y, bags=d.bags)
    found = phases()
    assert list(found)[:3] == [
        "permuting rows between bags",
        "linear count model on folds",
        "simulating counts",
    ]
    search = list(found)[-3:]
    assert search == [
        "comparing configurations",
        "fitting the average",
        "estimating the accuracy",
    ]
    assert len(found["fitting the average"]) == len(model.estimators_) > 1
    # The comparison knows that refits follow; only the last line has nothing left.
    has_estimate = ["left" in line for name in search for line in found[name]]
    assert has_estimate == [True] * (len(has_estimate) - 1) + [False]


def test_folds_accuracy_and_importance_report(bag_data, phases):
    d = bag_data
    observed = Observed.from_bags(d.y, d.bags)
    folds = list(BagKFold(3).split(d.X, d.y, bags=d.bags))
    learner = EMClassifier(LogisticRegression(), random_state=0)
    models = fold_models(learner, d.X, observed, folds)
    assert [len(lines) for lines in phases().values()] == [3]
    bag_permutation_importance(models, d.X, d.y, bags=d.bags)
    assert {name: len(lines) for name, lines in phases().items()} == {"shuffling columns": 2}
    model = CountLikelihoodClassifier(kernel="linear").fit(d.X, d.y, bags=d.bags)
    estimate_accuracy(model, d.X, d.y, bags=d.bags)
    assert {name: len(lines) for name, lines in phases().items()} == {"estimating the accuracy": 4}


def test_the_estimation_of_noise_rates_reports(source_data, phases):
    d = source_data
    estimate_noise_rates(d.X, d.noisy, sources=d.sources, n_bootstrap=30, random_state=0)
    reported = ["fitting models of the noisy labels", "resampling rows for the noise rates"]
    assert list(phases()) == reported
    model = AutoSourcesClassifier(**QUICK, cv=3, candidates=["forward"], random_state=0)
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates="estimate")
    assert list(phases())[:3] == [*reported, "comparing configurations"]
