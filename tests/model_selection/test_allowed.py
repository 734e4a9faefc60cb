"""Methods are chosen by what the bags satisfy."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score

from decorrupt import AutoLabelProportionsClassifier
from decorrupt.exceptions import BagAssumptionWarning
from decorrupt.model_selection import BagScorer
from decorrupt.model_selection.allowed import allowed_methods
from decorrupt.model_selection.candidates import resolve_candidates

pytestmark = pytest.mark.filterwarnings("ignore::decorrupt.exceptions.WeakEvidenceWarning")
COUNTS = BagScorer("count_log_likelihood")
QUICK = {
    "candidates": ["mean_map", "corrected_loss", "count_likelihood"],
    "reg_strengths": (0.1, 0.001),
    "kernels": ("linear",),
    "cv": 3,
    "ensemble": "best",
    "random_state": 0,
}


def bags_by_feature(effect=0.0):
    """Rows in bags of neighbouring values of the first column, with a bag effect."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    bags = np.argsort(np.argsort(X[:, 0])) // 30
    own = effect * rng.normal(size=20)
    labels = rng.random(600) < expit(2 * X[:, 0] - 2 * X[:, 1] + own[bags])
    return X, labels, (np.bincount(bags, labels) / 30)[bags], bags


def report(classes, counts):
    return SimpleNamespace(
        common_classes_rejected=classes,
        common_probabilities_rejected=counts,
        bag_effect=0.1,
        violating_columns=[SimpleNamespace(column="income")],
    )


@pytest.mark.parametrize(
    ("classes", "counts", "left"),
    [
        (False, False, ["mean_map", "proportion_matching", "count_likelihood"]),
        (True, False, ["proportion_matching", "count_likelihood"]),
        (False, True, ["mean_map", "count_likelihood"]),
        (True, True, ["count_likelihood"]),
        (None, None, ["mean_map", "proportion_matching", "count_likelihood"]),
    ],
)
def test_methods_left(classes, counts, left):
    candidates = resolve_candidates(["mean_map", "proportion_matching", "count_likelihood"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        allowed = allowed_methods(candidates, report(classes, counts), COUNTS)
    assert [one.name for one in allowed.candidates] == left
    effects = {one.name: one.estimator.get_params().get("bag_effect") for one in allowed.candidates}
    assert effects["count_likelihood"] == (0.1 if counts else 0.0)
    assert len(caught) == bool(classes and counts)
    assert candidates[2].estimator.bag_effect == 0.0


def test_the_users_only_method_is_kept_with_a_warning():
    with pytest.warns(BagAssumptionWarning, match="mean_map assume"):
        allowed = allowed_methods(resolve_candidates(["mean_map"]), report(True, False), COUNTS)
    assert [one.name for one in allowed.candidates] == ["mean_map"]


def test_a_criterion_that_needs_what_is_rejected_is_a_warning():
    candidates = resolve_candidates(["count_likelihood"])
    scorer = BagScorer("corrected_risk")
    allowed_methods(candidates, report(False, False), scorer)
    with pytest.warns(BagAssumptionWarning, match="scoring='corrected_risk' assumes"):
        allowed_methods(candidates, report(True, False), scorer)


def test_bags_by_a_feature_are_not_given_to_the_mean_map():
    X, labels, y, bags = bags_by_feature()
    model = AutoLabelProportionsClassifier(**QUICK).fit(X, y, bags=bags)
    assert [row.method for row in model.leaderboard_] == ["count_likelihood"]
    assert model.best_estimator_.bag_effect == 0.0
    lines = str(model.leaderboard_).splitlines()
    assert "A. common class distributions: rejected" in lines
    assert any(line.endswith("mean_map, corrected_loss") for line in lines)
    assert balanced_accuracy_score(labels, model.predict(X)) > 0.8


def test_neither_assumption_leaves_a_bag_effect_and_a_warning():
    X, _, y, bags = bags_by_feature(effect=2.0)
    with pytest.warns(BagAssumptionWarning, match="neither assumption.*column 0.*bag effect"):
        model = AutoLabelProportionsClassifier(**QUICK).fit(X, y, bags=bags)
    assert model.best_method_ == "count_likelihood"
    assert model.best_estimator_.bag_effect_ > 0.05


def test_no_check_compares_all_methods():
    X, _, y, bags = bags_by_feature()
    model = AutoLabelProportionsClassifier(check_assumptions=False, **QUICK)
    with pytest.warns(match="below zero"):
        model.set_params(candidates=["mean_map"], reg_strengths=[1e-3]).fit(X, y, bags=bags)
    assert model.assumptions_ is None
