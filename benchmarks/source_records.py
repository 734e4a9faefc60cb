r"""Accuracy of the automatic choice for noisy sources: one record per cell.

"develop" are the data on which constants were decided, "test" those that only report. Two thirds
of the rows, at most 800, are labelled by sources with known rates; at most 2,000 others are the
test set. True labels of training rows make the noisy ones and nothing else. Records
that exist are kept, so that an interrupted run resumes. Run it, and print the table:

    DECORRUPT_DATA=… python benchmarks/source_records.py results/sources/records.jsonl
    python benchmarks/source_records.py results/sources/records.jsonl --table
"""

import argparse
import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from auto_records import DEVELOP as BAG_DEVELOP
from auto_records import adult, digits, median_target, one_class, read, with_noise
from decorrupt import (
    AutoLabelProportionsClassifier,
    AutoSourcesClassifier,
    CountLikelihoodClassifier,
)
from decorrupt.corruption import corrupt_labels
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS

# (flip_pos, flip_neg) of sources with equal numbers of rows.
NOISE = {
    "mild": {"a": (0.1, 0.2), "b": (0.3, 0.1)},
    "strong": {"a": (0.1, 0.1), "b": (0.4, 0.2), "c": (0.2, 0.5)},
}
SPLITS = 3
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 800, 2000
SVC_GRID = {"C": [0.1, 1, 10, 100], "gamma": ["scale", 0.01, 0.001]}

DEVELOP = {name: BAG_DEVELOP[name] for name in ("circles", "quantiles", "clusters", "hyperplane")}
DEVELOP["moons"] = lambda: with_noise(datasets.make_moons(3000, noise=0.25, random_state=0), 3, 0)
TEST = {
    "breast_cancer": lambda: one_class(datasets.load_breast_cancer(), 1),
    "digits_3_8": lambda: digits([8], [3, 8]),
    "digits_even": lambda: digits(range(0, 10, 2)),
    "diabetes": lambda: median_target(datasets.load_diabetes()),
    "wine": lambda: one_class(datasets.load_wine(), 1),
    "adult": lambda: adult(1),
}
SETS = {"develop": DEVELOP, "test": TEST}


def noisy_split(name, noise, split):
    """Return training rows, noisy labels and sources, and test rows and labels."""
    X, labels = (DEVELOP | TEST)[name]()
    order = np.random.default_rng([split, 23]).permutation(len(labels))
    n_train = min(2 * len(order) // 3, MOST_TRAINING_ROWS)
    train, test = order[:n_train], order[n_train:][:MOST_TEST_ROWS]
    rates = NOISE[noise]
    sources = np.array(list(rates))[np.arange(n_train) % len(rates)]
    by_row = [rates[source] for source in sources]
    noisy = corrupt_labels(labels[train].astype(int), by_row, random_state=split)
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), noisy, sources, scaler.transform(X[test]), labels[test]


def automatic(X, noisy, sources, rates, **params):
    model = AutoSourcesClassifier(random_state=0, **params)
    return model.fit(X, noisy, sources=sources, noise_rates=rates)


METHODS = {
    "auto": automatic,
    "auto_best": lambda *data: automatic(*data, ensemble="best"),
    "auto_rbf": lambda *data: automatic(*data, kernels=("rbf",)),
    "kernel": lambda X, noisy, *_: AutoLabelProportionsClassifier(
        candidates=[CountLikelihoodClassifier()],
        ensemble="best",
        reg_strengths=DEFAULT_REG_STRENGTHS,
        random_state=0,
    ).fit(X, noisy),
    "svc": lambda X, noisy, *_: GridSearchCV(
        SVC(class_weight="balanced"), SVC_GRID, scoring="balanced_accuracy"
    ).fit(X, noisy),
}
DEFAULT_METHODS = ("auto", "auto_best", "kernel", "svc")


def run(name, noise, split, method):
    """Return the record of one cell."""
    X, noisy, sources, X_test, labels = noisy_split(name, noise, split)
    began = time.process_time()
    model = METHODS[method](X, noisy, sources, NOISE[noise])
    return {
        "data": name,
        "noise": noise,
        "split": split,
        "method": method,
        "balanced_accuracy": round(balanced_accuracy_score(labels, model.predict(X_test)), 4),
        "auc": round(roc_auc_score(labels, model.decision_function(X_test)), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def key(record):
    return record["data"], record["noise"], record["split"], record["method"]


def table(records, names, methods):
    """Return a Markdown table of mean balanced accuracies, and the wins of "auto" by cell.

    The means are over the splits that have records of all methods.
    """
    found = {key(one): one["balanced_accuracy"] for one in records if one["data"] in names}
    runs = {(data, noise, split) for data, noise, split, _ in found}
    full = [run for run in sorted(runs) if all((*run, method) in found for method in methods)]
    means = {}
    for cell in dict.fromkeys(run[:2] for run in full):
        own = [run for run in full if run[:2] == cell]
        means[cell] = {m: np.mean([found[*run, m] for run in own]) for m in methods}
    lines = [
        "| data | noise | " + " | ".join(methods) + " |",
        "|---|---|" + "---:|" * len(methods),
    ]
    for (name, noise), by_method in means.items():
        values = " | ".join(f"{by_method[m]:.3f}" for m in methods)
        lines.append(f"| {name} | {noise} | {values} |")
    values = " | ".join(f"{np.mean([f[m] for f in means.values()]):.3f}" for m in methods)
    lines += [f"| mean | | {values} |", ""]
    for rival in [m for m in methods if m != "auto"]:
        gaps = [f["auto"] - f[rival] for f in means.values()]
        won, lost = sum(g > 0.01 for g in gaps), sum(g < -0.01 for g in gaps)
        lines.append(
            f"auto against {rival}: {won} won, {len(gaps) - won - lost} within .01, {lost} lost"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--sets", choices=SETS, nargs="+", default=list(SETS))
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=DEFAULT_METHODS)
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args()
    if options.table:
        for name in options.sets:
            print(f"### {name}\n\n{table(read(options.records), SETS[name], options.methods)}\n")
        return
    warnings.simplefilter("ignore")
    done = {key(one) for one in read(options.records)}
    options.records.parent.mkdir(parents=True, exist_ok=True)
    names = [name for group in options.sets for name in SETS[group]]
    for split, name, noise, method in itertools.product(
        range(options.splits), names, NOISE, options.methods
    ):
        if (name, noise, split, method) in done:
            continue
        record = run(name, noise, split, method)
        with options.records.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(record, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
