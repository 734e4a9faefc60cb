"""Out-of-fold scores of all rows, and label counts per score bin."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array

from decorrupt._typing import FloatArray
from decorrupt.estimators import FLOATS
from decorrupt.features import check_magnitude
from decorrupt.observed import Sources
from decorrupt.progress import track

ROWS_PER_BIN = 50
MAX_BINS, MIN_BINS = 200, 10
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def split_rows(X: Any, strata: NDArray[np.intp], cv: Any, random_state: Any) -> list[Split]:
    """Return (train, test) rows of each fold; every row is held out exactly once."""
    if isinstance(cv, int | np.integer):
        splitter = StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
    else:
        splitter = check_cv(cv, strata, classifier=True)
    splits = list(splitter.split(X, strata))
    held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(strata))
    if (held_out != 1).any():
        row = int(np.flatnonzero(held_out != 1)[0])
        raise ValueError(
            f"cv holds row {row} out {held_out[row]} times: its test folds must be a partition of "
            "the rows, such as those of StratifiedKFold"
        )
    return splits


def out_of_fold(
    X: Any, noisy: Sources, estimator: Any, splits: list[Split], random_state: Any
) -> tuple[FloatArray, float]:
    """Return the out-of-fold scores of a model of all sources' noisy labels, and their AUC.

    Every source's P(Ỹ=1|x) increases with P(Y=1|x), so one model ranks the rows for all sources;
    only the order of the scores is used. Without an estimator, the better of a linear and a boosted
    model by the area under the ROC curve of the noisy labels.
    """
    X, models = candidates(X, estimator, random_state)
    found = []
    for model in track(models, "fitting models of the noisy labels", len(models)):
        scores = out_of_fold_score(model, X, noisy, splits)
        found.append((scores, float(roc_auc_score(noisy.noisy_class, scores))))
    return max(found, key=lambda scored: scored[1])


def candidates(X: Any, estimator: Any, random_state: Any) -> tuple[Any, list[Any]]:
    """Return the rows and the models to compare: the estimator, or two if there is none."""
    if estimator is not None:
        return X, [estimator]
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csr", dtype=FLOATS)
    check_magnitude(X, names, n_rows=X.shape[0])
    is_sparse = scipy.sparse.issparse(X)
    linear = make_pipeline(StandardScaler(with_mean=not is_sparse), LogisticRegression())
    if is_sparse:
        return X, [linear]
    boosted = HistGradientBoostingClassifier(  # few and small trees: the labels are noisy
        max_leaf_nodes=8, max_iter=60, min_samples_leaf=40, random_state=random_state
    )
    return X, [linear, boosted]


def out_of_fold_score(estimator: Any, X: Any, noisy: Sources, splits: list[Split]) -> FloatArray:
    """Return the out-of-fold P̂(Ỹ=1|x) of each row, or another score of a model without it."""
    has_proba = hasattr(estimator, "predict_proba")
    method = "predict_proba" if has_proba else "decision_function"
    scores = cross_val_predict(estimator, X, noisy.noisy_class, cv=splits, method=method)
    return np.asarray(scores[:, 1] if has_proba else scores, dtype=float)


def count_labels(
    scores: FloatArray, noisy: Sources, random_state: np.random.RandomState
) -> FloatArray:
    """Return the number of rows per equal-frequency score bin, source and label.

    Ties are broken at random: in row order, sorted labels would look like a perfect score.
    """
    n_rows = len(scores)
    n_bins = int(np.clip(n_rows // ROWS_PER_BIN, MIN_BINS, MAX_BINS))
    order = np.lexsort((random_state.uniform(size=n_rows), scores))
    bins = np.empty(n_rows, dtype=np.intp)
    bins[order] = np.arange(n_rows) * n_bins // n_rows
    counts = np.zeros((n_bins, len(noisy.ids), 2))
    np.add.at(counts, (bins, noisy.row_source, noisy.noisy_class), 1.0)
    return counts
