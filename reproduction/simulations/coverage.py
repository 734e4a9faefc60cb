"""Simulated coverage of the bounds: how often the largest deviation is within the bound.

The rows lie in cells of the real line, with the exact probabilities of two Gaussian classes. The
kernel is k(x, x') = cos(ω(x−x')), with features z(x) = (cos ωx, sin ωx) and K = 1. Its ball is a
disc, so the supremum is searched on a grid of the disc; between grid points the deviation changes
by at most its Lipschitz constant times the grid's covering radius, the slack. The supremum lies
between the largest deviation found and that plus the slack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decorrupt.losses import MarginLoss, get_loss
from reproduction import FloatArray
from reproduction.simulations.gaussian import GaussianClasses
from reproduction.simulations.sampling import MODELS, Model

N_CELLS = 48
CELL_TAIL = 3.0
FREQUENCY = 0.75  # small enough that the features do not wrap around between the classes
GRID_STEP = 0.04  # of the disc of radius 1


@dataclass(frozen=True, eq=False)
class Coverage:
    """Largest deviations of many draws, and the bound.

    Attributes
    ----------
    deviations : ndarray of shape (n_draws,)
        The largest |empirical − true risk| found in the ball; the supremum is at least this.
    slack : ndarray of shape (n_draws,)
        The supremum is at most deviations + slack.
    bound, printed_bound : float
        The repaired bound and the printed one.
    failure_prob : float
        δ.
    """

    deviations: FloatArray
    slack: FloatArray
    bound: float
    printed_bound: float
    failure_prob: float

    @property
    def coverage(self) -> float:
        """Share of draws whose supremum is certainly within the bound."""
        return float(np.mean(self.deviations + self.slack <= self.bound))

    @property
    def tightness(self) -> float:
        """The (1−δ) quantile of the deviations divided by the bound; 1 is a tight bound."""
        return float(np.quantile(self.deviations, 1 - self.failure_prob) / self.bound)


def simulate_bound_coverage(
    theorem: str = "label_proportions",
    *,
    n_draws: int = 1000,
    radius: float = 2.0,
    loss: str | MarginLoss = "logistic",
    failure_prob: float = 0.05,
    random_state: int | np.random.Generator | None = None,
) -> Coverage:
    """Return sup over ‖f‖ ≤ R of |empirical − true risk| for many samples, and the bound.

    Parameters
    ----------
    theorem : {"common_source", "varying_priors", "label_proportions", "strata"}
        Which bound: Theorem 2, 3, 4 (each row of a pair assigned to a bag at random), or strata of
        fixed sizes combined with ``superbag``.
    n_draws : int
        Number of samples to draw.
    radius : float
        R.
    loss : str or MarginLoss
        A Lipschitz loss.
    failure_prob : float
        δ.
    random_state : int, Generator or None
        Source of the random draws.

    Examples
    --------
    >>> simulate_bound_coverage("common_source", n_draws=20, random_state=0).coverage
    1.0
    """
    if theorem not in MODELS:
        raise ValueError(f"unknown theorem {theorem!r}: choose one of {', '.join(MODELS)}")
    loss, rng = get_loss(loss), np.random.default_rng(random_state)
    points, *masses = GaussianClasses().cells(N_CELLS, CELL_TAIL)
    options = {
        "radius": radius,
        "lipschitz": loss.lipschitz,
        "at_zero": loss.at_zero,
        "failure_prob": failure_prob,
    }
    model = MODELS[theorem](np.array(masses), options)
    excess_pos, excess_neg = draw_excess(model, np.array(masses), n_draws, rng)
    features = np.column_stack([np.cos(FREQUENCY * points), np.sin(FREQUENCY * points)])
    grid, covering = disc_grid(radius)
    scores = features @ grid.T
    found = np.abs(excess_pos @ loss.value(scores) + excess_neg @ loss.value(-scores)).max(axis=1)
    steepness = loss.lipschitz * (np.abs(excess_pos) + np.abs(excess_neg)).sum(axis=1)
    return Coverage(found, steepness * covering, model.bound, model.printed_bound, failure_prob)


def disc_grid(radius: float, step: float = GRID_STEP) -> tuple[FloatArray, float]:
    """Return grid points of the disc and their covering radius."""
    axis = np.arange(-1, 1 + step, step)
    square = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    inside = square[np.linalg.norm(square, axis=1) <= 1]
    angles = np.arange(0, 2 * np.pi, step)
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    # A grid cell at the edge may have corners outside the disc: there a rim point is close enough.
    return radius * np.vstack([inside, rim]), radius * step


def draw_excess(
    model: Model, masses: FloatArray, n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of φ(f) and φ(−f) in empirical − true risk, per draw and cell."""
    excess_pos = np.tile(-model.class_prior * masses[0], (n_draws, 1))
    excess_neg = np.tile(-(1 - model.class_prior) * masses[1], (n_draws, 1))
    for sample in model.samples:
        counts = rng.multinomial(sample.size, sample.joint.ravel(), size=n_draws)
        by_group = counts.reshape(n_draws, *sample.joint.shape)
        excess_pos += np.einsum("dgc,g->dc", by_group, sample.coef_pos)
        excess_neg += np.einsum("dgc,g->dc", by_group, sample.coef_neg)
    return excess_pos, excess_neg
