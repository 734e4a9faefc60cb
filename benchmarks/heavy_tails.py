"""Balanced accuracy with and without the compression of heavy tails: one record per cell.

Two tables, each with one column that has a heavy tail: Adult (capital gain) and simulated
departure delays in minutes. 1,200 training rows in random bags of 16, at most 3,000 test rows.
Columns of numbers are scaled by StandardScaler or by TailScaler, categories are 0/1 columns. See
records.py for how to run it.
"""

import time
from itertools import product

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from data_sets import read_uci
from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier, TailScaler
from records import RESULTS, main, markdown

RECORDS = RESULTS / "tails" / "records.jsonl"
BAG_SIZE, N_TRAIN, N_TEST = 16, 1200, 3000
SEEDS = (0, 1)
SCALERS = {"standard": StandardScaler, "tails": TailScaler}
METHODS = {"count_likelihood": CountLikelihoodClassifier, "auto": AutoLabelProportionsClassifier}


def adult(rng):
    found = read_uci("adult")
    rows = rng.permutation(len(found.y))[: N_TRAIN + N_TEST]
    frame = pd.DataFrame(found.X[rows]).infer_objects()
    return frame.apply(lambda c: c.fillna(c.median() if c.dtype == float else "?")), found.y[rows]


def delays(rng):
    """Flights: late at the destination depends on the delay at departure, its hour and distance."""
    n = N_TRAIN + N_TEST
    is_late = rng.random(n) < 0.4
    delay = np.where(is_late, 12 * rng.pareto(1.3, n), -3 - 2 * rng.random(n))
    hour, distance = rng.uniform(6, 23, n), rng.gamma(3, 400, n)
    others = rng.normal(size=(n, 3))
    score = 0.15 * (hour - 14) + np.where(is_late, 2 * np.log(np.maximum(delay, 0.1) / 8), -2)
    labels = rng.random(n) < 1 / (1 + np.exp(-score + (distance - 1200) / 800))
    return pd.DataFrame(np.column_stack([delay, hour, distance, others])), labels.astype(int)


DATA = {"adult": adult, "delays": delays}


def run(data, seed, scaler, method):
    """Return the balanced accuracy on test rows, and the number of columns with heavy tails."""
    began = time.process_time()
    rng = np.random.default_rng([seed, 28])
    frame, labels = DATA[data](rng)
    order = rng.permutation(len(labels))
    train, test = order[:N_TRAIN], order[N_TRAIN:][:N_TEST]
    is_number = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    encoder = OneHotEncoder(min_frequency=30, handle_unknown="infrequent_if_exist")
    scaled = make_column_transformer(
        (SCALERS[scaler](), np.flatnonzero(is_number)),
        (encoder, np.flatnonzero(np.logical_not(is_number))),
        sparse_threshold=0,
    )
    X = scaled.fit_transform(frame.iloc[train])
    bags = np.arange(N_TRAIN) // BAG_SIZE
    y = (np.bincount(bags, labels[train]) / np.bincount(bags))[bags]
    model = METHODS[method](random_state=0).fit(X, y, bags=bags)
    predicted = model.predict(scaled.transform(frame.iloc[test]))
    heavy = getattr(scaled.transformers_[0][1], "heavy_tailed_", np.array([]))
    return {
        "balanced_accuracy": round(balanced_accuracy_score(labels[test], predicted), 4),
        "n_heavy": int(heavy.sum()),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def cells():
    """Yield every cell."""
    for method, data, seed, scaler in product(METHODS, DATA, SEEDS, SCALERS):
        yield {"data": data, "seed": seed, "scaler": scaler, "method": method}


def table(records):
    """Return a Markdown table with one row per method, data set and seed."""
    keys = ("method", "data", "seed")
    values = {(*(r[k] for k in keys), r["scaler"]): r["balanced_accuracy"] for r in records}
    rows = dict.fromkeys(tuple(r[k] for k in keys) for r in records)
    filled = [[*row, *(values[*row, scaler] for scaler in SCALERS)] for row in rows]
    return markdown([*keys, *SCALERS], filled)


if __name__ == "__main__":
    main(__doc__, RECORDS, cells(), run, table)
