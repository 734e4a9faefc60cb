"""Class shares: columns, targets, the class prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.observed import as_targets, class_columns, inside, resolve_class_prior

POOLED = {2: np.array([0.7, 0.3]), 3: np.array([0.5, 0.3, 0.2])}


def test_a_share_of_positives_is_two_columns_and_back():
    columns = class_columns([0.25, 1.0])
    assert columns.tolist() == [[0.75, 0.25], [0, 1]]
    assert as_targets(columns).tolist() == [0.25, 1.0]
    three = np.array([[0.2, 0.3, 0.5]])
    assert class_columns(three) is three
    assert as_targets(three) is three


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_inside_are_never_zero_or_one(n_classes):
    found = inside(np.eye(n_classes)[0], 100)
    assert found.sum() == pytest.approx(1)
    assert (found > 0).all()
    assert found[1] == pytest.approx(0.005, rel=0.02)
    assert_allclose(inside(POOLED[n_classes], 100), POOLED[n_classes])


class TestClassPrior:
    @pytest.mark.parametrize("prior", [0.25, np.float32(0.25), [0.75, 0.25]])
    def test_of_two_classes(self, prior):
        found = resolve_class_prior(prior, POOLED[2])
        assert found.dtype == float
        assert found.tolist() == [0.75, 0.25]

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_one_half_is_equal_shares(self, n_classes):
        assert_allclose(resolve_class_prior(0.5, POOLED[n_classes]), 1 / n_classes)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_pooled(self, n_classes):
        assert resolve_class_prior("pooled", POOLED[n_classes]) is POOLED[n_classes]

    @pytest.mark.parametrize(
        "prior", [0, 1, -0.2, 1.5, np.nan, np.inf, "balanced", [0.5, 0.6], [0.2, 0.3, 0.5], [1, 0]]
    )
    def test_bad_ones_of_two_classes(self, prior):
        with pytest.raises(
            ValueError, match=r"prior=.*: give a number strictly between 0 and 1, 2"
        ):
            resolve_class_prior(prior, POOLED[2], "prior")

    @pytest.mark.parametrize("prior", [0.3, "equal", [0.5, 0.5], [0.5, 0.5, 0.0], [0.7, 0.7, -0.4]])
    def test_bad_ones_of_several(self, prior):
        with pytest.raises(
            ValueError, match=r"class_prior=.*: give 3 posit.* 0\.5 for equal shares, or 'pooled'"
        ):
            resolve_class_prior(prior, POOLED[3])
