"""What a model must not be used for."""

from __future__ import annotations

from decorrupt.app.training.results import ModelCard


def not_to_be_used(card: ModelCard) -> list[str]:
    """Return what the model must not be used for, as far as its card can tell."""
    method, prior = card["method"], card["training_prior"]
    accuracy = card["criteria"]["corrected_accuracy"]
    said = []
    if card["situation"] == "bags":
        said.append(
            "for rows whose classes look different from bag to bag: it was trained as if a "
            "positive in one bag looked like a positive in any other"
        )
    else:
        said.append(
            "where sources err in other ways than at the rates it was trained with: noise that "
            "depends on more than the class is not corrected"
        )
    said.append(
        f"with its probabilities as they stand where positives are not near {prior:.1%} of the "
        "rows: say the share by --class-prior"
    )
    said.append(
        "for decisions about single cases on its held-out figures alone: these are estimates "
        "without one true label; check it on labelled rows by 'decorrupt evaluate' first"
    )
    value, std_error = accuracy["value"], accuracy["std_error"]
    if value is None or std_error is None or value - 2 * std_error < 0.5:
        said.append("at all, before more data shows that it is better than guessing")
    if method["n_landmarks"]:
        said.append(
            f"as a file to publish if the rows are confidential: {method['n_landmarks']} training "
            "rows' features stand in it, as landmarks of its kernel"
        )
    return said
