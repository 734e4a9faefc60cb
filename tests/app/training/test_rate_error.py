"""The error that estimated rates add to held-out results."""

import numpy as np
import pytest

from decorrupt.app.training.rate_error import STEP, RateError
from decorrupt.app.training.results import Measured
from decorrupt.corruption import Strata


def strata(first, second):
    return Strata(np.array(["−", "+"]), np.array([0, 1]), np.array([first, second]))


def test_a_product_by_hand():
    """f = a·b at (.2, .5), Σ = [[.04, .01], [.01, .09]]: gᵀΣg = .25·.04 + 2·.1·.01 + .04·.09."""
    moved = [strata(0.2 + STEP, 0.5), strata(0.2, 0.5 + STEP)]
    error = RateError(strata(0.2, 0.5), moved, np.array([[0.04, 0.01], [0.01, 0.09]]))

    def product(at):
        return {"f": Measured(value=float(at.proportions.prod()), std_error=0.3)}

    assert error.of(lambda at: [at.proportions.prod()]) == pytest.approx(
        [np.sqrt(0.0156)], rel=1e-4
    )
    found = error.added_to(product(error.strata), product)
    assert found["f"]["value"] == pytest.approx(0.1)
    assert found["f"]["std_error"] == pytest.approx(np.sqrt(0.09 + 0.0156), rel=1e-4)


def test_known_rates_add_nothing():
    error = RateError(strata(0.2, 0.5), (), np.zeros((0, 0)))
    found = {"f": Measured(value=1.0, std_error=0.3), "g": Measured(value=None, std_error=None)}
    assert error.added_to(found, lambda _: found) == found
