"""Both estimators are ordinary scikit-learn classifiers, whatever data they learn from."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from decorrupt import CorrectedLossClassifier, CorruptedSourcesClassifier

LLP = CorrectedLossClassifier(reg_strength=0.02, random_state=0)
SOURCES = CorruptedSourcesClassifier(reg_strength=0.02, random_state=0)


@pytest.mark.filterwarnings("ignore")  # the checks feed degenerate data on purpose
@parametrize_with_checks([CorrectedLossClassifier(), CorruptedSourcesClassifier()])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


@pytest.mark.parametrize("routing", [False, True])
def test_pipeline_passes_bags(bag_data, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        pipe = make_pipeline(StandardScaler(), clone(LLP))
        name = "bags" if routing else "labelproportionsclassifier__bags"
        pipe.fit(bag_data.X, bag_data.y, **{name: bag_data.bags})
    assert pipe.score(bag_data.X, bag_data.labels) > 0.88


@pytest.mark.filterwarnings("ignore::decorrupt.NegativeRiskWarning")
def test_grid_search_with_routing_needs_no_set_fit_request(bag_data):
    def whole_bag_folds():
        return GroupKFold(3).split(bag_data.X, groups=bag_data.bags)

    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            clone(LLP),
            {"reg_strength": [1e-2, 1.0]},
            cv=list(whole_bag_folds()),
            scoring=lambda estimator, X, y: -np.abs(estimator.predict(X).mean() - y.mean()),
        )
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert search.best_estimator_.score(bag_data.X, bag_data.labels) > 0.85


def test_cross_validate_with_sources(source_data):
    d = source_data
    with sklearn.config_context(enable_metadata_routing=True):
        out = cross_validate(
            clone(SOURCES).set_params(noise_rates=d.rates),
            d.X,
            d.noisy,
            params={"sources": d.sources},
            cv=3,
        )
    assert len(out["test_score"]) == 3


def test_pickle_keeps_every_prediction(bag_data):
    model = clone(LLP).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 — our own bytes
    np.testing.assert_array_equal(
        again.decision_function(bag_data.X), model.decision_function(bag_data.X)
    )
    assert str(again.diagnostics_) == str(model.diagnostics_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_column_names(bag_data, frame):
    table = frame({"height": bag_data.X[:, 0], "weight": bag_data.X[:, 1]})
    model = clone(LLP).fit(table, bag_data.y, bags=bag_data.bags)
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    plain = clone(LLP).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    np.testing.assert_allclose(
        model.decision_function(table), plain.decision_function(bag_data.X), rtol=1e-9
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_equals_dense(bag_data, kernel):
    model = clone(LLP).set_params(kernel=kernel, kernel_gamma=0.5, rank_tol=0.0)
    dense = clone(model).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    as_sparse = sparse.csr_matrix(bag_data.X)
    from_sparse = clone(model).fit(as_sparse, bag_data.y, bags=bag_data.bags)
    np.testing.assert_allclose(
        from_sparse.decision_function(as_sparse),
        dense.decision_function(bag_data.X),
        rtol=1e-4,
        atol=1e-6,
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_float32_stays_float32(bag_data, kernel):
    X = bag_data.X.astype(np.float32)
    model = clone(LLP).set_params(kernel=kernel).fit(X, bag_data.y, bags=bag_data.bags)
    scores = model.decision_function(X)
    assert scores.dtype == np.float32
    full = clone(LLP).set_params(kernel=kernel).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    np.testing.assert_allclose(scores, full.decision_function(bag_data.X), atol=0.05)


def test_unfitted_says_so(bag_data):
    with pytest.raises(NotFittedError):
        CorrectedLossClassifier().predict_proba(bag_data.X)
