"""Searches that hold out whole bags and need no label."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import logit
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    BagKFold,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    LaplaceNoise,
    MeanMapClassifier,
)
from decorrupt.exceptions import SkippedFoldWarning
from decorrupt.model_selection import BagScorer, corrected_accuracy, proportion_risk
from decorrupt.model_selection.scorers import CRITERIA

pytestmark = pytest.mark.filterwarnings(
    "ignore::decorrupt.exceptions.NegativeRiskWarning",
    "ignore::decorrupt.exceptions.DroppedBagsWarning",
)
GRID = {"reg_strength": [1e-6, 1e-2, 10.0]}


def template(**params):
    return CorrectedLossClassifier(random_state=0, **params)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("scoring", CRITERIA)
def test_finds_a_good_model_whatever_the_criterion_and_routing(bag_data, scoring, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        search = BagGridSearchCV(MeanMapClassifier(random_state=0), GRID, scoring=scoring, cv=3)
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
        assert sklearn.get_config()["enable_metadata_routing"] is routing
    assert search.best_params_["reg_strength"] in GRID["reg_strength"]
    assert search.score(bag_data.X, bag_data.labels) > 0.85
    assert search.cv == 3, "parameters are as they were given"
    assert search.scoring == scoring


def test_scores_are_those_of_held_out_whole_bags(bag_data):
    d = bag_data
    search = BagGridSearchCV(template(), {"reg_strength": [0.05]}, cv=3).fit(d.X, d.y, bags=d.bags)
    by_hand, scores = [], np.empty(len(d.y))
    for train, test in BagKFold(3).split(d.X, d.y, bags=d.bags):
        model = template(reg_strength=0.05).fit(d.X[train], d.y[train], bags=d.bags[train])
        scores[test] = model.decision_function(d.X[test])
        by_hand.append(corrected_accuracy(d.y[test], scores[test], bags=d.bags[test]).value)
    together = corrected_accuracy(d.y, scores, bags=d.bags)
    assert (search.best_score_, search.best_score_std_error_) == pytest.approx(together)
    splits = [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)]
    assert splits == pytest.approx(by_hand)
    assert search.cv_results_["mean_test_score"] == pytest.approx(np.mean(by_hand))
    assert search.cv_results_["std_test_score"] == pytest.approx(np.std(by_hand))


def test_results_have_scikit_learns_columns_and_the_rank_of_the_pooled_score(bag_data):
    d = bag_data
    grid = [{"reg_strength": [10.0, 0.01]}, {"combine": ["pairs"]}]
    search = BagGridSearchCV(template(), grid, cv=3).fit(d.X, d.y, bags=d.bags)
    results = search.cv_results_
    theirs = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=3).fit(d.X, d.labels).cv_results_
    known = {name for name in theirs if not name.startswith("param_") and "score_time" not in name}
    own = {"pooled_test_score", "pooled_test_score_std_error"}
    assert results.keys() == known | own | {"param_reg_strength", "param_combine"}
    assert results["param_reg_strength"].tolist() == [10.0, 0.01, None]
    assert results["param_combine"].mask.tolist() == [True, True, False]
    order = np.argsort(-results["pooled_test_score"])
    assert results["rank_test_score"][order].tolist() == [1, 2, 3]
    assert search.best_index_ == order[0]
    assert search.best_score_ == results["pooled_test_score"].max()
    assert (results["mean_fit_time"] > 0).all()


LINEAR = CorrectedLossClassifier(kernel="linear", fit_intercept=True)


def test_the_standard_error_covers_the_true_balanced_accuracy():
    """15 bags of 30 rows of two Gaussian classes: the truth of a linear rule is known."""
    n_draws, covered = 100, 0
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        bags = np.repeat(np.arange(15), 30)
        labels = rng.random(450) < rng.uniform(0.1, 0.9, 15)[bags]
        X = rng.normal(size=(450, 2)) + labels[:, None]
        y = (np.bincount(bags, labels) / 30)[bags]
        search = BagGridSearchCV(LINEAR, {"reg_strength": [0.1]}).fit(X, y, bags=bags)
        model, error = search.best_estimator_, search.best_score_std_error_
        shift, length = model.intercept_ - model.decision_threshold_, np.linalg.norm(model.coef_)
        rate_pos = norm.cdf((model.coef_.sum() + shift) / length)
        truth = (rate_pos + norm.cdf(-shift / length)) / 2
        covered += abs(search.best_score_ - truth) < 1.96 * error
    # 95 % within three standard errors of such a share.
    assert 0.885 <= covered / n_draws <= 0.995


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "balanced_accuracy"])
@pytest.mark.parametrize(
    "search",
    [
        BagGridSearchCV(template(), GRID),
        AutoLabelProportionsClassifier(),
    ],
    ids=lambda search: type(search).__name__,
)
def test_criteria_that_need_labels_are_refused_by_name(bag_data, search, scoring):
    search = clone(search).set_params(scoring=scoring)
    with pytest.raises(ValueError, match=f"scoring='{scoring}' needs the label.*corrected_acc"):
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    search.set_params(scoring=get_scorer(scoring))
    with pytest.raises(ValueError, match="scikit-learn's scorers need labels"):
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)


def test_a_criterion_of_ones_own(bag_data):
    def own(observed, decisions):
        value, std_error = proportion_risk(observed, decisions)
        return 1 - value, std_error

    found = [
        BagGridSearchCV(template(), GRID, cv=3, scoring=scoring).fit(
            bag_data.X, bag_data.y, bags=bag_data.bags
        )
        for scoring in (BagScorer(own), "proportion_risk")
    ]
    assert found[0].best_score_ == pytest.approx(1 + found[1].best_score_)
    assert found[0].best_params_ == found[1].best_params_


def test_a_candidate_that_cannot_be_fitted_comes_last(bag_data):
    d = bag_data
    search = BagGridSearchCV(template(), {"reg_strength": [-1.0, 0.01]}, cv=3)
    with pytest.warns(FitFailedWarning, match=r"3 of 6 fits failed.*reg_strength=-1\.0 must be"):
        search.fit(d.X, d.y, bags=d.bags)
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    assert np.isnan(search.cv_results_["pooled_test_score"]).tolist() == [True, False]
    for params in ({"error_score": "raise"}, {"param_grid": {"reg_strength": [-1.0]}}):
        with pytest.raises(ValueError, match=r"reg_strength=-1\.0 must be"):
            clone(search).set_params(**params).fit(d.X, d.y, bags=d.bags)


def test_frames_and_precomputed_kernels_are_searched(bag_data):
    d = bag_data
    frame = pd.DataFrame(d.X, columns=["a", "b"])
    search = BagGridSearchCV(template(kernel="linear"), GRID, cv=3)
    named = clone(search).fit(frame, d.y, bags=d.bags)
    assert named.best_estimator_.feature_names_in_.tolist() == ["a", "b"]
    gram = clone(search).set_params(estimator__kernel="precomputed")
    gram.fit(d.X @ d.X.T, d.y, bags=d.bags)
    np.testing.assert_allclose(
        gram.cv_results_["pooled_test_score"], named.cv_results_["pooled_test_score"], atol=1e-3
    )


def test_scikit_learns_search_shows_what_to_use_instead_of_labels(bag_data):
    """`error_score="raise"` stops it; by default scikit-learn warns in every fold."""
    d = bag_data
    options = {"cv": BagKFold(3), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match=r"use BagGridSearchCV, or scoring=BagScorer"):
            GridSearchCV(template(), GRID, **options).fit(d.X, d.y, bags=d.bags)
        with pytest.raises(ValueError, match="use BagGridSearchCV"):
            cross_val_score(template(), d.X, d.y, params={"bags": d.bags}, **options)
        with pytest.warns(UserWarning, match="use BagGridSearchCV"):
            cross_val_score(template(), d.X, d.y, params={"bags": d.bags}, cv=BagKFold(3))
        named = {"params": {"bags": d.bags}, "scoring": BagScorer("count_log_likelihood")}
        scores = cross_val_score(MeanMapClassifier(), d.X, d.y, **named, **options)
        assert np.isfinite(scores).all()


def test_count_likelihood_judges_every_model_at_the_held_out_prior(bag_data):
    """A model trained for a balanced population is not punished for its prior."""
    d = bag_data
    rare = d.y < 0.55
    X, y, bags = d.X[rare], d.y[rare], d.bags[rare]
    pooled = MeanMapClassifier(reg_strength=0.01, random_state=0).fit(X, y, bags=bags)
    balanced = deepcopy(pooled)  # the same scores, shifted to a balanced population
    balanced.intercept_ -= logit(pooled.class_prior_[1])
    balanced.set_class_prior(np.array([0.5, 0.5]))
    scorer = BagScorer("count_log_likelihood")
    assert scorer(balanced, X, y, bags=bags) == pytest.approx(scorer(pooled, X, y, bags=bags))


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
    skipped = "fold 2, because its held-out bags all have the same proportion"
    with pytest.warns(SkippedFoldWarning, match=skipped):
        search.fit(X, shares[bags], bags=bags)
    assert search.n_splits_ == 2
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    counts = BagGridSearchCV(
        MeanMapClassifier(), {"reg_strength": [0.01]}, cv=folds, scoring="count_log_likelihood"
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
    skipped = "fold 2, because its training bags all have the same proportion"
    with pytest.warns(SkippedFoldWarning, match=skipped):
        search.fit(X, shares[bags], bags=bags)
    assert search.n_splits_ == 3


def test_messages(bag_data):
    with pytest.raises(ValueError, match="BagGridSearchCV needs bags="):
        BagGridSearchCV(template(), GRID).fit(bag_data.X, bag_data.y)
    with pytest.raises(ValueError, match="cannot make 100 folds of 60 bags"):
        BagGridSearchCV(template(), GRID, cv=100).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    two = bag_data.bags < 2
    with pytest.raises(
        ValueError, match=r"2 bags are too few .* cv=WithinBagKFold\(\), or fit one"
    ):
        BagGridSearchCV(template(), GRID, cv=2, scoring="count_log_likelihood").fit(
            bag_data.X[two], np.where(bag_data.bags, 0.2, 0.6)[two], bags=bag_data.bags[two]
        )
    every_fold_flat = [(np.arange(10, 600), np.arange(10))]
    flat = "in every fold the held-out bags all have the same proportion"
    with pytest.raises(ValueError, match=flat):
        BagGridSearchCV(template(), GRID, cv=every_fold_flat).fit(
            bag_data.X, bag_data.y, bags=bag_data.bags
        )


def test_noise_of_the_counts_is_used(bag_data):
    d, noise = bag_data, LaplaceNoise(2.0)
    model = make_pipeline(
        StandardScaler(), CountLikelihoodClassifier(kernel="linear", count_noise=noise)
    )
    grid = {"countlikelihoodclassifier__reg_strength": [0.01]}
    found = BagGridSearchCV(model, grid, cv=3, scoring="count_log_likelihood")
    found.fit(d.X, 1.1 * d.y, bags=d.bags)  # some shares are above 1
    model.set_params(countlikelihoodclassifier__reg_strength=0.01)
    model.fit(d.X, 1.1 * d.y, countlikelihoodclassifier__bags=d.bags)
    np.testing.assert_array_equal(found.decision_function(d.X), model.decision_function(d.X))
