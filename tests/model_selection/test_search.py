"""Searches that hold out whole bags and need no label."""

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    BAG_SCORERS,
    BagGridSearchCV,
    BagKFold,
    BagRandomizedSearchCV,
    BagScorer,
    LabelProportionsClassifier,
    MeanMapClassifier,
    SkippedFoldWarning,
    corrected_accuracy,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::decorrupt.NegativeRiskWarning", "ignore::decorrupt.DroppedBagsWarning"
)
GRID = {"reg_strength": [1e-6, 1e-2, 10.0]}


def template(**params):
    return LabelProportionsClassifier(random_state=0, convex="ignore", **params)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("scoring", list(BAG_SCORERS))
def test_finds_a_good_model_whatever_the_criterion_and_routing(bag_data, scoring, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        search = BagGridSearchCV(template(), GRID, scoring=scoring, cv=3)
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
        assert sklearn.get_config()["enable_metadata_routing"] is routing
    assert search.best_params_["reg_strength"] in GRID["reg_strength"]
    assert search.score(bag_data.X, bag_data.labels) > 0.85
    assert search.cv == 3, "parameters are as they were given"
    assert search.scoring == scoring


def test_scores_are_those_of_held_out_whole_bags(bag_data):
    d = bag_data
    search = BagGridSearchCV(template(), {"reg_strength": [0.05]}, cv=3).fit(d.X, d.y, bags=d.bags)
    by_hand = []
    for train, test in BagKFold(3).split(d.X, d.y, bags=d.bags):
        model = template(reg_strength=0.05).fit(d.X[train], d.y[train], bags=d.bags[train])
        scores = model.decision_function(d.X[test])
        by_hand.append(corrected_accuracy(d.y[test], scores, bags=d.bags[test]).value)
    assert search.best_score_ == pytest.approx(np.mean(by_hand))


def test_pipelines_are_searched_too(bag_data):
    pipe = make_pipeline(StandardScaler(), template())
    grid = {"labelproportionsclassifier__reg_strength": [1e-2, 1.0]}
    for scoring in ("corrected_accuracy", "count_log_likelihood"):
        search = BagGridSearchCV(pipe, grid, cv=3, scoring=scoring)
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
        assert search.score(bag_data.X, bag_data.labels) > 0.85


def test_randomised_search_in_parallel(bag_data):
    search = BagRandomizedSearchCV(
        template(),
        {"reg_strength": loguniform(1e-4, 1.0)},
        n_iter=4,
        cv=3,
        n_jobs=2,
        random_state=0,
    ).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert len(search.cv_results_["params"]) == 4
    assert search.score(bag_data.X, bag_data.labels) > 0.85
    assert search.score(bag_data.X, bag_data.y, bags=bag_data.bags) > 0.7


def test_scorers_work_in_scikit_learns_own_search(bag_data):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            template(), GRID, scoring=BagScorer("corrected_risk", loss="sigmoid"), cv=BagKFold(3)
        ).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert search.best_estimator_.score(bag_data.X, bag_data.labels) > 0.85


def test_count_likelihood_judges_every_model_at_the_held_out_prior(bag_data):
    """A model trained for a balanced population is not punished for its prior."""
    d = bag_data
    rare = d.y < 0.55
    X, y, bags = d.X[rare], d.y[rare], d.bags[rare]
    balanced = template(reg_strength=0.01, combine="least_squares", fit_intercept=True)
    pooled = MeanMapClassifier(reg_strength=0.01, random_state=0)
    scorer = BAG_SCORERS["count_log_likelihood"]
    one = scorer(balanced.fit(X, y, bags=bags), X, y, bags=bags)
    other = scorer(pooled.fit(X, y, bags=bags), X, y, bags=bags)
    assert one == pytest.approx(other, abs=0.02)


def test_a_fold_without_spread_is_named_and_left_out():
    rng = np.random.default_rng(0)
    shares = np.array([0.1, 0.9, 0.1, 0.9, 0.5, 0.5])
    bags = np.repeat(np.arange(6), 30)
    labels = rng.random(180) < shares[bags]
    X = rng.normal(size=(180, 2)) + 2 * labels[:, None]
    folds = [
        (np.flatnonzero(~np.isin(bags, held)), np.flatnonzero(np.isin(bags, held)))
        for held in ([0, 1], [2, 3], [4, 5])
    ]
    search = BagGridSearchCV(template(), {"reg_strength": [0.01, 0.1]}, cv=folds)
    with pytest.warns(SkippedFoldWarning, match="fold 2, whose held-out bags all have one"):
        search.fit(X, shares[bags], bags=bags)
    assert search.n_splits_ == 2
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    counts = BagGridSearchCV(
        template(), {"reg_strength": [0.01]}, cv=folds, scoring="count_log_likelihood"
    ).fit(X, shares[bags], bags=bags)
    assert counts.n_splits_ == 3


def test_a_fold_without_spread_in_training_is_left_out_by_every_criterion():
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.5, 0.9, 0.5])
    bags = np.repeat(np.arange(4), 40)
    X = rng.normal(size=(160, 2)) + (rng.random(160) < shares[bags])[:, None]
    folds = [(np.flatnonzero(bags != k), np.flatnonzero(bags == k)) for k in range(4)]
    search = BagGridSearchCV(
        template(), {"reg_strength": [0.1]}, cv=folds, scoring="proportion_risk"
    )
    with pytest.warns(SkippedFoldWarning, match="fold 2, whose training bags all have one"):
        search.fit(X, shares[bags], bags=bags)
    assert search.n_splits_ == 3


def test_messages(bag_data):
    with pytest.raises(ValueError, match="BagGridSearchCV needs bags="):
        BagGridSearchCV(template(), GRID).fit(bag_data.X, bag_data.y)
    with pytest.raises(ValueError, match="cannot make 100 folds of 60 bags"):
        BagGridSearchCV(template(), GRID, cv=100).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    with pytest.raises(ValueError, match=r"unknown scoring 'auc'.*count_log_likelihood"):
        BagScorer("auc")
    every_fold_flat = [(np.arange(10, 600), np.arange(10))]
    with pytest.raises(ValueError, match="in every fold the held-out bags all have one proportion"):
        BagGridSearchCV(template(), GRID, cv=every_fold_flat).fit(
            bag_data.X, bag_data.y, bags=bag_data.bags
        )
