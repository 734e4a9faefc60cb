"""A real cluster of processes: workers that die, searches by joblib, addresses."""

import os
import signal
from functools import partial

import dask
import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
)
from decorrupt.distributed import DaskCorrectedLossClassifier, DaskCountLikelihoodClassifier
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.objective import PartitionedObjective
from helpers.partitioned import bag_rows, read_or_die

PARAMS = {"kernel": "linear", "reg_strength": 1e-2, "tol": 1e-8, "random_state": 0}
# A busy machine may take long to start a process.
PATIENCE = {"distributed.comm.timeouts.connect": "180s", "distributed.comm.timeouts.tcp": "180s"}


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set(PATIENCE),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made,
    ):
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture
def at_pass(monkeypatch):
    """Call a function once, after the given pass of the solver."""

    def call(number, function):
        evaluate = PartitionedObjective.value_and_gradient

        def evaluating(self, coef):
            found = evaluate(self, coef)
            if self.n_passes == number:
                function()
            return found

        monkeypatch.setattr(PartitionedObjective, "value_and_gradient", evaluating)

    return call


def test_a_worker_killed_between_passes(client, at_pass):
    """Its partitions are made again."""
    data = bag_rows()
    X, y, bags = data.dask(chunks=300)
    killed = []

    def kill():
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)

    at_pass(2, kill)
    model = DaskCountLikelihoodClassifier(client=client, **PARAMS).fit(X, y, bags=bags)
    assert killed
    expected = CountLikelihoodClassifier(**PARAMS).fit(data.X, data.y, bags=data.bags)
    np.testing.assert_allclose(
        model.to_local().decision_function(data.X), expected.decision_function(data.X), atol=1e-6
    )


def test_a_worker_killed_within_a_pass(client, at_pass, monkeypatch, tmp_path):
    """Rows are read in every pass, and a worker dies while it reads them."""
    monkeypatch.setattr(Engine, "memory", lambda *_: 0)
    data = bag_rows()
    X, y, bags = data.dask(chunks=300)
    trap = tmp_path / "trap"
    fragile = X.map_blocks(partial(read_or_die, trap=trap), dtype=float, meta=np.empty((0, 0)))
    at_pass(2, trap.touch)
    model = DaskCorrectedLossClassifier(client=client, **PARAMS)
    model.fit(fragile, y, bags=bags)
    assert not trap.exists()
    expected = CorrectedLossClassifier(**PARAMS).fit(data.X, data.y, bags=data.bags)
    np.testing.assert_allclose(
        model.to_local().decision_function(data.X), expected.decision_function(data.X), atol=1e-6
    )


def test_searches_run_on_the_cluster_by_joblib(client):
    data = bag_rows(n_rows=240)
    grid = {"reg_strength": [1e-3, 1e-1]}
    searches = [
        BagGridSearchCV(CorrectedLossClassifier(kernel="linear"), grid, cv=2, n_jobs=2),
        AutoLabelProportionsClassifier(candidates=["mean_map"], cv=2, random_state=0, n_jobs=2),
    ]
    for search in searches:
        expected = search.fit(data.X, data.y, bags=data.bags).decision_function(data.X)
        with client.as_current(), joblib.parallel_config("dask"):
            found = search.fit(data.X, data.y, bags=data.bags).decision_function(data.X)
        np.testing.assert_allclose(found, expected, atol=1e-8)
