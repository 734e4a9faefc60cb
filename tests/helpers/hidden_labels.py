"""Tables for tests of tabular and cli, whose labels only the tests may see."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from decorrupt.corruption import corrupt_labels


def make_rows(n_rows, seed):
    """Two numbers and a category that depend on the label, one number that does not, gaps."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows) + 1.5 * labels,
            "income": rng.normal(size=n_rows) + 1.5 * labels,
            "noise": rng.normal(size=n_rows),
            "town": np.where(rng.random(n_rows) < 0.3 + 0.4 * labels, "north", "south"),
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "income"] = np.nan
    return frame, labels


def make_bag_table():
    """300 rows in 30 bags of 10, one row per bag in a second table, 200 test rows."""
    frame, labels = make_rows(300, 0)
    order = np.argsort(labels + np.random.default_rng(1).normal(scale=0.8, size=300), kind="stable")
    frame, labels = frame.iloc[order].reset_index(drop=True), labels[order]
    frame.insert(0, "bag", [f"bag{k // 10:02d}" for k in range(300)])
    counts = labels.reshape(30, 10).sum(axis=1)
    bags = pd.DataFrame({"bag": frame["bag"].unique(), "positives": counts, "rate": counts / 10})
    test, test_labels = make_rows(200, 2)
    return SimpleNamespace(rows=frame, bags=bags, labels=labels, test=test, test_labels=test_labels)


def make_source_table():
    """600 rows whose labels come from a good and a bad source."""
    frame, labels = make_rows(600, 3)
    sources = np.where(np.arange(600) % 3 == 0, "nurse", "rule")
    rates = {"nurse": (0.05, 0.05), "rule": (0.3, 0.2)}
    says = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    rows = frame.assign(says=np.where(says == 1, "sick", "well"), who=sources)
    table = pd.DataFrame(
        [{"source": s, "flip_pos": p, "flip_neg": n} for s, (p, n) in rates.items()]
    )
    test, test_labels = make_rows(200, 4)
    return SimpleNamespace(
        rows=rows, rates=table, labels=labels, test=test, test_labels=test_labels
    )
