"""Lazy predictions that keep the partitions of X."""

from __future__ import annotations

from typing import Any

import numpy as np


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
    n_columns = _n_columns(model, method)
    if hasattr(X, "columns"):
        return _predict_frame(model, method, X, dtype, n_columns, options)
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    shape: dict[str, Any] = (
        {"drop_axis": 1} if n_columns is None else {"chunks": (X.chunks[0], (n_columns,))}
    )
    return X.map_blocks(
        _of_rows,
        model=model,
        method=method,
        options=options,
        dtype=dtype,
        meta=np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype),
        **shape,
    )


def _n_columns(model: Any, method: str) -> int | None:
    """Return the columns of the result; None if it has one entry per row."""
    n_classes = len(model.classes_)
    if method == "predict" or (method == "decision_function" and n_classes == 2):
        return None
    return n_classes


def _predict_frame(
    model: Any, method: str, X: Any, dtype: Any, n_columns: int | None, options: Any
) -> Any:
    import pandas as pd

    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        missing = [name for name in names.tolist() if name not in list(X.columns)]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}, which the model was trained on")
        X = X[names.tolist()]
    if n_columns is None:
        meta: Any = pd.Series([], dtype=dtype, name=method)
    else:
        meta = pd.DataFrame({name: pd.Series([], dtype=dtype) for name in model.classes_.tolist()})
    return X.map_partitions(_of_frame, model, method, options, meta, meta=meta)


def _of_rows(rows: Any, *, model: Any, method: str, options: dict[str, Any]) -> Any:
    if not rows.shape[0]:
        n_columns = _n_columns(model, method)
        return np.empty((0,) if n_columns is None else (0, n_columns))
    return getattr(model, method)(rows, **options)


def _of_frame(frame: Any, model: Any, method: str, options: dict[str, Any], meta: Any) -> Any:
    if not len(frame):
        return meta
    found = getattr(model, method)(
        frame if hasattr(model, "feature_names_in_") else frame.to_numpy(), **options
    )
    if found.ndim == 1:
        return type(meta)(found, index=frame.index, name=meta.name, dtype=meta.dtype)
    return type(meta)(found.astype(float), index=frame.index, columns=meta.columns)
