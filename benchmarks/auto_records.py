"""Accuracy of the automatic choice on data that are not the paper's: one record per cell.

"test": half of the rows, at most 1,024, are in bags at random; at most 2,000 others are the test
set. "simulations" have their own bags. Labels of training rows make the proportions and train the
supervised model, nothing else. Constants of the code were decided on `DEVELOP` of data_sets.py and
on other seeds of the simulations. See records.py for how to run it.
"""

import itertools
import time

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from data_sets import SIMULATIONS, TEST, simulate
from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.model_selection import WithinBagKFold
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS
from records import RESULTS, common_means, main, markdown

RECORDS = RESULTS / "auto" / "records.jsonl"
# With two bags only rows inside the bags can be held out.
FEWEST_BAGS_TO_HOLD_OUT = 3
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 1024, 2000
# Of each group: the data, the bag sizes (0: the bags of the simulation), the splits or seeds, and
# the methods: the automatic choice, the plain search over the count likelihood, and the same model
# on the labels, whose records have the bag size 1.
SETS = {
    "test": (TEST, (8, 32, 128), range(3), ("auto", "count_likelihood", "supervised")),
    "simulations": (SIMULATIONS, (0,), range(2), ("auto", "linear_or_rbf")),
}


def split_in_bags(name, bag_size, split):
    """Return training rows, labels, proportions and bags, and test rows and labels."""
    if name in SIMULATIONS:
        X, labels, bags, X_test, test_labels = simulate(name, split)
    else:
        everything, all_labels = TEST[name]()
        order = np.random.default_rng([split, 17]).permutation(len(all_labels))
        n_train = min(len(order) // 2, MOST_TRAINING_ROWS)
        train, test = order[:n_train], order[n_train:][:MOST_TEST_ROWS]
        X, X_test = everything[train], everything[test]
        labels, test_labels = all_labels[train], all_labels[test]
        bags = np.random.default_rng([split, bag_size]).permutation(n_train) // bag_size
    scaler = StandardScaler().fit(X)
    y = (np.bincount(bags, labels) / np.bincount(bags))[bags]
    return scaler.transform(X), labels, y, bags, scaler.transform(X_test), test_labels


def automatic(X, _, y, bags, **params):
    if len(np.unique(bags)) < FEWEST_BAGS_TO_HOLD_OUT:
        params["cv"] = WithinBagKFold()
    return AutoLabelProportionsClassifier(random_state=0, **params).fit(X, y, bags=bags)


def count_likelihood(*data, kernels=("rbf",)):
    """The plain search: the best of kernel, width and λ by the held-out likelihood."""
    return automatic(
        *data,
        candidates=[(k, CountLikelihoodClassifier(kernel=k)) for k in kernels],
        ensemble="best",
        reg_strengths=DEFAULT_REG_STRENGTHS,
        check_assumptions=False,
    )


METHODS = {
    "auto": automatic,
    "count_likelihood": count_likelihood,
    "linear_or_rbf": lambda *data: count_likelihood(*data, kernels=("linear", "rbf")),
    "supervised": lambda X, labels, *_: count_likelihood(
        X, labels, np.where(labels, 1.0, 0.0), np.arange(len(X))
    ),
}


def run(data, bag_size, split, method):
    """Return the measures of one cell."""
    *train, X_test, labels = split_in_bags(data, bag_size, split)
    began = time.process_time()
    # Random bags satisfy the assumptions: tests would only take time.
    options = {"check_assumptions": data in SIMULATIONS} if method == "auto" else {}
    model = METHODS[method](*train, **options)
    return {
        "balanced_accuracy": round(balanced_accuracy_score(labels, model.predict(X_test)), 4),
        "log_loss": round(log_loss(model, X_test, labels), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def log_loss(model, X, labels):
    probability = np.clip(model.predict_proba(X)[:, 1], 1e-6, 1 - 1e-6)
    return float(-np.mean(np.log(np.where(labels, probability, 1 - probability))))


def cells():
    """Yield every cell."""
    for names, sizes, splits, methods in SETS.values():
        for split, data, size, method in itertools.product(splits, names, sizes, methods):
            bag_size = 1 if method == "supervised" else size
            yield {"data": data, "bag_size": bag_size, "split": split, "method": method}


def cell_means(records, group):
    """Return {(data, bag size): {method: accuracy}}, means over the splits of all its methods."""
    names, sizes, _, methods = SETS[group]
    means = {}
    for name, size in itertools.product(sorted(names), sizes):
        some = [r for r in records if r["data"] == name and "refused" not in r]
        some = [r for r in some if r["bag_size"] == size or r["method"] == "supervised"]
        found = [method for method in methods if any(r["method"] == method for r in some)]
        values = common_means(some, "balanced_accuracy", found) if found else None
        if values:
            means[name, size] = dict(zip(found, values[1:], strict=True))
    return means


def compared(means, method, rival):
    """Return the mean gap with its standard error over cells, and wins, ties and losses."""
    both = {cell: own for cell, own in means.items() if method in own and rival in own}
    gaps = {cell: own[method] - own[rival] for cell, own in both.items()}
    values = np.array(list(gaps.values()))
    error = values.std(ddof=1) / np.sqrt(len(values))
    won, lost = np.sum(values > 0.01), np.sum(values < -0.01)
    names = dict.fromkeys(name for name, _ in gaps)
    by_data = [np.mean([gap for (own, _), gap in gaps.items() if own == name]) for name in names]
    listed = ", ".join(f"{name} {mean:+.3f}" for name, mean in zip(names, by_data, strict=True))
    counts = f"{won} won, {len(gaps) - won - lost} within .01, {lost} lost"
    return (
        f"- {method} − {rival}: {values.mean():+.3f} ± {error:.3f} over {len(gaps)} cells; "
        f"{counts}. By data set: {listed}"
    )


def tables(records):
    """Return a Markdown table per group, and the automatic choice against the others."""
    parts = []
    for group, (*_, methods) in SETS.items():
        means = cell_means(records, group)
        rows = [
            [name, size or "own", *(own.get(method, "") for method in methods)]
            for (name, size), own in means.items()
        ]
        parts += [f"### {group}", markdown(["data", "bag size", *methods], rows)]
        parts.append("\n".join(compared(means, "auto", rival) for rival in methods[1:]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    main(__doc__, RECORDS, cells(), run, tables)
