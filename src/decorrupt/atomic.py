"""Files that are there whole or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What a file system without hard links answers.
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK}


class OutputExistsError(FileExistsError):
    """There is something where a file was to be written, and it may not be overwritten."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a temporary path to write to; what was written stands at `path` afterwards, whole.

    The temporary file lies in the directory of `path`. When the block ends well it is flushed to
    the disk and renamed, so that whoever reads `path`, at whatever moment and even after a crash,
    finds the old file or the new one. If the block raises, it is removed and `path` is as it was.

    Parameters
    ----------
    path : path
        Where the file shall stand. A symbolic link is followed; an old file's mode is kept.
    force : bool, default=False
        Whether an existing file may be replaced.

    Yields
    ------
    Path
        An empty file to fill.

    Raises
    ------
    OutputExistsError
        If `path` exists and `force` is not set (even if it came into being while the block ran),
        or is anything but a regular file.
    FileNotFoundError
        If its directory does not exist.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "answer.txt") as temporary:
    ...     _ = temporary.write_text("42")
    >>> [file.name for file in folder.iterdir()]
    ['answer.txt']
    """
    place = Path(os.path.realpath(path))
    _check_free(path, place, force)
    temporary = place.with_name(f".{place.name[:100]}.{secrets.token_hex(6)}.part")
    _create(temporary, place)
    try:
        yield temporary
        _flush(temporary)
        _move(temporary, path, place, force)
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError):  # some file systems cannot flush a directory
        _flush(place.parent)


def _check_free(path: str | os.PathLike[str], place: Path, force: bool) -> None:
    if not place.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no directory {place.parent}")
    if place.exists() and not place.is_file():
        raise OutputExistsError(f"{path} exists and is not a regular file: choose another name")
    if place.exists() and not force:
        raise _exists(path)


def _exists(path: str | os.PathLike[str]) -> OutputExistsError:
    return OutputExistsError(f"{path} exists: choose another name, or overwrite it with force")


def _create(temporary: Path, place: Path) -> None:
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with suppress(OSError):  # no old file, or one that belongs to somebody else
        temporary.chmod(stat.S_IMODE(place.stat().st_mode))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move(temporary: Path, path: str | os.PathLike[str], place: Path, force: bool) -> None:
    if force:
        os.replace(temporary, place)
        return
    try:
        os.link(temporary, place)  # unlike a rename, it fails if somebody was faster
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _check_free(path, place, force)
        os.replace(temporary, place)
