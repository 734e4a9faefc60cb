"""Registry of losses by name."""

from __future__ import annotations

from decorrupt.losses.margin import (
    HuberLoss,
    LogisticLoss,
    MarginLoss,
    SigmoidLoss,
    SquaredLoss,
)
from decorrupt.losses.scores import only_two_classes
from decorrupt.losses.softmax import SoftmaxLoss

LOSSES: dict[str, MarginLoss] = {
    loss.name: loss for loss in (LogisticLoss(), SquaredLoss(), HuberLoss(), SigmoidLoss())
}


def get_loss(name: str | MarginLoss) -> MarginLoss:
    """Return the margin loss called `name`; a loss object is returned unchanged.

    Raises
    ------
    ValueError
        If there is no loss of that name; the message lists all names.

    Examples
    --------
    >>> from decorrupt.losses import get_loss
    >>> get_loss("logistic").lipschitz
    1.0
    """
    if isinstance(name, MarginLoss):
        return name
    try:
        return LOSSES[name]
    except (KeyError, TypeError):
        raise ValueError(f"unknown loss {name!r}: choose one of {', '.join(LOSSES)}") from None


def class_loss(name: str | MarginLoss, n_classes: int) -> MarginLoss | SoftmaxLoss:
    """Return the loss for scores of this number of classes.

    Raises
    ------
    ValueError
        If the loss is defined for two classes only.
    """
    loss = get_loss(name)
    if n_classes == 2:
        return loss
    if loss.name != "logistic":
        only_two_classes(n_classes, f"loss={loss.name!r}", "use loss='logistic'")
    return SoftmaxLoss()
