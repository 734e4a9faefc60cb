"""Data shared by the tests: two Gaussian classes, whose labels only the tests may see."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from decorrupt.corruption import corrupt_labels
from decorrupt.observed import Observed, class_columns

# No deadlines, because a busy machine is no failure; the same examples in every run, because a
# change should fail for what it did.
settings.register_profile("decorrupt", deadline=None, derandomize=True)
settings.load_profile("decorrupt")


def only_to_read(**arrays):
    """Return a namespace of arrays that all tests of a run share."""
    for array in arrays.values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return SimpleNamespace(**arrays)


@pytest.fixture(scope="session")
def bag_data():
    """600 rows in 60 bags of 10 with spread proportions; the Bayes rule errs on about 8 %."""
    rng = np.random.default_rng(7)
    n_bags, bag_size = 60, 10
    counts = rng.integers(0, bag_size + 1, n_bags)
    labels = (np.arange(bag_size) < counts[:, None]).ravel().astype(int)
    X = rng.normal(size=(len(labels), 2)) + 2 * labels[:, None]
    bags = np.repeat(np.arange(n_bags), bag_size)
    shares = counts / bag_size
    return only_to_read(X=X, labels=labels, bags=bags, shares=shares, y=shares[bags])


@pytest.fixture(scope="session")
def source_data():
    """900 rows from three sources of one distribution, flipped at different rates."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 900)
    X = rng.normal(size=(900, 2)) + 2 * labels[:, None]
    sources = np.array(["expert", "crowd", "rule"])[np.arange(900) % 3]
    rates = {"expert": (0.05, 0.05), "crowd": (0.2, 0.3), "rule": (0.4, 0.1)}
    noisy = labels.copy()
    for source, pair in rates.items():
        rows = sources == source
        noisy[rows] = corrupt_labels(labels[rows], pair, random_state=1)
    return only_to_read(X=X, labels=labels, noisy=noisy, sources=sources, rates=rates)


@pytest.fixture
def pure_bags():
    """Bags of one class each: proportions are labels, and estimates have to be exact."""
    rng = np.random.default_rng(0)
    bags = np.arange(200) // 5
    labels = rng.integers(0, 2, 40)[bags]
    scores = rng.normal(size=200) + labels
    shares = class_columns(labels[::5])
    observed = Observed(np.array([0, 1]), np.arange(40).astype(str), bags, shares)
    return observed, labels, scores, 1 / (1 + np.exp(-scores))
