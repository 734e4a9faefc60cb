"""What a model says of rows it was not trained on, judged without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from decorrupt._typing import FloatArray
from decorrupt.app.training.results import (
    BagPrediction,
    CalibrationBin,
    HeldOutResults,
    Histogram,
    Measured,
    plain,
)
from decorrupt.corruption import Strata, combine_strata
from decorrupt.model_selection import (
    BagKFold,
    WithinBagKFold,
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)
from decorrupt.model_selection.scorers import pooled_prior
from decorrupt.model_selection.search import usable_folds
from decorrupt.model_selection.splitters import Fold
from decorrupt.notices import train_quietly
from decorrupt.progress import log_step

# With fewer bags, leaving whole bags out leaves too little to learn from.
FEWEST_BAGS_TO_LEAVE_OUT = 5
WHOLE_BAGS = "whole bags"
HISTOGRAM_BINS, CALIBRATION_BINS = 20, 5


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for held-out rows; NaN for a row that was never held out.

    Attributes
    ----------
    decisions : ndarray of shape (n_rows,)
        Positive for the positive class.
    probabilities : ndarray of shape (n_rows,)
        P(Y=1|x) for the share of positives among the fold's training rows.
    models : list of (model, rows)
        The model of each fold and the rows it had not seen.
    """

    decisions: FloatArray
    probabilities: FloatArray
    models: list[tuple[Any, Any]]


def bag_folds(strata: Strata, n_folds: int, seed: int) -> tuple[list[Fold], str]:
    """Return folds of whole bags, or of the rows of every bag where bags are few, and which."""
    n_bags = len(strata.ids)
    if n_bags >= FEWEST_BAGS_TO_LEAVE_OUT:
        cv: Any = BagKFold(min(n_folds, n_bags), shuffle=True, random_state=seed)
        held_out = WHOLE_BAGS
    else:
        n_folds = min(n_folds, len(strata.row_stratum))
        cv = WithinBagKFold(n_folds, shuffle=True, random_state=seed)
        held_out = "rows of every bag"
    rows = np.empty((len(strata.row_stratum), 0))
    try:
        folds, _ = usable_folds(
            cv, rows, strata.row_proportions, strata.row_stratum, needs_spread=False
        )
    except ValueError:
        raise ValueError(
            f"{len(rows)} rows in {n_bags} bags are too few: whatever is held out, the rest "
            "tells nothing; more bags are needed"
        ) from None
    return folds, held_out


def out_of_fold(
    pipeline: Any,
    rows: pd.DataFrame,
    y: Any,
    folds: Sequence[Fold],
    prior: float,
    n_jobs: int | None = None,
    **fit_params: Any,
) -> OutOfFold:
    """Fit the whole pipeline anew on every fold's training rows, predict the others.

    Parameters
    ----------
    pipeline : Pipeline
        Cloned for every fold; preprocessing is fitted on the fold's training rows too.
    rows : DataFrame
        Prepared features.
    y : ndarray
        Targets.
    folds : sequence of (train, test)
        Row numbers.
    prior : float
        The share of positives probabilities are for.
    n_jobs : int, optional
        Folds at a time.
    **fit_params : ndarray
        Per-row arguments of the last step's `fit`: bags or sources.
    """
    models = Parallel(n_jobs=n_jobs)(
        delayed(_fit_fold)(pipeline, rows, np.asarray(y), train, fit_params) for train, _ in folds
    )
    log_step(f"fitted the chosen method again on {len(folds)} folds")
    decisions, probabilities = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for model, (_, test) in zip(models, folds, strict=True):
        decisions[test], probabilities[test] = score_rows(model, rows.iloc[test], prior)
    return OutOfFold(
        decisions, probabilities, list(zip(models, [test for _, test in folds], strict=True))
    )


def _fit_fold(pipeline: Any, rows: Any, y: Any, train: Any, fit_params: dict[str, Any]) -> Any:
    """Return the pipeline fitted on some rows; what a fold would warn of, the final fit does."""
    fitted = clone(pipeline)
    features = fitted[:-1].fit_transform(rows.iloc[train])
    own = {name: values[train] for name, values in fit_params.items()}
    train_quietly(fitted[-1], features, y[train], **own)
    return fitted


def score_rows(model: Any, rows: pd.DataFrame, prior: float) -> tuple[FloatArray, FloatArray]:
    """Return decisions, and P(Y=1|x) in a population with the share `prior` of positives."""
    decisions = model.decision_function(rows)
    return decisions, model.predict_proba(rows, class_prior=prior)[:, 1]


def criteria(
    strata: Strata, decisions: FloatArray, probabilities: FloatArray, *, counts: bool
) -> dict[str, Measured]:
    """Return the label-free criteria with standard errors; None where one cannot be computed.

    `counts` says whether proportions are exact counts over sizes, as in bags, so that their
    likelihood means something.
    """
    y, bags = strata.row_proportions, strata.row_stratum
    found: dict[str, Measured] = {}
    for name, function in (
        ("corrected_accuracy", corrected_accuracy),
        ("corrected_risk", corrected_risk),
        ("proportion_risk", proportion_risk),
    ):
        try:
            found[name] = _measured(*function(y, decisions, bags=bags))
        except ValueError:  # all proportions equal: differences tell nothing
            found[name] = Measured(value=None, std_error=None)
    if counts:
        found["count_log_likelihood"] = _measured(*count_score(y, probabilities, bags=bags))
    return found


def _measured(value: float, std_error: float) -> Measured:
    return Measured(value=plain(value), std_error=plain(std_error))


def held_out_results(
    strata: Strata, decisions: FloatArray, probabilities: FloatArray, *, counts: bool
) -> HeldOutResults:
    """Return everything a page shows of held-out rows but the importance of columns."""
    seen = np.flatnonzero(~np.isnan(decisions))
    strata, decisions, probabilities = strata.take(seen), decisions[seen], probabilities[seen]
    return HeldOutResults(
        criteria=criteria(strata, decisions, probabilities, counts=counts),
        per_bag=per_bag(strata, decisions, probabilities),
        histogram=histogram(probabilities),
        calibration=calibration_from_proportions(strata, probabilities),
        calibration_from="proportions",
        importance=None,
        importance_criterion=None,
    )


def per_bag(
    strata: Strata, decisions: FloatArray, probabilities: FloatArray
) -> list[BagPrediction]:
    """Return every bag's known and predicted proportion."""
    sizes = strata.sizes
    predicted = np.bincount(strata.row_stratum, probabilities, len(sizes)) / sizes
    positive = np.bincount(strata.row_stratum, decisions > 0, len(sizes)) / sizes
    columns = (strata.ids, sizes, strata.proportions, predicted, positive)
    return [
        BagPrediction(
            bag=plain(bag), size=size, known=known, predicted=mean, predicted_positive=share
        )
        for bag, size, known, mean, share in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def histogram(probabilities: FloatArray, is_pos: Any = None) -> Histogram:
    """Return how many rows have which probability, and with labels how many positive ones."""
    edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    found = {"edges": edges, "counts": np.histogram(probabilities, edges)[0]}
    if is_pos is not None:
        found["counts_positive"] = np.histogram(probabilities[is_pos], edges)[0]
    return cast(Histogram, plain(found))


def quantile_bins(probabilities: FloatArray, n_bins: int) -> tuple[FloatArray, Any]:
    """Return edges of bins of about equal numbers of rows, and each row's bin."""
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, n_bins + 1)))
    return edges, np.clip(
        np.searchsorted(edges, probabilities, "right") - 1, 0, max(len(edges) - 2, 0)
    )


def calibration_from_proportions(
    strata: Strata, probabilities: FloatArray, n_bins: int = CALIBRATION_BINS
) -> list[CalibrationBin]:
    """Return the share of positives by predicted probability, without a label.

    With (a, b) an unbiased combination, Σ_k 2a_k·P̂_k(bin) estimates P(bin | Y=1), and
    P(Y=1 | bin) = γ̄·P(bin | Y=1)/P(bin).
    """
    try:
        lever = 2 * combine_strata(strata.sizes, strata.proportions, method="least_squares").pos
    except ValueError:
        return []
    sizes, prior = strata.sizes, pooled_prior(strata.row_proportions)
    edges, row_bin = quantile_bins(probabilities, n_bins)
    bins = []
    for k in range(max(len(edges) - 1, 1)):
        inside = row_bin == k
        if not inside.any():
            continue
        by_bag = np.bincount(strata.row_stratum, inside, len(sizes)) / sizes
        scale = prior / inside.mean()
        spread = np.sqrt(np.sum(lever**2 * by_bag * (1 - by_bag) / sizes))
        bins.append(
            {
                "low": edges[k],
                "high": edges[min(k + 1, len(edges) - 1)],
                "n_rows": inside.sum(),
                "predicted": probabilities[inside].mean(),
                "share": scale * lever @ by_bag,
                "std_error": scale * spread,
            }
        )
    return list(plain(bins))
