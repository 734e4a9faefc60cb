"""A fit that is interrupted resumes from its checkpoint, also after kill −9."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from decorrupt.distributed import DaskCorrectedLossClassifier, DaskCountLikelihoodClassifier
from decorrupt.distributed.checkpoint import Checkpoint
from decorrupt.features import Kernel
from helpers.partitioned import bag_rows

RANDOM = Kernel(features="random", max_rank=30)
PARAMS = {"kernel": RANDOM, "reg_strength": 1e-3, "tol": 1e-9}
PATIENCE_SECONDS = 120

KILLED = """
import sys, time
sys.path[:0] = {path!r}
from decorrupt.distributed import objective, sample
from decorrupt.distributed.checkpoint import Checkpoint
from test_checkpoint import PARAMS, DaskCountLikelihoodClassifier, bag_rows
sample.SAMPLE_ROWS, sample.ROWS_PER_BAG = 120, 30
write = Checkpoint.write
def slow(*args):
    write(*args)
    time.sleep(0.2)  # time to be killed
Checkpoint.write = slow
X, y, bags = bag_rows().dask()
DaskCountLikelihoodClassifier(checkpoint={file!r}, **PARAMS).fit(X, y, bags=bags)
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kill_9_of_the_client_and_resume(tmp_path):
    file = tmp_path / "coefficients.npz"
    code = KILLED.format(path=[str(Path(__file__).parent), *sys.path], file=str(file))
    process = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603 — ours
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not file.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert file.exists()
    seed = Checkpoint(file).seed()
    data = bag_rows()
    X, y, bags = data.dask()
    resumed = DaskCountLikelihoodClassifier(checkpoint=file, **PARAMS).fit(X, y, bags=bags)
    undisturbed = DaskCountLikelihoodClassifier(random_state=seed, **PARAMS).fit(X, y, bags=bags)
    np.testing.assert_array_equal(resumed.frequencies_, undisturbed.frequencies_)
    np.testing.assert_allclose(
        resumed.to_local().decision_function(data.X),
        undisturbed.to_local().decision_function(data.X),
        atol=1e-6,
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_finished_checkpoint_needs_few_passes(tmp_path):
    X, y, bags = bag_rows().dask()
    model = DaskCorrectedLossClassifier(checkpoint=tmp_path / "c.npz", random_state=0, **PARAMS)
    model.set_params(tol=1e-6)
    first, again = (model.fit(X, y, bags=bags).n_passes_ for _ in range(2))
    assert again <= 5 < first


def test_another_problem_is_refused_with_the_difference(tmp_path):
    data = bag_rows()
    X, y, bags = data.dask()
    model = DaskCorrectedLossClassifier(
        kernel="linear", checkpoint=tmp_path / "c.npz", random_state=0
    )
    model.fit(X, y, bags=bags)
    with pytest.raises(
        ValueError, match=r"reg_strength was .*auto.* and is '0.5'. Delete the file"
    ):
        model.set_params(reg_strength=0.5).fit(X, y, bags=bags)
    model.set_params(reg_strength="auto")
    with pytest.raises(ValueError, match="another problem: bags was"):
        model.fit(X, (y * 0.5).rechunk(y.chunks), bags=bags)
    with pytest.raises(ValueError, match="another problem: columns was"):
        model.fit(X + 1, y, bags=bags)


def test_a_file_that_is_not_a_checkpoint(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("not coefficients")
    X, y, bags = bag_rows().dask()
    with pytest.raises(ValueError, match=r"notes.txt' is not a checkpoint"):
        DaskCorrectedLossClassifier(checkpoint=file).fit(X, y, bags=bags)
    assert file.read_text() == "not coefficients"
