"""Lazy predictions that keep the partitions of X."""

from __future__ import annotations

from typing import Any

import numpy as np

from decorrupt.losses import score_shape


def predict_lazily(model: Any, method: str, X: Any, **options: Any) -> Any:
    """Return ``model.method(rows)`` for every partition of X, computed when it is needed.

    Parameters
    ----------
    model : estimator
        A fitted estimator without Dask.
    method : str
        "predict", "predict_proba" or "decision_function".
    X : Dask array or dataframe, or anything that the model itself takes
        Rows; of a dataframe the columns that the model was trained on are used.
    **options
        Passed to the method.

    Returns
    -------
    Dask array for an array; Dask series, or a dataframe with a column per class, for a dataframe
    """
    if not hasattr(X, "to_delayed"):
        return getattr(model, method)(X, **options)
    dtype = model.classes_.dtype if method == "predict" else np.dtype(float)
    n_classes = len(model.classes_)
    shapes = {"predict_proba": (n_classes,), "decision_function": score_shape(n_classes)}
    has_columns = bool(shapes.get(method))
    if hasattr(X, "columns"):
        return _predict_frame(model, method, X, dtype, has_columns, options)
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    meta = np.empty((0, n_classes) if has_columns else 0, dtype=dtype)
    shape = {"chunks": (X.chunks[0], (n_classes,))} if has_columns else {"drop_axis": 1}
    return X.map_blocks(
        _of_rows, model=model, method=method, options=options, empty=meta, meta=meta, **shape
    )


def _predict_frame(
    model: Any, method: str, X: Any, dtype: Any, has_columns: bool, options: Any
) -> Any:
    import pandas as pd

    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        missing = [name for name in names.tolist() if name not in list(X.columns)]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}, which the model was trained on")
        X = X[names.tolist()]
    if has_columns:
        meta: Any = pd.DataFrame(columns=model.classes_.tolist(), dtype=dtype)
    else:
        meta = pd.Series([], dtype=dtype, name=method)
    return X.map_partitions(_of_frame, model, method, options, meta, meta=meta)


def _of_rows(rows: Any, *, model: Any, method: str, options: dict[str, Any], empty: Any) -> Any:
    return getattr(model, method)(rows, **options) if rows.shape[0] else empty


def _of_frame(frame: Any, model: Any, method: str, options: dict[str, Any], empty: Any) -> Any:
    if not len(frame):
        return empty
    rows = frame if hasattr(model, "feature_names_in_") else frame.to_numpy()
    found = getattr(model, method)(rows, **options)
    if found.ndim == 1:
        return type(empty)(found, index=frame.index, name=empty.name, dtype=empty.dtype)
    return type(empty)(found.astype(float), index=frame.index, columns=empty.columns)
