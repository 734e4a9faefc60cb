"""Time and memory of a fit against rows, bags, bag size, columns and rank: fitted exponents.

A count-likelihood fit (an exact sum per bag) and a corrected-loss fit, with random features of rank
256 unless stated otherwise and a fixed number of iterations: the time per iteration is what grows.
Each size runs in its own process, because peak memory is per process; memory is the peak minus what
the process had before the fit. Linear growth is 1. Exponents are fitted to the larger sizes, where
fixed costs matter less. The full run saves docs/figures/growth.svg.

Rows above a million: bench_dask.py.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline

from measuring import Figure, exponent, run

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "growth.svg"
BASE = {"n_rows": 40_000, "bag_size": 20, "n_columns": 10, "rank": 256}
METHODS = ("CorrectedLossClassifier", "CountLikelihoodClassifier")
# Axis: sizes of a full run, of a quick run, and the largest exponent of the time.
AXES = {
    "n_rows": ((10_000, 30_000, 100_000, 300_000, 1_000_000), (20_000, 80_000), 1.1),
    "bag_size": ((2, 8, 32, 128, 512, 2_000, 10_000), (), None),
    "n_bags": ((100, 1_000, 10_000, 100_000), (), 1.1),
    "n_columns": ((10, 30, 100, 300), (), 1.1),
    "rank": ((64, 128, 256, 512), (), 1.1),
}
ITERATIONS = 10
N_LARGEST = 3


def fit(method, n_rows, bag_size, n_columns, rank):
    """Print seconds and megabytes of one fit."""
    import decorrupt

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    bags = np.arange(n_rows) // bag_size
    shares = rng.choice([0.1, 0.3, 0.7, 0.9], bags[-1] + 1)
    labels = rng.random(n_rows) < shares[bags]
    y = (np.bincount(bags, labels) / np.bincount(bags))[bags]
    X = rng.standard_normal((n_rows, n_columns)) + labels[:, None]
    model = getattr(decorrupt, method)(
        kernel="linear", max_iter=ITERATIONS, tol=0.0, solver="lbfgs"
    )
    if method == "CountLikelihoodClassifier":
        model.set_params(starts=["intercept"], reg_strength=0.1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    sampler = RBFSampler(gamma="scale", n_components=rank, random_state=0)
    make_pipeline(sampler, model).fit(X, y, **{f"{method.lower()}__bags": bags})
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "megabytes": max(peak - before, 1) / 1024}))


def measured(method, axis, size):
    """Run one fit in its own process."""
    problem = dict(BASE)
    if axis == "n_bags":
        problem["n_rows"] = size * problem["bag_size"]
    else:
        problem[axis] = size
    arguments = [method, *map(str, problem.values())]
    command = [sys.executable, __file__, "fit", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def plot(found):
    """Save time and memory against every axis."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "decorrupt", "font.size": 8}
    canvas = Canvas(figsize=(11, 5), layout="constrained")
    grid = canvas.subplots(2, len(AXES), sharex="col")
    for (axis, method), rows in found.items():
        column = list(AXES).index(axis)
        for line, what in enumerate(("seconds", "megabytes")):
            panel = grid[line, column]
            panel.loglog(list(rows), [row[what] for row in rows.values()], "o-", label=method)
            panel.set_ylabel(what if column == 0 else "")
            panel.set_ylim(*((0.02, 50) if what == "seconds" else (5, 6000)))
            panel.grid(color="0.9")
        grid[1, column].set_xlabel(axis.replace("n_", "").replace("_", " "))
        grid[1, column].xaxis.set_minor_formatter("")
    lines = grid[0, 0].get_legend_handles_labels()
    canvas.legend(*lines, loc="outside upper center", ncols=len(METHODS), frameon=False)
    canvas.savefig(FIGURE, metadata={"Date": None})


def measure(quick):
    found = {}
    for axis, (sizes, quick_sizes, bar) in AXES.items():
        sizes = quick_sizes if quick else sizes
        for method in METHODS if sizes else ():
            rows = {size: measured(method, axis, size) for size in sizes}
            found[axis, method] = rows
            largest = sizes[-N_LARGEST:]
            for what in ("seconds", "megabytes"):
                values = [rows[size][what] for size in largest]
                yield Figure(
                    f"exponent of {what} in {axis}, {method}",
                    exponent(largest, values),
                    at_most=bar if what == "seconds" or axis == "n_rows" else None,
                    note=", ".join(f"{size:,}: {rows[size][what]:.3g}" for size in sizes),
                )
    if not quick:
        plot(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        fit(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        run(measure)
