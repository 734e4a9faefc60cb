"""Are annotators independent given the class? A test of how often pairs of them agree."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from decorrupt._typing import FloatArray
from decorrupt.exceptions import DependentAnnotatorsWarning
from decorrupt.noise_rates.dawid_skene import Votes
from decorrupt.notices import Notice

# Of a false warning, over all pairs of annotators.
DEPENDENCE_LEVEL = 0.01
# Pairs with fewer common items are not tested, nor annotators beyond those with the most labels.
FEWEST_COMMON_ITEMS = 20
MOST_ANNOTATORS = 50


class AgreementTest(NamedTuple):
    """The pair of annotators whose agreement differs most from that of independent annotators.

    `observed` and `expected` are shares of their common items; `p_value` is adjusted for the number
    of pairs (Bonferroni).
    """

    first: int
    second: int
    observed: float
    expected: float
    p_value: float


def check_agreement(votes: Votes, rates: FloatArray, prior: FloatArray) -> AgreementTest | None:
    """Return the test of P(ỹ_a = ỹ_b) = Σ_y π(y)·Σ_c T_a[y, c]·T_b[y, c] over all pairs a, b.

    Fitted rates follow part of the agreement, so that the test is conservative. With three
    annotators and two classes they follow all of it, and nothing can be tested.

    Parameters
    ----------
    votes : Votes
        The labels.
    rates : ndarray of shape (n_annotators, n_classes, n_classes)
        T of every annotator.
    prior : ndarray of shape (n_classes,)
        π.

    Returns
    -------
    AgreementTest or None
        None without a pair that has enough common items.
    """
    labels = np.full((votes.n_annotators, votes.n_items), -1)
    labels[votes.annotator, votes.item] = votes.label
    busiest = np.argsort(-(labels >= 0).sum(axis=1), kind="stable")[:MOST_ANNOTATORS]
    found = []
    for a, b in combinations(sorted(busiest.tolist()), 2):
        both = (labels[a] >= 0) & (labels[b] >= 0)
        if both.sum() >= FEWEST_COMMON_ITEMS:
            expected = float(np.einsum("y,yc,yc->", prior, rates[a], rates[b]))
            observed = float(np.mean(labels[a, both] == labels[b, both]))
            deviation = _deviation(observed, expected, int(both.sum()))
            found.append((deviation, a, b, observed, expected))
    if not found:
        return None
    deviation, a, b, observed, expected = max(found)
    p_value = min(2 * float(norm.sf(deviation)) * len(found), 1.0)
    return AgreementTest(a, b, observed, expected, p_value)


def _deviation(observed: float, expected: float, n_items: int) -> float:
    """Return |observed − expected| in standard errors."""
    variance = max(expected * (1 - expected), 1 / n_items) / n_items
    return abs(observed - expected) / float(np.sqrt(variance))


def dependence_notices(
    votes: Votes, rates: FloatArray, prior: FloatArray, names: list[Any]
) -> list[Notice]:
    """Return a notice if the annotators are not independent given the class."""
    test = check_agreement(votes, rates, prior)
    if test is None or test.p_value >= DEPENDENCE_LEVEL:
        return []
    text = (
        "the annotators are not independent given the class: "
        f"{names[test.first]!r} and {names[test.second]!r} agree on {test.observed:.1%} of their "
        f"common items, independent annotators would on {test.expected:.1%}. Rates and intervals "
        "can be wrong, for example if annotators copy each other or some items are harder than "
        "others. Check the true class of some items, and use estimate_noise_rates_from_audit"
    )
    return [Notice(DependentAnnotatorsWarning, text)]
