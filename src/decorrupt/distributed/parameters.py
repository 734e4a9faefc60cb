"""Parameters of the Dask estimators: those of their twins without Dask, and a few more."""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import Any

from decorrupt.features.random_fourier import DEFAULT_N_FEATURES

DEFAULT_MAX_PASSES = 1000
OWN_DEFAULTS: dict[str, Any] = {
    "client": None,
    "n_features": DEFAULT_N_FEATURES,
    "max_passes": DEFAULT_MAX_PASSES,
}


def init_like(twin: type) -> Any:
    """Return an ``__init__`` with the parameters of `twin` and `OWN_DEFAULTS`.

    scikit-learn reads the parameters from its signature.
    """
    own = [Parameter(k, Parameter.KEYWORD_ONLY, default=v) for k, v in OWN_DEFAULTS.items()]
    this = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    expected = Signature([this, *signature(twin).parameters.values(), *own])

    def init(self: Any, *args: Any, **given: Any) -> None:
        bound = expected.bind(self, *args, **given)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    init.__signature__ = expected  # type: ignore[attr-defined]
    return init
