"""The rates of the groups: penalised quasi-likelihood of the outcomes of every place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.ecological.margins import Margins
from decorrupt.ecological.tables import goodman
from decorrupt.losses import scores_of
from decorrupt.observed import Observed, counts_of_sum
from decorrupt.risks import CountRisk, count_precision, normal_count_risk
from decorrupt.solvers import solve_lbfgs

# Variance of a group's deviation from the common log-odds, before the data.
PRIOR_VARIANCE = 1.0
# Of the common log-odds around the logarithms of the common shares: wide, for outcomes that
# are so rare that their counts say nothing.
COMMON_VARIANCE = 4.0
# The over-dispersion of the first fit; its own residuals replace it.
FIRST_DISPERSION = 3.0
ROUNDS = 2
# The solver stops about this far from the minimum.
TOL_IN_NATS = 0.03
MAX_ITER = 300
RIDGE = 1e-9
# Entries of the largest array.
MAX_ENTRIES = 4_000_000
# Goodman's rates are mixed with the common ones: rates of 0 have no log-odds.
START_SHRINKAGE = 0.1


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows = place × group, with one-hot groups and the covariates of the place as features.

    Parameters
    ----------
    margins : Margins
        The places.
    covariates : ndarray of shape (n_places, n_covariates)
        Standardised columns of the places; their effect is the same for all groups.
    count_noise
        The noise of the outcomes, see :class:`decorrupt.CountLikelihoodClassifier`.
    """

    margins: Margins
    covariates: FloatArray
    count_noise: Any = None

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which rows have people: the others are left out."""
        return self.margins.groups.ravel() > 0

    @property
    def total(self) -> float:
        """n: all people."""
        return float(self.margins.sizes.sum())

    @cached_property
    def features(self) -> FloatArray:
        """Z of all rows, shape (n_places · n_groups, n_groups + n_covariates)."""
        n_places, n_groups = self.margins.groups.shape
        one_hot = np.tile(np.eye(n_groups), (n_places, 1))
        return np.column_stack([one_hot, np.repeat(self.covariates, n_groups, axis=0)])

    @property
    def common_scores(self) -> FloatArray:
        """The logarithms of the common shares, with mean 0."""
        logs = np.log(self.margins.common_rates)
        return np.asarray(logs - logs.mean())

    @cached_property
    def observed(self) -> Observed:
        """The outcomes of the places as class counts of bags whose rows represent many people."""
        margins = self.margins
        n_places, n_groups = margins.groups.shape
        observed = Observed(
            np.array(margins.outcome_names, dtype=object),
            np.array(margins.place_names, dtype=object),
            np.repeat(np.arange(n_places), n_groups)[self.present],
            margins.outcomes / margins.sizes[:, None],
            weights=margins.groups.ravel()[self.present].astype(np.intp),
        )
        return observed.with_counts(None, self.count_noise)

    def risk(self, dispersion: FloatArray) -> CountRisk:
        """Return the count likelihood if place b varies φ_b times as much as its people explain.

        K_b/φ_b of N_b/φ_b people have the mean μ_b/φ_b and the covariance S_b/φ_b: that is the
        density of K_b with the covariance φ_b·S_b, but for rounding. It is normal in every place:
        exact sums would take most of the time.
        """
        observed, row_place = self.observed, self.observed.row_bag
        weights = self.margins.groups.ravel()[self.present] / dispersion[row_place]
        votes = counts_of_sum(self.margins.outcomes, observed.sizes) / dispersion[:, None]
        variance = observed.counts.noise_variance / dispersion**2
        return normal_count_risk(observed, votes, weights, variance)


@dataclass(frozen=True, eq=False)
class Rates:
    """The fitted model.

    Attributes
    ----------
    layout : Layout
        What it was fitted to.
    coef : ndarray of shape (n_features + 1, n_outcomes)
        Θ and, last, the common log-odds; rows sum to 0.
    prior_variance : float
        s² of Θ.
    dispersion : ndarray of shape (n_places,)
        φ_b = 1 + ρ·(n_b − 1).
    converged : bool
        Whether the solver reached its tolerance.
    """

    layout: Layout
    coef: FloatArray
    prior_variance: float
    dispersion: FloatArray
    converged: bool = False

    def of_coef(self, coef: FloatArray) -> FloatArray:
        """Return P(outcome | group) in every place, shape (..., n_places, n_groups, n_outcomes)."""
        scores = self.layout.features @ coef[..., :-1, :] + coef[..., -1:, :]
        odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = odds / odds.sum(axis=-1, keepdims=True)
        shape = (*self.layout.margins.groups.shape, coef.shape[-1])
        return np.asarray(shares.reshape(*coef.shape[:-2], *shape))

    @cached_property
    def prob(self) -> FloatArray:
        """P(outcome | group) of every place, shape (n_places, n_groups, n_outcomes)."""
        return self.of_coef(self.coef)

    @cached_property
    def risk(self) -> CountRisk:
        """The count likelihood with the dispersion."""
        return self.layout.risk(self.dispersion)

    def log_probs_and_slope(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(K_b), and the slope of their sum in the scores of rows with people."""
        scores = self.layout.features[self.layout.present] @ coef[:-1] + coef[-1]
        log_prob, slope = self.risk.log_probs_and_slope(scores_of(scores))
        return log_prob, slope if slope.ndim == 2 else np.column_stack([-slope, slope])

    @cached_property
    def precision(self) -> FloatArray:
        """S_b⁻¹, of the expected outcomes, shape (n_places, n_outcomes, n_outcomes)."""
        groups, prob = self.layout.margins.groups, self.prob
        outer = np.einsum("br,brc,brd->bcd", groups, prob, prob, optimize=True)
        mean = np.einsum("br,brc->bc", groups, prob)
        return count_precision(mean, outer, self.layout.observed.counts.noise_variance)[0]

    @cached_property
    def pearson(self) -> FloatArray:
        """(K_b − μ_b)ᵀS_b⁻¹(K_b − μ_b) of every place, per degree of freedom of the model."""
        margins = self.layout.margins
        n_places, n_groups = margins.groups.shape
        n_free = n_places - n_groups - self.layout.covariates.shape[1]
        away = margins.outcomes - np.einsum("br,brc->bc", margins.groups, self.prob)
        away -= away.mean(axis=1, keepdims=True)  # noisy outcomes have another total
        squares = np.einsum("bc,bcd,bd->b", away, self.precision, away)
        free = max(n_free, 1) / n_places * (margins.outcomes.shape[1] - 1)
        return np.asarray(squares / free)

    def group_covariances(self, places: slice) -> FloatArray:
        """Return V_br = N_br·(diag P − PPᵀ) of some places, the covariance of a group's outcomes.

        It is ∂μ_b/∂scores as well. The shape is (n_places, n_groups, n_outcomes, n_outcomes).
        """
        groups, prob = self.layout.margins.groups[places, :, None], self.prob[places]
        covariance = -(groups * prob)[..., None] * prob[..., None, :]
        np.einsum("brcc->brc", covariance)[:] += groups * prob
        return covariance

    def chunks(self) -> Iterator[slice]:
        """Yield some places at a time, so that arrays of V·V stay small."""
        n_groups, n_outcomes = self.prob.shape[1:]
        step = max(1, MAX_ENTRIES // (n_groups * n_outcomes) ** 2)
        yield from (slice(k, k + step) for k in range(0, len(self.prob), step))

    def information(self) -> FloatArray:
        """Return F + I/s²: F = Σ_b JᵀS_b⁻¹J/φ_b, J = ∂μ_b/∂Θ; the Hessian near the minimum.

        The coefficients are in the order of ``coef.ravel()``; the common log-odds are last.
        """
        n_coef, shape = self.coef.size, self.layout.margins.groups.shape
        features = np.column_stack([self.layout.features, np.ones(shape[0] * shape[1])])
        features = features.reshape(*shape, -1)
        matrix = np.zeros((n_coef, n_coef))
        for some in self.chunks():
            covariance = self.group_covariances(some)
            slope = np.einsum("brf,brcd->bfcd", features[some], covariance, optimize=True)
            slope = slope.reshape(len(covariance), n_coef, -1)
            bent = slope @ (self.precision[some] / self.dispersion[some, None, None])
            matrix += np.tensordot(bent, slope, axes=((0, 2), (0, 2)))
        ridge = RIDGE * np.trace(matrix) / n_coef  # for s² = ∞
        matrix[np.diag_indices(n_coef)] += (np.ones(self.coef.shape) * self.prior).ravel() + ridge
        return matrix

    @property
    def prior(self) -> FloatArray:
        """1/variance of every row of `coef`, shape (n_features + 1, 1)."""
        prior = np.full((len(self.coef), 1), 1 / self.prior_variance)
        prior[-1] = 1 / COMMON_VARIANCE
        return prior


def fit_rates(layout: Layout, variance: float = PRIOR_VARIANCE) -> Rates:
    """Return the rates that minimise −(1/n)·Σ_b log P(K_b) + ‖Θ‖²/(2·s²·n).

    That is the penalty λ‖θ‖² of :class:`decorrupt.CountLikelihoodClassifier` (2λ‖Θ‖² for several
    outcomes) with λ = 1/(4·s²·n): a Gaussian prior of variance s² on Θ, each group's deviation from
    the common log-odds.

    Parameters
    ----------
    layout : Layout
        The places.
    variance : float
        s².
    """
    dispersion = np.full(len(layout.margins.sizes), FIRST_DISPERSION)
    rates = _minimise(Rates(layout, _start(layout), variance, dispersion))
    for _ in range(ROUNDS):
        rates = _minimise(replace(rates, dispersion=_dispersion(rates)))
    return rates


def prior_variance(reg_strength: float, layout: Layout) -> float:
    """Return s² of λ = 1/(4·s²·n)."""
    return 1 / (4 * reg_strength * layout.total) if reg_strength > 0 else np.inf


def _dispersion(rates: Rates) -> FloatArray:
    """Return φ_b = 1 + ρ·(n_b − 1), ρ ≥ 0 by least squares through φ = 1 at n_b = 1."""
    more = rates.layout.margins.sizes - 1
    slope = float(more @ (rates.pearson - 1)) / max(float(more @ more), 1.0)
    return np.asarray(1 + max(slope, 0.0) * more)


def _start(layout: Layout) -> FloatArray:
    margins = layout.margins
    common = margins.common_rates
    mixed = (1 - START_SHRINKAGE) * goodman(margins.groups, margins.outcomes)
    logs = np.log(mixed + START_SHRINKAGE * common) - np.log(common)
    n_covariates = layout.covariates.shape[1]
    coef = np.vstack([logs, np.zeros((n_covariates, len(common))), np.log(common)])
    return np.asarray(coef - coef.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class _Whitened:
    """The objective in u, Θ = Θ₀ + Lu with LLᵀ = n·(F + I/s²)⁻¹: its Hessian is about I."""

    origin: Rates
    factor: FloatArray

    def coef(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.origin.coef + (self.factor @ u).reshape(self.origin.coef.shape))

    def value_and_gradient(self, u: FloatArray) -> tuple[float, FloatArray]:
        layout, coef = self.origin.layout, self.coef(u)
        features, total = layout.features[layout.present], layout.total
        log_prob, slope = self.origin.log_probs_and_slope(coef)
        away = coef.copy()
        away[-1] -= layout.common_scores
        penalty = self.origin.prior * away
        gradient = penalty - np.vstack([features.T @ slope, slope.sum(axis=0)])
        value = 0.5 * np.sum(penalty * away) - np.sum(log_prob)
        return float(value) / total, self.factor.T @ gradient.ravel() / total


def _minimise(rates: Rates) -> Rates:
    total = rates.layout.total
    inverse = np.linalg.inv(np.linalg.cholesky(rates.information() / total))
    objective = _Whitened(rates, inverse.T)
    tol = np.sqrt(2 * TOL_IN_NATS / total)
    result = solve_lbfgs(objective, np.zeros(rates.coef.size), tol=tol, max_iter=MAX_ITER)
    return replace(rates, coef=objective.coef(result.coef), converged=result.converged)
