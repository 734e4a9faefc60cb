"""Atomic file writes: write to a temporary file, then rename it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Errors of a file system without hard links.
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK}


class OutputExistsError(FileExistsError):
    """The output path exists and may not be overwritten."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `path` at the end of the block.

    The temporary file is in the directory of `path`. If the block succeeds, the file is flushed to
    disk and renamed. So a reader of `path` finds either the complete old file or the complete new
    one, even after a crash. If the block raises, the temporary file is removed and `path` is not
    changed.

    Parameters
    ----------
    path : path
        The file to write. Symbolic links are followed; the mode of an existing file is kept.
    force : bool, default=False
        Whether an existing file may be replaced.

    Yields
    ------
    Path
        An empty temporary file.

    Raises
    ------
    OutputExistsError
        If `path` exists and `force` is False (even if it was created while the block ran), or is
        not a regular file.
    OSError
        If the file cannot be written; `filename` is `path`, not the temporary file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "answer.txt") as temporary:
    ...     _ = temporary.write_text("42")
    >>> [file.name for file in folder.iterdir()]
    ['answer.txt']
    """
    target = Path(os.path.realpath(path))
    _check_target(path, target, force)
    temporary = _temporary(target)
    with _errors_name(path, temporary):
        _create(temporary, target)
        try:
            yield temporary
            _flush(temporary)
            _move(temporary, path, target, force)
        finally:
            temporary.unlink(missing_ok=True)
    with suppress(OSError):  # some file systems cannot flush a directory
        _flush(target.parent)


def check_writable(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise what :func:`atomic_write` would raise at once, by creating its temporary file.

    To be called before long work whose result is written to `path`.

    Raises
    ------
    OutputExistsError, OSError
        As :func:`atomic_write`.

    Examples
    --------
    >>> check_writable("no/such/folder/model.skops")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] there is no directory no/such/folder: 'no/such/folder/model.skops'
    """
    target = Path(os.path.realpath(path))
    _check_target(path, target, force)
    temporary = _temporary(target)
    with _errors_name(path, temporary):
        try:
            _create(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def _check_target(path: str | os.PathLike[str], target: Path, force: bool) -> None:
    if not target.parent.is_dir():
        reason = f"there is no directory {Path(path).parent}"
        raise FileNotFoundError(errno.ENOENT, reason, str(path))
    if target.exists() and not target.is_file():
        raise OutputExistsError(f"{path} exists and is not a regular file: choose another name")
    if target.exists() and not force:
        raise _exists(path)
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(path))


@contextmanager
def _errors_name(path: str | os.PathLike[str], temporary: Path) -> Iterator[None]:
    """Let errors about the temporary file, and of a full disk, name the file that was asked for."""
    try:
        yield
    except OSError as error:
        is_own = error.filename in (str(temporary), temporary)
        if error.errno is None or not (is_own or error.filename is None):
            raise
        reason = error.strerror
        if is_own and error.errno == errno.ENOENT:
            reason = "its directory takes no files"
        raise OSError(error.errno, reason, str(path)) from None


def _exists(path: str | os.PathLike[str]) -> OutputExistsError:
    return OutputExistsError(f"{path} exists: choose another name, or overwrite it with force")


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")


def _create(temporary: Path, target: Path) -> None:
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with suppress(OSError):  # no existing file, or one of another user
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move(temporary: Path, path: str | os.PathLike[str], target: Path, force: bool) -> None:
    if force:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)  # unlike a rename, this fails if the file exists
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _check_target(path, target, force)
        os.replace(temporary, target)
