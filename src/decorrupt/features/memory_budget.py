"""The memory budget of kernel features, and the default rank that follows from it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
# Share of the machine's memory that features may take by default.
BUDGET_SHARE = 0.25
# Where the operating system does not report its memory.
UNKNOWN_MEMORY = 8 * 10**9
# What a process may use inside a container (Linux, control groups).
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
# Temporary arrays, relative to the feature matrix.
OVERHEAD = 1.25

# The rank if the user sets none: 2,000 columns of 20,000 rows are 320 MB.
DEFAULT_MAX_RANK = 2000
# With more rows than this, features are stored in single precision and the rank decreases.
MANY_ROWS = 20_000
# 200,000 rows have 1,002 columns (0.8 GB), a million rows 618 (2.5 GB).
RANK_EXPONENT = 0.3


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or of the container it runs in."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return UNKNOWN_MEMORY
    try:
        return min(total, int(CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):  # no container, or no limit ("max")
        return total


def budget_in_bytes(memory_budget: Any) -> float:
    """Return a memory budget as a number of bytes.

    Parameters
    ----------
    memory_budget : int, float, str or None
        Bytes, a text such as "500MB" or "2GB", or None for a quarter of the machine's memory.

    Examples
    --------
    >>> budget_in_bytes("1.5 GB")
    1500000000.0
    """
    if memory_budget is None:
        return BUDGET_SHARE * machine_memory()
    found = re.fullmatch(r"\s*([0-9.e+]+)\s*([KMGT]?B?)\s*", str(memory_budget), re.IGNORECASE)
    unit = found and found[2].upper().rstrip("B")
    try:
        size = float(found[1]) * UNITS[f"{unit}B" if unit else ""] if found else 0.0
    except ValueError:  # "1.2.3"
        size = 0.0
    if not 0 < size < float("inf"):
        raise ValueError(
            f"memory_budget={memory_budget!r}: give a number of bytes, a text such as '500MB' or "
            "'2GB', or None for a quarter of the machine's memory"
        )
    return size


def rank_in_budget(n_rows: int, itemsize: int, memory_budget: Any) -> int:
    """Return how many columns of features fit into the budget, at least 1."""
    return max(1, int(budget_in_bytes(memory_budget) / (OVERHEAD * itemsize * max(n_rows, 1))))


def default_max_rank(n_rows: int) -> int:
    """Return the rank that is usually worth its time: 2,000, or fewer with many rows."""
    if n_rows <= MANY_ROWS:
        return DEFAULT_MAX_RANK
    return int(DEFAULT_MAX_RANK * (MANY_ROWS / n_rows) ** RANK_EXPONENT)
