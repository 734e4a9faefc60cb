"""Environment variables: a misspelt one is reported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from decorrupt.app.cli.conventions import ENVIRONMENT

OTHERS = ("DECORRUPT_DATA", "DECORRUPT_DOCS")  # of decorrupt.datasets and of diagrams


def misspelt_variables(group: Any) -> Iterator[str]:
    """Yield a message for each variable that begins like ours and sets nothing.

    Parameters
    ----------
    group : Group
        The program, with all its commands.
    """
    known = {*OTHERS, *_variables(group)}
    for name in sorted(os.environ):
        if name.startswith(f"{ENVIRONMENT}_") and name not in known:
            close = get_close_matches(name, known, 1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            yield f"the environment variable {name} sets no option{hint}"


def _variables(group: Any) -> Iterator[str]:
    for command, own in group.commands.items():
        for parameter in own.params:
            yield f"{ENVIRONMENT}_{command}_{parameter.name}".upper()
            if isinstance(getattr(parameter, "envvar", None), str):
                yield parameter.envvar
