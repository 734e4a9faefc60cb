"""Rows that represent many: the Dask estimators solve the weighted problems of their twins."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from helpers.partitioned import RATES, as_dask, bag_rows, pair, source_rows

AUTO = {"kernel": "linear", "reg_strength": "auto"}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def assert_same(by_dask, local, X):
    found, expected = by_dask.to_local().decision_function(X), local.decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=0)
    assert by_dask.reg_strength_ == pytest.approx(local.reg_strength_)
    assert by_dask.class_prior_ == pytest.approx(local.class_prior_, abs=1e-6)


def weighted_bags(n_classes=2, **kind):
    """Bags whose rows represent 0 to 3 rows each; all rows of the first partition for none."""
    data = bag_rows(n_classes=n_classes, **kind)
    weights = np.random.default_rng(5).integers(0, 4, len(data.bags))
    weights[:170] = 0
    counts = np.zeros((data.bags.max() + 1, n_classes))
    np.add.at(counts, (data.bags, data.labels), weights)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares[~counts.any(axis=1), 0] = 1.0
    data.y = (shares[:, 1] if n_classes == 2 else shares)[data.bags]
    return data, weights


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.BagAssumptionWarning")
@quiet
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("CorrectedLossClassifier", {}),
        ("MeanMapClassifier", {}),
        ("CountLikelihoodClassifier", {}),
        ("CountLikelihoodClassifier", {"count_noise": 0.8}),
    ],
    ids=str,
)
def test_bags(name, params, n_classes):
    data, weights = weighted_bags(n_classes)
    X, y, bags, sample_weight = as_dask(data.X + 1, data.y, data.bags, weights)
    by_dask, local = pair(name, **AUTO, **params)
    by_dask.fit(X, y, bags=bags, sample_weight=sample_weight)
    local.fit(data.X + 1, data.y, bags=data.bags, sample_weight=weights)
    assert_same(by_dask, local, data.X + 1)
    if name == "CorrectedLossClassifier":
        found, expected = by_dask.diagnostics_, local.diagnostics_
        assert found.risk_std_error == pytest.approx(expected.risk_std_error)
        assert found.effective_sample_size == pytest.approx(expected.effective_sample_size)


@quiet
def test_fractions_of_labelled_rows_in_a_column():
    """Labels can have any weights; all rows of a class are one bag that crosses partitions."""
    data = bag_rows()
    weights = np.random.default_rng(6).random(len(data.X))
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(label=data.labels, people=weights)
    by_dask, local = pair("CountLikelihoodClassifier", **AUTO)
    by_dask.fit(dd.from_pandas(frame, npartitions=4), "label", sample_weight="people")
    local.fit(frame[list("abcd")], data.labels, sample_weight=weights)
    assert_same(by_dask, local, frame[list("abcd")])


@quiet
@pytest.mark.parametrize("combine", ["sources", "superbag"])
def test_sources(combine):
    X, y, sources = source_rows()
    weights = np.random.default_rng(5).choice([0, 0.5, 1, 7], len(y))
    by_dask, local = pair("CorruptedSourcesClassifier", combine=combine, **AUTO)
    rows, labels, ids, sample_weight = as_dask(X, y, sources, weights)
    by_dask.fit(rows, labels, sources=ids, noise_rates=RATES, sample_weight=sample_weight)
    local.fit(X, y, sources=sources, noise_rates=RATES, sample_weight=weights)
    assert_same(by_dask, local, X)
    found, expected = by_dask.diagnostics_, local.diagnostics_
    assert found.risk_std_error == pytest.approx(expected.risk_std_error)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({300: -1.0}, r"partition 1: sample_weight\[130\] = -1: a row represents a finite number"),
        ({3: 2.5}, r"partition 0: sample_weight\[3\] = 2\.5 is not a whole number"),
        (dict.fromkeys(range(600), 0.0), "none with a positive sample_weight"),
    ],
)
def test_bad_weights_are_named(values, message):
    data = bag_rows()
    weights = np.ones(600)
    weights[list(values)] = list(values.values())
    X, y, bags, sample_weight = as_dask(*data[:3], weights)
    with pytest.raises(ValueError, match=message):
        pair("CorrectedLossClassifier", **AUTO)[0].fit(X, y, bags=bags, sample_weight=sample_weight)


def test_estimated_rates_refuse_weights():
    X, y, sources = as_dask(*source_rows())
    model = pair("CorruptedSourcesClassifier", **AUTO)[0]
    known = {"noise_rates": "estimate", "sample_weight": 2 * da.ones_like(y, dtype=float)}
    with pytest.raises(ValueError, match="noise_rates='estimate' cannot use sample_weight"):
        model.fit(X, y, sources=sources, **known)
