"""Any scikit-learn estimator: its rows, a fit to soft labels, and its probabilities."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators import FLOATS
from decorrupt.losses import scores_of_probabilities
from decorrupt.observed import as_targets, class_columns

# Probabilities of a forest can be 0 or 1; their log-odds are limited by this margin.
PROBABILITY_MARGIN = 1e-3


def learner_rows(model: Any, X: Any, *, reset: bool, takes_missing_values: bool) -> Any:
    """Return validated rows; data frames stay as they are, with columns of all types."""
    if hasattr(X, "columns"):
        validate_data(model, X, reset=reset, skip_check_array=True)
        return X
    finite = "allow-nan" if takes_missing_values else True
    return validate_data(
        model, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite
    )


def check_learner(
    estimator: Any, sample_weight_name: str | None, *, regressors: bool = True
) -> None:
    """Raise a ValueError unless the estimator has probabilities and weights.

    With `regressors`, a regressor needs neither: it is fitted to the probabilities directly.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(
            f"estimator={estimator!r} is not an estimator: give an instance, such as "
            "RandomForestClassifier()"
        )
    name = type(final_step(estimator)).__name__
    if regressors and is_regressor(estimator):
        return
    other = "another classifier or a regressor" if regressors else "another classifier"
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(f"estimator {name} has no predict_proba: choose {other}")
    has_weights = has_fit_parameter(final_step(estimator), "sample_weight")
    if sample_weight_name is None and not has_weights:
        raise ValueError(
            f"fit of estimator {name} has no sample_weight: choose {other}, or give the name of "
            "its weights as sample_weight_name"
        )
    if sample_weight_name is not None and not _takes(estimator, sample_weight_name):
        hint = f": None uses {weight_name(estimator, None)!r}" if has_weights else ""
        raise ValueError(
            f"sample_weight_name={sample_weight_name!r} is not an argument of fit of estimator "
            f"{name}{hint}"
        )


def _takes(estimator: Any, name: str) -> bool:
    """Return whether `fit` has this argument or takes any; STEP__ARGUMENT of a pipeline."""
    if hasattr(estimator, "steps"):
        step, _, own = name.partition("__")
        return step in estimator.named_steps and _takes(estimator.named_steps[step], own)
    arguments = signature(estimator.fit).parameters
    return name in arguments or any(one.kind is one.VAR_KEYWORD for one in arguments.values())


def final_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def weight_name(estimator: Any, sample_weight_name: str | None) -> str:
    """Return the argument of `fit` that takes the weights: of a pipeline's last step."""
    if sample_weight_name is not None:
        return sample_weight_name
    if hasattr(estimator, "steps"):
        return f"{estimator.steps[-1][0]}__sample_weight"
    return "sample_weight"


def fit_soft_labels(
    estimator: Any,
    X: Any,
    weights: FloatArray,
    *,
    row_weights: Any = None,
    sample_weight_name: str | None = None,
) -> Any:
    """Return a clone of the estimator fitted to P(Y=c) of every row.

    A regressor is fitted to the probabilities. A classifier gets every row once per class, with
    the probability of the class as its weight; its classes are 0, 1, ….

    Parameters
    ----------
    estimator : estimator
        A classifier with `sample_weight` and `predict_proba`, or a regressor.
    X : array-like, sparse matrix or data frame
        The rows.
    weights : ndarray of shape (n_rows, n_classes)
        P(Y=c).
    row_weights : ndarray of shape (n_rows,), optional
        How many rows each row represents.
    sample_weight_name : str, optional
        The name of the weights in `fit`; for a pipeline by default that of its last step.
    """
    model = clone(estimator)
    name = weight_name(model, sample_weight_name)
    if is_regressor(estimator):
        targets = as_targets(weights)
        if targets.ndim == 2 and not get_tags(model).target_tags.multi_output:
            model, name = MultiOutputRegressor(model), "sample_weight"
        return model.fit(X, targets, **({} if row_weights is None else {name: row_weights}))
    if row_weights is not None:
        weights = weights * row_weights[:, None]
    labels, rows = np.nonzero(weights.T > 0)
    copied = {name: weights[rows, labels]}
    return model.fit(_safe_indexing(X, rows), labels, **copied)


def soft_scores(model: Any, X: Any, n_classes: int) -> FloatArray:
    """Return the log-odds of a model fitted to soft labels; of several classes log-probabilities.

    Probabilities are limited to [0.001, 0.999].
    """
    if is_regressor(model):
        prob = class_columns(model.predict(X))
    else:
        prob = np.asarray(model.predict_proba(X), dtype=float)
        if prob.shape[1] < n_classes:
            prob = _all_columns(prob, model.classes_, n_classes)
    return scores_of_probabilities(prob, PROBABILITY_MARGIN)


def _all_columns(prob: FloatArray, classes: NDArray[Any], n_classes: int) -> FloatArray:
    """Return probabilities of all classes, zero for those without a training row."""
    full = np.zeros((len(prob), n_classes))
    full[:, np.asarray(classes, dtype=np.intp)] = prob
    return full
