r"""Accuracy on several classes: one record (a JSON line) per data set, bag size, split and method.

A quarter of the rows is the test set; the others are in bags at random. Labels of training rows
make the shares of the bags, and train the supervised model. Records that exist are kept, so that an
interrupted run resumes. Run it, and print the table of the records:

    PYTHONPATH=. python benchmarks/classes_records.py results/classes/records.jsonl
    PYTHONPATH=. python benchmarks/classes_records.py results/classes/records.jsonl --table
    PYTHONPATH=. python benchmarks/classes_records.py results/classes/records.jsonl \
        --data digits wine wireless --bag-sizes 8 32 64 --splits 5 --methods auto
"""

import argparse
import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.features import resolve_kernel_gamma

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from one_versus_rest import fit_one_versus_rest
from reproduction.uci import read_uci

DATA = ("digits", "wine", "wireless", "cnae", "contraceptive", "cardiotocography")
BAG_SIZES = (4, 16, 64)
# One setting for the models without a search, the same for one model and for one per class.
FIXED = {"reg_strength": 1e-5, "decision": "accuracy", "random_state": 0}


def load(name):
    """Return rows and classes as numbers; digits are divided by their maximum."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    if name == "wine":
        X, y = load_wine(return_X_y=True)
    else:
        found = read_uci(name)
        X, y = found.X, np.unique(found.original_classes, return_inverse=True)[1]
    return StandardScaler().fit_transform(X), y


def split_in_bags(name, bag_size, split):
    """Return training rows, labels, shares and bags, and test rows and labels."""
    X, y = load(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=split)
    bags = np.random.default_rng(split).permutation(len(y)) // bag_size
    shares = np.array([np.bincount(bags, y == c) for c in range(y.max() + 1)]).T
    shares = shares / shares.sum(axis=1, keepdims=True)
    return X, y, shares[bags], bags, X_test, y_test


def automatic(X, _, shares, bags, **params):
    model = AutoLabelProportionsClassifier(decision="accuracy", random_state=0, **params)
    return model.fit(X, shares, bags=bags)


def mean_map(X, y, shares, bags):
    return automatic(X, y, shares, bags, candidates=["mean_map"])


def count_likelihood(X, _, shares, bags):
    return CountLikelihoodClassifier(**FIXED).fit(X, shares, bags=bags)


def one_versus_rest(X, _, shares, bags):
    return fit_one_versus_rest(CountLikelihoodClassifier(**FIXED), X, shares, bags=bags)


def supervised(X, y, _, __):
    gammas = [factor * resolve_kernel_gamma("scale", X) for factor in (0.03, 0.3, 1.0)]
    grid = {"C": [1, 10, 100], "gamma": gammas}
    return GridSearchCV(SVC(), grid).fit(X, y)


METHODS = {
    "auto": automatic,
    "count_likelihood": count_likelihood,
    "mean_map": mean_map,
    "one_versus_rest": one_versus_rest,
    "supervised": supervised,
}


def run(name, bag_size, split, method):
    """Return the record of one cell; data that a method refuses have its message instead."""
    *train, X_test, y_test = split_in_bags(name, bag_size, split)
    cell = {"data": name, "bag_size": bag_size, "split": split, "method": method}
    began = time.process_time()
    try:
        model = METHODS[method](*train)
    except ValueError as error:
        return cell | {"refused": str(error)}
    seconds = time.process_time() - began
    predicted = model.predict(X_test)
    return cell | {
        "accuracy": round(float(np.mean(predicted == y_test)), 4),
        "macro_recall": round(float(balanced_accuracy_score(y_test, predicted)), 4),
        "cpu_seconds": round(seconds, 1),
        "chosen": getattr(model, "best_method_", ""),
    }


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def key(record):
    return record["data"], record["bag_size"], record["split"], record["method"]


def table(records):
    """Return the mean accuracy by data set, bag size and method, as Markdown.

    A row uses the splits that all its methods have. A dash is for data that the method refused.
    """
    lines = [
        f"| data | rows per bag | splits | {' | '.join(METHODS)} |",
        "|---|--:|--:|" + "--:|" * len(METHODS),
    ]
    cells = {}
    for one in records:
        found = cells.setdefault((one["data"], one["bag_size"]), {})
        found.setdefault(one["method"], {})[one["split"]] = one.get("accuracy")
    for (name, bag_size), found in sorted(cells.items(), key=lambda c: (DATA.index(c[0][0]), c[0])):
        splits = set.intersection(*map(set, found.values()))
        row = [_mean([found[m][k] for k in splits]) if m in found else "" for m in METHODS]
        lines.append(f"| {name} | {bag_size} | {len(splits)} | {' | '.join(row)} |")
    return "\n".join(lines)


def _is_asked(record, asked):
    name, bag_size, split, method = key(record)
    is_cell = name in asked.data and bag_size in asked.bag_sizes and method in asked.methods
    return is_cell and split < asked.splits


def _mean(accuracies):
    return "—" if None in accuracies else f"{np.mean(accuracies):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path)
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--bag-sizes", nargs="+", type=int, default=BAG_SIZES)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--table", action="store_true", help="print the table and stop")
    asked = parser.parse_args()
    known = {key(record) for record in read(asked.records)}
    cells = itertools.product(range(asked.splits), asked.data, asked.bag_sizes, asked.methods)
    for split, name, bag_size, method in () if asked.table else cells:
        if (name, bag_size, split, method) in known:
            continue
        record = run(name, bag_size, split, method)
        with asked.records.open("a") as file:
            file.write(json.dumps(record) + "\n")
    print(table([record for record in read(asked.records) if _is_asked(record, asked)]))


if __name__ == "__main__":
    main()
