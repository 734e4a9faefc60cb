"""Loading of models that were saved before a parameter existed."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any


class FillMissingParameters:
    """Sets parameters that a saved model does not have to their default values.

    Must precede scikit-learn's BaseEstimator in the bases, because it calls its `__setstate__`.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a model from its attributes."""
        parameters = signature(type(self)).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}
        super().__setstate__(defaults | state)  # type: ignore[misc]
