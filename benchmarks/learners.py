"""The tables of docs/evidence/learners.md: EM with a forest, and networks, on bags.

The forests are records of `python -m reproduction run learners`, see results/learners/README.md;
the table has the mean balanced accuracy by bag size. Networks: a quarter of the rows is the test
set; the others are in bags at random. Labels of training rows make the shares of the bags, and
train the supervised network. The methods have their default parameters and the same columns. Needs
the extra `torch`. See records.py for how to run it.
"""

import time
from itertools import product

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from data_sets import read_uci
from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS
from records import RESULTS, common_means, main, markdown, read

RECORDS = RESULTS / "learners" / "networks.jsonl"
# Both have the same splits and bags; the paper's records have the kernel methods.
FOREST_RECORDS = RESULTS / "learners" / "records.jsonl", RESULTS / "paper" / "records.jsonl"
FOREST_METHODS = ("supervised", "supervised_forest", "count_likelihood", "em_forest")
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
    search = AutoLabelProportionsClassifier(
        candidates=[CountLikelihoodClassifier()],
        ensemble="best",
        reg_strengths=DEFAULT_REG_STRENGTHS,
        check_assumptions=False,  # the bags are drawn at random
        random_state=0,
    )
    return search.fit(X, shares, bags=bags)


METHODS = {"network": network, "kernel": kernel, "supervised network": supervised_network}


def run(data, bag_size, split, method):
    """Return the measures of one cell."""
    *train, X_test, y_test = split_in_bags(data, bag_size, split)
    began = time.process_time()
    model = METHODS[method](*train)
    seconds = time.process_time() - began
    return {
        "balanced_accuracy": round(balanced_accuracy_score(y_test, model.predict(X_test)), 4),
        "cpu_seconds": round(seconds, 1),
        "epochs": getattr(model, "n_epochs_", None),
    }


def cells():
    """Yield every cell."""
    for data, bag_size, method in product(DATA, BAG_SIZES, METHODS):
        yield {"data": data, "bag_size": bag_size, "split": 0, "method": method}


def tables(records):
    """Return the table of the forests by bag size, and that of the networks."""
    cells = {}
    for one in (record for path in FOREST_RECORDS for record in read(path)):
        cells.setdefault((one["bag_size"], one["dataset"]), []).append(one)
    means = {}
    for (size, _), some in cells.items():
        if any(one["method"] == "em_forest" for one in some):
            own = common_means(some, "balanced_accuracy", FOREST_METHODS, "repetition")
            means.setdefault(size, []).append(own[1:])
    forests = [[size, *np.mean(own, axis=0).tolist()] for size, own in sorted(means.items())]
    rows = []
    for data, size in product(DATA, BAG_SIZES):
        some = [r for r in records if (r["data"], r["bag_size"]) == (data, size)]
        accuracies = common_means(some, "balanced_accuracy", METHODS)[1:]
        seconds = common_means(some, "cpu_seconds", METHODS)[1:]
        rows.append([data, size, *accuracies, " / ".join(f"{one:.1f}" for one in seconds)])
    header = ["data", "rows per bag", *METHODS, "CPU seconds of each"]
    return f"{markdown(['bag size', *FOREST_METHODS], forests)}\n\n{markdown(header, rows)}"


if __name__ == "__main__":
    main(__doc__, RECORDS, cells(), run, tables)
