import pickle

import pytest

import decorrupt
from decorrupt.losses import LOSSES, LogisticLoss, MarginLoss, get_loss


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_found_under_its_own_name(name):
    assert get_loss(name).name == name
    assert isinstance(get_loss(name), MarginLoss)


def test_the_losses_of_the_design_are_there():
    assert set(LOSSES) == {"logistic", "squared", "huber", "sigmoid"}


def test_a_loss_object_is_returned_as_it_is():
    class Tilted(LogisticLoss):
        name = "tilted"

    mine = Tilted()
    assert get_loss(mine) is mine


@pytest.mark.parametrize("name", ["hinge", "", "Logistic", None, 3, ["logistic"]])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ValueError, match="unknown loss") as caught:
        get_loss(name)
    assert repr(name) in str(caught.value)
    for known in LOSSES:
        assert known in str(caught.value)


def test_public_names_are_the_same_objects():
    assert decorrupt.losses.get_loss is get_loss
    assert decorrupt.losses.LOSSES is LOSSES


@pytest.mark.parametrize("name", LOSSES)
def test_losses_survive_pickling(name):
    assert pickle.loads(pickle.dumps(get_loss(name))) == get_loss(name)  # noqa: S301
