"""The one function that is sent to the workers."""

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from decorrupt.distributed import Chunk, Partition, partition_value_and_gradient
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
