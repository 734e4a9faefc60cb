"""Inspection of bags before training: information, convexity, advice and warnings."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from decorrupt.app.training.columns import CATEGORY, Features, column_cards
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.results import (
    Advice,
    BagDetails,
    BagShare,
    BagSummary,
    Convexity,
    Inspection,
    Measured,
    Outlook,
    now,
    plain,
)
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.summary import summarize_bags, warn_of_bag_columns
from decorrupt.app.training.train import FEW_CLEAN_ROWS, chance_warning
from decorrupt.corruption import Strata, combine_strata
from decorrupt.estimators import MeanMapClassifier
from decorrupt.model_selection import bag_folds, corrected_accuracy
from decorrupt.model_selection.out_of_fold import TrainingData, out_of_fold
from decorrupt.model_selection.scorers import pooled_prior
from decorrupt.theory import convexity_floor, information, is_convex

# The informative bags contribute this share of V together.
INFORMATIVE = 0.9
# An uninformative bag contributes less than this share of the mean contribution.
UNINFORMATIVE = 0.01
FEW_BAGS, MANY_ROWS = 5, 20_000
QUICK_REG_STRENGTH, QUICK_ROWS = 1e-3, 5000


def inspect_bags(rows: BagRows, features: Features, *, quick_fit: bool, seed: int) -> Inspection:
    """Return the information in bags, advice and warnings.

    Parameters
    ----------
    rows : BagRows
        Rows in bags of known proportions.
    features : Features
        The columns that would be used.
    quick_fit : bool
        Whether to train one fast method out of fold and report its accuracy.
    seed : int
        For `quick_fit`.
    """
    strata = rows.strata
    summary = summarize_bags(strata)
    details = _details(strata)
    outlook = _outlook(rows, features, summary, quick_fit=quick_fit, seed=seed)
    quick = outlook.get("quick_fit")
    return Inspection(
        rows=rows.table.name,
        situation="bags",
        created=now(),
        bags=summary,
        columns=column_cards(features, {}),
        left_out=dict(features.left_out),
        bag_details=details,
        advice=_advice(summary, details["convexity"]),
        outlook=outlook,
        warnings=[
            *rows.warnings,
            *_bag_warnings(strata, summary),
            *_column_warnings(rows, features),
            *(chance_warning(quick["value"], quick["std_error"]) if quick else []),
        ],
    )


def _details(strata: Strata) -> BagDetails:
    found = information(strata.sizes, strata.proportions)
    columns = (strata.ids, strata.sizes, strata.proportions, found.by_stratum / found.total)
    bags = [
        BagShare(bag=plain(bag), size=size, proportion=proportion, share=share)
        for bag, size, proportion, share in zip(*(c.tolist() for c in columns), strict=True)
    ]
    bags.sort(key=lambda bag: -bag["share"])
    total = np.cumsum([bag["share"] for bag in bags])
    return BagDetails(
        shares=bags,
        n_informative=min(int(np.searchsorted(total, INFORMATIVE)) + 1, len(bags)),
        uninformative=[bag["bag"] for bag in bags if bag["share"] < UNINFORMATIVE / len(bags)],
        convexity=_convexity(strata),
    )


def _convexity(strata: Strata) -> Convexity:
    combination = combine_strata(strata.sizes, strata.proportions)
    return Convexity(
        exists=bool(strata.proportions.min() <= 0.5 <= strata.proportions.max()),
        superbag=is_convex(combination),
        floor=convexity_floor(combination),
    )


def _advice(summary: BagSummary, convexity: Convexity) -> Advice:
    if summary["n_rows"] > MANY_ROWS:
        reason = f"it is the fastest method for {summary['n_rows']:,} rows, and convex"
        return Advice(method="mean-map", reason=reason)
    if summary["n_bags"] < FEW_BAGS:
        reason = f"{summary['n_bags']} bags are too few to compare methods; this one is convex"
        return Advice(method="mean-map", reason=reason)
    reason = "it compares mean map, corrected loss and count likelihood on held-out bags"
    if not convexity["superbag"]:
        reason += "; the corrected loss alone may have several minima on these bags"
    return Advice(method="auto", reason=reason)


def _outlook(
    rows: BagRows, features: Features, summary: BagSummary, *, quick_fit: bool, seed: int
) -> Outlook:
    worth = summary["effective_sample_size"]
    # Var of the corrected accuracy ≤ Σ(|a|+|b|)²/(4n) = 1/(16V): each share has variance ≤ ¼/n.
    resolution = float(1 / (4 * np.sqrt(summary["information"])))
    words = (
        "According to the worst-case bound, the proportions are worth "
        f"{worth:,.0f} labelled rows. Expect about the accuracy of a model trained on so many "
        "labels; it is often higher. With these bags, a balanced accuracy can be estimated with a "
        "standard error of at most "
        f"{resolution:.3f}."
    )
    outlook = Outlook(effective_sample_size=worth, resolution=resolution, words=words)
    if quick_fit:
        outlook["quick_fit"] = _quick_fit(rows, features, seed)
    return outlook


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
            "the proportions are worth only "
            f"{summary['effective_sample_size']:.1f} labelled rows: more bags, or bags with more "
            "different proportions, are needed"
        )
    counts = strata.proportions * strata.sizes
    broken = np.abs(counts - np.rint(counts)) > 0.01 * np.maximum(strata.sizes, 1)
    if broken.any():
        bag = strata.ids[np.flatnonzero(broken)[0]]
        said.append(
            f"in {broken.sum()} bags (the first is {bag!r}) the proportion does not give a whole "
            "number of positive rows: are rows missing, or is the proportion an estimate?"
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
        said.append(f"columns in which most values are missing: {', '.join(map(repr, half))}")
    many = [c.name for c in features.columns if c.kind == CATEGORY and c.n_distinct > 50]
    if many:
        said.append(
            f"columns with more than 50 categories: {', '.join(map(repr, many))}; rare ones are "
            "folded into one"
        )
    return said
