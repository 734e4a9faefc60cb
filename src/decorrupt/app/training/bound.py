"""Bounds and required rows of bags or sources, as typed records."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from decorrupt.app.training.results import BoundReport, RequiredRows, plain
from decorrupt.corruption import combine_bags
from decorrupt.theory import (
    bound_bags,
    bound_common_source,
    bound_varying_priors,
    combined_sample_size,
    information,
    required_rows,
)

Targets = dict[str, float | None]


def report_bags(
    sizes: ArrayLike, proportions: ArrayLike, targets: Targets, **ball: Any
) -> BoundReport:
    """Return 4KRL·√(Σ(|a|+|b|)²/n·log(2/δ)/2) of bags, combined in superbags and in pairs.

    Parameters
    ----------
    sizes, proportions : array-like of shape (n_bags,)
        Rows and shares of positives.
    targets : dict
        bound and effective_sample_size to reach, or None.
    **ball : float
        radius, kernel_bound and failure_prob, see :func:`decorrupt.theory.bound_bags`.
    """
    found = information(sizes, proportions)
    combined = {
        name: {
            "bound": bound_bags(sizes, combine_bags(sizes, proportions, method=name), **ball),
            "effective_sample_size": combined_sample_size(sizes, proportions, combine=name),
        }
        for name in ("superbag", "pairs")
    }
    needed = _required(targets, ball, proportions=proportions, sizes=sizes)
    return cast(
        BoundReport,
        plain(
            {
                "situation": "bags",
                "n": np.size(sizes),
                "n_rows": found.n_rows,
                "information": found.total,
                "effective_sample_size": found.effective_sample_size,
                "bounds": combined,
                "required": needed,
                **ball,
            }
        ),
    )


def report_sources(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    class_priors: ArrayLike | None,
    targets: Targets,
    **ball: Any,
) -> BoundReport:
    """Return the bound of Theorem 2, or with class priors of Theorem 3, for each weight scheme.

    Parameters
    ----------
    sizes, flip_pos, flip_neg : array-like of shape (n_sources,)
        Rows and noise rates.
    class_priors : array-like of shape (n_sources,), optional
        P(Y=1) of each source.
    targets, **ball
        As in :func:`report_bags`.
    """
    rates = (sizes, flip_pos, flip_neg)
    bounds = {}
    for name in ("optimal", "size", "uniform"):
        if class_priors is None:
            value = bound_common_source(*rates, weights=name, **ball)
        else:
            value = bound_varying_priors(*rates, class_priors, weights=name, **ball)
        bounds[name] = {"bound": value}
    given: dict[str, Any] = {
        "flip_pos": flip_pos,
        "flip_neg": flip_neg,
        "source_priors": class_priors,
    }
    for_one = required_rows(1.0, quantity="effective_sample_size", sizes=sizes, **given)
    return cast(
        BoundReport,
        plain(
            {
                "situation": "sources",
                "n": np.size(sizes),
                "n_rows": np.sum(sizes),
                "theorem": 2 if class_priors is None else 3,
                "effective_sample_size": 1 / for_one.factor,
                "bounds": bounds,
                "required": _required(targets, ball, sizes=sizes, **given),
                **ball,
            }
        ),
    )


def _required(targets: Targets, ball: dict[str, Any], **given: Any) -> dict[str, RequiredRows]:
    found = {}
    for quantity, target in targets.items():
        if target is None:
            continue
        options = ball if quantity == "bound" else {}
        needed = required_rows(target, quantity=quantity, **given, **options)
        found[quantity] = RequiredRows(
            target=target, factor=needed.factor, n_rows=needed.total, sizes=plain(needed.sizes)
        )
    return found
