"""One session of a plan: check files and data first, then run the remaining cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from decorrupt.datasets import fetch_uci
from decorrupt.reproduction.plan import Cell, Plan
from decorrupt.reproduction.records import cell_of, finished_cells, latest, read_records
from decorrupt.reproduction.run import run_plan


@dataclass(frozen=True)
class Session:
    """Result of one session.

    Attributes
    ----------
    n_run : int
        Number of cells run, finished or failed.
    failed : tuple of Cell
        Cells of the plan that failed and have never finished.
    """

    n_run: int
    failed: tuple[Cell, ...]


def run_session(
    plan: Plan, path: str | Path, *, n_jobs: int | None = None, data_home: str | None = None
) -> Session:
    """Run the cells without a finished record in `path`, and report which failed.

    Parameters are those of :func:`decorrupt.reproduction.run_plan`.

    Raises
    ------
    ValueError
        If `path` is not a file of records, or the plan names an unknown method or data set.
    OSError
        If `path` cannot be written, or a data set is neither available nor downloadable. Both are
        checked before the first cell.
    """
    left = cells_left(plan, path)
    for name in dict.fromkeys(cell.dataset for cell in left):
        fetch_uci(name, data_home=data_home)
    n_run = run_plan(plan, path, n_jobs=n_jobs, data_home=data_home)
    records = latest(read_records(path))
    failed = set(map(cell_of, records)) - finished_cells(records)
    return Session(n_run, tuple(cell for cell in plan.cells() if cell in failed))


def cells_left(plan: Plan, path: str | Path) -> list[Cell]:
    """Return the cells without a finished record; check that `path` can be appended to."""
    records = read_records(path)
    file = Path(path)
    if not records and file.exists() and file.stat().st_size:
        raise ValueError(f"{path}: exists and contains no records; choose another file")
    file.open("ab").close()
    finished = finished_cells(records)
    return [cell for cell in plan.cells() if cell not in finished]
