"""EcologicalInference: the table group × outcome from the margins of places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from decorrupt._typing import FloatArray
from decorrupt.ecological import pictures
from decorrupt.ecological.check import TableCheck, check_table
from decorrupt.ecological.margins import Margins, check_noisy_totals, in_order_of, read_margins
from decorrupt.ecological.model import (
    PRIOR_VARIANCE,
    Layout,
    Rates,
    fit_rates,
    prior_variance,
)
from decorrupt.ecological.posterior import Draws, draw_tables
from decorrupt.ecological.tables import bounds, fit_margins, goodman
from decorrupt.estimators import check_parameters, check_share
from decorrupt.exceptions import warn
from decorrupt.observed import counts_of_sum


class EcologicalInference(BaseEstimator):
    """Table of groups × outcomes from the totals of places (ecological inference).

    A member of group r has outcome c with the probability P_rc. The outcomes of place b are then a
    sum of multinomials; the rates minimise

        −(1/n)·Σ_b log P(K_b) + ‖Θ‖²/(2·s²·n),  P_r = softmax(Θ_r + common log-odds),

    the count likelihood of :class:`decorrupt.CountLikelihoodClassifier` in its normal
    approximation, with one row per place and group that represents its people. Places vary
    φ_b = 1 + ρ·(n_b − 1) times as much as their people explain, with ρ from the residuals. The
    prior variance s² = 1 keeps groups near the common log-odds where the margins say little. The
    table is the posterior mean.

    Parameters
    ----------
    reg_strength : float or "auto", default="auto"
        λ in λ‖θ‖², as in the count likelihood; "auto" is 1/(4·n), the prior variance 1.
    n_draws : int, default=200
        Draws from the posterior, at least 2. For the table alone, without intervals, 20 are enough.
    random_state : int, Generator or None, default=None
        Seed of the draws; None is 0, so that a table is reproducible.
    other : str, optional
        The name of an outcome to add, for example "abstention": people without an outcome.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float or mapping, optional
        Noise of the outcomes, as in the count likelihood; only its variance is used. Noise in
        groups is not supported.

    Attributes
    ----------
    table_ : ndarray of shape (n_groups, n_outcomes)
        Expected number of people of each group with each outcome.
    rates_ : ndarray of shape (n_groups, n_outcomes)
        The table divided by the people of the group.
    place_tables_ : ndarray of shape (n_places, n_groups, n_outcomes)
        The table of every place; it has the place's margins.
    bounds_ : (ndarray, ndarray) of shape (n_groups, n_outcomes)
        Least and largest table that the margins allow, without any model (Duncan & Davis 1953);
        of noisy outcomes those of the expected ones, which are not certain.
    goodman_ : ndarray of shape (n_groups, n_outcomes)
        Rates of Goodman's regression: non-negative least squares.
    coef_ : ndarray of shape (n_groups + n_covariates + 1, n_outcomes)
        Θ and, last, the common log-odds.
    dispersion_ : ndarray of shape (n_places,)
        φ_b.
    draws_ : ndarray of shape (n_draws, n_groups, n_outcomes)
        Draws of the table.
    overdispersion_ : float
        Pearson's χ² per degree of freedom: 1 if places differ by their groups and chance alone.
    reg_strength_ : float
        λ.
    group_counts_, outcome_counts_ : ndarray of shape (n_places, n_groups), (n_places, n_outcomes)
        The margins: outcomes as given in `reported_counts_` or, if noisy, the expected ones.
    group_names_, outcome_names_, place_names_ : tuple of str
        From the columns and the index of data frames.

    See Also
    --------
    CountLikelihoodClassifier : The same likelihood for any columns.

    Notes
    -----
    The rates of a group are assumed not to depend on who else lives in the place. No estimate from
    totals can show that they do not (the *ecological fallacy*): :meth:`check` reports what speaks
    against a table, and its verdict.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import EcologicalInference
    >>> rng = np.random.default_rng(0)
    >>> groups = rng.integers(20, 200, (60, 2))
    >>> yes = rng.binomial(groups, [0.8, 0.3]).sum(axis=1)
    >>> outcomes = np.column_stack([yes, groups.sum(axis=1) - yes])
    >>> model = EcologicalInference().fit(groups, outcomes)
    >>> model.rates_.round(1).tolist()
    [[0.8, 0.2], [0.3, 0.7]]
    >>> low, high = model.interval(function="rates")
    >>> bool(low[0, 0] < 0.8 < high[0, 0])
    True
    """

    def __init__(
        self,
        *,
        reg_strength: float | str = "auto",
        n_draws: int = 200,
        random_state: Any = None,
        other: str | None = None,
        count_noise: Any = None,
    ) -> None:
        self.reg_strength = reg_strength
        self.n_draws = n_draws
        self.random_state = random_state
        self.other = other
        self.count_noise = count_noise

    def fit(self, groups: Any, outcomes: Any, *, covariates: Any = None) -> Self:
        """Estimate the table.

        Parameters
        ----------
        groups : array-like or data frame of shape (n_places, n_groups)
            People of each group in each place: whole numbers.
        outcomes : array-like or data frame of shape (n_places, n_outcomes)
            People with each outcome. The totals of both sides are equal in every place, within
            rounding; `other` adds an outcome for the rest.
        covariates : array-like of shape (n_places, n_covariates), optional
            Columns of the places that change the log-odds of all groups alike.

        Raises
        ------
        ValueError
            If a parameter or a count is invalid, totals differ, a place, a group or an outcome is
            empty, or there are too few places; the message names it.

        Warns
        -----
        ConvergenceWarning
            If the solver did not converge.
        """
        check_parameters(self)
        margins = read_margins(
            groups, outcomes, other=self.other, is_noisy=self.count_noise is not None
        )
        covariates = in_order_of(groups, covariates, "covariates")
        layout = Layout(
            margins, _read_covariates(covariates, *margins.groups.shape), self.count_noise
        )
        if self.count_noise is not None:
            check_noisy_totals(margins, layout.observed.counts.noise_variance)
        is_auto = self.reg_strength == "auto"
        variance = PRIOR_VARIANCE if is_auto else prior_variance(float(self.reg_strength), layout)
        rates = fit_rates(layout, variance)
        outcomes = fit_margins_of(rates)
        rng = np.random.default_rng(0 if self.random_state is None else self.random_state)
        draws = draw_tables(rates, outcomes, self.n_draws, rng)
        if not rates.converged:
            message = "the rates did not converge: increase reg_strength or merge rare options"
            warn(message, ConvergenceWarning)
        return self._keep(rates, outcomes, draws)

    def _keep(self, rates: Rates, outcomes: FloatArray, draws: Draws) -> Self:
        layout, margins = rates.layout, rates.layout.margins
        self.coef_, self.dispersion_, self.draws_ = rates.coef, rates.dispersion, draws.tables
        self.overdispersion_ = float(rates.pearson.mean())
        self.reg_strength_ = 1 / (4 * rates.prior_variance * layout.total)
        self.group_names_, self.outcome_names_ = margins.group_names, margins.outcome_names
        self.place_names_ = margins.place_names
        self.group_counts_, self.outcome_counts_ = margins.groups, outcomes
        self.reported_counts_ = margins.outcomes
        self.covariates_ = layout.covariates
        self.place_tables_ = fit_margins(draws.place_tables, margins.groups, outcomes)
        self.table_ = self.place_tables_.sum(axis=0)
        self.rates_ = self.table_ / margins.groups.sum(axis=0)[:, None]
        self.bounds_ = bounds(margins.groups, outcomes)
        self.goodman_ = goodman(margins.groups, outcomes)
        return self

    def interval(
        self, level: float = 0.95, *, function: str | Callable[[FloatArray], Any] | None = None
    ) -> FloatArray:
        """Return the lower and upper ends of intervals, stacked along a new first axis.

        Percentiles of the posterior draws. Their width was calibrated on real elections with known
        tables; it contains the prior, the over-dispersion of places and the people within groups,
        but not a dependence of rates on the composition of places: see :meth:`check`.

        Parameters
        ----------
        level : float
            The probability of the interval.
        function : "rates" or callable, optional
            By default the intervals are those of the table. "rates": of the rates. A callable gets
            a table and returns a number or an array, for example a difference between groups.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or the function is unknown.
        """
        check_is_fitted(self)
        check_share("level", level)
        values = self.draws_
        if function == "rates":
            values = values / self.group_counts_.sum(axis=0)[:, None]
        elif callable(function):
            values = np.array([function(table.copy()) for table in self.draws_])
        elif function is not None:
            raise ValueError(f"function={function!r}: give 'rates', a function of a table, or None")
        return np.asarray(np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0))

    def check(self) -> TableCheck:
        """Return what speaks for and against the table, and a verdict.

        It fits the model to halves of the places, nine times.
        """
        check_is_fitted(self)
        names = self.group_names_, self.outcome_names_, self.place_names_
        margins = Margins(self.group_counts_, self.reported_counts_, *names)
        layout = Layout(margins, self.covariates_, self.count_noise)
        variance = prior_variance(self.reg_strength_, layout)
        rates = Rates(layout, self.coef_, variance, self.dispersion_)
        return check_table(rates, self.table_, self.draws_, self.outcome_counts_)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per cell.

        Columns: group, outcome, table, rate, rate_low and rate_high (95 %), bound_low and
        bound_high of the rate, goodman.
        """
        check_is_fitted(self)
        people = self.group_counts_.sum(axis=0)[:, None]
        low, high = self.interval(function="rates")
        columns = {
            "table": self.table_,
            "rate": self.rates_,
            "rate_low": low,
            "rate_high": high,
            "bound_low": self.bounds_[0] / people,
            "bound_high": self.bounds_[1] / people,
            "goodman": self.goodman_,
        }
        names = {
            "group": np.repeat(self.group_names_, len(self.outcome_names_)),
            "outcome": np.tile(self.outcome_names_, len(self.group_names_)),
        }
        cells = {name: values.ravel() for name, values in columns.items()}
        import pandas as pd  # imported where it is needed: it takes half a second

        return pd.DataFrame(names | cells)

    def plot(self, ax: Any = None, *, kind: str = "rates") -> Any:
        """Plot the rates with 95 % intervals, or the tomography lines of a 2 × 2 table.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.
        kind : {"rates", "tomography"}
            "tomography": one line per place, the rates of both groups that its margins allow.

        Raises
        ------
        ValueError
            If the kind is unknown, or a tomography is asked of a larger table.
        ImportError
            If matplotlib is not installed (``pip install 'decorrupt[report]'``).
        """
        check_is_fitted(self)
        return pictures.plot(self, ax, kind)

    def _html_repr(self) -> str:
        """Return what scikit-learn shows in notebooks: a table with intervals, or the diagram."""
        if hasattr(self, "draws_"):
            return pictures.table_as_html(self)
        return str(estimator_html_repr(self))


def fit_margins_of(rates: Rates) -> FloatArray:
    """Return the outcomes of every place: as given, or the expected ones if they are noisy."""
    margins, observed = rates.layout.margins, rates.layout.observed
    if rates.layout.count_noise is None:
        return margins.outcomes
    votes = counts_of_sum(margins.outcomes, observed.sizes)
    away = votes - np.einsum("br,brc->bc", margins.groups, rates.prob)
    pull = np.einsum("bcd,bd->bc", rates.precision, away)
    expected = np.maximum(votes - observed.counts.noise_variance[:, None] * pull, 0.0)
    return np.asarray(expected * (observed.sizes / expected.sum(axis=1))[:, None])


def _read_covariates(covariates: Any, n_places: int, n_groups: int) -> FloatArray:
    """Return standardised columns."""
    if covariates is None:
        return np.empty((n_places, 0))
    try:
        values = np.asarray(covariates, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("covariates must be numbers, but contain text") from None
    if values.ndim != 2 or len(values) != n_places or not np.isfinite(values).all():
        raise ValueError(
            f"covariates of shape {values.shape}: give finite numbers, one row per place "
            f"({n_places}) and one column per covariate"
        )
    most = max((n_places - n_groups) // 2, 0)
    if values.shape[1] > most:
        raise ValueError(
            f"there are {values.shape[1]} covariates, {n_groups} groups and {n_places} places: "
            f"give at most {most} covariates, half as many as places beyond the groups"
        )
    for column in np.flatnonzero(np.ptp(values, axis=0) == 0)[:1]:
        raise ValueError(f"covariates: column {column} is the same in every place: leave it out")
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))
