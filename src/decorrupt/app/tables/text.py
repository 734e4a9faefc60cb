"""Reading lines of text: gzip, UTF-8 or UTF-16; other encodings are an error."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decorrupt.app.tables.names import TableError

GZIP_MAGIC = b"\x1f\x8b"
# The little-endian mark of UTF-32 begins with that of UTF-16, so it is tested first.
MARKS = (
    (codecs.BOM_UTF32_LE, None),
    (codecs.BOM_UTF32_BE, None),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UTF_8 = "utf-8-sig"  # with or without a byte order mark
UNDECODED = re.compile("[\udc80-\udcff]+")  # what surrogateescape makes of wrong bytes
ADVICE = "save the file as UTF-8"


class TextLines:
    """The lines of an open text file, with their line endings; iterating starts at the first.

    Attributes
    ----------
    is_packed : bool
        Whether the file is compressed.
    """

    def __init__(self, text: io.TextIOWrapper, name: str, *, is_packed: bool) -> None:
        self._text, self._name, self.is_packed = text, name, is_packed

    def __iter__(self) -> Iterator[str]:
        self._text.seek(0)
        for number, line in enumerate(self._text, 1):
            if "\0" in line:
                raise TableError(
                    f"{self._name}, line {number}: a NUL character: not text, or UTF-16 "
                    f"without a byte order mark; {ADVICE}"
                )
            if not line.isascii() and (wrong := UNDECODED.search(line)):
                raise self._undecoded(number, wrong)
            yield line

    def _undecoded(self, number: int, wrong: re.Match[str]) -> TableError:
        if wrong.end() == len(wrong.string):
            return TableError(
                f"{self._name} ends in the middle of a UTF-8 character: the file is truncated"
            )
        return TableError(
            f"{self._name}, line {number}: byte 0x{ord(wrong[0][0]) - 0xDC00:02x} is not UTF-8 "
            f"(Latin-1 or Windows-1252?); {ADVICE}"
        )

    @property
    def is_uniform(self) -> bool:
        """Whether the lines read so far are UTF-8 and all end in LF, or all in CRLF."""
        return self._text.encoding == UTF_8 and self._text.newlines in ("\n", "\r\n")


@contextmanager
def open_lines(path: Path, name: str) -> Iterator[TextLines]:
    """Yield the lines of a text file.

    Parameters
    ----------
    path : Path
        The file; gzip is recognised by its first bytes.
    name : str
        The file's name in error messages.

    Raises
    ------
    TableError
        If a byte is not UTF-8 (nor UTF-16 after a byte order mark), if there are NUL characters,
        or if the compressed data are truncated or damaged; the message names the line.
    """
    try:
        with path.open("rb") as file:
            is_packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            stream = gzip.GzipFile(fileobj=file) if is_packed else file
            encoding = _encoding(stream, name)
            errors = "surrogateescape" if encoding == UTF_8 else "strict"
            text = io.TextIOWrapper(stream, encoding, errors, newline="")
            yield TextLines(text, name, is_packed=is_packed)
    except UnicodeDecodeError:
        raise TableError(f"{name} is UTF-16 but cannot be decoded as such; {ADVICE}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{name} is a truncated or damaged gzip file: {error}") from None
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror or error}") from None


def _encoding(stream: io.BufferedReader | gzip.GzipFile, name: str) -> str:
    start = stream.peek(4)
    for mark, encoding in MARKS:
        if start.startswith(mark):
            if encoding is None:
                raise TableError(f"{name} is UTF-32, which is not supported; {ADVICE}")
            return encoding
    return UTF_8
