"""Kernels made from the training rows, in every kernel estimator, in searches and in files."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from decorrupt import (
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
    load,
    save,
)
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.features import FROM_ALL_ROWS, Kernel
from decorrupt.observed import as_observed
from helpers.estimators import WITH_FEATURES, name_of, training_data

for_models = pytest.mark.parametrize("model", WITH_FEATURES, ids=name_of)
for_kernels = pytest.mark.parametrize("kernel", FROM_ALL_ROWS)


@for_kernels
@for_models
def test_every_model_learns_and_answers_the_same_from_a_file(
    model, kernel, bag_data, source_data, tmp_path
):
    d = training_data(model, bag_data, source_data)
    found = clone(model).set_params(kernel=kernel, random_state=0).fit(d.X, d.y, **d.extra)
    assert balanced_accuracy_score(d.labels, found.predict(d.X)) > 0.85
    assert hasattr(found, "projection_") == kernel.startswith("pca")
    save(found, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(again.decision_function(d.X), found.decision_function(d.X))


def test_a_refit_with_another_kernel_forgets_the_projection(bag_data):
    d = bag_data
    model = MeanMapClassifier(kernel="pca_rbf").fit(d.X, d.y, bags=d.bags)
    again = model.set_params(kernel="rbf").fit(d.X, d.y, bags=d.bags)
    assert not hasattr(again, "projection_")
    assert again.landmarks_.shape[1] == d.X.shape[1]


@for_kernels
def test_three_classes(kernel):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) + 3 * np.eye(3, 4)[labels]
    bags = np.arange(300) // 5
    shares = np.stack([np.eye(3)[labels[bags == bag]].mean(axis=0) for bag in bags])
    model = CountLikelihoodClassifier(kernel=kernel, reg_strength=1e-4, random_state=0)
    assert model.fit(X, shares, bags=bags).score(X, labels) > 0.85


def test_the_model_is_that_of_the_precomputed_gram_matrix_of_the_features(bag_data):
    d = bag_data
    model = CorrectedLossClassifier(
        kernel=Kernel("knn", rank_tol=0), fit_intercept=False, tol=1e-9, random_state=0
    ).fit(d.X, d.y, bags=d.bags)
    Z = model.fit_feature_map(d.X).matrix
    gram = clone(model).set_params(kernel__name="precomputed").fit(Z @ Z.T, d.y, bags=d.bags)
    assert_allclose(model.dual_coef_, gram.decision_function(Z @ Z.T), atol=1e-5)
    assert model.diagnostics_.training_risk == pytest.approx(
        gram.diagnostics_.training_risk, rel=1e-4
    )


@for_kernels
@pytest.mark.parametrize("model", [InvCalClassifier(), AlternatingPSVMClassifier()], ids=name_of)
def test_methods_that_need_pairs_of_rows_refuse_them(model, kernel, bag_data):
    d = bag_data
    with pytest.raises(ValueError, match=f"kernel='{kernel}' is made from all training rows"):
        clone(model).set_params(kernel=kernel).fit(d.X, d.y, bags=d.bags)


# --- features in single precision


N_ROWS, RANK, BAG_SIZE = 20_000, 128, 10
FEATURE_BYTES = 4 * N_ROWS * RANK


@pytest.mark.filterwarnings("ignore::UserWarning")  # of so few iterations
@pytest.mark.parametrize(
    "kind",
    [
        CorrectedLossClassifier,
        CountLikelihoodClassifier,
        MeanMapClassifier,
        ProportionMatchingClassifier,
    ],
)
def test_the_peak_of_a_fit_is_below_two_feature_matrices(kind):
    rng = np.random.default_rng(0)
    labels = rng.random(N_ROWS) < 0.4
    X = (rng.normal(size=(N_ROWS, 4)) + labels[:, None]).astype(np.float32)
    bags = np.arange(N_ROWS) // BAG_SIZE
    y = (np.bincount(bags, labels) / BAG_SIZE)[bags]
    kernel = Kernel(max_rank=RANK, rank_tol=1e-9)
    model = kind(kernel=kernel, max_iter=5, random_state=0)
    tracemalloc.start()
    model.fit(X, y, bags=bags)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.kernel_rank_ == RANK
    # A copy in double precision alone would take twice the bytes of the features.
    assert peak < 2 * FEATURE_BYTES


# --- paths


METHODS = [
    CorrectedLossClassifier(class_prior="pooled"),
    CountLikelihoodClassifier(),
    MeanMapClassifier(),
    ProportionMatchingClassifier(),
    ProportionMatchingClassifier(fit_intercept=False),
    CorruptedSourcesClassifier(class_prior=0.5),
    ForwardSourcesClassifier(),
]
REG_STRENGTHS = [1e-2, 1e-1]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_path_has_the_scores_of_single_fits(bag_data, source_data, method, kernel):
    d = training_data(method, bag_data, source_data)
    method = clone(method).set_params(kernel=kernel, random_state=0, tol=1e-7)
    features = method.fit_feature_map(d.X)
    observed = as_observed(d.y, **d.extra)
    path = method.fit_path(features.matrix, observed, REG_STRENGTHS)
    scores = path.scores(features.matrix)
    assert not [name for name in vars(method) if name.endswith("_")], "the model stays as is"
    for reg_strength, own in zip(REG_STRENGTHS, scores.T, strict=True):
        method.set_params(reg_strength=reg_strength)
        method.fit_observed(d.X, observed, features)
        assert_allclose(own - path.threshold, method.decision_function(d.X), atol=1e-3)
        assert_array_equal(path.class_prior, method.class_prior_)
        alone = method.decision_function(d.X)
        method.fit(d.X, d.y, **d.extra)
        assert_array_equal(alone, method.decision_function(d.X))


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
