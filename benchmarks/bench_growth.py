"""Time and memory of a fit against rows, bag size, columns and rank; the default rank.

Growth: a count-likelihood fit (an exact sum per bag) and a corrected-loss fit, with kernel features
of rank 256 unless stated otherwise and a fixed number of iterations. Linear growth is an exponent
of 1; the time of the features grows with the square of the rank. Exponents are fitted to the larger
sizes, where fixed costs matter less. The full run saves docs/figures/growth.svg.

The default rank: a corrected-loss fit of 200,000 rows × 20 columns against rank 2,000. Data: two
classes of four clusters each, hard for a low-rank kernel; accuracy is of 20,000 further rows.

Each fit runs in its own process, because peak memory is per process; memory is the peak minus what
the process had before the fit. Rows above a million: bench_dask.py.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from measuring import Figure, bagged, exponent, run

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "growth.svg"
BASE = {"n_rows": 40_000, "bag_size": 20, "n_columns": 10, "rank": 256}
METHODS = ("CorrectedLossClassifier", "CountLikelihoodClassifier")
# Axis: sizes of a full run, of a quick run, and the largest exponent of time and of memory.
AXES = {
    "n_rows": ((10_000, 30_000, 100_000, 300_000), (20_000, 80_000), 1.1, 1.1),
    "bag_size": ((2, 8, 32, 128, 512, 2_000, 10_000), (), None, None),
    "n_columns": ((10, 30, 100, 300), (), 1.1, None),
    "rank": ((64, 128, 256, 512), (), 2.1, None),
}
ITERATIONS = 10
N_LARGEST = 3
# The default rank: the accuracy that it may lose.
ROWS, TEST_ROWS, COLUMNS, BAG_SIZE = 200_000, 20_000, 20, 16
FULL_RANK, ACCURACY_BAR = 2000, 0.005


def fit_on_axes(method, n_rows, bag_size, n_columns, rank):
    """Return a function that fits, and one that returns what else is reported."""
    import decorrupt

    rng = np.random.default_rng(0)
    bags = np.arange(n_rows) // bag_size
    shares = rng.choice([0.1, 0.3, 0.7, 0.9], bags[-1] + 1)
    labels = rng.random(n_rows) < shares[bags]
    y = (np.bincount(bags, labels) / np.bincount(bags))[bags]
    X = rng.standard_normal((n_rows, n_columns)) + labels[:, None]
    model = getattr(decorrupt, method)(
        kernel=decorrupt.Kernel(max_rank=rank),
        max_iter=ITERATIONS,
        tol=0.0,
        random_state=0,
    )
    if method == "CountLikelihoodClassifier":
        model.set_params(reg_strength=0.1)
    return lambda: model.fit(X, y, bags=bags), dict


def fit_of_rank(max_rank):
    """Return the same of a fit at the default rank (0) or a given one."""
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler

    from decorrupt import CorrectedLossClassifier, Kernel

    X, labels = make_classification(
        ROWS + TEST_ROWS, COLUMNS, n_informative=10, n_clusters_per_class=4, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    new, new_labels, X, labels = X[ROWS:], labels[ROWS:], X[:ROWS], labels[:ROWS]
    y, bags = bagged(X, labels, BAG_SIZE)
    model = CorrectedLossClassifier(kernel=Kernel(max_rank=max_rank or None), random_state=0)

    def more():
        return {"accuracy": model.score(new, new_labels), "rank": model.kernel_rank_}

    return lambda: model.fit(X, y, bags=bags), more


def print_fit(what, *arguments):
    """Print seconds and megabytes of one fit."""
    warnings.simplefilter("ignore")
    if what == "rank":
        fit, more = fit_of_rank(*map(int, arguments))
    else:
        fit, more = fit_on_axes(what, *map(int, arguments))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    fit()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "megabytes": max(peak - before, 1) / 1024} | more()))


def in_a_process(*arguments):
    """Run one fit in its own process."""
    command = [sys.executable, __file__, "fit", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def plot(found):
    """Save time and memory against every axis."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "decorrupt", "font.size": 8}
    canvas = Canvas(figsize=(9, 5), layout="constrained")
    grid = canvas.subplots(2, len(AXES), sharex="col")
    for (axis, method), rows in found.items():
        column = list(AXES).index(axis)
        for line, what in enumerate(("seconds", "megabytes")):
            panel = grid[line, column]
            panel.loglog(list(rows), [row[what] for row in rows.values()], "o-", label=method)
            panel.set_ylabel(what if column == 0 else "")
            panel.set_ylim(*((0.02, 50) if what == "seconds" else (5, 6000)))
            panel.grid(color="0.9")
            panel.minorticks_off()
        grid[1, column].set_xlabel(axis.replace("n_", "").replace("_", " "))
    lines = grid[0, 0].get_legend_handles_labels()
    canvas.legend(*lines, loc="outside upper center", ncols=len(METHODS), frameon=False)
    canvas.savefig(FIGURE, metadata={"Date": None})


def growth(quick):
    """Yield the exponents of time and memory on every axis."""
    found = {}
    for axis, (sizes, quick_sizes, *bars) in AXES.items():
        sizes = quick_sizes if quick else sizes
        for method in METHODS if sizes else ():
            rows = {s: in_a_process(method, *(BASE | {axis: s}).values()) for s in sizes}
            found[axis, method] = rows
            largest = sizes[-N_LARGEST:]
            for what, bar in zip(("seconds", "megabytes"), bars, strict=True):
                yield Figure(
                    f"exponent of {what} in {axis}, {method}",
                    exponent(largest, [rows[size][what] for size in largest]),
                    at_most=bar,
                    note=", ".join(f"{size:,}: {rows[size][what]:.3g}" for size in sizes),
                )
    if not quick:
        plot(found)


def default_rank():
    """Yield time and memory of the default rank against rank 2,000, and the accuracy lost."""
    default, full = in_a_process("rank", 0), in_a_process("rank", FULL_RANK)
    for what in ("seconds", "megabytes"):
        name = f"{what}, default rank / rank {FULL_RANK:,}, {ROWS:,} rows"
        note = f"rank {default['rank']:,}: {default[what]:.3g}, {full[what]:.3g}"
        yield Figure(name, default[what] / full[what], note=note)
    note = f"{default['accuracy']:.3f}, {full['accuracy']:.3f}"
    lost = full["accuracy"] - default["accuracy"]
    yield Figure("accuracy that the default rank loses", lost, at_most=ACCURACY_BAR, note=note)


def measure(quick):
    yield from growth(quick)
    if not quick:
        yield from default_rank()


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        print_fit(*sys.argv[2:])
    else:
        run(measure)
