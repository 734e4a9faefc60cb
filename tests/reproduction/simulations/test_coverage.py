"""The bounds hold in at least 1−δ of 1,000 draws, and the simulation would notice if not."""

import numpy as np
import pytest
from scipy.optimize import minimize

from decorrupt.losses import get_loss
from reproduction.simulations.coverage import (
    CELL_TAIL,
    FREQUENCY,
    N_CELLS,
    disc_grid,
    draw_excess,
    simulate_bound_coverage,
)
from reproduction.simulations.gaussian import GaussianClasses
from reproduction.simulations.sampling import MODELS

OPTIONS = {"radius": 2.0}


@pytest.fixture(scope="module")
def masses():
    return np.array(GaussianClasses().cells(N_CELLS, CELL_TAIL)[1:])


@pytest.mark.parametrize("theorem", MODELS)
class TestCoverage:
    @pytest.mark.parametrize(("loss", "radius"), [("logistic", 2.0), ("sigmoid", 5.0)])
    def test_holds_in_enough_of_1000_draws(self, theorem, loss, radius):
        found = simulate_bound_coverage(theorem, loss=loss, radius=radius, random_state=0)
        assert len(found.deviations) == 1000
        assert found.coverage >= 1 - found.failure_prob
        assert np.mean(found.deviations + found.slack <= found.printed_bound) >= 0.95

    def test_would_notice_a_bound_that_is_too_small(self, theorem):
        found = simulate_bound_coverage(theorem, n_draws=200, random_state=0)
        too_small = 0.9 * found.tightness * found.bound
        assert np.mean(found.deviations <= too_small) < 1 - found.failure_prob

    def test_the_samples_are_unbiased_for_the_risk(self, theorem, masses):
        """Exactly: the mean of what is drawn, cell by cell, is the risk's own coefficients."""
        model = MODELS[theorem](masses, OPTIONS)
        for which, prior, mass in (
            ("coef_pos", model.class_prior, masses[0]),
            ("coef_neg", 1 - model.class_prior, masses[1]),
        ):
            mean = sum(s.size * getattr(s, which) @ s.joint for s in model.samples)
            np.testing.assert_allclose(mean, prior * mass, atol=1e-15)

    def test_probabilities(self, theorem, masses):
        for sample in MODELS[theorem](masses, OPTIONS).samples:
            assert (sample.joint >= 0).all()
            assert sample.joint.sum() == pytest.approx(1)

    def test_the_supremum_lies_between_what_is_found_and_that_plus_slack(self, theorem, masses):
        found = simulate_bound_coverage(theorem, n_draws=2, random_state=5)
        model = MODELS[theorem](masses, OPTIONS)
        excess = draw_excess(model, masses, 2, np.random.default_rng(5))
        points = GaussianClasses().cells(N_CELLS, CELL_TAIL)[0]
        features = np.column_stack([np.cos(FREQUENCY * points), np.sin(FREQUENCY * points)])
        for draw in range(2):
            best = supremum_by_ascent(features, excess[0][draw], excess[1][draw], 2.0)
            least, slack = found.deviations[draw], found.slack[draw]
            assert least - 1e-9 <= best <= least + slack


def supremum_by_ascent(features, excess_pos, excess_neg, radius):
    """Return the largest |deviation| that many local ascents in the disc find."""
    loss = get_loss("logistic")

    def deviation(theta):
        scores = features @ theta
        return excess_pos @ loss.value(scores) + excess_neg @ loss.value(-scores)

    inside = {"type": "ineq", "fun": lambda theta: radius**2 - theta @ theta}
    rng = np.random.default_rng(0)
    starts = [
        radius * direction / np.linalg.norm(direction) for direction in rng.normal(size=(4, 2))
    ]
    starts += [0.5 * start for start in starts]
    return max(
        -minimize(
            lambda theta, sign=sign: -sign * deviation(theta),
            start,
            method="SLSQP",
            constraints=[inside],
            options={"ftol": 1e-12},
        ).fun
        for sign in (1, -1)
        for start in starts
    )


def test_the_grid_covers_the_disc():
    grid, covering = disc_grid(3.0, step=0.1)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 2))
    points *= (
        3.0 * np.sqrt(rng.uniform(size=(2000, 1))) / np.linalg.norm(points, axis=1, keepdims=True)
    )
    nearest = np.linalg.norm(points[:, None] - grid[None], axis=-1).min(axis=1)
    assert nearest.max() <= covering
    assert np.linalg.norm(grid, axis=1).max() <= 3.0 * (1 + 1e-12)
