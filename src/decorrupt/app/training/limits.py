"""Limits of use of a model, from its card."""

from __future__ import annotations

from decorrupt.app.training.model_card import ModelCard, class_names, share_of_positives

# Methods that assume a common P(y|x) instead of common class distributions.
COMMON_PROBABILITIES = (
    "count_likelihood",
    "proportion_matching",
    "alternating_psvm",
    "convex_psvm",
)


def not_to_be_used(card: ModelCard) -> list[str]:
    """Return what the model must not be used for, as completions of "Do not use it …"."""
    method, n_classes = card["method"], len(class_names(card))
    limits = []
    if card["situation"] == "bags" and method["chosen"] in COMMON_PROBABILITIES:
        limits.append(
            "for bags in which rows with equal columns have other chances than in training: it "
            "assumed that these depend on the columns alone"
        )
    elif card["situation"] == "bags":
        limits.append(
            "for rows whose class-conditional distributions differ between bags: training assumed "
            + (
                "that positives have the same distribution in all bags, and negatives too"
                if n_classes == 2
                else "that each class has the same distribution in all bags"
            )
        )
    else:
        limits.append(
            "for sources with noise rates other than in training; noise that depends on more than "
            "the class is not corrected"
        )
    if n_classes == 2:
        limits.append(
            "with unchanged probabilities if the share of positives is not near "
            f"{share_of_positives(card):.1%}: set the share with --class-prior"
        )
    else:
        limits.append(
            "with unchanged probabilities if the shares of the classes are not near those of the "
            "training rows: set the shares with --class-prior"
        )
    limits.append(
        "for decisions about single cases based on its held-out results alone: these are "
        "estimates without true labels; check it on labelled rows with 'decorrupt evaluate' first"
    )
    if not _is_better_than_chance(card, n_classes):
        limits.append("at all until more data show that it is better than chance")
    if method["n_landmarks"]:
        limits.append(
            f"as a public file if the rows are confidential: it contains the features of "
            f"{method['n_landmarks']} training rows, the landmarks of its kernel"
        )
    return limits


def _is_better_than_chance(card: ModelCard, n_classes: int) -> bool:
    if "expected" in card:
        return card["expected"]["low"] > 1 / n_classes
    accuracy = card["criteria"]["corrected_accuracy"]
    value, std_error = accuracy["value"], accuracy["std_error"]
    return value is not None and std_error is not None and value - 2 * std_error >= 1 / n_classes
