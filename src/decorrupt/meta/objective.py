"""The count likelihood as an objective of boosting libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.losses import probabilities, score_columns, score_shape
from decorrupt.observed import as_observed
from decorrupt.risks import CountRisk, count_risk

# Keeps the Newton step of a leaf finite where all rows are certain.
SMALLEST_HESSIAN = 1e-6


class CountObjective:
    """objective(y_true, y_pred) → (p − w, p(1−p)); see :func:`count_objective`.

    Both are multiplied by the number of rows that a row represents.

    Parameters
    ----------
    likelihood : CountRisk
        What is known about the labels of the training rows, in their order.
    """

    def __init__(self, likelihood: CountRisk) -> None:
        self.likelihood = likelihood

    def __call__(self, y_true: Any, y_pred: Any) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Return the gradient and the diagonal bound of the Hessian, in the shape of y_pred."""
        raw = np.asarray(y_pred, dtype=float)
        observed = self.likelihood.observed
        shape = (len(observed.row_bag), *score_shape(observed.n_classes))
        if raw.size != np.prod(shape):
            raise ValueError(
                f"count_objective was made for {shape[0]} rows and got {raw.size} scores: fit the "
                "model on the rows, in the order, for which the objective was made"
            )
        # A flat array of several classes contains one class after the other.
        scores = raw if raw.shape == shape else raw.reshape(shape, order="F")
        prob = probabilities(scores)
        gradient = score_columns(prob - self.likelihood.posterior(scores))
        hessian = np.maximum(score_columns(prob * (1 - prob)), SMALLEST_HESSIAN)
        if observed.weights is not None:
            gradient, hessian = ((part.T * observed.weights).T for part in (gradient, hessian))
        if raw.shape == shape:
            return gradient, hessian
        return gradient.reshape(raw.shape, order="F"), hessian.reshape(raw.shape, order="F")


def count_objective(
    y: ArrayLike,
    bags: Any,
    *,
    upper: ArrayLike | None = None,
    count_noise: Any = None,
    sample_weight: ArrayLike | None = None,
) -> CountObjective:
    """Return the callable that scikit-learn classes of LightGBM and XGBoost take as `objective`.

    It computes the gradient p_j − w_j of the negative log-likelihood in the log-odds, and the
    bound p_j(1−p_j) of its Hessian, where w_j = P(Y_j=1 | observation), see
    :func:`label_posterior`. The model's raw predictions are log-odds. Use the regressors
    (`LGBMRegressor`, `XGBRegressor`), because the classifiers accept only class labels as y.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The proportion of each row's bag, or its class shares.
    bags : array-like of shape (n_rows,)
        The bag of each row. The model must be fitted on the same rows in the same order.
    upper, count_noise, sample_weight
        As in :func:`label_posterior`.

    Examples
    --------
    >>> from decorrupt import count_objective
    >>> objective = count_objective([0.5, 0.5, 0.0], ["a", "a", "b"])
    >>> gradient, hessian = objective(None, [0.0, 0.0, 0.0])
    >>> gradient.tolist(), hessian.tolist()
    ([0.0, 0.0, 0.5], [0.25, 0.25, 0.25])
    """
    observed = as_observed(
        y, bags=bags, upper=upper, count_noise=count_noise, sample_weight=sample_weight
    )
    return CountObjective(count_risk(observed))
