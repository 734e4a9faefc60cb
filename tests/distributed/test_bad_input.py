"""Bad input: the message names what is wrong, and nothing is left behind."""

import sys
import tempfile

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
    engine,
)
from decorrupt.distributed.engine import Engine
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


def test_a_proportion_that_differs_between_partitions_names_bag_and_partitions(data):
    y = np.where(np.arange(400) < 300, data.y, np.clip(data.y + 0.01, 0, 1))
    said = refusal(data, y=da.from_array(y, chunks=100))
    assert "y differs within bag" in said
    assert "in partition 0" in said
    assert "in partition 3" in said


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


def test_equal_proportions(data):
    y = da.full(400, 0.5, chunks=100)
    assert "have the same proportion 0.5" in refusal(data, y=y)


def test_collections_that_do_not_match(data):
    assert "not a Dask array or dataframe" in refusal(data, X=data.X)
    assert "y is a ndarray" in refusal(data, y=data.y)
    assert "y='share' is a column's name, but X is an array" in refusal(data, y="share")
    frame = dd.from_pandas(pd.DataFrame(data.X, columns=list("abcd")), npartitions=4)
    assert "X has no column 'share' (it has: 'a'" in refusal(data, X=frame, y="share")
    short = dd.from_pandas(pd.Series(data.y), npartitions=3)
    assert "y has 3 partitions and X has 4" in refusal(data, X=frame, y=short)
    named = frame.assign(d="text")
    said = refusal(data, X=named)
    assert "column 'd' of X has dtype" in said


def test_parameters(data):
    for model, words in [
        (DaskCorrectedLossClassifier(kernel=Kernel(max_rank=0)), "max_rank=0"),
        (DaskCorrectedLossClassifier(max_iter=0), "max_iter=0"),
        (DaskCorrectedLossClassifier(solver="newton"), "solver='newton' needs all rows"),
        (DaskCorrectedLossClassifier(kernel="precomputed"), "kernel='precomputed' needs all pairs"),
        (DaskCorrectedLossClassifier(kernel="knn"), "kernel='knn' is made from all rows at once"),
        (DaskMeanMapClassifier(kernel="pca_rbf"), "kernel='pca_rbf' is made from all rows"),
        (DaskCorrectedLossClassifier(reg_strength=0), "reg_strength=0"),
        (DaskMeanMapClassifier(variant="alternating"), "variant='alternating'"),
        (DaskCountLikelihoodClassifier(starts=["nowhere"]), "starts=['nowhere']"),
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
    with pytest.raises(ValueError, match="no entry for source 'nurse'"):
        DaskCorruptedSourcesClassifier(**LINEAR).fit(
            X, y, sources=sources, noise_rates={"web": (0.1, 0.1)}
        )


def test_a_scheduler_that_cannot_be_reached(data, monkeypatch):
    monkeypatch.setattr(engine, "CONNECT_SECONDS", 0.2)
    model = DaskCorrectedLossClassifier(client="tcp://127.0.0.1:9")
    assert "client='tcp://127.0.0.1:9': the scheduler cannot be reached" in refusal(
        data, model=model
    )


def test_a_full_scratch_disk_leaves_nothing_behind(data, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Engine, "memory", lambda *_: 0)
    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X, y, bags = data.dask(chunks=100)
    model = DaskCountLikelihoodClassifier(**LINEAR)
    with pytest.raises(OSError, match=r"scratch folder .*No space left on device.*make space"):
        model.fit(X, y, bags=bags)
    assert not list(tmp_path.iterdir())


def test_the_scratch_folder_is_removed_after_a_fit(data, monkeypatch, tmp_path):
    monkeypatch.setattr(Engine, "memory", lambda *_: 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    written = []
    write = pd.DataFrame.to_parquet
    monkeypatch.setattr(
        pd.DataFrame, "to_parquet", lambda frame, path: (written.append(path), write(frame, path))
    )
    X, y, bags = data.dask(chunks=100)
    DaskCountLikelihoodClassifier(**LINEAR).fit(X, y, bags=bags)
    assert len(written) == 4
    assert not list(tmp_path.iterdir())


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
    assert "same shape" in said(ends[0], da.stack([ends[1], ends[1]], axis=1))
    with pytest.raises(ValueError, match=r"bag_effect=0\.1 cannot be combined with upper="):
        DaskCountLikelihoodClassifier(bag_effect=0.1, **LINEAR).fit(
            X, ends[0], bags=bags, upper=ends[1]
        )
