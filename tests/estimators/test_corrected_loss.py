"""Learning from bags: what the estimator promises beyond scikit-learn's contract."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt import CorrectedLossClassifier, bag_targets
from decorrupt.corruption import combine_bags
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning, NonConvexRiskWarning
from decorrupt.features import Kernel
from decorrupt.losses import get_loss
from decorrupt.risks.risk import KINK_WIDTH


def fit(data, X=None, **params):
    model = CorrectedLossClassifier(**{"reg_strength": 0.02, "random_state": 0} | params)
    return model.fit(data.X if X is None else X, data.y, bags=data.bags)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.DroppedBagsWarning")
@pytest.mark.parametrize("combine", ["superbag", "least_squares", "pairs"])
@pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "sigmoid"])
def test_learns_the_classes_from_proportions_alone(bag_data, combine, loss):
    model = fit(bag_data, combine=combine, loss=loss)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.85


def test_solution_is_the_minimum_of_the_written_objective(bag_data):
    """No low rank, no solver of ours: the gradient in the dual must vanish."""
    model = fit(
        bag_data, kernel=Kernel(rank_tol=0.0), tol=1e-10, kernel_gamma=0.7, fit_intercept=False
    )
    neg, pos = combine_bags(np.full(60, 10), bag_data.shares).T
    scores = model.decision_function(bag_data.X)
    loss = get_loss("logistic")
    slope = (pos / 10)[bag_data.bags] * loss.slope(scores) - (neg / 10)[bag_data.bags] * loss.slope(
        -scores
    )
    # Stationarity: 2λf = −K·slope on the training rows.
    gram = rbf_kernel(bag_data.X, gamma=0.7)
    np.testing.assert_allclose(2 * 0.02 * scores, -gram @ slope, atol=1e-7)


def test_pure_bags_equal_labels(bag_data):
    model = CorrectedLossClassifier(reg_strength=0.01, random_state=0)
    by_label = model.fit(bag_data.X, bag_data.labels).decision_function(bag_data.X)
    by_bag = model.fit(bag_data.X, bag_data.labels.astype(float), bags=bag_data.labels)
    np.testing.assert_allclose(by_bag.decision_function(bag_data.X), by_label)


def test_pooled_least_squares_is_convex_whatever_the_bags():
    rng = np.random.default_rng(0)
    bags = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 2)) + np.where(rng.random(100) < 0.75, 1, -1)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NonConvexRiskWarning)
        model = CorrectedLossClassifier(
            combine="least_squares", class_prior="pooled", reg_strength=0.05
        )
        model.fit(X, np.where(bags == 0, 0.9, 0.6), bags=bags)
    assert model.diagnostics_.is_convex
    assert model.diagnostics_.convexity_floor == 0


@pytest.fixture
def one_sided_bags():
    """The design's example: equal bags with proportions (.9, .6) have two global minima."""
    rng = np.random.default_rng(0)
    bags = np.repeat([0, 1], 40)
    return rng.normal(size=(80, 2)), np.where(bags == 0, 0.9, 0.6), bags


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_one_of_two_minima_is_reached_without_a_warning(one_sided_bags, fit_intercept):
    X, y, bags = one_sided_bags
    model = CorrectedLossClassifier(combine="pairs", reg_strength=1e-3, fit_intercept=fit_intercept)
    model.fit(X, y, bags=bags)
    assert model.diagnostics_.converged
    assert not model.diagnostics_.is_convex
    assert model.diagnostics_.convexity_floor > 1e-3


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_solver_that_stops_on_a_slope_between_two_minima_warns(one_sided_bags, fit_intercept):
    X, y, bags = one_sided_bags
    early = {"max_iter": 1, "fit_intercept": fit_intercept, "reg_strength": 1e-3}
    certain = "With an intercept no reg_strength" if fit_intercept else "It is convex from"
    with pytest.warns(NonConvexRiskWarning, match=f"not stop at a minimum. {certain}"):
        CorrectedLossClassifier(**early, random_state=0).fit(X, y, bags=bags)
    large = {"reg_strength": 100.0, "fit_intercept": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error", NonConvexRiskWarning)
        CorrectedLossClassifier(random_state=0, **early | large).fit(X, y, bags=bags)


def test_negative_training_risk_is_told_and_corrected(bag_data):
    with pytest.warns(NegativeRiskWarning, match="below zero"):
        model = fit(bag_data, reg_strength=1e-7, kernel_gamma=20.0)
    assert model.diagnostics_.is_overfitted
    for correction in ("abs", "relu"):
        with warnings.catch_warnings():
            warnings.simplefilter("error", NegativeRiskWarning)
            corrected = fit(
                bag_data, reg_strength=1e-7, kernel_gamma=20.0, risk_correction=correction
            )
        assert abs(corrected.diagnostics_.training_risk) < 0.5 + 10 * KINK_WIDTH


def test_dropped_bags_are_named():
    rng = np.random.default_rng(0)
    bags = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 2))
    y = bag_targets(bags, {"a": 0.9, "b": 0.5, "c": 0.1})
    with pytest.warns(DroppedBagsWarning, match="1 bags without a partner .*the first: 'b'"):
        model = CorrectedLossClassifier(combine="pairs", reg_strength=0.1).fit(X, y, bags=bags)
    assert (model.diagnostics_.n_bags, model.diagnostics_.n_dropped) == (3, 1)


def test_zero_penalty_is_allowed_where_the_risk_is_bounded(bag_data):
    flipped = np.where(np.arange(len(bag_data.labels)) % 10 == 0, 1, 0) ^ bag_data.labels
    CorrectedLossClassifier(kernel="linear", reg_strength=0.0, fit_intercept=True).fit(
        bag_data.X, flipped
    )
    fit(bag_data, loss="sigmoid", kernel="linear", reg_strength=0.0, max_iter=20_000, tol=1e-4)


def test_scores_are_not_offered_as_probabilities(bag_data):
    assert not hasattr(fit(bag_data), "predict_proba")


def test_diagnostics_say_what_the_data_could_tell(bag_data):
    d = fit(bag_data).diagnostics_
    centre = bag_data.shares.mean()
    information = 10 * ((bag_data.shares - centre) ** 2).sum()
    assert d.effective_sample_size == pytest.approx(4 * information)
    assert (d.n_bags, d.n_dropped) == (60, 0)
    assert d.converged
    assert d.gradient_norm <= 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "hinge"}, r"unknown loss 'hinge'.*logistic, squared, huber, sigmoid"),
        ({"combine": "average"}, r"unknown method 'average'.*superbag, least_squares, pairs"),
        ({"class_prior": 1.0}, r"class_prior=1\.0: give a number strictly between 0 and 1"),
        ({"class_prior": "natural"}, r"class_prior='natural'.*'pooled'"),
        ({"risk_correction": "max"}, r"unknown risk_correction 'max'"),
        ({"reg_strength": 0.0}, r"reg_strength=0 with the logistic loss.*is unbounded below"),
        (
            {"reg_strength": 1e-6, "loss": "squared", "combine": "pairs"},
            r"too small for the squared",
        ),
        ({"loss": "sigmoid", "class_prior": 0.3}, r"sigmoid loss estimates the sign"),
    ],
)
def test_bad_parameters(params, message):
    X = np.random.default_rng(0).normal(size=(12, 2))
    bags = np.repeat(["a", "b", "c"], 4)
    with pytest.raises(ValueError, match=message):
        CorrectedLossClassifier(**params).fit(X, np.repeat([0.6, 0.7, 0.9], 4), bags=bags)
