"""Limits of use of a model, from its card."""

from __future__ import annotations

from decorrupt.app.training.model_card import ModelCard


def not_to_be_used(card: ModelCard) -> list[str]:
    """Return what the model must not be used for, as completions of "Do not use it …"."""
    method, prior = card["method"], card["training_prior"]
    accuracy = card["criteria"]["corrected_accuracy"]
    limits = []
    if card["situation"] == "bags":
        limits.append(
            "for rows whose class-conditional distributions differ between bags: training assumed "
            "that positives have the same distribution in all bags, and negatives too"
        )
    else:
        limits.append(
            "for sources with noise rates other than in training; noise that depends on more than "
            "the class is not corrected"
        )
    limits.append(
        f"with unchanged probabilities if the share of positives is not near {prior:.1%}: set the "
        "share with --class-prior"
    )
    limits.append(
        "for decisions about single cases based on its held-out results alone: these are "
        "estimates without true labels; check it on labelled rows with 'decorrupt evaluate' first"
    )
    value, std_error = accuracy["value"], accuracy["std_error"]
    if value is None or std_error is None or value - 2 * std_error < 0.5:
        limits.append("at all until more data show that it is better than chance")
    if method["n_landmarks"]:
        limits.append(
            f"as a public file if the rows are confidential: it contains the features of "
            f"{method['n_landmarks']} training rows, the landmarks of its kernel"
        )
    return limits
