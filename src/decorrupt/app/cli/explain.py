"""decorrupt explain: the model card as text."""

from __future__ import annotations

from shlex import quote

from decorrupt.app.cli.checks import check_file
from decorrupt.app.cli.conventions import Json, Output, shown
from decorrupt.app.cli.predict import ModelFile


def explain(model: ModelFile, *, json_output: Json = False) -> None:
    """Describe a model: its verdict, its accuracy, how it was trained.

    Example: decorrupt explain model.skops
    """
    check_file(model)
    from decorrupt.app.pages.documents import model_document
    from decorrupt.app.training.model_card import has_card, other_version, read_card
    from decorrupt.documents import Section, Text
    from decorrupt.model_files import load_with_metadata

    output = Output(as_json=json_output)
    loaded, metadata = load_with_metadata(model)
    if has_card(metadata):
        card = read_card(metadata, model)
        output.warn(other_version(card))
        output.result(card, shown(model_document(card, quote(model)), verbose=True))
    else:
        text = f"A {type(loaded).__name__} saved from Python, without a card: {loaded!r}"
        found = {"estimator": repr(loaded), "metadata": metadata}
        output.result(found, [Section("model", "", [Text(text)])])
