"""Registry of losses by name."""

from __future__ import annotations

from decorrupt.losses.margin import (
    HuberLoss,
    LogisticLoss,
    MarginLoss,
    SigmoidLoss,
    SquaredLoss,
    UnhingedLoss,
)

LOSSES: dict[str, MarginLoss] = {
    loss.name: loss
    for loss in (LogisticLoss(), SquaredLoss(), HuberLoss(), SigmoidLoss(), UnhingedLoss())
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
