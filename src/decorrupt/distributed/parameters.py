"""Parameters of the Dask estimators: those of their twins without Dask, and `client`."""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import Any

CLIENT = Parameter("client", Parameter.KEYWORD_ONLY, default=None)


def init_like(twin: type) -> Any:
    """Return an ``__init__`` with the parameters of `twin` and `client`.

    scikit-learn reads the parameters from its signature.
    """
    this = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    expected = Signature([this, *signature(twin).parameters.values(), CLIENT])

    def init(self: Any, *args: Any, **given: Any) -> None:
        bound = expected.bind(self, *args, **given)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    init.__signature__ = expected  # type: ignore[attr-defined]
    return init
