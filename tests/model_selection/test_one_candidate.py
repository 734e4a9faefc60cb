"""One method with its λ and kernel parameter over shared features: the grid search's choice."""

import numpy as np
import pytest

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    Kernel,
    MeanMapClassifier,
)
from decorrupt.model_selection.candidates import Candidate
from decorrupt.model_selection.evaluation import evaluate
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import usable_folds
from decorrupt.model_selection.results import search_results
from decorrupt.model_selection.scorers import get_bag_scorer
from decorrupt.observed import as_observed

REG_STRENGTHS = [1.0, 0.1, 0.01]
GAMMAS = [0.05, 0.5]
LARGE_BAGS = {"large_bags": ["auto", np.inf]}


def one_method(template, grid=None, **options):
    """Return the automatic choice among the settings of one method."""
    values = {"reg_strengths": REG_STRENGTHS, "cv": 3, "random_state": 0} | options
    candidate = (type(template).__name__, template, grid or {})
    return AutoLabelProportionsClassifier(candidates=[candidate], ensemble="best", **values)


def path_results(template, grid, scoring, d):
    """Return the table of all λ, of paths over shared features, as a grid search has it."""
    observed = as_observed(d.y, bags=d.bags)
    folds = usable_folds(3, d.X, observed, needs_spread=True)
    scorer, candidate = get_bag_scorer(scoring), Candidate("", template, grid)
    tried = candidate.configurations(d.X, [], GAMMAS, REG_STRENGTHS)
    found = evaluate(tried, FoldedData(d.X, observed, folds), scorer)
    return search_results(found, observed, folds, scorer)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
@pytest.mark.parametrize(
    ("template", "grid", "scoring"),
    [
        (
            CorrectedLossClassifier(
                kernel=Kernel(rank_tol=0.0), fit_intercept=False, random_state=0
            ),
            {},
            "corrected_accuracy",
        ),
        (
            MeanMapClassifier(kernel=Kernel(rank_tol=0.0), fit_intercept=False, random_state=0),
            {},
            "count_log_likelihood",
        ),
        (
            CountLikelihoodClassifier(kernel=Kernel(rank_tol=0.0), random_state=0),
            LARGE_BAGS,
            "count_log_likelihood",
        ),
    ],
)
def test_same_scores_and_choice_as_the_grid_search(bag_data, template, grid, scoring):
    d = bag_data
    path = path_results(template, grid, scoring, d)
    points = {"kernel_gamma": GAMMAS, "reg_strength": REG_STRENGTHS} | grid
    search = BagGridSearchCV(template, points, cv=3, scoring=scoring).fit(d.X, d.y, bags=d.bags)
    assert len(path["params"]) == len(search.cv_results_["params"])
    in_our_order = [search.cv_results_["params"].index(p) for p in path["params"]]
    assert path.keys() == search.cv_results_.keys()
    for name in ("mean_test_score", "split1_test_score", "pooled_test_score"):
        np.testing.assert_allclose(path[name], search.cv_results_[name][in_our_order], atol=2e-3)
    model = one_method(template, grid, kernel_gammas=GAMMAS, scoring=scoring)
    model.fit(d.X, d.y, bags=d.bags)
    for name in ("kernel_gamma", "reg_strength"):
        assert model.best_params_[name] == search.best_params_[name]
    chosen = getattr(model.best_estimator_, "estimator_", model.best_estimator_)  # calibrated
    np.testing.assert_array_equal(chosen.predict(d.X), search.predict(d.X))
