"""decorrupt explain: what a model is, how it was trained, what it must not be used for."""

from __future__ import annotations

from decorrupt.app.cli.checks import check_file
from decorrupt.app.cli.conventions import Json, Output
from decorrupt.app.cli.predict import ModelFile


def explain(model: ModelFile, *, json_output: Json = False) -> None:
    """Say what a model is, how it was trained, and what it must not be used for.

    Example: decorrupt explain model.skops
    """
    check_file(model)
    from decorrupt.app.cli.explanation import explanation_text
    from decorrupt.model_files import load_with_metadata

    loaded, card = load_with_metadata(model)
    if "columns" not in card:
        card = {"estimator": repr(loaded), "metadata": card}
        text = f"A {type(loaded).__name__} saved from Python, without a card:\n{loaded!r}"
    else:
        text = explanation_text(card)
    Output(as_json=json_output).result(card, text)
