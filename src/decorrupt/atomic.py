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
    target = Path(os.path.realpath(path))
    _check_writable(path, target, force)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    _create(temporary, target)
    try:
        yield temporary
        _flush(temporary)
        _move(temporary, path, target, force)
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError):  # some file systems cannot flush a directory
        _flush(target.parent)


def _check_writable(path: str | os.PathLike[str], target: Path, force: bool) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no directory {target.parent}")
    if target.exists() and not target.is_file():
        raise OutputExistsError(f"{path} exists and is not a regular file: choose another name")
    if target.exists() and not force:
        raise _exists(path)


def _exists(path: str | os.PathLike[str]) -> OutputExistsError:
    return OutputExistsError(f"{path} exists: choose another name, or overwrite it with force")


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
        _check_writable(path, target, force)
        os.replace(temporary, target)
