"""decorrupt.json in a model file: version and metadata; the errors of model files."""

from __future__ import annotations

import json
import math
import re
from typing import Any

MEMBER = "decorrupt.json"
FORMAT = 1
PLAIN = (str, bool, int, type(None))


class ModelFileError(ValueError):
    """A model file cannot be read, or a model cannot be written; the message names the file."""


class UntrustedTypesError(ModelFileError):
    """A model file contains types that are not in the fixed list."""


def own_version() -> str:
    """Return the running version of decorrupt."""
    from decorrupt import __version__

    return __version__


def make_envelope(metadata: Any) -> str:
    """Return the text of decorrupt.json.

    Raises
    ------
    ModelFileError
        If `metadata` is not a dict of plain JSON; the message names the entry.
    """
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict):
        raise ModelFileError(f"metadata must be a dict, got {type(metadata).__name__}")
    _check_plain(metadata, "metadata")
    return json.dumps(
        {
            "format": FORMAT,
            "decorrupt": own_version(),
            "metadata": metadata,
        },
        ensure_ascii=False,
        allow_nan=False,
        indent=1,
    )


def _check_plain(value: Any, place: str) -> None:
    """Raise ModelFileError unless JSON stores `value` without change."""
    if type(value) is dict:
        for key, part in value.items():
            if type(key) is not str:
                raise ModelFileError(f"{place} has the key {key!r}: keys in JSON must be strings")
            _check_plain(part, f"{place}[{key!r}]")
    elif type(value) is list:
        for k, part in enumerate(value):
            _check_plain(part, f"{place}[{k}]")
    elif type(value) is float and not math.isfinite(value):
        raise ModelFileError(f"{place} is {value}, which JSON cannot store: use None")
    elif type(value) not in (*PLAIN, float):
        raise ModelFileError(
            f"{place} is of type {type(value).__name__}: metadata must be plain JSON: dict, "
            "list, str, int, float, bool and None"
        )


def read_envelope(envelope: Any, name: str) -> dict[str, Any]:
    """Return the metadata of a file that this version can read.

    Raises
    ------
    ModelFileError
        If the file was written by a newer decorrupt, or decorrupt.json is invalid.
    """
    if not isinstance(envelope, dict) or not isinstance(envelope.get("metadata"), dict):
        raise ModelFileError(f"{name} is damaged: {MEMBER} was not written by decorrupt")
    file_format, writer = envelope.get("format"), envelope.get("decorrupt")
    if not isinstance(file_format, int) or not isinstance(writer, str):
        raise ModelFileError(f"{name} is damaged: {MEMBER} contains no version")
    if file_format > FORMAT or _release(writer, name) > _release(own_version(), name):
        raise ModelFileError(
            f"{name} was written by decorrupt {writer} (format {file_format}); this is decorrupt "
            f"{own_version()}, which reads format {FORMAT}: install decorrupt {writer} or later"
        )
    if file_format != FORMAT:
        raise ModelFileError(f"{name} is damaged: unknown format {file_format}")
    return dict(envelope["metadata"])


def _release(written: str, name: str) -> tuple[int, ...]:
    numbers = re.match(r"\d{1,9}(\.\d{1,9})*", written)
    if numbers is None:
        raise ModelFileError(f"{name} is damaged: {written!r} is not a version of decorrupt")
    return tuple(map(int, numbers.group().split(".")))
