"""Designed bags: more information than random ones, and a better model from large bags."""

import runpy
from pathlib import Path

import matplotlib as mpl

FILE = Path(__file__).parents[2] / "examples" / "plot_designed_bags.py"


def test_large_designed_bags_keep_the_accuracy():
    mpl.use("Agg")
    found = runpy.run_path(str(FILE))["found"]
    (random_v, random), (designed_v, designed) = (
        found["random", 100],
        found["designed", 100],
    )
    assert designed_v > 10 * random_v
    assert designed > random + 0.02
