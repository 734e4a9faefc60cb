r"""Balanced accuracy with and without the compression of heavy tails: one record per cell.

Two tables, each with one column that has a heavy tail: Adult (capital gain) and simulated
departure delays in minutes. 1,200 training rows in random bags of 16, at most 3,000 test rows.
Columns of numbers are scaled by StandardScaler or by TailScaler, categories are 0/1 columns.
Records that exist are kept. Run it, and print the table:

    DECORRUPT_DATA=… PYTHONPATH=. python benchmarks/heavy_tails.py results/tails/records.jsonl
    PYTHONPATH=. python benchmarks/heavy_tails.py results/tails/records.jsonl --table

The limit of the kurtosis was compared with others, by the same measure, on data that are not in
that table (breast cancer, cardiotocography, sports and two simulations):

    DECORRUPT_DATA=… PYTHONPATH=. python benchmarks/heavy_tails.py \
        results/tails/limits.jsonl --limits
"""

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier, TailScaler
from decorrupt.features import tail_scaler
from reproduction.uci import read_uci

BAG_SIZE, N_TRAIN, N_TEST = 16, 1200, 3000
SEEDS = (0, 1)
SCALERS = {"standard": StandardScaler, "tails": TailScaler}
METHODS = {"count_likelihood": CountLikelihoodClassifier, "auto": AutoLabelProportionsClassifier}
LIMITS = (5.0, 10.0, 20.0, np.inf)


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


def uci(name):
    def load(rng):  # noqa: ARG001 — all rows
        found = read_uci(name)
        return pd.DataFrame(found.X), found.y

    return load


def both_sides(rng):
    n = N_TRAIN + N_TEST
    X = np.column_stack([rng.standard_t(2, n), rng.normal(size=(n, 4))])
    score = 4 * np.sign(X[:, 0]) * np.log1p(abs(X[:, 0])) + 2 * X[:, 1] * X[:, 2]
    return pd.DataFrame(X), (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def exponential(rng):
    n = N_TRAIN + N_TEST
    X = np.column_stack([rng.exponential(size=(n, 3)), rng.normal(size=(n, 2))])
    score = 3 * X[:, 0] - 2 * X[:, 1] + 2 * X[:, 3] - 1
    return pd.DataFrame(X), (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


REPORTED = {"adult": adult, "delays": delays}
OTHERS = {
    "breast_cancer": lambda rng: load_breast_cancer(return_X_y=True, as_frame=True),  # noqa: ARG005
    "cardiotocography": uci("cardiotocography"),
    "sports": uci("sports"),
    "both_sides": both_sides,
    "exponential": exponential,
}


def accuracy(name, seed, scaler, method):
    """Return the balanced accuracy on test rows, and the number of columns with heavy tails."""
    rng = np.random.default_rng([seed, 28])
    frame, labels = (REPORTED | OTHERS)[name](rng)
    labels = np.asarray(labels).astype(int)
    order = rng.permutation(len(labels))
    n_train = min(N_TRAIN, int(0.6 * len(labels)))
    train, test = order[:n_train], order[n_train:][:N_TEST]
    is_number = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    encoder = OneHotEncoder(min_frequency=30, handle_unknown="infrequent_if_exist")
    scaled = make_column_transformer(
        (scaler, np.flatnonzero(is_number)),
        (encoder, np.flatnonzero(np.logical_not(is_number))),
        sparse_threshold=0,
    )
    X = scaled.fit_transform(frame.iloc[train])
    bags = np.arange(n_train) // BAG_SIZE
    y = (np.bincount(bags, labels[train]) / np.bincount(bags))[bags]
    model = METHODS[method](random_state=0).fit(X, y, bags=bags)
    predicted = model.predict(scaled.transform(frame.iloc[test]))
    heavy = getattr(scaled.transformers_[0][1], "heavy_tailed_", np.array([]))
    return {
        "balanced_accuracy": round(balanced_accuracy_score(labels[test], predicted), 4),
        "n_heavy": int(heavy.sum()),
    }


def cells(limits):
    """Yield the key of every cell."""
    if limits:
        for name, seed, limit in itertools.product(OTHERS, SEEDS, LIMITS):
            yield {"data": name, "seed": seed, "limit": str(limit)}
        return
    for method, name, seed, scaler in itertools.product(METHODS, REPORTED, SEEDS, SCALERS):
        yield {"data": name, "seed": seed, "scaler": scaler, "method": method}


def run(cell):
    """Return the record of a cell."""
    began = time.process_time()
    scaler = SCALERS[cell.get("scaler", "tails")]()
    limit = float(cell.get("limit", tail_scaler.TAIL_KURTOSIS))
    with patch.object(tail_scaler, "TAIL_KURTOSIS", limit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = cell.get("method", "count_likelihood")
        found = accuracy(cell["data"], cell["seed"], scaler, method)
    return cell | found | {"cpu_seconds": round(time.process_time() - began, 1)}


def table(records, limits):
    """Return a Markdown table with one row per data set and seed."""
    column = "limit" if limits else "scaler"
    rows = dict.fromkeys((r.get("method", ""), r["data"], r["seed"]) for r in records)
    heads = list(dict.fromkeys(r[column] for r in records))
    values = {(r.get("method", ""), r["data"], r["seed"], r[column]): r for r in records}
    lines = [
        f"| method | data | seed | {' | '.join(heads)} |",
        "|---|---|--:|" + "--:|" * len(heads),
    ]
    for row in rows:
        found = [values[(*row, head)]["balanced_accuracy"] for head in heads]
        lines.append(
            f"| {' | '.join(map(str, row))} | " + " | ".join(f"{v:.3f}" for v in found) + " |"
        )
    means = [np.mean([r["balanced_accuracy"] for r in records if r[column] == h]) for h in heads]
    return "\n".join([*lines, "| mean | | | " + " | ".join(f"{v:.3f}" for v in means) + " |"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    options.records.parent.mkdir(parents=True, exist_ok=True)
    lines = options.records.read_text().splitlines() if options.records.exists() else []
    records = [json.loads(line) for line in lines]
    if options.table:
        print(table(records, options.limits))
        return
    for cell in cells(options.limits):
        if not any(cell.items() <= record.items() for record in records):
            record = run(cell)
            print(record, flush=True)
            with options.records.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
