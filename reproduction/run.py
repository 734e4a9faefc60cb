"""Running a plan: parallel, resumable, with failures as records."""

from __future__ import annotations

import platform
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from threadpoolctl import threadpool_limits

from reproduction.methods import METHODS, Task
from reproduction.plan import Cell, Plan
from reproduction.records import (
    DONE,
    Record,
    append_record,
    cell_of,
    finished_cells,
    read_checked,
)
from reproduction.split import split_into_bags
from reproduction.uci import read_uci


def run_plan(plan: Plan, path: str | Path, *, n_jobs: int | None = None) -> list[Record]:
    """Run every cell of the plan without a finished record in `path`; return the new records.

    Prints one line per cell to stderr.

    Parameters
    ----------
    plan : Plan
        The cells to run.
    path : path
        The file of records; each finished cell is appended.
    n_jobs : int or None
        Number of cells run in parallel, with the active joblib backend.

    Raises
    ------
    ValueError
        If `path` contains something else than records, or the plan names an unknown method or data
        set.
    OSError
        If `path` cannot be written, or a data set is not available. Both are checked before the
        first cell.
    """
    if unknown := sorted(set(plan.methods) - set(METHODS)):
        raise ValueError(f"unknown method {unknown[0]!r}: choose among {', '.join(METHODS)}")
    left = _cells_left(plan, Path(path))
    for name in dict.fromkeys(cell.dataset for cell in left):
        read_uci(name)
    jobs = (delayed(run_cell)(cell, plan.test_share, plan.n_folds) for cell in left)
    records = []
    for record in _as_they_finish(jobs, n_jobs):
        append_record(path, record)  # only this process writes, so lines never mix
        records.append(record)
        _print_progress(record, len(records), len(left))
    return records


def _cells_left(plan: Plan, path: Path) -> list[Cell]:
    """Return the cells without a finished record; check that `path` can be appended to."""
    records = read_checked(path) if path.exists() and path.stat().st_size else []
    path.open("ab").close()
    finished = finished_cells(records)
    return [cell for cell in plan.cells() if cell not in finished]


def _print_progress(record: Record, n_run: int, total: int) -> None:
    names = " ".join(map(str, cell_of(record)))
    text = f"{n_run} of {total}: {names}: {record['status']}, {record['seconds']:.1f} s"
    print(text, file=sys.stderr, flush=True)


def _as_they_finish(jobs: Iterator[Any], n_jobs: int | None) -> Iterator[Record]:
    backend, _ = get_active_backend()
    if backend.supports_return_generator:
        yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)
        return
    # "multiprocessing" returns all results at once: run batches, so that a stop loses only one.
    while batch := list(islice(jobs, effective_n_jobs(n_jobs))):
        yield from Parallel(n_jobs=n_jobs)(batch)


def run_cell(cell: Cell, test_share: float = 0.2, n_folds: int = 5) -> Record:
    """Train and test one cell; an exception becomes the record's status."""
    record: Record = cell._asdict() | {"versions": versions()}
    began = time.perf_counter()
    try:
        with threadpool_limits(1):
            data = read_uci(cell.dataset)
            record |= train_and_test(cell, data.X, data.y, test_share, n_folds)
        record["status"] = DONE
    except Exception as error:
        record["status"] = f"{type(error).__name__}: {error}"
    record["seconds"] = round(time.perf_counter() - began, 3)
    record["peak_mb"] = round(_peak_mb(), 1)
    return record


def train_and_test(
    cell: Cell, X: Any, labels: NDArray[np.int_], test_share: float, n_folds: int
) -> Record:
    """Return the accuracies of a cell on its held-out rows, and what was chosen in training."""
    split, labels = split_into_bags(X, labels, cell.bag_size, test_share, cell.seed)
    method = METHODS[cell.method]
    y, bags = (labels, None) if method.sees_labels else (split.y, split.bags)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says what failed
        fitted = method.train(Task(split.X, y, bags, n_folds, cell.seed))
    predicted = fitted.model.predict(split.X_test)
    return {
        "balanced_accuracy": float(balanced_accuracy_score(split.y_test, predicted)),
        "accuracy": float(accuracy_score(split.y_test, predicted)),
        "params": {name: _plain(value) for name, value in fitted.params.items()},
        "criterion": float(fitted.criterion) if np.isfinite(fitted.criterion) else None,
        "n_train": len(split.y),
        "n_left_out": split.n_left_out,
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that affect the results."""
    return {
        "decorrupt": version("decorrupt"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return value.item() if hasattr(value, "item") else value


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
