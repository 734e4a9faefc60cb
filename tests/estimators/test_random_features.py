"""features="random" in every kernel estimator, in searches and in files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt import BagGridSearchCV, CountLikelihoodClassifier, MeanMapClassifier, load, save
from decorrupt.features import Kernel, KernelFunction, RandomFourierMap
from helpers.estimators import SINGLE, WITH_FEATURES, name_of, training_data, with_params

for_models = pytest.mark.parametrize("model", WITH_FEATURES, ids=name_of)


def random_features(model, **params):
    return with_params(model, features="random", random_state=0, **params)


def test_all_methods_with_features_are_tested():
    assert [model for model in SINGLE if model.has_path] == WITH_FEATURES
    assert len(WITH_FEATURES) == 7


@for_models
def test_many_features_give_nearly_the_scores_of_the_exact_kernel(model, bag_data, source_data):
    d = training_data(model, bag_data, source_data)
    params = {"kernel_gamma": 0.2, "reg_strength": 0.1}
    exact = with_params(model, rank_tol=0.0, **params).fit(d.X, d.y, **d.extra)
    found = random_features(model, max_rank=4096, **params).fit(d.X, d.y, **d.extra)
    assert (found.kernel_rank_, found.feature_coef_.shape) == (4096, (4096,))
    assert 0 < found.kernel_error_ < 0.03
    assert not hasattr(found, "landmarks_")
    expected = exact.decision_function(d.X)
    assert_allclose(found.decision_function(d.X), expected, atol=0.1 * np.abs(expected).max())


@for_models
def test_saved_models_answer_the_same(model, bag_data, source_data, tmp_path):
    d = training_data(model, bag_data, source_data)
    found = random_features(model, max_rank=64).fit(d.X, d.y, **d.extra)
    save(found, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(again.decision_function(d.X), found.decision_function(d.X))


def test_a_model_has_the_features_of_a_map_drawn_without_data(bag_data):
    d = bag_data
    model = random_features(MeanMapClassifier(kernel_gamma=0.2, reg_strength=1e-3), max_rank=64)
    model.fit(d.X, d.y, bags=d.bags)
    drawn = RandomFourierMap.draw(KernelFunction("rbf", 0.2), d.X.shape[1], 64, seed=0)
    assert_array_equal(model.frequencies_, drawn.frequencies)


def test_the_centre_of_the_rows_does_not_matter(bag_data):
    d = bag_data
    model = random_features(
        MeanMapClassifier(kernel_gamma=0.2, reg_strength=1e-3), max_rank=64, tol=1e-9
    )
    near = model.fit(d.X, d.y, bags=d.bags).decision_function(d.X)
    drawn = RandomFourierMap.draw(KernelFunction("rbf", 0.2), d.X.shape[1], 64, seed=0)
    linear = MeanMapClassifier(kernel="linear", reg_strength=1e-3, tol=1e-9)
    uncentred = drawn.transform(d.X)
    linear.fit(uncentred, d.y, bags=d.bags)
    assert_allclose(near, linear.decision_function(uncentred), atol=1e-5)


def test_several_classes(bag_data):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 2)) + 3 * np.eye(3)[labels][:, :2]
    bags = np.arange(300) // 5
    shares = np.stack([np.bincount(bags, labels == c) / 5 for c in range(3)], axis=1)
    for kind in (MeanMapClassifier, CountLikelihoodClassifier):
        model = random_features(kind(reg_strength=0.01)).fit(X, shares[bags], bags=bags)
        assert model.decision_function(X).shape == (300, 3)
        assert model.score(X, labels) > 0.8


def test_a_search_shares_random_features_and_compares_them_with_landmarks(bag_data):
    d = bag_data
    grid = {"kernel__features": ["landmarks", "random"], "reg_strength": [0.1, 0.01]}
    model = MeanMapClassifier(kernel=Kernel(max_rank=32), random_state=0)
    search = BagGridSearchCV(model, grid, cv=3)
    search.fit(d.X, d.y, bags=d.bags)
    assert np.isfinite(search.cv_results_["pooled_test_score"]).all()
    landmarks, random = MeanMapClassifier(), MeanMapClassifier(kernel=Kernel(features="random"))
    assert landmarks.feature_key() != random.feature_key()


@for_models
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_kernels_without_random_features_are_refused(model, kernel, bag_data, source_data):
    d = training_data(model, bag_data, source_data)
    with pytest.raises(ValueError, match=f"got kernel='{kernel}': use features='landmarks'"):
        random_features(model, kernel=kernel).fit(d.X, d.y, **d.extra)
