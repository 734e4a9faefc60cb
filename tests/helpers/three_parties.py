"""Rows of three classes in bags, whose labels only the tests may see."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

PARTIES = ("blue", "green", "red")
MEANS = np.array([[2.0, 0.0], [-2.0, 1.0], [0.0, -2.5]])


def make_voters(n_rows, seed):
    """Two columns whose means depend on the party."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    values = rng.normal(size=(n_rows, 2)) + MEANS[labels]
    return pd.DataFrame(values, columns=["age", "income"]), labels


def make_party_tables():
    """240 rows in 30 bags of 8; the bags wide and as counts; 120 test rows."""
    frame, labels = make_voters(240, 0)
    frame.insert(0, "bag", [f"p{k // 8:02d}" for k in range(240)])
    counts = np.zeros((30, 3), dtype=int)
    np.add.at(counts, (np.arange(240) // 8, labels), 1)
    names = frame["bag"].unique()
    wide = pd.DataFrame(counts / 8, columns=list(PARTIES)).assign(bag=names)
    test, test_labels = make_voters(120, 1)
    return SimpleNamespace(
        rows=frame,
        wide=wide,
        counts=pd.DataFrame(counts, columns=list(PARTIES)).assign(bag=names),
        labels=labels,
        test=test.assign(party=np.array(PARTIES)[test_labels]),
        test_labels=test_labels,
    )
