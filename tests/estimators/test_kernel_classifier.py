"""λ paths over shared features: what a search relies on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from decorrupt import (
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
)
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.features import Kernel
from decorrupt.observed import as_observed

METHODS = [
    CorrectedLossClassifier(class_prior="pooled"),
    CountLikelihoodClassifier(),
    MeanMapClassifier(),
    ProportionMatchingClassifier(),
    ProportionMatchingClassifier(fit_intercept=False),
]
REG_STRENGTHS = [1e-2, 1e-1]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_path_has_the_scores_of_single_fits(bag_data, method, kernel):
    d = bag_data
    method = clone(method).set_params(kernel=kernel, random_state=0, tol=1e-7)
    features = method.fit_feature_map(d.X)
    observed = as_observed(d.y, bags=d.bags)
    path = method.fit_path(features.matrix, observed, REG_STRENGTHS)
    scores = path.scores(features.matrix)
    assert not [name for name in vars(method) if name.endswith("_")], "the model stays as is"
    for reg_strength, own in zip(REG_STRENGTHS, scores.T, strict=True):
        method.set_params(reg_strength=reg_strength)
        method.fit_observed(d.X, observed, features)
        assert_allclose(own - path.threshold, method.decision_function(d.X), atol=1e-3)
        assert_array_equal(path.class_prior, method.class_prior_)
        alone = method.decision_function(d.X)
        method.fit(d.X, d.y, bags=d.bags)
        assert_array_equal(alone, method.decision_function(d.X))


@pytest.mark.parametrize(
    "method", [CorruptedSourcesClassifier(class_prior=0.5), ForwardSourcesClassifier()], ids=str
)
def test_a_path_of_sources_has_the_scores_of_single_fits(source_data, method):
    d = source_data
    method = clone(method).set_params(kernel="linear", tol=1e-8)
    observed = as_observed(d.noisy, sources=d.sources, noise_rates=d.rates)
    features = method.fit_feature_map(d.X)
    path = method.fit_path(features.matrix, observed, REG_STRENGTHS)
    assert not [name for name in vars(method) if name.endswith("_")], "the model stays as is"
    for reg_strength, own in zip(REG_STRENGTHS, path.scores(features.matrix).T, strict=True):
        method.set_params(reg_strength=reg_strength).fit(d.X, observed)
        assert_array_equal(path.class_prior, method.class_prior_)
        assert_allclose(own - path.threshold, method.decision_function(d.X), atol=1e-4)


def test_methods_without_a_path():
    for kind in (InvCalClassifier, AlternatingPSVMClassifier):
        assert not kind().has_path


def test_features_are_shared_by_methods_with_the_same_kernel():
    rbf = {"kernel": "rbf", "kernel_gamma": 0.3}
    assert (
        MeanMapClassifier(**rbf).feature_key() == ProportionMatchingClassifier(**rbf).feature_key()
    )
    key = MeanMapClassifier(**rbf).feature_key()
    assert key == MeanMapClassifier(kernel=Kernel("rbf", gamma=0.3)).feature_key()
    assert key == MeanMapClassifier(kernel=Kernel("rbf"), kernel_gamma=0.3).feature_key()
    assert key != MeanMapClassifier(kernel=Kernel(max_rank=5), kernel_gamma=0.3).feature_key()
    assert key != MeanMapClassifier().feature_key()


def test_the_kernel_size_is_the_mean_of_the_diagonal(bag_data):
    centred = bag_data.X - bag_data.X.mean(axis=0)
    linear = MeanMapClassifier(kernel="linear")
    assert linear.kernel_size(bag_data.X) == pytest.approx(np.mean(np.sum(centred**2, axis=1)))
    assert MeanMapClassifier(kernel="rbf").kernel_size(bag_data.X) == 1
