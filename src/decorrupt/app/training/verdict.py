"""The verdict on a model or on data: usable, check it with labels, or do not use."""

from __future__ import annotations

import math

from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.results import (
    AssumptionChecks,
    BagSummary,
    LabelResults,
    SourceSummary,
    Verdict,
)
from decorrupt.app.training.words import (
    FEW_BAGS,
    FEW_CLEAN_ROWS,
    classes_sentence,
    measure_name,
)
from decorrupt.model_selection import WEAK_EVIDENCE

USABLE, CHECK, AVOID = "usable", "check it with labels", "do not use"
# Labels are needed until the accuracy is known to ± this, with 95 % probability.
HALF_WIDTH, NORMAL_QUANTILE = 0.05, 1.96
FEWEST_LABELS = 50
# A wider interval does not show whether a model can be used.
WIDEST = 0.25
NOT_EXACT = "the counts are not exact, so it cannot be tested what the bags satisfy"
ONLY_ESTIMATES = "the noise rates are estimates, which noisy labels alone cannot confirm"
# Assumed where nothing is known about the accuracy.
MIDDLE_ACCURACY = 0.75


def judge_model(card: ModelCard) -> Verdict:
    """Return whether a model can be used, the main reason, and how many labels would show it."""
    word, why = _of_bags(card) if "bags" in card else _of_sources(card)
    accuracy = card["expected"] if "expected" in card else card["criteria"]["corrected_accuracy"]
    n_labels = labels_needed(accuracy["value"], list(card["class_shares"].values()))
    return Verdict(word=word, why=why, n_labels=n_labels)


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


def _of_bags(card: ModelCard) -> tuple[str, str]:
    expected, checks = card["expected"], card.get("assumptions")
    # Only bags themselves can show it, not the model's own probabilities.
    is_shown = expected["basis"] == "corrected"
    is_better = is_shown and expected["low"] > expected["constant"]
    if card["gain_in_nats"] < WEAK_EVIDENCE and not is_better:
        return AVOID, "the bags are too weak: the model may even have the classes swapped"
    if expected["value"] <= expected["constant"]:
        return AVOID, "it is not better than guessing"
    if card["gain_in_nats"] < WEAK_EVIDENCE:
        return CHECK, "it explains held-out bags only a little better than guessing"
    if checks is None:
        return CHECK, NOT_EXACT
    if checks["classes_differ"] is not False:  # not testable is not the same as passed
        return CHECK, classes_sentence(checks)
    if card["method"]["held_out"] != "whole bags":
        n_bags = card["bags"]["n_bags"]
        return CHECK, f"there are only {n_bags} bags, too few to test the model on whole ones"
    if not is_better:
        return CHECK, "the bags do not show that it is better than guessing"
    if expected["high"] - expected["low"] > WIDEST:
        ends = f"{expected['low']:.2f} and {expected['high']:.2f}"
        return CHECK, f"its accuracy is only known to lie between {ends}"
    if expected["value"] <= expected["group_rate"]:
        return CHECK, "the bags do not show that it is better than guessing each row by its bag"
    return USABLE, "it explains held-out bags clearly better than guessing"


def _of_sources(card: ModelCard) -> tuple[str, str]:
    accuracy = card["criteria"]["corrected_accuracy"]
    value, std_error = accuracy["value"], accuracy["std_error"]
    if card["gain_in_nats"] < WEAK_EVIDENCE or value is None or value <= 0.5:
        return AVOID, "the labels are too weak to train a classifier"
    if std_error is None or value - 2 * std_error <= 0.5:
        return CHECK, "the labels do not show that it is better than guessing"
    if card["noise_rates"] == "estimated":
        return CHECK, ONLY_ESTIMATES
    return USABLE, "it explains held-out labels clearly better than guessing"


def judge_labels(labels: LabelResults) -> Verdict:
    """Return whether labels show that a model is better than guessing."""
    n_classes, shares = len(labels["classes"]), list(labels["class_shares"].values())
    recall = labels["metrics"]["balanced_accuracy" if n_classes == 2 else "macro_recall"]
    word, why = _with_labels(recall["value"], recall["std_error"], n_classes)
    return Verdict(word=word, why=why, n_labels=labels_needed(recall["value"], shares))


def _with_labels(value: float | None, std_error: float | None, n_classes: int) -> tuple[str, str]:
    if value is None or std_error is None:
        return CHECK, "the labelled rows do not contain all classes"
    low, high, guess = value - 2 * std_error, value + 2 * std_error, 1 / n_classes
    interval = f"({max(low, 0):.3f} to {min(high, 1):.3f})"
    found = f"{measure_name(n_classes)} {value:.3f} {interval}, guessing gives {guess:.3g}"
    if low > guess:
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
    # For several classes it describes the mean map only; count likelihoods need far fewer rows.
    if len(bags["classes"]) == 2 and bags["effective_sample_size"] < FEW_CLEAN_ROWS:
        return AVOID, f"the shares of the bags differ too little: {worth}"
    if checks is None:
        return CHECK, NOT_EXACT
    if checks["classes_differ"] is not False:
        return CHECK, classes_sentence(checks)
    if bags["n_bags"] < FEW_BAGS:
        return CHECK, f"there are only {bags['n_bags']} bags, too few to test a model on whole ones"
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
