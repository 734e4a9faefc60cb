"""--engine: tables in memory, or in partitions with Dask."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from decorrupt.app.cli.conventions import MINUS, option, split_names
from decorrupt.app.cli.options import TrainingOptions, bag_columns, read_bag_rows

if TYPE_CHECKING:
    from decorrupt.app.training.by_dask import LargeTable
    from decorrupt.app.training.train import Settings

MEMORY, DASK = "memory", "dask"
# Bytes in memory per byte of a file; packed files are checked only if they are large anyway.
UNPACKED = {".parquet": 4, ".gz": 5}
# Smaller files always fit.
LARGE_FILE = 100_000_000

Engine = Annotated[
    str,
    option(
        "--engine",
        help="memory: read the table at once; dask: read Parquet files in partitions, for tables "
        "that do not fit in memory.",
        metavar="ENGINE",
    ),
]
Scheduler = Annotated[
    str | None,
    option(
        "--scheduler",
        help="With --engine dask: address of a Dask scheduler, such as tcp://10.0.0.1:8786; by "
        "default threads on this machine.",
        metavar="ADDRESS",
    ),
]
Memory = Annotated[
    str | None,
    option(
        "--memory",
        help="With --engine dask: what partitions may take in memory, such as 2GB; the others are "
        "read again in every pass.",
        metavar="SIZE",
    ),
]


def check_engine(engine: str, scheduler: str | None, memory: str | None = None) -> bool:
    """Return whether the engine is Dask; raise BadParameter if an option does not belong."""
    if engine not in (MEMORY, DASK):
        raise typer.BadParameter(f"--engine {engine!r}: choose {MEMORY} or {DASK}")
    for name, value in (("--scheduler", scheduler), ("--memory", memory)):
        if value is not None and engine != DASK:
            raise typer.BadParameter(f"{name} needs --engine {DASK}")
    return engine == DASK


def refuse_too_large(rows: str) -> None:
    """Raise ValueError if a table does not fit in memory, before it is read."""
    path = Path(rows).expanduser()
    if rows == MINUS or not path.exists():
        return
    if path.is_dir():
        raise ValueError(f"{rows} is a folder: a folder of Parquet files needs --engine {DASK}")
    size = path.stat().st_size
    if size < LARGE_FILE:
        return
    from decorrupt.features import machine_memory

    needed, available = size * UNPACKED.get(path.suffix, 1), machine_memory()
    if needed > available:
        raise ValueError(
            f"{rows} needs about {needed / 1e9:.1f} GB in memory, and this machine has "
            f"{available / 1e9:.1f} GB: read Parquet files in partitions with --engine {DASK}, or "
            "select rows with --sql"
        )


@contextmanager
def large_table(
    given: TrainingOptions, seed: int, scheduler: str | None, memory: str | None
) -> Iterator[tuple[TrainingOptions, LargeTable, Any]]:
    """Yield the options with a sample instead of the rows, all rows, and all their bags.

    The sample is a temporary file, which is removed at the end.
    """
    from decorrupt.app.training.by_dask import LargeTable

    columns, table = bag_columns(given), given["bags"]
    columns.check(has_table=table is not None)
    large = LargeTable(given["rows"], columns, scheduler, memory)
    rows = large.one_row_per_bag(has_table=table is not None)
    bags = read_bag_rows(rows, table, columns, given["decimal"], takes_ranges=True)
    with tempfile.TemporaryDirectory(prefix="decorrupt-") as folder:
        options = large.write_sample(Path(folder), bags, seed)
        yield cast(TrainingOptions, given | options), large, bags


def check_dask(given: TrainingOptions, method: str, kernel: str | None, memory: str | None) -> None:
    """Raise BadParameter or ValueError if an option cannot be used with Dask, before data are read.

    Parameters
    ----------
    given : TrainingOptions
        The tables and columns.
    method, kernel, memory : str or None
        Further options.
    """
    from decorrupt.app.training.methods import BAG_METHODS, KERNELS, PAIR_KERNELS, method_name
    from decorrupt.features import budget_in_bytes

    if given["bag_column"] is None:
        raise typer.BadParameter(
            "--engine dask is for bags: give --bag-column. For noisy labels of sources use "
            "decorrupt.distributed.DaskCorruptedSourcesClassifier from Python"
        )
    if given["sql"]:
        raise typer.BadParameter("--sql cannot be used with --engine dask")
    name, known = method_name(method, BAG_METHODS), ("auto", *dask_methods())
    if name not in known:
        raise typer.BadParameter(
            f"--method {name} cannot be used with --engine dask: choose one of {', '.join(known)}"
        )
    for one in split_names(kernel):
        if one in KERNELS and one not in PAIR_KERNELS:
            raise typer.BadParameter(
                f"--kernel {one} is made from all rows at once and cannot be used with --engine "
                f"dask: choose among {', '.join(PAIR_KERNELS)}"
            )
    if memory is not None:
        budget_in_bytes(memory)


def one_file(given: TrainingOptions) -> TrainingOptions:
    """Return the options with the first file of a folder, which has the columns of all."""
    from decorrupt.app.training.by_dask import parquet_files

    return {**given, "rows": parquet_files(given["rows"])[0]}


def dask_methods() -> tuple[str, ...]:
    """Return the --method that have an estimator with Dask."""
    from decorrupt.app.training.by_dask import DASK_METHODS

    return DASK_METHODS


def dask_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ with Dask: one configuration that can be fitted to all rows.

    An average would need one pass per member, and the kernels made from all rows a local table.
    """
    changed: dict[str, Any] = {"ensemble": "best", "kernels": settings.kernels or ("linear", "rbf")}
    if settings.method == "auto":
        changed["candidates"] = tuple(name.replace("-", "_") for name in dask_methods())
    return changed


def predict_by_dask(
    model: str, rows: str, output: str, scheduler: str | None, *, force: bool, **options: Any
) -> list[str]:
    """Write the predictions for Parquet files into a folder, whole or not at all."""
    from decorrupt.app.cli.predict import open_predictor
    from decorrupt.app.training.by_dask import predict_files

    target = Path(output)
    if output == MINUS or target.suffix or target.is_file():
        raise typer.BadParameter(
            f"--output {output!r}: with --engine dask predictions are a folder of Parquet files"
        )
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.resolve().parent))
    try:
        said = predict_files(open_predictor(model), rows, temporary, scheduler, **options)
        if target.exists() and force:
            shutil.rmtree(target)
        temporary.chmod(0o755)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return said
