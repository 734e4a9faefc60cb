"""Accuracy on several classes: one record per data set, bag size, split and method.

A quarter of the rows is the test set; the others are in bags at random. Labels of training rows
make the shares of the bags, and train the supervised model. See records.py for how to run it.
"""

import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from data_sets import read_uci
from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.features import resolve_kernel_gamma
from records import RESULTS, common_means, main, markdown

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from one_versus_rest import fit_one_versus_rest

RECORDS = RESULTS / "classes" / "records.jsonl"
DATA = ("digits", "wine", "wireless", "cnae", "contraceptive", "cardiotocography")
BAG_SIZES, SPLITS = (4, 16, 64), 2
# The automatic choice on digits has more splits, for docs/howto/several_classes.md.
DIGITS_SIZES, DIGITS_SPLITS = (8, 32, 64), 5
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


def run(data, bag_size, split, method):
    """Return the measures of one cell."""
    *train, X_test, y_test = split_in_bags(data, bag_size, split)
    began = time.process_time()
    model = METHODS[method](*train)
    seconds = time.process_time() - began
    predicted = model.predict(X_test)
    return {
        "accuracy": round(float(np.mean(predicted == y_test)), 4),
        "macro_recall": round(float(balanced_accuracy_score(y_test, predicted)), 4),
        "cpu_seconds": round(seconds, 1),
    }


def cells():
    """Yield every cell."""
    names = ("data", "bag_size", "split", "method")
    for cell in product(DATA, BAG_SIZES, range(SPLITS), METHODS):
        yield dict(zip(names, cell, strict=True))
    for cell in product(["digits"], DIGITS_SIZES, range(DIGITS_SPLITS), ["auto"]):
        yield dict(zip(names, cell, strict=True))


def tables(records):
    """Return the mean accuracy by data set, bag size and method."""
    rows = []
    for name, size in product(DATA, BAG_SIZES):
        some = [r for r in records if (r["data"], r["bag_size"]) == (name, size)]
        rows.append([name, size, *common_means(some, "accuracy", METHODS)])
    more = [r for r in records if r["data"] == "digits" and r["method"] == "auto"]
    digits = []
    for size in DIGITS_SIZES:
        some = [r for r in more if r["bag_size"] == size]
        digits.append(["digits", size, *common_means(some, "accuracy", ["auto"])])
    header = ["data", "rows per bag", "splits"]
    whole = markdown([*header, *METHODS], rows)
    return f"{whole}\n\n{markdown([*header, 'auto'], digits)}"


if __name__ == "__main__":
    main(__doc__, RECORDS, cells(), run, tables)
