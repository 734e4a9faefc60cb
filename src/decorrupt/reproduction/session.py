"""A sitting of a plan: what can be known to go wrong is found first, then what is left is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from decorrupt.datasets import fetch_uci
from decorrupt.reproduction.plan import Cell, Plan
from decorrupt.reproduction.records import cell_of, finished_cells, latest, read_records
from decorrupt.reproduction.run import run_plan


@dataclass(frozen=True)
class Sitting:
    """What came of it.

    Attributes
    ----------
    n_run : int
        Cells run, finished or failed.
    failed : tuple of Cell
        The plan's cells that have not been finished, now or before.
    """

    n_run: int
    failed: tuple[Cell, ...]


def run_sitting(
    plan: Plan, path: str | Path, *, n_jobs: int | None = None, data_home: str | None = None
) -> Sitting:
    """Run what `path` has no finished records of, and say what failed.

    Parameters are those of :func:`decorrupt.reproduction.run_plan`.

    Raises
    ------
    ValueError
        If `path` is some other file, or the plan names an unknown method or data set.
    OSError
        If `path` cannot be written to, or a data set is not at hand and cannot be downloaded; both
        before anything is run.
    """
    left = cells_left(plan, path)
    for name in dict.fromkeys(cell.dataset for cell in left):
        fetch_uci(name, data_home=data_home)
    n_run = run_plan(plan, path, n_jobs=n_jobs, data_home=data_home)
    records = latest(read_records(path))
    failed = set(map(cell_of, records)) - finished_cells(records)
    return Sitting(n_run, tuple(cell for cell in plan.cells() if cell in failed))


def cells_left(plan: Plan, path: str | Path) -> list[Cell]:
    """Return the cells without a finished record; make sure that records can be added."""
    records = read_records(path)
    file = Path(path)
    if not records and file.exists() and file.stat().st_size:
        raise ValueError(f"{path}: exists and holds no records; choose another file for them")
    file.open("ab").close()
    finished = finished_cells(records)
    return [cell for cell in plan.cells() if cell not in finished]
