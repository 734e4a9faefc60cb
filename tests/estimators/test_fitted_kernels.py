"""Kernels made from the training rows, in every kernel estimator, in searches and in files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from decorrupt import (
    AutoLabelProportionsClassifier,
    AutoSourcesClassifier,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
    load,
    save,
)
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.features import FROM_ALL_ROWS, Kernel, maps
from decorrupt.model_selection.grids import kernel_settings
from helpers.estimators import WITH_FEATURES, name_of, training_data
from oracles.diffusion import extend

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


@for_kernels
def test_sparse_and_single_precision_rows_give_the_same_model(kernel, bag_data):
    d = bag_data
    model = MeanMapClassifier(
        kernel=Kernel(kernel, gamma=0.1, rank_tol=0), reg_strength=0.1, random_state=0
    )
    expected = model.fit(d.X, d.y, bags=d.bags).decision_function(d.X)
    X = sparse.csr_matrix(d.X)
    assert_allclose(model.fit(X, d.y, bags=d.bags).decision_function(X), expected, atol=1e-5)
    X = d.X.astype(np.float32)
    single = model.fit(X, d.y, bags=d.bags).decision_function(X)
    assert single.dtype == np.float32
    assert_allclose(single, expected, atol=1e-2)


def test_the_score_of_a_new_row_is_the_mean_of_those_of_its_nearest_rows(bag_data, monkeypatch):
    monkeypatch.setattr(maps, "MAX_GRAPH_ROWS", 200)
    d = bag_data
    model = CountLikelihoodClassifier(kernel="knn", random_state=0).fit(d.X, d.y, bags=d.bags)
    assert model.landmarks_.shape == (200, d.X.shape[1])
    new = d.X[:20] + 0.1
    means = np.array([extend(x, model.landmarks_, model.dual_coef_) for x in new])
    expected = means + model.intercept_ - model.decision_threshold_
    assert_allclose(model.decision_function(new), expected)


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


def test_a_search_takes_them_and_tries_kernel_gamma_only_where_there_is_one(bag_data):
    d = bag_data
    search = AutoLabelProportionsClassifier(
        candidates=["mean_map"],
        kernels=FROM_ALL_ROWS,
        kernel_gammas=("scale", 0.1),
        reg_strengths=(0.1, 0.01),
        cv=3,
        random_state=0,
    ).fit(d.X, d.y, bags=d.bags)
    tried = [setting["kernel"] for setting in kernel_settings(FROM_ALL_ROWS, (1.0, 0.1), d.X)]
    assert [tried.count(kernel) for kernel in FROM_ALL_ROWS] == [1, 2, 2, 1]
    assert search.score(d.X, d.labels) > 0.85


def test_a_search_on_sources_takes_them(source_data):
    search = AutoSourcesClassifier(
        kernels=("knn", "pca_rbf"), reg_strengths=(0.01,), cv=2, random_state=0
    )
    d = training_data(search, None, source_data)
    search.fit(d.X, d.y, **d.extra)
    assert search.score(d.X, d.labels) > 0.85


@for_kernels
@pytest.mark.parametrize("model", [InvCalClassifier(), AlternatingPSVMClassifier()], ids=name_of)
def test_methods_that_need_pairs_of_rows_refuse_them(model, kernel, bag_data):
    d = bag_data
    with pytest.raises(ValueError, match=f"kernel='{kernel}' is made from all training rows"):
        clone(model).set_params(kernel=kernel).fit(d.X, d.y, bags=d.bags)
