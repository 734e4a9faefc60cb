"""Models saved before a parameter existed."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any


class FillMissingParameters:
    """Gives parameters that a saved model does not have their default values.

    It goes before scikit-learn's BaseEstimator in the bases, whose `__setstate__` it calls.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a model from its attributes."""
        parameters = signature(type(self)).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}
        super().__setstate__(defaults | state)  # type: ignore[misc]
