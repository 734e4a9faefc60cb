"""What speaks for and against a table without the truth, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f

from decorrupt._typing import FloatArray
from decorrupt.ecological.margins import Margins
from decorrupt.ecological.model import Layout, Rates, fit_rates
from decorrupt.ecological.tables import bounds, expected_tables, fit_margins

USABLE, UNSURE, UNUSABLE = "usable", "check", "do not use"
# Above: the table says little more than that groups do not differ (then it is 1 or more).
MOST_NOISE, MUCH_NOISE = 1 / 2, 1 / 3
# Smaller expected errors do not matter, however small the differences between the groups are.
LEAST_ERROR = 0.01
# Below: most of the differences between places have other reasons than their groups.
LEAST_EXPLAINED = 1 / 3
# Below: places hardly differ beyond chance, so that there is nothing to explain.
LEAST_OVERDISPERSION = 1.5
# Options with smaller shares are merged before it is computed: they add chance, and parameters.
RARE = 0.03
# The tables of halves differ by about twice the error that the posterior expects.
MOST_DISAGREEMENT = 2.0
ROUNDING = 1e-6
N_SPLITS = 9


@dataclass(frozen=True, eq=False)
class TableCheck:
    """What speaks for and against a table; made by :meth:`EcologicalInference.check`.

    Attributes
    ----------
    expected_error : float
        The share of people in the wrong cell, on average over the posterior draws.
    distance : float
        The share of people in another cell than if groups did not differ at all.
    explained : float
        The share of the differences between places, beyond chance, that their groups explain,
        between 0 and 1: 1 − (φ − 1)/(φ₀ − 1), where φ₀ is the over-dispersion if all groups are
        equal.
    overdispersion : float
        Pearson's χ² per degree of freedom.
    halves_differ : float
        The share of people in another cell if only one or the other half of the places is used:
        the median of nine random divisions.
    rates_differ : float
        The share of people in another cell than if every group had its estimated rates in every
        place, before the margins of the places are fitted. Where rates vary between places,
        fitting pulls rates near 0 and 1 together.
    composition_p_value : float
        Of a test that the rates do not depend on the groups' shares in the place, as far as totals
        can show it. It is not in the verdict, because it can be small although the table is right.
        NaN if there are too few places.
    undetermined : float
        The largest share of people whose cell the margins alone leave open (Duncan–Davis).
    group_names : tuple of str
        The groups.
    variation : ndarray of shape (n_groups,)
        Standard deviation of the group's share between places.
    """

    expected_error: float
    distance: float
    explained: float
    overdispersion: float
    halves_differ: float
    rates_differ: float
    composition_p_value: float
    undetermined: float
    group_names: tuple[str, ...]
    variation: FloatArray

    @property
    def noise(self) -> float:
        """The expected error as a part of the distance from equal groups."""
        return self.expected_error / max(self.distance, 1e-9)

    @property
    def verdict(self) -> str:
        """One of "usable", "check" and "do not use"."""
        is_noisy = self.expected_error > LEAST_ERROR and self.noise > MOST_NOISE
        if is_noisy or self.is_unexplained:
            return UNUSABLE
        return UNSURE if self.reasons else USABLE

    @property
    def is_unexplained(self) -> bool:
        """Whether places differ for other reasons than their groups, and their margins are open.

        They are not if they show without any model that groups differ.
        """
        is_open = self.undetermined > self.distance
        is_unexplained = self.explained < LEAST_EXPLAINED
        return is_open and is_unexplained and self.overdispersion > LEAST_OVERDISPERSION

    @property
    def reasons(self) -> list[str]:
        """What speaks against the table, in sentences."""
        reasons = []
        if self.is_unexplained:
            reasons.append(
                f"The groups explain {self.explained:.0%} of the differences between places. The "
                "rest has other reasons, which the table would attribute to the groups."
            )
        if self.expected_error > LEAST_ERROR and self.noise > MUCH_NOISE:
            reasons.append(
                f"About {self.expected_error:.0%} of the people are in the wrong cell, but only "
                f"{self.distance:.0%} are not where they would be if all groups were equal. The "
                "groups vary too little between places."
            )
        if self.rates_differ > max(self.expected_error, LEAST_ERROR):
            reasons.append(
                f"With the same rates everywhere {self.rates_differ:.1%} of the people would be in "
                "another cell, more than the expected error: rates vary between places, and the "
                "table pulls rates near 0 and 1 together."
            )
        if self.halves_differ > MOST_DISAGREEMENT * self.expected_error + ROUNDING:
            reasons.append(
                f"Two halves of the places give tables that differ in {self.halves_differ:.0%} of "
                "the people, more than twice the expected error."
            )
        return reasons

    @property
    def composition(self) -> str:
        """The p-value of the test of composition in words."""
        if np.isnan(self.composition_p_value):
            return "too few places to test it"
        return f"p = {self.composition_p_value:.2g}"

    def __str__(self) -> str:
        vary = ", ".join(
            f"{name} ±{share:.3f}"
            for name, share in zip(self.group_names, self.variation, strict=True)
        )
        return "\n".join(
            [
                f"Verdict: {self.verdict}",
                *self.reasons,
                f"expected share of people in the wrong cell: {self.expected_error:.1%}",
                f"distance from equal groups: {self.distance:.1%}",
                f"differences between places explained by groups: {self.explained:.0%}",
                f"over-dispersion: {self.overdispersion:.2f}",
                f"difference between halves of the places: {self.halves_differ:.1%}",
                f"difference from the same rates in every place: {self.rates_differ:.1%}",
                f"dependence of rates on composition: {self.composition}",
                f"left open by the margins alone: up to {self.undetermined:.0%} of the people",
                f"shares of groups vary between places: {vary}",
            ]
        )


def check_table(
    rates: Rates, table: FloatArray, draws: FloatArray, outcomes: FloatArray
) -> TableCheck:
    """Return the check of a table.

    Parameters
    ----------
    rates : Rates
        The fitted model.
    table : ndarray of shape (n_groups, n_outcomes)
        The estimate.
    draws : ndarray of shape (n_draws, n_groups, n_outcomes)
        Draws of the table.
    outcomes : ndarray of shape (n_places, n_outcomes)
        The outcomes with the totals of the places: as given, or expected if they are noisy.
    """
    margins = rates.layout.margins
    independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    low, high = bounds(margins.groups, outcomes)
    expected = expected_tables(margins.groups, rates.prob)
    fitted = fit_margins(expected, margins.groups, outcomes)
    return TableCheck(
        expected_error=float(np.mean([_difference(draw, table) for draw in draws])),
        distance=_difference(independent, table),
        explained=_explained(rates),
        overdispersion=float(rates.pearson.mean()),
        halves_differ=_halves_differ(rates, outcomes),
        rates_differ=_difference(expected.sum(axis=0), fitted.sum(axis=0)),
        composition_p_value=_composition_p_value(rates),
        undetermined=min(1.0, float((high - low).sum() / 2 / table.sum())),
        group_names=margins.group_names,
        variation=(margins.groups / margins.sizes[:, None]).std(axis=0),
    )


def _difference(first: FloatArray, second: FloatArray) -> float:
    """Return the share of people in another cell."""
    return float(np.abs(first - second).sum() / 2 / second.sum())


def _explained(rates: Rates) -> float:
    """Return the share of the over-dispersion of equal groups that differences between them remove.

    Equal groups are one group: the same covariates and the same noise.
    """
    layout = replace(rates.layout, margins=_merge_rare(rates.layout))
    one = replace(layout.margins, groups=layout.margins.sizes[:, None], group_names=("all",))
    layouts = replace(layout, margins=one), layout
    fits = (fit_rates(some, rates.prior_variance) for some in layouts)
    more, left = (max(float(fit.pearson.mean()) - 1, 0.0) for fit in fits)
    return 1 - min(left / more, 1.0) if more else 1.0


def _merge_rare(layout: Layout) -> Margins:
    """Return the margins with rare groups as one and rare outcomes as one, unless noisy."""
    margins = layout.margins
    if layout.count_noise is not None:
        return margins
    groups, group_names = _merge(margins.groups, margins.group_names)
    outcomes, outcome_names = _merge(margins.outcomes, margins.outcome_names)
    return Margins(groups, outcomes, group_names, outcome_names, margins.place_names)


def _merge(counts: FloatArray, names: tuple[str, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    is_rare = counts.sum(axis=0) < RARE * counts.sum()
    if is_rare.sum() < 2 or is_rare.all():
        return counts, names
    kept = [name for name, rare in zip(names, is_rare, strict=True) if not rare]
    rest = counts[:, is_rare].sum(axis=1)
    return np.column_stack([counts[:, ~is_rare], rest]), (*kept, "rare")


def _halves_differ(rates: Rates, outcomes: FloatArray) -> float:
    """Return how much the tables differ whose rates come from one or the other half."""
    layout, groups = rates.layout, rates.layout.margins.groups
    rng = np.random.default_rng(0)
    # Places are divided in the same way whatever the order of places, groups and outcomes is.
    in_order = np.lexsort(np.hstack([np.sort(outcomes), np.sort(groups)]).T)
    differences = []
    for _ in range(N_SPLITS):
        order, tables = in_order[rng.permutation(len(groups))], []
        for part in (order[::2], order[1::2]):
            half = _take(layout, np.sort(part))
            coef = fit_rates(half, rates.prior_variance).coef
            expected = expected_tables(groups, rates.of_coef(coef))
            tables.append(fit_margins(expected, groups, outcomes, tol=1e-6).sum(axis=0))
        differences.append(_difference(*tables))
    return float(np.median(differences))


def _take(layout: Layout, places: NDArray[np.intp]) -> Layout:
    margins = layout.margins.take(places)
    return replace(layout, margins=margins, covariates=layout.covariates[places])


def _composition_p_value(rates: Rates) -> float:
    """Return the p-value of squared shares in Goodman's regression: F-tests, Bonferroni.

    A linear dependence on the shares cannot be told from a difference between the groups.
    """
    margins = rates.layout.margins
    weight = np.sqrt(margins.sizes / rates.dispersion)[:, None]
    shares = margins.groups / margins.sizes[:, None]
    outcomes = weight * margins.outcomes / margins.sizes[:, None]
    wider = np.column_stack([shares, shares[:, :-1] ** 2])
    more, free = shares.shape[1] - 1, len(shares) - wider.shape[1]
    if free < 1:
        return float("nan")
    before, after = (_residual_squares(weight * x, outcomes) for x in (shares, wider))
    ratio = (before - after) / more / np.maximum(after / free, 1e-12)
    return float(min(1.0, ratio.size * f.sf(ratio, more, free).min()))


def _residual_squares(columns: FloatArray, outcomes: FloatArray) -> FloatArray:
    coef = np.linalg.lstsq(columns, outcomes, rcond=None)[0]
    return np.asarray(np.sum((outcomes - columns @ coef) ** 2, axis=0))
