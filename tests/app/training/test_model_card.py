"""Cards of models that earlier versions saved are still read."""

import copy

import pytest

from decorrupt.app.pages.model_page import render_evaluation
from decorrupt.app.tables import TableError
from decorrupt.app.training.methods import BAG_METHODS
from decorrupt.app.training.model_card import FORMER_METHODS, read_card
from helpers.model_dicts import evaluation, model_card, source_card


def earlier(card):
    """Return a card as the first version wrote it."""
    for name in ("not_for", "configuration", "configuration_from"):
        del card[name]
    del card["method"]["std_error_includes"]
    del card["diagnostics"]["is_overfitted"]
    if "sources" in card:
        del card["sources"]["left_out"]
    return card


@pytest.mark.parametrize("make", [model_card, source_card])
def test_what_earlier_versions_did_not_write_is_filled_in(make):
    old = earlier(make())
    before = copy.deepcopy(old)
    card = read_card(old, "m.skops")
    assert old == before
    assert set(card) == set(make())
    assert set(card["method"]) == set(make()["method"])
    assert set(card["diagnostics"]) == set(make()["diagnostics"])
    assert card["not_for"] == []
    assert "What it must not be used for" not in render_evaluation(evaluation(), card)


def test_a_complete_card_is_read_as_it_is():
    assert read_card(model_card(), "m.skops") == model_card()


@pytest.mark.parametrize("former", FORMER_METHODS)
def test_former_names_of_methods(former):
    card = model_card()
    card["method"]["asked"] = former
    assert read_card(card, "m.skops")["method"]["asked"] in BAG_METHODS


def test_without_a_card_the_file_is_named():
    with pytest.raises(TableError, match=r"m\.skops: the model has no description"):
        read_card({"made_for": "an example"}, "m.skops")
