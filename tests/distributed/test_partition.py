"""The one function that is sent to the workers."""

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from decorrupt.distributed import (
    Chunk,
    Partition,
    partition_value_and_gradient,
)
from decorrupt.distributed.features import LinearFeatures
from decorrupt.distributed.partition import ScoreModel
from decorrupt.losses import class_loss
from decorrupt.risks import CorrectedRisk

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


def test_sums_of_two_partitions_are_the_sum_of_their_rows():
    rng = np.random.default_rng(1)
    parts = [corrected_partition(rng, n)[2] for n in (4, 9)]
    both = Partition([chunk for part in parts for chunk in part.chunks])
    coef = rng.normal(size=4)
    found = [partition_value_and_gradient(part, coef, MODEL) for part in parts]
    expected = partition_value_and_gradient(both, coef, MODEL)
    for k in range(2):
        np.testing.assert_allclose(found[0][k] + found[1][k], expected[k])


def test_a_partition_without_rows_adds_nothing():
    values, gradients = partition_value_and_gradient(Partition([]), np.ones(4), MODEL)
    assert not values.any()
    assert gradients.shape == (1, 4)
    assert not gradients.any()
