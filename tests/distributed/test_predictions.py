"""Lazy predictions keep the partitions; `to_local` gives an ordinary estimator."""

import pickle

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import decorrupt
from decorrupt.distributed import (
    Chunk,
    DaskCorrectedLossClassifier,
    DaskMeanMapClassifier,
    Partition,
    partition_value_and_gradient,
)
from decorrupt.distributed.features import LinearFeatures
from decorrupt.distributed.partition import ScoreModel
from decorrupt.features import Kernel
from decorrupt.losses import class_loss
from decorrupt.risks import CorrectedRisk
from helpers.partitioned import bag_rows


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def data(request):
    return bag_rows(n_classes=request.param)


def test_arrays(data):
    X, y, bags = data.dask()
    model = DaskMeanMapClassifier(kernel="linear").fit(X, y, bags=bags)
    local = model.to_local()
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(X)
        assert lazy.chunks[0] == X.chunks[0]
        found = lazy.compute()
        assert found.shape == lazy.shape
        assert found.dtype == lazy.dtype
        np.testing.assert_allclose(found, getattr(local, method)(data.X), rtol=1e-12)
    prior = 0.2 if len(model.classes_) == 2 else [0.2, 0.3, 0.5]
    np.testing.assert_allclose(
        model.predict_proba(X, class_prior=prior).compute(),
        local.predict_proba(data.X, class_prior=prior),
        rtol=1e-12,
    )
    np.testing.assert_array_equal(model.predict(data.X), local.predict(data.X))


def test_dataframes(data):
    names = ["one", "two", "three", "four"]
    table = pd.DataFrame(data.X, columns=names).set_index(np.arange(600) * 2)
    targets = data.y.reshape(600, -1)
    shares = [f"class {k}" for k in range(targets.shape[1])]
    table[shares], table["bag"] = targets, data.bags
    frame = dd.from_pandas(table, npartitions=4)
    y = shares[0] if len(shares) == 1 else shares
    model = DaskMeanMapClassifier(kernel="linear").fit(frame, y, bags="bag")
    if len(shares) > 1:
        assert model.classes_.tolist() == shares
    empty = dd.concat([frame, dd.from_pandas(table.iloc[:0], npartitions=1)])
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(frame)
        assert lazy.npartitions == frame.npartitions
        found = lazy.compute()
        expected = getattr(model.to_local(), method)(table[names])
        if method == "predict":
            assert found.tolist() == expected.tolist()
        else:
            np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)
        assert found.index.equals(table.index)
        assert len(getattr(model, method)(empty).compute()) == 600
    assert list(model.predict_proba(frame).columns) == model.classes_.tolist()
    with pytest.raises(ValueError, match="X has no column 'two'"):
        model.predict(frame.drop(columns="two"))


def test_the_local_estimator_is_saved_like_any_other(data, tmp_path):
    X, y, bags = data.dask()
    model = DaskCorrectedLossClassifier(kernel=Kernel(max_rank=20), reg_strength=0.1)
    local = model.fit(X, y, bags=bags).to_local()
    assert type(local) is decorrupt.CorrectedLossClassifier
    assert local.diagnostics_.n_bags == len(np.unique(data.bags))
    decorrupt.save(local, tmp_path / "model.skops")
    loaded = decorrupt.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(X).compute())


def test_parameters_are_those_of_the_twin_and_the_client():
    local = decorrupt.CorrectedLossClassifier().get_params()
    model = DaskCorrectedLossClassifier(loss="huber")
    assert model.get_params() == local | {"client": None, "loss": "huber"}
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "DaskCorrectedLossClassifier(loss='huber')"
    with pytest.raises(NotFittedError):
        model.to_local()


# --- the function that is sent to the workers


MODEL = ScoreModel(LinearFeatures(), rank=3, fit_intercept=True)


def corrected_partition(rng, n_rows):
    terms = rng.normal(size=(n_rows, 2))
    rows = rng.normal(size=(n_rows, 3))
    return rows, terms, Partition([Chunk(rows, (CorrectedRisk(terms, class_loss("logistic", 2)),))])


def test_value_and_gradient_by_hand_after_pickling():
    rng = np.random.default_rng(0)
    rows, terms, partition = corrected_partition(rng, 7)
    coef = rng.normal(size=4)

    def value(coef):
        f = rows @ coef[:3] + coef[3]
        return terms[:, 1] @ np.log1p(np.exp(-f)) + terms[:, 0] @ np.log1p(np.exp(f))

    sent = pickle.loads(pickle.dumps((partition_value_and_gradient, partition, MODEL)))  # noqa: S301
    values, gradients = sent[0](sent[1], coef, sent[2])
    assert values == pytest.approx([value(coef)])
    np.testing.assert_allclose(gradients[0], approx_fprime(coef, value), atol=1e-5)
