r"""Accuracy of the automatic choice on data that are not the paper's: one record per cell.

"develop" are the data on which constants were decided, "test" those that only report. Half of the
rows, at most 1,024, are in bags at random; at most 2,000 others are the test set. Labels of
training rows make the proportions and train the supervised model, nothing else. Records that exist
are kept, so that an interrupted run resumes. Run it, and print the table of the records:

    python benchmarks/auto_records.py results/auto/records.jsonl
    python benchmarks/auto_records.py results/auto/records.jsonl --table

The records of "auto_before" were made with version 0.1, which chose one configuration.
"""

import argparse
import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.datasets import fetch_uci
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS

BAG_SIZES = (8, 32, 128)
SPLITS = 3
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 1024, 2000


def digits(positive, among=range(10)):
    X, y = datasets.load_digits(return_X_y=True)
    rows = np.isin(y, list(among))
    return X[rows], np.isin(y[rows], list(positive))


def median_target(loaded):
    return loaded.data, loaded.target > np.median(loaded.target)


def one_class(loaded, positive):
    return loaded.data, loaded.target == positive


def adult(seed):
    found = fetch_uci("adult")
    rows = np.random.default_rng(seed).permutation(len(found.y))[:3000]
    encoded = pd.get_dummies(pd.DataFrame(found.X[rows]).infer_objects())
    return encoded.to_numpy(dtype=float), found.y[rows] == 1


def with_noise(pair, n_columns, seed):
    X, y = pair
    noise = np.random.default_rng(seed).standard_normal((len(X), n_columns))
    return np.column_stack([X, noise]), y == 1


DEVELOP = {
    "circles": lambda: with_noise(
        datasets.make_circles(3000, noise=0.15, factor=0.5, random_state=0), 3, 0
    ),
    "quantiles": lambda: with_noise(
        datasets.make_gaussian_quantiles(n_samples=3000, n_features=5, n_classes=2, random_state=0),
        0,
        0,
    ),
    "clusters": lambda: with_noise(
        datasets.make_classification(
            3000, 20, n_informative=6, n_clusters_per_class=4, random_state=0
        ),
        0,
        0,
    ),
    "hyperplane": lambda: with_noise(
        datasets.make_classification(
            3000, 30, n_informative=5, flip_y=0.1, n_clusters_per_class=1, random_state=1
        ),
        0,
        0,
    ),
    "digits_4_9": lambda: digits([9], [4, 9]),
    "digits_even": lambda: digits(range(0, 10, 2)),
    "adult_a": lambda: adult(0),
}
TEST = {
    "breast_cancer": lambda: one_class(datasets.load_breast_cancer(), 1),
    "wine": lambda: one_class(datasets.load_wine(), 1),
    "iris": lambda: one_class(datasets.load_iris(), 1),
    "diabetes": lambda: median_target(datasets.load_diabetes()),
    "digits_3_8": lambda: digits([8], [3, 8]),
    "digits_high": lambda: digits(range(5, 10)),
    "hastie": lambda: with_noise(datasets.make_hastie_10_2(3000, random_state=0), 0, 0),
    "moons": lambda: with_noise(datasets.make_moons(3000, noise=0.25, random_state=0), 8, 0),
    "adult_b": lambda: adult(1),
}
SETS = {"develop": DEVELOP, "test": TEST}


def split_in_bags(name, bag_size, split):
    """Return training rows, labels, proportions and bags, and test rows and labels."""
    X, labels = (DEVELOP | TEST)[name]()
    order = np.random.default_rng([split, 17]).permutation(len(labels))
    n_train = min(len(order) // 2, MOST_TRAINING_ROWS)
    train, test = order[:n_train], order[n_train:][:MOST_TEST_ROWS]
    scaler = StandardScaler().fit(X[train])
    bags = np.random.default_rng([split, bag_size]).permutation(n_train) // bag_size
    y = (np.bincount(bags, labels[train]) / np.bincount(bags))[bags]
    rows = scaler.transform(X[train]), scaler.transform(X[test])
    return rows[0], labels[train], y, bags, rows[1], labels[test]


def automatic(X, _, y, bags, **params):
    model = AutoLabelProportionsClassifier(random_state=0, check_assumptions=False, **params)
    return model.fit(X, y, bags=bags)


def count_likelihood(*data):
    starts = {"starts": [("mean_map",), ("intercept",)]}
    return automatic(
        *data,
        candidates=[("count_likelihood", CountLikelihoodClassifier(), starts)],
        ensemble="best",
        reg_strengths=DEFAULT_REG_STRENGTHS,
    )


METHODS = {
    "auto_before": automatic,
    "auto": automatic,
    "auto_best": lambda *data: automatic(*data, ensemble="best"),
    "count_likelihood": count_likelihood,
    "supervised": lambda X, labels, *_: count_likelihood(
        X, labels, np.where(labels, 1.0, 0.0), np.arange(len(X))
    ),
}
WITHOUT_BAGS = ("supervised",)


def run(name, bag_size, split, method):
    """Return the record of one cell; data that a method refuses have its message instead."""
    *train, X_test, labels = split_in_bags(name, bag_size, split)
    cell = {"data": name, "bag_size": bag_size, "split": split, "method": method}
    began = time.process_time()
    try:
        model = METHODS[method](*train)
    except ValueError as error:
        return cell | {"refused": str(error)}
    return cell | {
        "balanced_accuracy": round(balanced_accuracy_score(labels, model.predict(X_test)), 4),
        "log_loss": round(log_loss(model, X_test, labels), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
        "gain_in_nats": round(getattr(model, "gain_in_nats_", np.nan), 1),
    }


def log_loss(model, X, labels):
    probability = np.clip(model.predict_proba(X)[:, 1], 1e-6, 1 - 1e-6)
    return float(-np.mean(np.log(np.where(labels, probability, 1 - probability))))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def key(record):
    return record["data"], record["bag_size"], record["split"], record["method"]


def table(records, names):
    """Return a Markdown table of mean balanced accuracies, and the wins of "auto" by cell."""
    found = {}
    for one in records:
        if one["data"] in names and "balanced_accuracy" in one:
            place = found.setdefault((one["data"], one["bag_size"]), {})
            place.setdefault(one["method"], []).append(one["balanced_accuracy"])
    means = {
        cell: {method: float(np.mean(values)) for method, values in own.items()}
        for cell, own in found.items()
    }
    for (name, size), own in means.items():
        if size > 1:
            own.update(means.get((name, 1), {}))
    cells = {cell: own for cell, own in sorted(means.items()) if cell[1] > 1}
    methods = [method for method in METHODS if any(method in own for own in cells.values())]
    lines = [f"| data | bag size | {' | '.join(methods)} |", "|---|---:|" + "---:|" * len(methods)]
    for (name, size), own in cells.items():
        values = " | ".join(f"{own[m]:.3f}" if m in own else "refused" for m in methods)
        lines.append(f"| {name} | {size} | {values} |")
    full = [own for own in cells.values() if len(own) == len(methods)]
    values = " | ".join(f"{np.mean([own[m] for own in full]):.3f}" for m in methods)
    lines += [f"| mean of {len(full)} | | {values} |", ""]
    for rival in methods:
        if rival == "auto":
            continue
        gaps = [own["auto"] - own[rival] for own in cells.values() if {"auto", rival} <= {*own}]
        won, lost = sum(gap > 0.01 for gap in gaps), sum(gap < -0.01 for gap in gaps)
        tied = len(gaps) - won - lost
        lines.append(f"- auto against {rival}: {won} won, {tied} within .01, {lost} lost")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--sets", choices=SETS, nargs="+", default=list(SETS))
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--bag-sizes", type=int, nargs="+", default=BAG_SIZES)
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args()
    if options.table:
        for name in options.sets:
            print(f"### {name}\n\n{table(read(options.records), SETS[name])}\n")
        return
    warnings.simplefilter("ignore")
    done = {key(one) for one in read(options.records)}
    options.records.parent.mkdir(parents=True, exist_ok=True)
    names = [name for group in options.sets for name in SETS[group]]
    cells = itertools.product(range(options.splits), names, options.bag_sizes, options.methods)
    for split, name, size, method in cells:
        cell = (name, 1 if method in WITHOUT_BAGS else size, split, method)
        if cell in done:
            continue
        done.add(cell)
        record = run(*cell)
        with options.records.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(record, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
