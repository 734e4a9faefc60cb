"""Networks on bags: one record (a JSON line) per data set, bag size, split and method.

A quarter of the rows is the test set; the others are in bags at random. Labels of training rows
make the shares of the bags, and train the supervised network. The methods have their default
parameters and the same columns. Records that exist are kept, so that an interrupted run resumes.
Needs the extra `torch`. Run it, and print the table of the records:

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/torch_records.py results/torch/records.jsonl
    PYTHONPATH=. python benchmarks/torch_records.py results/torch/records.jsonl --table
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS
from reproduction.uci import read_uci

DATA = ("digits", "digits 3 and 8", "adult")
BAG_SIZES = (16, 64)
ADULT_ROWS = 8000


def load(name, split):
    """Return numeric rows and classes as numbers; a missing word of Adult is a category."""
    if name == "adult":
        found = read_uci("adult")
        rows = np.random.default_rng(split).choice(len(found.y), ADULT_ROWS, replace=False)
        is_number = np.array([isinstance(value, float) for value in found.X[0]])
        numbers, words = found.X[rows][:, is_number], found.X[rows][:, ~is_number].astype(str)
        encoder = OneHotEncoder(min_frequency=20, sparse_output=False)
        return np.hstack([numbers.astype(float), encoder.fit_transform(words)]), found.y[rows]
    X, y = load_digits(return_X_y=True)
    if name == "digits":
        return X, y
    rows = np.isin(y, (3, 8))
    return X[rows], (y[rows] == 8).astype(int)


def split_in_bags(name, bag_size, split):
    """Return training rows, labels, shares and bags, and test rows and labels."""
    X, y = load(name, split)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=split)
    scaler = StandardScaler().fit(X)
    bags = np.random.default_rng(split).permutation(len(y)) // bag_size
    shares = np.array([np.bincount(bags, y == c) for c in range(y.max() + 1)]).T
    shares = shares / shares.sum(axis=1, keepdims=True)
    return scaler.transform(X), y, shares[bags], bags, scaler.transform(X_test), y_test


def network(X, _, shares, bags):
    from decorrupt.torch import TorchBagClassifier

    return TorchBagClassifier(random_state=0).fit(X, shares, bags=bags)


def supervised_network(X, y, _, bags):
    """Labels are bags of one row; a batch has as many rows as one of 32 bags."""
    from decorrupt.torch import TorchBagClassifier

    rows_per_batch = 32 * int(np.bincount(bags).max())
    return TorchBagClassifier(bags_per_batch=rows_per_batch, random_state=0).fit(X, y)


def kernel(X, _, shares, bags):
    two_classes = {"starts": [("mean_map",), ("intercept",)]}
    grid = two_classes if shares.shape[1] == 2 else {}
    search = AutoLabelProportionsClassifier(
        candidates=[("count_likelihood", CountLikelihoodClassifier(), grid)],
        ensemble="best",
        reg_strengths=DEFAULT_REG_STRENGTHS,
        check_assumptions=False,  # the bags are drawn at random
        random_state=0,
    )
    return search.fit(X, shares, bags=bags)


ON_BAGS = {"network": network, "kernel": kernel}
METHODS = ON_BAGS | {"supervised network": supervised_network}


def run(name, bag_size, split, method):
    """Return the record of one cell."""
    *train, X_test, y_test = split_in_bags(name, bag_size, split)
    began = time.process_time()
    model = METHODS[method](*train)
    seconds = time.process_time() - began
    return {
        "data": name,
        "bag_size": bag_size,
        "split": split,
        "method": method,
        "balanced_accuracy": round(balanced_accuracy_score(y_test, model.predict(X_test)), 4),
        "cpu_seconds": round(seconds, 1),
        "epochs": getattr(model, "n_epochs_", None),
    }


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def key(record):
    return record["data"], record["bag_size"], record["split"], record["method"]


def table(records):
    """Return the mean balanced accuracy by data set, bag size and method, and the CPU seconds.

    A row uses the splits that all methods have. The best method that sees only bags is bold.
    """
    lines = [
        f"| data | rows per bag | splits | {' | '.join(METHODS)} | CPU seconds of each |",
        "|---|--:|--:|" + "--:|" * len(METHODS) + "---|",
    ]
    by_key = {key(record): record for record in records}
    for name, bag_size in itertools.product(DATA, BAG_SIZES):
        splits = [
            split
            for split in sorted({one["split"] for one in records})
            if all((name, bag_size, split, method) in by_key for method in METHODS)
        ]
        if not splits:
            continue
        cells = [[by_key[name, bag_size, split, method] for split in splits] for method in METHODS]
        means = [np.mean([one["balanced_accuracy"] for one in cell]) for cell in cells]
        shown = [f"{mean:.3f}" for mean in means]
        best = int(np.argmax(means[: len(ON_BAGS)]))
        shown[best] = f"**{shown[best]}**"
        seconds = [f"{np.mean([one['cpu_seconds'] for one in cell]):.1f}" for cell in cells]
        row = [name, str(bag_size), str(len(splits)), *shown, " / ".join(seconds)]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="print the table and stop")
    asked = parser.parse_args()
    known = {key(record) for record in read(asked.records)}
    cells = itertools.product(range(asked.splits), DATA, BAG_SIZES, METHODS)
    for split, name, bag_size, method in () if asked.table else cells:
        if (name, bag_size, split, method) in known:
            continue
        record = run(name, bag_size, split, method)
        asked.records.parent.mkdir(parents=True, exist_ok=True)
        with asked.records.open("a") as file:
            file.write(json.dumps(record) + "\n")
    print(table(read(asked.records)))


if __name__ == "__main__":
    main()
