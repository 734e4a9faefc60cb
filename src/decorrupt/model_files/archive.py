"""Checks of the zip archive of a model file: size, member names and arrays."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from decorrupt.model_files.envelope import ModelFileError
from decorrupt.model_files.trees import NODE_FIELDS

MAX_UNPACKED = 2**30  # bytes, all members together
MAX_JSON = 2**28
MEMBER = re.compile(r"[A-Za-z0-9_-]+\.(json|npy|npz|bin)")
INNER_MEMBER = re.compile(r"[a-z_]+\.npy")
PLAIN = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
)  # other methods decompress without a memory limit
NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
    KeyError,
    MemoryError,
)


def read_members(data: bytes, name: str) -> dict[str, bytes]:
    """Return all members of a model file.

    Raises
    ------
    ModelFileError
        If it is not a zip archive, is truncated or damaged, has members that do not belong in a
        model file, or has more than a gigabyte of uncompressed data.
    """
    if not data.startswith(b"PK"):
        kind = (
            " (it looks like a pickle, and pickles are not loaded)" if data[:1] == b"\x80" else ""
        )
        raise ModelFileError(f"{name} is not a model file{kind}")
    with _as_model_file_error(name):
        return _unpack(data, name, MEMBER, MAX_UNPACKED)


def check_arrays(members: dict[str, bytes], name: str) -> None:
    """Raise ModelFileError unless every array matches its header."""
    size_limit = MAX_UNPACKED - sum(map(len, members.values()))
    with _as_model_file_error(name):
        for member, content in members.items():
            if member.endswith(".npy"):
                _check_array(content)
            elif member.endswith(".npz"):
                size_limit -= _check_sparse(content, name, size_limit)


@contextmanager
def _as_model_file_error(name: str) -> Iterator[None]:
    try:
        yield
    except ModelFileError:
        raise
    except ZIP_ERRORS as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{name} is truncated or damaged: {reason}") from None


def _unpack(data: bytes, name: str, pattern: re.Pattern[str], size_limit: int) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        strange = next((member for member in names if not pattern.fullmatch(member)), None)
        if strange is not None:
            raise ModelFileError(f"{name} is not a model file: it contains the member {strange!r}")
        if len(set(names)) < len(names) or any(info.compress_type not in PLAIN for info in infos):
            raise ModelFileError(f"{name} is damaged: duplicate members or an unknown compression")
        if sum(info.file_size for info in infos) > size_limit:
            raise ModelFileError(
                f"{name} has more than {MAX_UNPACKED:,} bytes of uncompressed data"
            )
        return {info.filename: archive.read(info) for info in infos}


def _check_array(content: bytes) -> None:
    """Raise ValueError unless a .npy file contains plain numbers and matches its header."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in NPY_HEADERS:
        raise ValueError(f"an array in unknown format version {version}")
    shape, _, dtype = NPY_HEADERS[version](stream)
    if dtype.hasobject or dtype.names not in (None, NODE_FIELDS):
        raise ValueError(f"an array of {dtype}")
    n_values = 1
    for length in shape:
        n_values *= length
    if n_values * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array whose length differs from its header")


def _check_sparse(content: bytes, name: str, size_limit: int) -> int:
    """Return the uncompressed size of a sparse matrix; check that all indices are in range."""
    from scipy.sparse import load_npz

    parts = _unpack(content, name, INNER_MEMBER, size_limit)
    for part in parts.values():
        _check_array(part)
    matrix = load_npz(io.BytesIO(content))
    if matrix.format not in ("csr", "csc"):
        raise ValueError(f"a sparse matrix in {matrix.format} format")
    # Compiled code uses these indices unchecked; by default scipy checks only first and last.
    matrix.check_format(full_check=True)
    return sum(map(len, parts.values()))


def read_json(members: dict[str, bytes], member: str, name: str) -> Any:
    """Return a JSON member; raise ModelFileError if it is missing or damaged."""
    if member not in members:
        raise ModelFileError(f"{name} is not a model file of decorrupt: it has no {member}")
    if len(members[member]) > MAX_JSON:
        raise ModelFileError(f"{name}: {member} is longer than {MAX_JSON:,} bytes")
    try:
        return json.loads(members[member])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is damaged: {member} is not JSON ({error})") from None
