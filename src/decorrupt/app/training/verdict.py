"""The verdict on a model or on data: usable, check it with labels, or do not use."""

from __future__ import annotations

import math
from typing import cast

from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.results import (
    AssumptionChecks,
    BagSummary,
    Evaluation,
    ExpectedAccuracy,
    LabelResults,
    Measured,
    SourceSummary,
    Verdict,
)
from decorrupt.app.training.words import (
    FEW_BAGS,
    FEW_CLEAN_ROWS,
    PROBABLY_BETTER,
    chances_sentence,
    classes_sentence,
    measure_name,
)

USABLE, CHECK, AVOID = "usable", "check it with labels", "do not use"
# Labels are needed until the accuracy is known to ± this, with 95 % probability.
HALF_WIDTH, NORMAL_QUANTILE = 0.03, 1.96
FEWEST_LABELS = 50
# A wider interval does not show whether a model can be used.
WIDEST = 0.25
NOT_EXACT = "the counts are not exact, so it cannot be tested what the bags satisfy"
ONLY_ESTIMATES = "the noise rates are estimates, which noisy labels alone cannot confirm"
# Assumed where nothing is known about the accuracy.
MIDDLE_ACCURACY = 0.75


def judge_model(card: ModelCard) -> Verdict:
    """Return whether a model can be used, the main reason, and how many labels would show it."""
    word, why = _of_accuracy(card["expected"]) or _of_data(card)
    shares = list(card["class_shares"].values())
    return Verdict(word=word, why=why, n_labels=labels_needed(card["expected"]["value"], shares))


def judge_new_bags(card: ModelCard, found: Evaluation) -> Verdict:
    """Return the verdict of bags that a model was not trained on, by the rule of training."""
    seen = {
        "expected": found["expected"],
        "assumptions": found["assumptions"],
        "bags": found["bag_summary"],
    }
    return judge_model(cast(ModelCard, card | seen))


def labels_needed(accuracy: float | None, class_shares: list[float]) -> int:
    """Return how many labelled rows give the mean recall to ±HALF_WIDTH.

    Its variance with n rows is Σ_c r(1−r)/(n·π_c·K²) if every class has the recall r.
    """
    recall = MIDDLE_ACCURACY if accuracy is None else min(max(accuracy, 0.5), 0.95)
    n_classes = len(class_shares)
    variance = sum(recall * (1 - recall) / max(share, 0.01) for share in class_shares)
    n_rows = (NORMAL_QUANTILE / HALF_WIDTH) ** 2 * variance / n_classes**2
    size = 100 if n_rows > 1000 else 10
    return max(FEWEST_LABELS, math.ceil(n_rows / size) * size)


def _of_accuracy(expected: ExpectedAccuracy) -> tuple[str, str] | None:
    """Return the verdict if the accuracy alone decides it."""
    if expected["evidence"] == "none" and expected["value"] <= expected["guessing"]:
        return AVOID, "it is probably not better than guessing"
    if expected["low"] <= expected["guessing"]:
        return CHECK, "the data do not show that it is better than guessing"
    if expected["high"] - expected["low"] > WIDEST:
        ends = f"{expected['low']:.2f} and {expected['high']:.2f}"
        return CHECK, f"its accuracy is only known to lie between {ends}"
    return None


def _of_data(card: ModelCard) -> tuple[str, str]:
    """Return the verdict on a model whose accuracy is known to be better than guessing."""
    if "bags" not in card:
        if card["noise_rates"] == "estimated":
            return CHECK, ONLY_ESTIMATES
        return USABLE, "the labels show that it is better than guessing"
    doubt = _doubt(card.get("assumptions"))
    if doubt:
        return CHECK, doubt
    if card["expected"]["better_than_group_rate"] < PROBABLY_BETTER:
        return CHECK, "the bags do not show that it is better than guessing each row by its bag"
    return USABLE, "the bags show that it is better than guessing"


def _doubt(checks: AssumptionChecks | None) -> str:
    """Return why labels are needed, from the tests of the assumptions; empty if they are not."""
    if checks is None:
        return NOT_EXACT
    if checks["chances_differ"] is None:  # not testable is not the same as passed
        return chances_sentence(checks)
    # Bags that are not mixtures of the same classes, and that differ for reasons that no column
    # shows: there intervals contain the truth too seldom, see docs/evidence/accuracy.md.
    if checks["chances_differ"] and checks["classes_differ"] is not False:
        return chances_sentence(checks)
    return ""


def judge_labels(
    labels: LabelResults, accuracy: Measured, together: Measured | None = None
) -> Verdict:
    """Return whether labels show that a model is better than guessing.

    `accuracy` is that of the labelled rows, `together` that of them and the training data, which
    is more precise. It is used if the labels alone are above guessing.
    """
    n_classes, shares = len(labels["classes"]), list(labels["class_shares"].values())
    if together is not None and _is_above_guessing(accuracy, n_classes):
        accuracy = together
    word, why = _with_labels(accuracy["value"], accuracy["std_error"], n_classes)
    std_error = accuracy["std_error"]
    is_known = std_error is not None and NORMAL_QUANTILE * std_error <= HALF_WIDTH
    n_labels = 0 if is_known else labels_needed(accuracy["value"], shares)
    return Verdict(word=word, why=why, n_labels=n_labels)


def _is_above_guessing(accuracy: Measured, n_classes: int) -> bool:
    value, std_error = accuracy["value"], accuracy["std_error"]
    return value is not None and std_error is not None and value - 2 * std_error > 1 / n_classes


def _with_labels(value: float | None, std_error: float | None, n_classes: int) -> tuple[str, str]:
    if value is None or std_error is None:
        return CHECK, "the labelled rows do not contain all classes"
    low, high, guess = value - 2 * std_error, value + 2 * std_error, 1 / n_classes
    interval = f"({max(low, 0):.3f} to {min(high, 1):.3f})"
    found = f"{measure_name(n_classes)} {value:.3f} {interval}, guessing gives {guess:.3g}"
    is_precise = min(high, 1) - low <= WIDEST
    if low > guess and is_precise:
        return USABLE, found
    if high > guess + HALF_WIDTH:
        return CHECK, f"too few labels to tell: {found}"
    return AVOID, found


def judge_bags(bags: BagSummary, checks: AssumptionChecks | None) -> Verdict:
    """Return whether a model can be trained on bags."""
    word, why = _before_training(bags, checks)
    shares = [one["pooled_proportion"] for one in bags["classes"]]
    return Verdict(word=word, why=why, n_labels=labels_needed(None, shares))


def _before_training(bags: BagSummary, checks: AssumptionChecks | None) -> tuple[str, str]:
    worth = f"they are worth about {bags['effective_sample_size']:,.0f} labelled rows"
    if bags["effective_sample_size"] < FEW_CLEAN_ROWS:  # a lower bound: a model may be useful
        # For several classes it describes the mean map only.
        worth = f": {worth}" if len(bags["classes"]) == 2 else ""
        return CHECK, f"the shares of the bags differ little{worth}"
    if checks is None:
        return CHECK, NOT_EXACT
    doubt = _doubt(checks)
    if doubt or checks["classes_differ"] is None:
        return CHECK, doubt if checks["classes_differ"] is False else classes_sentence(checks)
    if bags["n_bags"] < FEW_BAGS:
        return CHECK, f"there are only {bags['n_bags']} bags, too few to test a model on whole ones"
    if checks["classes_differ"]:
        return USABLE, f"{classes_sentence(checks)}; `fit` uses methods that allow for it"
    return (
        USABLE,
        f"the shares of the bags differ, {worth}; training shows whether the columns explain them",
    )


def judge_sources(sources: SourceSummary, *, estimated: bool) -> Verdict:
    """Return whether a model can be trained on noisy labels."""
    prior, worth = sources["class_prior"], sources["effective_sample_size"]
    word, why = USABLE, f"the labels are worth about {worth:,.0f} clean ones"
    if worth < FEW_CLEAN_ROWS:
        word = AVOID
    elif estimated:
        word, why = CHECK, ONLY_ESTIMATES
    return Verdict(word=word, why=why, n_labels=labels_needed(None, [1 - prior, prior]))
