"""The zip archive of a model file: small enough, plainly named, and every array what it says."""

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

from decorrupt.model_files.errors import ModelFileError

MAX_UNPACKED = 2**30  # bytes, all members together; a model of a gigabyte is no model of ours
MAX_JSON = 2**28
MEMBER = re.compile(r"[A-Za-z0-9_-]+\.(json|npy|npz|bin)")
INNER_MEMBER = re.compile(r"[a-z_]+\.npy")
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without a bound on memory
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
        If it is no zip archive, is cut or damaged, has members that do not belong in a model file,
        or would take more than a gigabyte unpacked.
    """
    if not data.startswith(b"PK"):
        kind = " (it looks like a pickle, which is not opened)" if data[:1] == b"\x80" else ""
        raise ModelFileError(f"{name} is not a model file{kind}")
    with _damage(name):
        return _unpack(data, name, MEMBER, MAX_UNPACKED)


def check_arrays(members: dict[str, bytes], name: str) -> None:
    """Raise ModelFileError unless every array holds exactly what its header promises."""
    room = MAX_UNPACKED - sum(map(len, members.values()))
    with _damage(name):
        for member, content in members.items():
            if member.endswith(".npy"):
                _check_array(content)
            elif member.endswith(".npz"):
                room -= _check_sparse(content, name, room)


@contextmanager
def _damage(name: str) -> Iterator[None]:
    try:
        yield
    except ModelFileError:
        raise
    except ZIP_ERRORS as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{name} is cut or damaged: {reason}") from None


def _unpack(data: bytes, name: str, pattern: re.Pattern[str], room: int) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        strange = next((member for member in names if not pattern.fullmatch(member)), None)
        if strange is not None:
            raise ModelFileError(f"{name} is not a model file: it holds a member {strange!r}")
        if len(set(names)) < len(names) or any(info.compress_type not in PLAIN for info in infos):
            raise ModelFileError(f"{name} is damaged: members twice, or packed in a strange way")
        if sum(info.file_size for info in infos) > room:
            raise ModelFileError(f"{name} would take more than {MAX_UNPACKED:,} bytes unpacked")
        return {info.filename: archive.read(info) for info in infos}


def _check_array(content: bytes) -> None:
    """Raise ValueError unless a .npy file holds exactly the plain numbers its header promises."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in NPY_HEADERS:
        raise ValueError(f"an array in version {version} of its format")
    shape, _, dtype = NPY_HEADERS[version](stream)
    if dtype.hasobject or dtype.names:
        raise ValueError(f"an array of {dtype}")
    n_values = 1
    for length in shape:
        n_values *= length
    if n_values * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array shorter or longer than it says")


def _check_sparse(content: bytes, name: str, room: int) -> int:
    """Return the unpacked size of a sparse matrix whose indices all lie inside it."""
    from scipy.sparse import load_npz

    parts = _unpack(content, name, INNER_MEMBER, room)
    for part in parts.values():
        _check_array(part)
    matrix = load_npz(io.BytesIO(content))
    if matrix.format not in ("csr", "csc"):
        raise ValueError(f"a sparse matrix in {matrix.format} format")
    # Compiled code follows these indices; scipy checks but the ends unless asked.
    matrix.check_format(full_check=True)
    return sum(map(len, parts.values()))


def read_json(members: dict[str, bytes], member: str, name: str) -> Any:
    """Return a JSON member, or say that it is missing or damaged."""
    if member not in members:
        raise ModelFileError(f"{name} is not a model file of decorrupt: it has no {member}")
    if len(members[member]) > MAX_JSON:
        raise ModelFileError(f"{name}: {member} is longer than {MAX_JSON:,} bytes")
    try:
        return json.loads(members[member])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is damaged: {member} is not JSON ({error})") from None
