"""InvCal against a quadratic programming solver, and what the estimator promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logit
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVR

from decorrupt.baselines import invcal
from decorrupt.baselines.invcal import InvCalClassifier
from oracles.dense_kernel import gram as dense_gram
from oracles.psvm import bag_means, solve_tube_qp, tube_objective

GAMMA = 0.4


def fit(data, X=None, **params):
    return InvCalClassifier(**params).fit(data.X if X is None else X, data.y, bags=data.bags)


def random_bags(seed, n_bags=12):
    """Bags of 2 to 6 rows with proportions that are anything, some of them 0 or 1."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, n_bags)
    bags = rng.permutation(np.repeat(np.arange(n_bags), sizes))
    proportions = np.clip(rng.uniform(-0.2, 1.2, n_bags), 0, 1)
    X = rng.normal(size=(len(bags), 2)) + 2 * proportions[bags, None]
    return X, bags, proportions


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.BagAssumptionWarning")
@settings(max_examples=40)
@given(
    st.sampled_from([(0.1, 0.1), (1.0, 0.0), (1.0, 0.05), (10.0, 0.01)]),
    st.integers(0, 10_000),
)
def test_reaches_the_minimum_of_the_quadratic_programme(cost_and_epsilon, seed):
    cost, epsilon = cost_and_epsilon
    X, bags, proportions = random_bags(seed)
    model = InvCalClassifier(C_p=cost, epsilon=epsilon, kernel_gamma=GAMMA)
    model.fit(X, proportions[bags], bags=bags)
    rows = dense_gram(X, X, "rbf", GAMMA)
    gram = bag_means(bag_means(rows, bags).T, bags)
    centres = logit(np.clip(proportions, 1 / len(X), 1 - 1 / len(X)))
    beta, intercept = solve_tube_qp(gram, centres, epsilon, cost)
    wanted = tube_objective(
        0.5 * beta @ gram @ beta, gram @ beta + intercept, centres, epsilon, cost
    )
    found = tube_objective(
        0.5 * model.bag_coef_ @ gram @ model.bag_coef_,
        bag_means(model.decision_function(X), bags),
        centres,
        epsilon,
        cost,
    )
    assert found == pytest.approx(wanted, rel=1e-6)
    fresh = np.random.default_rng(9).normal(size=(50, 2))
    shape = bag_means(dense_gram(X, fresh, "rbf", GAMMA), bags).T @ beta
    scores = model.decision_function(fresh)
    # Where no bag lies on the edge of its tube the bias may be anywhere in an interval.
    on_edge = (np.abs(model.bag_coef_) > 1e-9) & (np.abs(model.bag_coef_) < cost * (1 - 1e-9))
    if on_edge.any():
        np.testing.assert_allclose(scores, shape + intercept, atol=1e-5)
    np.testing.assert_allclose(scores - scores.mean(), shape - shape.mean(), atol=1e-5)


@pytest.mark.parametrize("name", ["rbf", "exponential", "laplacian", "polynomial", "linear"])
@pytest.mark.parametrize("block_entries", [1, 7 * 45, 2**22])
def test_it_is_scikit_learns_regression_on_bag_means(monkeypatch, name, block_entries):
    X, bags, proportions = random_bags(4)
    monkeypatch.setattr(invcal, "BLOCK_ENTRIES", block_entries)
    model = InvCalClassifier(kernel=name, kernel_gamma=0.3, C_p=3.0, epsilon=0.2)
    model.fit(X, proportions[bags], bags=bags)
    gram = bag_means(bag_means(dense_gram(X, X, name, 0.3), bags).T, bags)
    targets = logit(np.clip(proportions, 1 / len(X), 1 - 1 / len(X)))
    reference = SVR(kernel="precomputed", C=3.0, epsilon=0.2, tol=1e-7).fit(gram, targets)
    np.testing.assert_allclose(
        bag_means(model.decision_function(X), bags), reference.predict(gram), atol=1e-5
    )


def test_learns_the_classes_from_proportions_alone(bag_data):
    model = fit(bag_data, epsilon=0.01)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.88


def test_decides_by_the_sign_of_the_score_and_claims_no_probabilities(bag_data):
    model = fit(bag_data)
    assert ((model.decision_function(bag_data.X) > 0) == (model.predict(bag_data.X) == 1)).all()
    assert not hasattr(model, "predict_proba")
    assert model.class_prior_[1] == pytest.approx(bag_data.y.mean())


def test_without_bags_every_row_is_a_bag(bag_data):
    names = np.where(bag_data.labels == 1, "yes", "no")
    by_label = InvCalClassifier().fit(bag_data.X, names)
    assert by_label.classes_.tolist() == ["no", "yes"]
    assert by_label.score(bag_data.X, names) > 0.9
    by_bag = InvCalClassifier().fit(bag_data.X, bag_data.labels, bags=np.arange(600))
    np.testing.assert_allclose(
        by_label.decision_function(bag_data.X), by_bag.decision_function(bag_data.X)
    )


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
def test_tubes_that_hold_every_bag_give_a_constant(bag_data):
    model = fit(bag_data, epsilon=100.0)
    assert np.ptp(model.decision_function(bag_data.X)) == 0
    assert (model.bag_coef_ == 0).all()


def test_only_rows_that_count_are_kept(bag_data):
    model = fit(bag_data, epsilon=1.0)
    assert len(model.landmarks_) == 10 * np.count_nonzero(model.bag_coef_) < 600


def test_linear_kernel(bag_data):
    model = fit(bag_data, kernel="linear")
    gram = fit(bag_data, X=bag_data.X @ bag_data.X.T, kernel="precomputed")
    np.testing.assert_allclose(
        model.decision_function(bag_data.X),
        gram.decision_function(bag_data.X @ bag_data.X.T),
        atol=1e-4,
    )
    assert model.coef_.shape == (2,)
    rows = sparse.csr_matrix(bag_data.X)
    np.testing.assert_allclose(fit(bag_data, X=rows, kernel="linear").coef_, model.coef_, rtol=1e-6)
