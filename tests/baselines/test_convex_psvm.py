"""conv-∝SVM: what the estimator promises; its parts are tested in test_psvm_*."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt.baselines import ConvexPSVMClassifier, psvm_relaxation
from decorrupt.baselines.convex_psvm import count_error
from decorrupt.exceptions import OneClassWarning
from helpers.bags import rows_in_bags
from oracles.convex_psvm import box_maximum

GAMMA = 0.4


def fit(data, X=None, **params):
    model = ConvexPSVMClassifier(**{"kernel_gamma": GAMMA, "max_planes": 3} | params)
    return model.fit(data.X if X is None else X, data.y, bags=data.bags)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_learns_the_classes_from_proportions_alone(bag_data, C):
    model = fit(bag_data, C=C)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.9
    assert (model.labels_ == bag_data.labels).mean() > 0.8
    assert not hasattr(model, "predict_proba")


def test_the_objective_falls_with_every_plane(bag_data):
    model = fit(bag_data, max_planes=5, tol=0.0)
    assert model.objective_history_.shape == model.plane_weights_.shape == (5,)
    assert (np.diff(model.objective_history_) < 0).all()
    assert model.objective_ == model.objective_history_[-1]
    assert model.n_iter_ == 5
    assert model.plane_weights_.sum() == pytest.approx(1)
    assert fit(bag_data, max_planes=5, tol=0.9).n_iter_ == 2


def test_the_result_does_not_depend_on_chance(bag_data):
    first, second = fit(bag_data), fit(bag_data)
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


def test_without_bags_it_is_a_support_vector_machine_with_a_penalised_intercept(bag_data):
    names = np.where(bag_data.labels == 1, "yes", "no")
    model = ConvexPSVMClassifier(kernel_gamma=GAMMA).fit(bag_data.X, names)
    signs = 2 * bag_data.labels - 1
    gram = rbf_kernel(bag_data.X, gamma=GAMMA) + 1
    value, dual = box_maximum(gram * np.outer(signs, signs), 1.0)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.labels_, names)
    assert model.n_iter_ == 1
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(
        model.decision_function(bag_data.X), gram @ (dual * signs), atol=1e-3
    )


def test_landmarks_are_the_support_vectors(bag_data):
    model = fit(bag_data)
    assert 0 < len(model.landmarks_) < 600
    assert (model.dual_coef_ != 0).all()


def test_linear_kernel(bag_data):
    model = fit(bag_data, kernel="linear")
    gram = bag_data.X @ bag_data.X.T
    precomputed = fit(bag_data, X=gram, kernel="precomputed")
    np.testing.assert_allclose(
        model.decision_function(bag_data.X), precomputed.decision_function(gram), atol=1e-4
    )
    assert model.coef_.shape == (2,)


def test_rounded_proportions_give_the_same_model_as_exact_ones():
    """0.333 of three rows is not a whole number; the nearest is what was meant."""
    rng = np.random.default_rng(0)
    bags = np.arange(90) // 3
    labels = rng.integers(0, 2, 90)
    X = rng.normal(size=(90, 2)) + 2 * labels[:, None]
    shares = (np.bincount(bags, labels) / 3)[bags]
    model = ConvexPSVMClassifier(max_planes=3)
    exact = model.fit(X, shares, bags=bags).decision_function(X)
    rounded = model.fit(X, shares.round(3), bags=bags).decision_function(X)
    np.testing.assert_allclose(rounded, exact, atol=1e-9)


def test_a_tolerance_allows_more_labels_and_a_lower_objective(bag_data):
    strict = fit(bag_data, tolerance=0.0, max_planes=1)
    loose = fit(bag_data, tolerance=0.1, max_planes=1)
    assert loose.objective_ < strict.objective_


def test_proportions_too_small_for_a_single_positive():
    rng = np.random.default_rng(0)
    bags = np.repeat([0, 1], 5)
    shares = np.array([0.05, 0.01])
    with pytest.warns(OneClassWarning, match="predicts class 0 for all 10"):
        model = ConvexPSVMClassifier().fit(rng.normal(size=(10, 2)), shares[bags], bags=bags)
    assert (model.labels_ == 0).all()


def test_count_error():
    observed = rows_in_bags([0, 0, 0, 1, 1], [1 / 3, 0.5])
    assert count_error(np.array([1.0, 2.0, -1.0, -1.0, -1.0]), observed) == pytest.approx(2)
    assert count_error(np.array([1.0, -2.0, -1.0, -1.0, 1.0]), observed) == pytest.approx(0)


def test_an_inaccurate_objective_ends_with_advice(monkeypatch, bag_data):
    monkeypatch.setattr(psvm_relaxation, "MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="relative error of .*scale the columns of X"):
        fit(bag_data)


def test_kernels_that_are_not_positive_semidefinite_are_refused(bag_data):
    with pytest.raises(ValueError, match="kernel must be positive semidefinite"):
        fit(bag_data, kernel=lambda A, B: -rbf_kernel(A, B))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tolerance": 1.5}, r"tolerance=1\.5 must be a number from 0 to 1"),
        ({"max_planes": 0}, r"max_planes=0 must be a whole number, at least 1"),
        ({"C": 0}, r"C=0 must be a positive number"),
        ({"tol": -1}, r"tol=-1 must be a finite number, at least 0"),
    ],
)
def test_bad_parameters(bag_data, params, message):
    with pytest.raises(ValueError, match=message):
        fit(bag_data, **params)
