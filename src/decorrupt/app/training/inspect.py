"""What is in the data before any training: how much it can tell, and what stands in the way."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from decorrupt.app.training.columns import CATEGORY, Features
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.results import BagSummary, Inspection, Measured, now, plain
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.summary import summarize_bags, warn_of_bag_columns
from decorrupt.app.training.train import FEW_CLEAN_ROWS, chance_warning
from decorrupt.corruption import Strata, combine_strata
from decorrupt.estimators import MeanMapClassifier
from decorrupt.model_selection import bag_folds, corrected_accuracy
from decorrupt.model_selection.out_of_fold import TrainingData, out_of_fold
from decorrupt.model_selection.scorers import pooled_prior
from decorrupt.theory import convexity_floor, information, is_convex

# Bags that hold this share of V together are said to matter.
MATTER = 0.9
# A bag with less than this share of what it would hold if all held alike tells next to nothing.
USELESS = 0.01
FEW_BAGS, MANY_ROWS = 5, 20_000
QUICK_REG_STRENGTH, QUICK_ROWS = 1e-3, 5000


def inspect_bags(rows: BagRows, features: Features, *, quick_fit: bool, seed: int) -> Inspection:
    """Return how much bags can tell and what to do with them.

    Parameters
    ----------
    rows : BagRows
        Rows in bags of known proportions.
    features : Features
        The columns that would be used.
    quick_fit : bool
        Whether to train one fast method, out of fold, to see what accuracy it reaches.
    seed : int
        For `quick_fit`.
    """
    strata = rows.strata
    summary = summarize_bags(strata)
    shares = _bag_shares(strata)
    useless = [bag["bag"] for bag in shares if bag["share"] < USELESS / len(shares)]
    convex = _convexity(strata)
    hope = _hope(rows, features, summary, quick_fit=quick_fit, seed=seed)
    quick = hope.get("quick_fit")
    return Inspection(
        rows=rows.table.name,
        situation="bags",
        created=now(),
        bags=summary,
        columns=[asdict(column) for column in features.columns],
        left_out=dict(features.left_out),
        bag_shares=shares,
        matter=_matter(shares),
        useless=useless,
        convex=convex,
        advice=_advice(summary, convex),
        hope=hope,
        warnings=[
            *rows.warnings,
            *_bag_warnings(strata, summary),
            *_column_warnings(rows, features),
            *(chance_warning(quick["value"], quick["std_error"]) if quick else []),
        ],
    )


def _bag_shares(strata: Strata) -> list[dict[str, Any]]:
    told = information(strata.sizes, strata.proportions)
    columns = (strata.ids, strata.sizes, strata.proportions, told.by_stratum / told.total)
    names = ("bag", "size", "proportion", "share")
    bags = [dict(zip(names, plain(bag), strict=True)) for bag in zip(*columns, strict=True)]
    return sorted(bags, key=lambda bag: -bag["share"])


def _matter(shares: list[dict[str, Any]]) -> int:
    held = np.cumsum([bag["share"] for bag in shares])
    return min(int(np.searchsorted(held, MATTER)) + 1, len(shares))


def _convexity(strata: Strata) -> dict[str, Any]:
    combination = combine_strata(strata.sizes, strata.proportions)
    return {
        "exists": bool(strata.proportions.min() <= 0.5 <= strata.proportions.max()),
        "superbag": is_convex(combination),
        "floor": convexity_floor(combination),
    }


def _advice(summary: BagSummary, convex: dict[str, Any]) -> dict[str, str]:
    if summary["n_rows"] > MANY_ROWS:
        return {
            "method": "mean-map",
            "reason": f"{summary['n_rows']:,} rows: the fastest method, always convex",
        }
    if summary["n_bags"] < FEW_BAGS:
        return {
            "method": "mean-map",
            "reason": f"{summary['n_bags']} bags are too few to compare methods on; this one is "
            "always convex",
        }
    reason = "compares mean map, corrected loss and count likelihood on bags left out of training"
    if not convex["superbag"]:
        reason += "; the corrected loss alone may have several minima here"
    return {"method": "auto", "reason": reason}


def _hope(
    rows: BagRows, features: Features, summary: BagSummary, *, quick_fit: bool, seed: int
) -> dict[str, Any]:
    worth = summary["effective_sample_size"]
    # Var of the corrected accuracy ≤ Σ(|a|+|b|)²/(4n) = 1/(16V): each share has variance ≤ ¼/n.
    resolution = float(1 / (4 * np.sqrt(summary["information"])))
    words = (
        f"By the theory's worst-case bound the proportions are worth {worth:,.0f} labelled rows: "
        f"hope for about what {worth:,.0f} labelled rows would give; it is often more. From these "
        "bags alone a balanced accuracy can be told to a standard error of at most "
        f"{resolution:.3f}."
    )
    hope = {"effective_sample_size": worth, "resolution": resolution, "words": words}
    if quick_fit:
        hope["quick_fit"] = _quick_fit(rows, features, seed)
    return hope


def _quick_fit(rows: BagRows, features: Features, seed: int) -> Measured:
    """Return the corrected accuracy of one mean-map model out of fold, on at most QUICK_ROWS."""
    strata, frame = rows.strata, rows.table.frame
    order = np.random.default_rng(seed).permutation(len(strata.ids))
    place = np.cumsum(strata.sizes[order])
    bags = order[: max(FEW_BAGS, int(np.searchsorted(place, QUICK_ROWS, "right")))]
    kept = np.flatnonzero(np.isin(strata.row_stratum, bags))
    strata = strata.take(kept)
    prepared = prepare(frame, features.columns, table=rows.table.name).iloc[kept]
    folds = bag_folds(
        strata.row_proportions, bags=strata.row_stratum, n_splits=FEW_BAGS, random_state=seed
    )
    model = MeanMapClassifier(reg_strength=QUICK_REG_STRENGTH, random_state=seed)
    preprocessor = make_preprocessor(features.columns, len(prepared))
    judged = out_of_fold(
        Pipeline([("preprocess", preprocessor), ("classifier", model)]),
        TrainingData.in_bags(prepared, strata, folds),
        class_prior=pooled_prior(strata.row_proportions),
    )
    seen = np.flatnonzero(~np.isnan(judged.decisions))
    tested = strata.take(seen)
    value, std_error = corrected_accuracy(
        tested.row_proportions, judged.decisions[seen], bags=tested.row_stratum
    )
    return Measured(value=plain(value), std_error=plain(std_error))


def _bag_warnings(strata: Strata, summary: BagSummary) -> list[str]:
    said = []
    if summary["n_bags"] < FEW_BAGS:
        said.append(f"there are only {summary['n_bags']} bags: whole bags cannot be held out")
    if summary["effective_sample_size"] < FEW_CLEAN_ROWS:
        said.append(
            f"the proportions are worth only {summary['effective_sample_size']:.1f} labelled rows: "
            "more bags, or bags that differ more, are needed"
        )
    counts = strata.proportions * strata.sizes
    broken = np.abs(counts - np.rint(counts)) > 0.01 * np.maximum(strata.sizes, 1)
    if broken.any():
        bag = strata.ids[np.flatnonzero(broken)[0]]
        said.append(
            f"in {broken.sum()} bags (the first is {bag!r}) the proportion is no whole number of "
            "the bag's rows: are rows missing, or is it an estimate?"
        )
    alone = int(np.sum(strata.sizes == 1))
    if alone:
        said.append(f"{alone} bags have one row only: their proportion is that row's label")
    return said


def _column_warnings(rows: BagRows, features: Features) -> list[str]:
    frame = rows.table.frame
    said = warn_of_bag_columns(frame, features.names, rows.strata)
    half = [column.name for column in features.columns if column.n_missing > len(frame) / 2]
    if half:
        said.append(f"columns of which most values are missing: {', '.join(map(repr, half))}")
    many = [c.name for c in features.columns if c.kind == CATEGORY and c.n_distinct > 50]
    if many:
        said.append(
            f"columns with more than 50 categories: {', '.join(map(repr, many))}; rare ones are "
            "folded into one"
        )
    return said
