"""Dask: memory of 10,000,000 rows, two workers against one, Dask against the local class, growth.

A corrected-loss fit with kernel features of rank 64 on rows of 20 columns in Parquet, which the
benchmark writes. Each fit runs in its own process, with a cluster of single-thread workers, after a
short fit that loads the libraries. Against the local class both fits end at the default tolerance,
Dask keeps the features in memory, and the time is that of all processes together. In the other fits
the rows are read in every pass. Memory is the largest sum of the resident memory of all processes.
Two workers against one and growth are wall times, so other processes on the machine disturb them;
their processor times are in the note. Watching the memory takes processor time itself, about as
much as the client, so the memory is not watched in the runs that compare workers.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from measuring import Figure, exponent, run

N_COLUMNS = 20
N_FEATURES = 64
BAG_SIZE = 50
FILE_ROWS = 100_000
ITERATIONS = 3
# Full and quick sizes.
MEMORY_ROWS = 10_000_000, 400_000
SPEED_ROWS = 2_000_000, 400_000
LOCAL_ROWS = 1_000_000, 400_000
GROWTH_ROWS = (100_000, 1_000_000, 10_000_000), (100_000, 400_000)
MEMORY_GB = 2.0
# What a fit is for: memory is watched, nothing is watched, or the features are kept in memory.
MEMORY, SPEED, KEEP = "memory", "speed", "keep"
WATCH_SECONDS = 0.1
WORKER_MEMORY = "600MB"


def write_rows(folder, n_rows):
    """Write Parquet files of `FILE_ROWS` rows, with the columns c0, …, share and bag."""
    import pandas as pd

    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        rng = np.random.default_rng(number)
        rows = min(FILE_ROWS, n_rows - start)
        bags = np.arange(start, start + rows) // BAG_SIZE
        shares = rng.choice([0.1, 0.3, 0.7, 0.9], bags[-1] - bags[0] + 1)[bags - bags[0]]
        labels = rng.random(rows) < shares
        X = rng.standard_normal((rows, N_COLUMNS), dtype=np.float32) + labels[:, None]
        table = pd.DataFrame(X.astype(np.float32), columns=[f"c{k}" for k in range(N_COLUMNS)])
        table["share"], table["bag"] = shares, bags
        table.to_parquet(folder / f"{number:04}.parquet", index=False)


OPTIONS = {"reg_strength": 1e-3, "random_state": 0, "solver": "lbfgs"}


class Processes:
    """CPU seconds and the largest resident memory of this process and its children."""

    def __init__(self):
        import psutil

        self.this = psutil.Process()
        self.peak = 0

    def watch(self):
        """Look at the memory until the process ends; this takes processor time itself."""
        threading.Thread(target=self._watch, daemon=True).start()

    def _all(self):
        return [self.this, *self.this.children(recursive=True)]

    def _watch(self):
        while True:
            self.peak = max(self.peak, self._sum(lambda one: one.memory_info().rss))
            time.sleep(WATCH_SECONDS)

    def _sum(self, value):
        import psutil

        total = 0
        for one in self._all():
            try:
                total += value(one)
            except psutil.Error:  # it has just ended
                continue
        return total

    def seconds(self):
        return self._sum(lambda one: sum(one.cpu_times()[:2]))


def fit_by_dask(folder, n_workers, purpose):
    """Print wall and processor seconds, passes and gigabytes."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from decorrupt import Kernel
    from decorrupt.distributed import DaskCorrectedLossClassifier
    from decorrupt.distributed.engine import Engine

    watched, keep = Processes(), purpose == KEEP
    if purpose == MEMORY:
        watched.watch()
    limit = "8GB" if keep else WORKER_MEMORY
    kernel = Kernel(max_rank=N_FEATURES)
    Engine.memory = lambda _: 4e9 if keep else 0
    own = {} if keep else {"tol": 0.0}
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=limit, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        model = DaskCorrectedLossClassifier(kernel=kernel, max_iter=ITERATIONS, **OPTIONS, **own)
        rows = dd.read_parquet(folder)
        model.fit(rows.partitions[:n_workers], "share", bags="bag")
        model.set_params(max_iter=1000 if keep else ITERATIONS)
        began, before = time.perf_counter(), watched.seconds()
        model.fit(rows, "share", bags="bag")
        wall, cpu = time.perf_counter() - began, watched.seconds() - before
    report = {"wall": wall, "cpu": cpu, "passes": model.n_passes_, "gigabytes": watched.peak / 1e9}
    print(json.dumps(report))


def fit_locally(folder):
    """Print the same for the estimator without Dask, reading included."""
    import pandas as pd

    from decorrupt import CorrectedLossClassifier, Kernel

    watched = Processes()
    model = CorrectedLossClassifier(kernel=Kernel(max_rank=N_FEATURES), **OPTIONS)
    for files in (min(Path(folder).iterdir()), folder):
        began, before = time.perf_counter(), watched.seconds()
        table = pd.read_parquet(files)
        bags, y = table.pop("bag"), table.pop("share")
        model.fit(table, y, bags=bags)
        wall, cpu = time.perf_counter() - began, watched.seconds() - before
    print(json.dumps({"wall": wall, "cpu": cpu, "passes": model.n_iter_}))


def measured(*arguments):
    """Run one fit in its own process."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(quick):
    folder = Path(tempfile.mkdtemp(prefix="bench-dask-"))
    try:
        yield from _figures(folder, int(quick))
    finally:
        shutil.rmtree(folder)


def _figures(folder, quick):
    sizes = {*GROWTH_ROWS[quick], MEMORY_ROWS[quick], SPEED_ROWS[quick], LOCAL_ROWS[quick]}
    for n_rows in sizes:
        (folder / str(n_rows)).mkdir()
        write_rows(folder / str(n_rows), n_rows)
    grown = {n: measured("dask", folder / str(n), 2, MEMORY) for n in GROWTH_ROWS[quick]}
    yield Figure(
        "exponent of wall seconds in n_rows, 2 workers",
        exponent(grown, [one["wall"] for one in grown.values()]),
        at_most=1.1,
        note=", ".join(f"{n:,}: {one['wall']:.3g} s" for n, one in grown.items()),
    )
    largest = grown[MEMORY_ROWS[quick]]
    yield Figure(
        f"gigabytes of all processes, {MEMORY_ROWS[quick]:,} rows",
        largest["gigabytes"],
        at_most=MEMORY_GB,
        note=f"{largest['passes']} passes in {largest['wall']:.0f} s",
    )
    one, two = (measured("dask", folder / str(SPEED_ROWS[quick]), n, SPEED) for n in (1, 2))
    yield Figure(
        f"1 worker ÷ 2 workers, {SPEED_ROWS[quick]:,} rows",
        one["wall"] / two["wall"],
        at_least=1.6,
        note=f"{one['wall']:.1f} s, {two['wall']:.1f} s; "
        f"processor {one['cpu']:.1f} s, {two['cpu']:.1f} s",
    )
    rows = folder / str(LOCAL_ROWS[quick])
    by_dask, local = measured("dask", rows, 1, KEEP), measured("local", rows)
    yield Figure(
        f"Dask on 1 worker ÷ local class, processor seconds, {LOCAL_ROWS[quick]:,} rows",
        by_dask["cpu"] / local["cpu"],
        at_most=1.3,
        note=f"{by_dask['passes']} passes in {by_dask['cpu']:.1f} s, "
        f"{local['passes']} iterations in {local['cpu']:.1f} s",
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["dask"]:
        warnings.simplefilter("ignore")
        fit_by_dask(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:2] == ["local"]:
        warnings.simplefilter("ignore")
        fit_locally(sys.argv[2])
    else:
        run(measure)
