"""Inspection of bags before training: information, convexity, advice and warnings."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from decorrupt.app.training.columns import CATEGORY, Features, column_cards
from decorrupt.app.training.judged import checks_of, expect_accuracy
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.results import (
    Advice,
    AssumptionChecks,
    BagDetails,
    BagShare,
    BagSummary,
    Convexity,
    ExpectedAccuracy,
    Inspection,
    Outlook,
    now,
    plain,
)
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.summary import summarize_bags, warn_of_bag_columns
from decorrupt.app.training.verdict import judge_bags
from decorrupt.app.training.words import FEW_BAGS, FEW_CLEAN_ROWS
from decorrupt.assumptions import check_observed_assumptions
from decorrupt.corruption import combine_bags
from decorrupt.documents import count
from decorrupt.estimators import CountLikelihoodClassifier, MeanMapClassifier
from decorrupt.model_selection import FoldedData, observed_folds, out_of_fold
from decorrupt.observed import Observed
from decorrupt.theory import convexity_floor, information, is_convex

# The informative bags contribute this share of V together.
INFORMATIVE = 0.9
# An uninformative bag contributes less than this share of the mean contribution. With fewer rows
# than this share of the mean size, it would do so with any usual proportion.
UNINFORMATIVE = 0.01
MANY_ROWS = 20_000
QUICK_REG_STRENGTH, QUICK_ROWS = 1e-3, 5000
NO_BOUND = (
    "The rows of a class differ between bags. The number of labelled rows that the proportions are "
    "worth, and every accuracy estimated from proportions, assume that they do not, so neither is "
    "a forecast here. A count likelihood model can still be good; its accuracy can be estimated "
    "only from its own probabilities, or with labelled rows."
)
MAY_HAVE_SEVERAL_MINIMA = "; the corrected loss alone may have several minima on these bags"


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
    observed = rows.observed
    summary, n_classes = summarize_bags(observed), observed.n_classes
    # Ranges and noisy counts are not the proportions that the tests need.
    checks = None if observed.is_inexact else _checks(rows, features, seed)
    outlook = _outlook(summary, checks)
    messages = []
    if quick_fit and checks is None:
        messages = ["--quick-fit evaluates proportions, and these are ranges or noisy counts"]
    elif quick_fit and checks is not None:
        outlook["quick_fit"] = _quick_fit(rows, features, checks, seed)
    found = Inspection(
        rows=rows.table.name,
        situation="bags",
        created=now(),
        bags=summary,
        columns=column_cards(features, {}),
        left_out=dict(features.left_out),
        advice=_advice(summary, checks),
        outlook=outlook,
        verdict=judge_bags(summary, checks),
        warnings=[
            *rows.warnings,
            *_bag_warnings(observed, summary),
            *_column_warnings(rows, features),
            *messages,
        ],
    )
    if checks is not None:
        found["assumptions"] = checks
    if n_classes == 2:
        found["bag_details"] = details = _details(observed)
        if found["advice"]["method"] == "auto" and not details["convexity"]["superbag"]:
            found["advice"]["reason"] += MAY_HAVE_SEVERAL_MINIMA
    return found


def _details(observed: Observed) -> BagDetails:
    found = information(observed.sizes, observed.proportions)
    shares = (observed.proportions[:, 1], found.by_bag / found.total)
    columns = (observed.ids, observed.sizes, *shares)
    bags = [
        BagShare(bag=plain(bag), size=size, proportion=proportion, share=share)
        for bag, size, proportion, share in zip(*(c.tolist() for c in columns), strict=True)
    ]
    bags.sort(key=lambda bag: -bag["share"])
    total = np.cumsum([bag["share"] for bag in bags])
    small = UNINFORMATIVE * observed.n_rows / len(bags)
    weak = [bag for bag in bags if bag["share"] < UNINFORMATIVE / len(bags)]
    return BagDetails(
        shares=bags,
        n_informative=min(int(np.searchsorted(total, INFORMATIVE)) + 1, len(bags)),
        too_small=[
            f"{bag['bag']} ({count(bag['size'], 'row')})" for bag in weak if bag["size"] < small
        ],
        average=[bag["bag"] for bag in weak if bag["size"] >= small],
        convexity=_convexity(observed),
    )


def _with_size(bag: BagShare) -> str:
    return f"{bag['bag']} ({count(bag['size'], 'row')})"


def _convexity(observed: Observed) -> Convexity:
    coef, positive = combine_bags(observed.sizes, observed.proportions), observed.proportions[:, 1]
    return Convexity(
        exists=bool(positive.min() <= 0.5 <= positive.max()),
        superbag=is_convex(coef),
        floor=convexity_floor(coef),
    )


def _checks(rows: BagRows, features: Features, seed: int) -> AssumptionChecks:
    prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
    preprocessor = make_preprocessor(features.columns, len(prepared))
    matrix = preprocessor.fit_transform(prepared)
    report = check_observed_assumptions(matrix, rows.observed, None, random_state=seed)
    return checks_of(report, preprocessor)


def _advice(summary: BagSummary, checks: AssumptionChecks | None) -> Advice:
    if checks is None:
        reason = "it models ranges and noisy counts, which other methods cannot use"
        return Advice(method="count-likelihood", reason=reason)
    if checks["classes_differ"]:
        reason = "the rows of a class differ between bags, which mean map and corrected loss ignore"
        return Advice(method="count-likelihood", reason=reason)
    if summary["n_rows"] > MANY_ROWS:
        reason = f"it is the fastest method for {summary['n_rows']:,} rows, and convex"
        return Advice(method="mean-map", reason=reason)
    if summary["n_bags"] < FEW_BAGS:
        reason = f"{summary['n_bags']} bags are too few to compare methods; this one is convex"
        return Advice(method="mean-map", reason=reason)
    reason = "it averages the configurations that explain the counts of held-out bags best"
    return Advice(method="auto", reason=reason)


def _outlook(summary: BagSummary, checks: AssumptionChecks | None) -> Outlook:
    worth = summary["effective_sample_size"]
    if checks is not None and checks["classes_differ"]:
        return Outlook(words=NO_BOUND)
    if len(summary["classes"]) > 2:
        return _class_outlook(summary)
    # Var of the corrected accuracy ≤ Σ(|a|+|b|)²/(4n) = 1/(16V): each share has variance ≤ ¼/n.
    resolution = float(1 / (4 * np.sqrt(summary["information"])))
    words = (
        "According to the worst-case bound, the proportions are worth "
        f"{worth:,.0f} labelled rows. Expect about the accuracy of a model trained on so many "
        "labels; it is often higher. With these bags, a balanced accuracy can be estimated with a "
        "standard error of at most "
        f"{resolution:.3f}."
    )
    return Outlook(effective_sample_size=worth, resolution=resolution, words=words)


def _class_outlook(summary: BagSummary) -> Outlook:
    worth, classes = summary["effective_sample_size"], summary["classes"]
    least = min(classes, key=lambda one: one["effective_rows"])
    words = (
        "For estimates of the class means, the proportions are worth "
        f"{worth:,.0f} labelled rows in total, and {least['effective_rows']:,.1f} of class "
        f"{least['name']!r}, about which they contain the least. The count likelihood often needs "
        "far fewer rows."
    )
    return Outlook(effective_sample_size=worth, words=words)


def _quick_fit(
    rows: BagRows, features: Features, checks: AssumptionChecks, seed: int
) -> ExpectedAccuracy:
    """Return the accuracy of one model out of fold, on at most QUICK_ROWS.

    It is a mean map, or a count likelihood if class distributions differ between bags.
    """
    observed, frame = rows.observed, rows.table.frame
    order = np.random.default_rng(seed).permutation(observed.n_bags)
    place = np.cumsum(observed.sizes[order])
    bags = order[: max(FEW_BAGS, int(np.searchsorted(place, QUICK_ROWS, "right")))]
    kept = np.flatnonzero(np.isin(observed.row_bag, bags))
    observed = observed.take(kept)
    prepared = prepare(frame, features.columns, table=rows.table.name).iloc[kept]
    folds = observed_folds(observed, n_splits=FEW_BAGS, random_state=seed)
    method = "count_likelihood" if checks["classes_differ"] else "mean_map"
    preprocessor = make_preprocessor(features.columns, len(prepared))
    judged = out_of_fold(
        Pipeline([("preprocess", preprocessor), ("classifier", _quick_model(method, seed))]),
        FoldedData(prepared, observed, folds),
        class_prior=observed.inner_prior,
    )
    return expect_accuracy(
        observed, judged.decisions, judged.probabilities, checks, method=method, seed=seed
    )


def _quick_model(method: str, seed: int) -> MeanMapClassifier | CountLikelihoodClassifier:
    if method == "mean_map":
        return MeanMapClassifier(reg_strength=QUICK_REG_STRENGTH, random_state=seed)
    return CountLikelihoodClassifier(
        kernel="linear", reg_strength=QUICK_REG_STRENGTH, random_state=seed
    )


def _bag_warnings(observed: Observed, summary: BagSummary) -> list[str]:
    said, is_binary = [], observed.n_classes == 2
    if summary["n_bags"] < FEW_BAGS:
        said.append(f"there are only {summary['n_bags']} bags: whole bags cannot be held out")
    # For several classes it describes the mean map only; count likelihoods need far fewer rows.
    if is_binary and summary["effective_sample_size"] < FEW_CLEAN_ROWS:
        said.append(
            "the proportions are worth only "
            f"{summary['effective_sample_size']:.1f} labelled rows: more bags, or bags with more "
            "different proportions, are needed"
        )
    counts = observed.proportions * observed.sizes[:, None]
    apart = np.abs(counts - np.rint(counts)).max(axis=1)
    broken = apart > 0.01 * np.maximum(observed.sizes, 1)
    if broken.any() and not observed.is_inexact:
        bag = observed.ids[np.flatnonzero(broken)[0]]
        said.append(
            f"in {broken.sum()} bags (the first is {bag!r}) the proportion does not give a whole "
            f"number of {'positive ' if is_binary else ''}rows: are rows missing, "
            "or is the proportion an estimate?"
        )
    alone = int(np.sum(observed.sizes == 1))
    if alone:
        named = "1 bag has" if alone == 1 else f"{alone} bags have"
        said.append(f"{named} one row only: a proportion of one row is its label")
    return said


def _column_warnings(rows: BagRows, features: Features) -> list[str]:
    frame = rows.table.frame
    said = warn_of_bag_columns(frame, features.names, rows.observed)
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
