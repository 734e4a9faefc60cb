"""Sensitivity of a model to uncertain noise rates or bag proportions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.noise_rates.refit_plan import RefitPlan, bag_plan, source_plan
from decorrupt.notices import emit_notices
from decorrupt.progress import track

DEFAULT_DRAWS = 20


@dataclass(frozen=True)
class Sensitivity:
    """Changes between the model at the given values and its refits; ``print`` shows a table.

    Attributes
    ----------
    predictions : ndarray of shape (n_rows,)
        Predictions of the model at the given rates or proportions.
    flip_share : ndarray of shape (n_rows,)
        The share of refits that predict another class for the row.
    refit_flips : ndarray of shape (n_refits,)
        The share of rows for which each refit predicts another class.
    criterion : float
        The training criterion at the given values; NaN if the model reports none.
    criterion_refits : ndarray of shape (n_refits,)
        The training criterion of each refit.
    parameter_names : list of str
        The parameters that were varied.
    settings : ndarray of shape (n_refits, n_parameters)
        Their values in each refit.
    """

    predictions: NDArray[Any]
    flip_share: FloatArray
    refit_flips: FloatArray
    criterion: float
    criterion_refits: FloatArray
    parameter_names: list[str]
    settings: FloatArray

    @property
    def criterion_range(self) -> tuple[float, float]:
        """The smallest and the largest criterion over the refits."""
        return float(self.criterion_refits.min()), float(self.criterion_refits.max())

    def __str__(self) -> str:
        low, high = self.criterion_range
        worst = int(np.argmax(self.refit_flips))
        rows = [
            ("refits", f"{len(self.settings)} over {len(self.parameter_names)} parameters"),
            ("rows that change class in any refit", f"{np.mean(self.flip_share > 0):.1%}"),
            ("rows changed per refit, mean", f"{self.refit_flips.mean():.1%}"),
            ("rows changed per refit, maximum", f"{self.refit_flips[worst]:.1%} (refit {worst})"),
            ("training criterion", f"{self.criterion:.4g}, refits {low:.4g} to {high:.4g}"),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def sensitivity(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    bags: Any = None,
    sources: Any = None,
    noise_rates: Any = None,
    intervals: Any = None,
    X_new: Any = None,
    criterion: Callable[[Any], float] | None = None,
    n_draws: int = DEFAULT_DRAWS,
    random_state: Any = None,
) -> Sensitivity:
    """Refit at corners and random points of the intervals; report how predictions change.

    A clone of `estimator` is trained at the given values, then at the corners of the box of
    intervals that change all sources (or bags) in the same way, then at `n_draws` uniform random
    points of the box.

    Parameters
    ----------
    estimator : classifier
        Its `fit` must accept `bags` or, without bags, `noise_rates`.
    X, y : array-like
        The training rows, and their noisy labels or, with `bags`, their bags' proportions.
    bags : array-like of shape (n_rows,), optional
        The bag of each row. The proportions in y are varied.
    sources : array-like of shape (n_rows,), optional
        The source of each row. The noise rates are varied.
    noise_rates : NoiseRateEstimate or mapping, optional
        The rates per source, if there are no `bags`; an estimate also provides the intervals.
    intervals : mapping or float, optional
        {source: {"flip_pos": (low, high), "flip_neg": (low, high)}}, or {bag: (low, high)}, or,
        for bags, one number: the largest error of each proportion, up or down.
    X_new : array-like, optional
        Rows to predict; by default X.
    criterion : callable, optional
        Takes a fitted model, returns a number; by default the model's
        ``diagnostics_.training_risk``, or NaN if it has none.
    n_draws : int, default=20
        Number of random points, in addition to the corners.
    random_state : int, RandomState or None
        Source of the random points.

    Returns
    -------
    Sensitivity

    Raises
    ------
    ValueError
        If intervals are missing or invalid, or a refit fails (the message names the refit).

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CorrectedLossClassifier
    >>> from decorrupt.noise_rates import sensitivity
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, (20, 10))
    >>> X = (rng.normal(size=(20, 10, 2)) + 2 * labels[..., None]).reshape(-1, 2)
    >>> bags, y = np.repeat(np.arange(20), 10), np.repeat(labels.mean(axis=1), 10)
    >>> model = CorrectedLossClassifier(reg_strength=0.1, random_state=0)
    >>> moved = sensitivity(model, X, y, bags=bags, intervals=0.05, n_draws=5, random_state=0)
    >>> bool(np.mean(moved.flip_share > 0) < 0.2)
    True
    """
    if n_draws < 0:
        raise ValueError(f"n_draws={n_draws!r} must be at least 0")
    if bags is not None:
        plan = bag_plan(X, y, bags, intervals)
    else:
        plan = source_plan(X, y, sources, noise_rates, intervals)
    rows = X if X_new is None else X_new
    measure = _training_risk if criterion is None else criterion
    model = clone(estimator)
    emit_notices(plan.train(model, plan.point))
    predictions = model.predict(rows)
    settings = list(plan.settings(n_draws, check_random_state(random_state)))
    refits = [
        _refit(plan, estimator, setting, k)
        for k, setting in enumerate(track(settings, "refitting", len(settings)))
    ]
    changed = np.array([refit.predict(rows) != predictions for refit in refits])
    return Sensitivity(
        predictions=predictions,
        flip_share=changed.mean(axis=0),
        refit_flips=changed.mean(axis=1),
        criterion=float(measure(model)),
        criterion_refits=np.array([float(measure(refit)) for refit in refits]),
        parameter_names=plan.names,
        settings=np.array([setting.ravel() for setting in settings]),
    )


def _refit(plan: RefitPlan, estimator: Any, setting: FloatArray, k: int) -> Any:
    try:
        model = clone(estimator)
        plan.train(model, setting)  # notices are dropped: the first fit has already warned
        return model
    except ValueError as error:
        raise ValueError(
            f"refit {k}, with {plan.names[0]} = {setting.flat[0]:.3g}, cannot be trained: {error}. "
            "Narrow the intervals"
        ) from error


def _training_risk(model: Any) -> float:
    return float(getattr(getattr(model, "diagnostics_", None), "training_risk", np.nan))
