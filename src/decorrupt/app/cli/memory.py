"""Refusal of tables that do not fit in memory, before they are read."""

from __future__ import annotations

from pathlib import Path

from decorrupt.app.cli.conventions import MINUS

# Bytes in memory per byte of a file; packed files are checked only if they are large anyway.
UNPACKED = {".parquet": 4, ".gz": 5}
# Smaller files always fit.
LARGE_FILE = 100_000_000
ADVICE = (
    "train with decorrupt.distributed in Python, which reads Parquet files in partitions (how-to "
    "'Data larger than memory')"
)


def refuse_too_large(rows: str) -> None:
    """Raise ValueError if a table does not fit in memory, or is a folder."""
    path = Path(rows).expanduser()
    if rows == MINUS or not path.exists():
        return
    if path.is_dir():
        raise ValueError(f"{rows} is a folder: give one file, or {ADVICE}")
    size = path.stat().st_size
    if size < LARGE_FILE:
        return
    from decorrupt.features import machine_memory

    needed, available = size * UNPACKED.get(path.suffix, 1), machine_memory()
    if needed > available:
        raise ValueError(
            f"{rows} needs about {needed / 1e9:.1f} GB in memory, and this machine has "
            f"{available / 1e9:.1f} GB: select rows with --sql, or {ADVICE}"
        )
