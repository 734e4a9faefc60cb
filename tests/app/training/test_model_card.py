"""The card of a model file is read as it was written."""

import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.model_card import read_card
from helpers.model_dicts import model_card


def test_a_card_is_read_as_it_is():
    assert read_card(model_card(), "m.skops") == model_card()


def test_without_a_card_the_file_is_named():
    with pytest.raises(TableError, match=r"m\.skops: the model has no complete description"):
        read_card({"made_for": "an example"}, "m.skops")
