"""Features in single precision are never copied to double precision."""

import tracemalloc

import numpy as np
import pytest

from decorrupt import (
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
)
from decorrupt.features import Kernel

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
