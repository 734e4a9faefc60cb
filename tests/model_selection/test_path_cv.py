"""λ and kernel parameter chosen over shared features: the grid search's choice, sooner."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    BagGridSearchCV,
    BagKFold,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
)
from decorrupt.features import Kernel
from decorrupt.model_selection import (
    CorrectedLossClassifierCV,
    CountLikelihoodClassifierCV,
    WithinBagKFold,
)

REG_STRENGTHS = [1.0, 0.1, 0.01]
GAMMAS = [0.05, 0.5]


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
@pytest.mark.parametrize(
    ("search_class", "template", "scoring"),
    [
        (
            CorrectedLossClassifierCV,
            CorrectedLossClassifier(
                kernel=Kernel(rank_tol=0.0), fit_intercept=False, random_state=0
            ),
            "corrected_accuracy",
        ),
        (
            CorrectedLossClassifierCV,
            CorrectedLossClassifier(
                kernel=Kernel(rank_tol=0.0), fit_intercept=False, random_state=0
            ),
            "count_log_likelihood",
        ),
        (
            CountLikelihoodClassifierCV,
            CountLikelihoodClassifier(kernel=Kernel(rank_tol=0.0), random_state=0),
            "count_log_likelihood",
        ),
    ],
)
def test_same_scores_and_choice_as_the_grid_search(bag_data, search_class, template, scoring):
    d = bag_data
    path = search_class(
        template, reg_strengths=REG_STRENGTHS, kernel_gammas=GAMMAS, cv=3, scoring=scoring
    ).fit(d.X, d.y, bags=d.bags)
    points = {"kernel_gamma": GAMMAS, "reg_strength": REG_STRENGTHS}
    if search_class is CountLikelihoodClassifierCV:
        points["starts"] = [("mean_map",), ("intercept",)]
    grid = BagGridSearchCV(template, points, cv=3, scoring=scoring).fit(d.X, d.y, bags=d.bags)
    assert len(path.cv_results_["params"]) == len(grid.cv_results_["params"])
    in_our_order = [grid.cv_results_["params"].index(p) for p in path.cv_results_["params"]]
    assert path.cv_results_.keys() == grid.cv_results_.keys()
    for name in ("mean_test_score", "split1_test_score", "pooled_test_score"):
        np.testing.assert_allclose(
            path.cv_results_[name], grid.cv_results_[name][in_our_order], atol=2e-3
        )
    for name in ("kernel_gamma", "reg_strength"):  # both starts may have led to one place
        assert path.best_params_[name] == grid.best_params_[name]
    np.testing.assert_array_equal(path.predict(d.X), grid.predict(d.X))


def test_other_folds_and_criteria(bag_data):
    d = bag_data
    for cv in (BagKFold(4, shuffle=True, random_state=0), WithinBagKFold(3)):
        for scoring in ("proportion_risk", "corrected_risk"):
            model = CorrectedLossClassifierCV(
                CorrectedLossClassifier(convex="ignore", random_state=0),
                reg_strengths=REG_STRENGTHS,
                cv=cv,
                scoring=scoring,
            ).fit(d.X, d.y, bags=d.bags)
            assert model.score(d.X, d.labels) > 0.85
            assert model.best_score_ == model.cv_results_["pooled_test_score"].max()


def test_probabilities_and_messages(bag_data):
    d = bag_data
    model = CountLikelihoodClassifierCV(reg_strengths=REG_STRENGTHS, cv=3)
    model.fit(d.X, d.y, bags=d.bags)
    assert model.predict_proba(d.X, class_prior=0.1)[:, 1].mean() < 0.3
    with pytest.raises(ValueError, match="unknown scoring 'auc'"):
        CorrectedLossClassifierCV(scoring="auc").fit(d.X, d.y, bags=d.bags)
    with pytest.raises(ValueError, match=r"reg_strengths=\[\] must be a list"):
        CorrectedLossClassifierCV(reg_strengths=[]).fit(d.X, d.y, bags=d.bags)
    with pytest.raises(ValueError, match="starts='mean_map': give 'auto' or a list"):
        CountLikelihoodClassifierCV(CountLikelihoodClassifier(starts="mean_map")).fit(
            d.X, d.y, bags=d.bags
        )
    no_probabilities = CorrectedLossClassifierCV(CorrectedLossClassifier(loss="huber"))
    assert not hasattr(no_probabilities, "predict_proba")


@pytest.mark.parametrize("search_class", [CorrectedLossClassifierCV, CountLikelihoodClassifierCV])
@pytest.mark.parametrize(
    "estimator", [make_pipeline(StandardScaler(), MeanMapClassifier()), MeanMapClassifier()]
)
def test_other_estimators_are_referred_to_the_grid_search(bag_data, search_class, estimator):
    name = type(estimator).__name__
    with pytest.raises(TypeError, match=f"got a {name}: for pipelines.*BagGridSearchCV"):
        search_class(estimator).fit(bag_data.X, bag_data.y, bags=bag_data.bags)


@pytest.mark.parametrize("search_class", [CorrectedLossClassifierCV, CountLikelihoodClassifierCV])
def test_the_refit_is_an_ordinary_fit_at_the_chosen_parameters(bag_data, search_class):
    d = bag_data
    search = search_class(kernel_gammas=GAMMAS, cv=3, random_state=0).fit(d.X, d.y, bags=d.bags)
    alone = clone(search.best_estimator_).fit(d.X, d.y, bags=d.bags)
    assert_array_equal(search.decision_function(d.X), alone.decision_function(d.X))
    assert not [name for name in vars(search.best_estimator_) if name.startswith("_")]


def test_the_start_is_chosen_on_held_out_bags():
    """More columns than rows: every start explains the training counts, one of them the others."""
    rng = np.random.default_rng(0)
    labels = rng.random(480) < 0.3
    X = rng.normal(size=(480, 600))
    X[:, :40] += 0.6 * labels[:, None]
    bags = np.arange(480) // 16
    y = (np.bincount(bags, labels) / 16)[bags]
    model = CountLikelihoodClassifierCV(
        CountLikelihoodClassifier(kernel="linear"), reg_strengths=[1e-2, 1e-3]
    ).fit(X, y, bags=bags)
    found = zip(model.cv_results_["params"], model.cv_results_["pooled_test_score"], strict=True)
    best = {"mean_map": -np.inf, "intercept": -np.inf}
    for params, score in found:
        (start,) = params["starts"]
        best[start] = max(best[start], score)
    assert abs(best["mean_map"] - best["intercept"]) > 0.005
    assert model.best_params_["starts"] == (max(best, key=best.get),)
    assert model.best_estimator_.start_ == model.best_params_["starts"][0]


def test_labels_need_no_choice_of_starts(bag_data):
    model = CountLikelihoodClassifierCV(reg_strengths=REG_STRENGTHS, cv=3)
    model.fit(bag_data.X, bag_data.labels)
    assert model.best_params_.keys() == {"kernel_gamma", "reg_strength"}
