"""Bad input: the message names what is wrong, and nothing is left behind."""

import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from decorrupt.distributed import (
    DaskCorrectedLossClassifier,
    DaskCorruptedSourcesClassifier,
    DaskCountLikelihoodClassifier,
    DaskMeanMapClassifier,
)
from decorrupt.features import Kernel
from helpers.partitioned import bag_rows, source_rows

LINEAR = {"kernel": "linear", "random_state": 0}


def stacked(*parts):
    """A Dask array with these blocks, not checked by Dask."""
    return da.concatenate(
        [da.from_delayed(dask.delayed(p), shape=(len(p), 4), dtype=float) for p in parts]
    )


@pytest.fixture
def data():
    return bag_rows(n_rows=400)


def refusal(data, X=None, y=None, bags=None, model=None):
    given = data.dask(chunks=100)
    model = DaskCorrectedLossClassifier(**LINEAR) if model is None else model
    with pytest.raises(ValueError) as caught:
        model.fit(
            given[0] if X is None else X,
            given[1] if y is None else y,
            bags=given[2] if bags is None else bags,
        )
    return str(caught.value)


def test_partitions_of_different_width_or_dtype(data):
    parts = np.split(data.X, 4)
    wide = stacked(*parts[:2], np.ones((100, 5)), parts[3])
    said = refusal(data, X=wide)
    assert "n_columns=4 in partition 0" in said
    assert "n_columns=5 in partition 2" in said
    said = refusal(data, X=stacked(*parts[:3], parts[3].astype(np.float32)))
    assert "dtype=float64 in partition 0" in said
    assert "dtype=float32 in partition 3" in said


def test_a_bag_in_two_partitions_is_named(data):
    bags = np.where(data.bags == data.bags[310], data.bags[0], data.bags)
    said = refusal(data, y=da.full(400, 0.5, chunks=100), bags=da.from_array(bags, chunks=100))
    assert f"bag {data.bags[0]} is in partition 0 and in partition 3" in said


def test_a_proportion_that_differs_within_a_partition(data):
    y = data.y.copy()
    y[150] += 0.01
    assert f"partition 1: y differs within bag {data.bags[150]}" in refusal(
        data, y=da.from_array(y, chunks=100)
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_values_name_partition_row_and_column(data, value):
    data.X[213, 2] = value
    said = refusal(data)
    assert f"X contains {value} in partition 2, row 13, column 2" in said


def test_missing_proportions_and_bags(data):
    y = data.y.copy()
    y[350] = np.nan
    assert "partition 3: y[50] = nan" in refusal(data, y=da.from_array(y, chunks=100))
    ids = data.bags.astype(float)
    ids[205] = np.nan
    assert "bags has no id in row 5" in refusal(data, bags=da.from_array(ids, chunks=100))


def test_collections_that_do_not_match(data):
    assert "not a Dask array or dataframe" in refusal(data, X=data.X)
    assert "y is a ndarray: X is an array, so give a Dask array" in refusal(data, y=data.y)
    assert "y is 'share': X is an array, so give a Dask array" in refusal(data, y="share")
    short = da.from_array(data.y, chunks=200)
    said = refusal(data, y=short)
    assert "y has the chunks ((200, 200),) and X has ((100, 100, 100, 100), (4,))" in said
    moved = da.from_array(data.y, chunks=((90, 110, 100, 100),))
    assert ": X has 100 rows, y " in refusal(data, y=moved)
    split = da.from_array(data.X, chunks=(100, 2))
    assert "X has the chunks ((100, 100, 100, 100), (2, 2))" in refusal(data, X=split)
    frame = dd.from_pandas(pd.DataFrame(data.X, columns=list("abcd")), npartitions=4)
    assert "X has no column 'share' (it has: 'a'" in refusal(data, X=frame, y="share")
    assert "for a dataframe X give the name of a column" in refusal(data, X=frame, y=frame["a"])
    named = frame.assign(d="text", share=0.5, bag=1)
    said = refusal(data, X=named, y="share", bags="bag")
    assert "column 'd' of X has dtype" in said


def test_parameters(data):
    for model, words in [
        (DaskCorrectedLossClassifier(kernel=Kernel(max_rank=0)), "max_rank=0"),
        (DaskCorrectedLossClassifier(kernel="precomputed"), "kernel='precomputed' needs all pairs"),
        (DaskCorrectedLossClassifier(kernel="knn"), "kernel='knn' is made from all rows at once"),
        (DaskMeanMapClassifier(kernel="pca_rbf"), "kernel='pca_rbf' is made from all rows"),
        (DaskCountLikelihoodClassifier(bag_effect=-1), "bag_effect=-1"),
        (DaskCorrectedLossClassifier(client=3), "client=3: give a dask.distributed Client"),
    ]:
        assert words in refusal(data, model=model)
    with pytest.raises(TypeError, match="nonsense"):
        DaskCorrectedLossClassifier(nonsense=1)


def test_noise_rates_per_row():
    X, y, sources = source_rows()
    X, y, sources = (da.from_array(v, chunks=200) for v in (X, y, sources))
    with pytest.raises(ValueError, match="noise_rates per row are not available"):
        DaskCorruptedSourcesClassifier(**LINEAR).fit(X, y, noise_rates=np.zeros((600, 2)))


def test_a_missing_extra_is_named(data, monkeypatch):
    X, y, bags = data.dask()
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'decorrupt\[dask\]'"):
        DaskCorrectedLossClassifier().fit(X, y, bags=bags)


def test_the_number_of_passes_is_bounded(data):
    X, y, bags = data.dask()
    model = DaskCorrectedLossClassifier(max_iter=1, tol=1e-12, **LINEAR)
    with pytest.warns(UserWarning, match="max_iter reached"):
        model.fit(X, y, bags=bags)
    assert model.n_passes_ == 5  # the solver's two, the bags, the sample and the report


def test_ranges(data):
    """Each is named: no bags, other ends in a partition, other columns, an empty range."""
    X, y, bags = data.dask(chunks=100)
    model = DaskCountLikelihoodClassifier(**LINEAR)

    def said(y, upper, bags=bags):
        with pytest.raises(ValueError) as caught:
            model.fit(X, y, bags=bags, upper=upper)
        return str(caught.value)

    assert "pass bags=" in said(y, y, bags=None)
    low, high = data.y * 0.5, data.y * 0.5 + 0.5
    ends = [da.from_array(values, chunks=100) for values in (low, high)]
    assert "lower end" in said(*ends[::-1])
    last = high.copy()
    bag = data.bags[data.bags == data.bags[0]][0]
    last[np.flatnonzero(data.bags == bag)[-1]] -= 0.2
    assert f"bag {bag}" in said(ends[0], da.from_array(last, chunks=100))
    last[:] = high
    last[7] = np.nan
    found = said(ends[0], da.from_array(last, chunks=100))
    assert f"partition 0: upper[7] = nan (bag {data.bags[7]})" in found
    assert "same shape" in said(ends[0], da.stack([ends[1]] * 2, axis=1).rechunk({1: 2}))
    model.set_params(bag_effect=0.1)
    assert "bag_effect=0.1 cannot be combined with upper=" in said(*ends)
