r"""Accuracy of the automatic choice on data that are not the paper's: one record per cell.

"develop" and "simulations_develop" are the data on which constants were decided, "test" and
"simulations" those that only report. Half of the rows of "develop" and "test", at most 1,024, are
in bags at random; at most 2,000 others are the test set. The simulations have their own bags and
other seeds in development. Labels of training rows make the proportions and train the supervised
model, nothing else. Records that exist are kept, so that an interrupted run resumes. Run it, and
print the table of the records:

    PYTHONPATH=. python benchmarks/auto_records.py results/auto/records.jsonl
    PYTHONPATH=. python benchmarks/auto_records.py results/auto/records.jsonl --table

Records whose method ends with "_before" were made by the same functions with the code before the
changes that results/auto/README.md describes: `--suffix _before`.
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

from decorrupt import (
    AutoLabelProportionsClassifier,
    CountLikelihoodClassifier,
    EMClassifier,
)
from decorrupt.model_selection import WithinBagKFold
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS
from reproduction.uci import read_uci
from simulations import SIMULATIONS, simulate

BAG_SIZES = (8, 32, 128)
OWN_BAGS = (0,)
# With two bags only rows inside the bags can be held out.
FEWEST_BAGS_TO_HOLD_OUT = 3
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
    found = read_uci("adult")
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
ON_KERNELS = ("auto", "count_likelihood", "supervised")
WITHOUT_BAGS = ("supervised",)
PLAIN_SEARCHES = ("count_likelihood", "linear_or_rbf")
BEFORE = "_before"
ON_SIMULATIONS = ("auto", "linear_or_rbf", "supervised")
# Bags that random bags do not resemble, for learners that start from another model.
NOT_AT_RANDOM = ("by_a_column", "by_two_columns", "with_bag_effect")
# Of each group: the data, the bag sizes, the splits or seeds, and the methods.
SETS = {
    "develop": (DEVELOP, BAG_SIZES, range(3), ON_KERNELS),
    "test": (TEST, BAG_SIZES, range(3), ON_KERNELS),
    "simulations_develop": (SIMULATIONS, OWN_BAGS, range(1000, 1002), ON_SIMULATIONS),
    "simulations": (SIMULATIONS, OWN_BAGS, range(2), ON_SIMULATIONS),
    "learners_develop": (NOT_AT_RANDOM, OWN_BAGS, range(1000, 1002), ("em",)),
    "learners": (NOT_AT_RANDOM, OWN_BAGS, range(2), ("em",)),
}


def split_in_bags(name, bag_size, split):
    """Return training rows, labels, proportions and bags, and test rows and labels."""
    if name in SIMULATIONS:
        X, labels, bags, X_test, test_labels = simulate(name, split)
    else:
        everything, all_labels = (DEVELOP | TEST)[name]()
        order = np.random.default_rng([split, 17]).permutation(len(all_labels))
        n_train = min(len(order) // 2, MOST_TRAINING_ROWS)
        train, test = order[:n_train], order[n_train:][:MOST_TEST_ROWS]
        X, labels, X_test, test_labels = (
            everything[train],
            all_labels[train],
            everything[test],
            all_labels[test],
        )
        bags = np.random.default_rng([split, bag_size]).permutation(n_train) // max(bag_size, 1)
    scaler = StandardScaler().fit(X)
    y = (np.bincount(bags, labels) / np.bincount(bags))[bags]
    return scaler.transform(X), labels, y, bags, scaler.transform(X_test), test_labels


def automatic(X, _, y, bags, **params):
    if len(np.unique(bags)) < FEWEST_BAGS_TO_HOLD_OUT:
        params["cv"] = WithinBagKFold()
    return AutoLabelProportionsClassifier(random_state=0, **params).fit(X, y, bags=bags)


def count_likelihood(*data, kernels=("rbf",)):
    """The plain search: the best of kernel, width, start and λ by the held-out likelihood."""
    starts = {"starts": [("mean_map",), ("intercept",)]}
    return automatic(
        *data,
        candidates=[(k, CountLikelihoodClassifier(kernel=k), starts) for k in kernels],
        ensemble="best",
        reg_strengths=DEFAULT_REG_STRENGTHS,
        check_assumptions=False,
    )


METHODS = {
    "auto": automatic,
    "count_likelihood": count_likelihood,
    "linear_or_rbf": lambda *data: count_likelihood(*data, kernels=("linear", "rbf")),
    "em": lambda X, _, y, bags: EMClassifier(random_state=0).fit(X, y, bags=bags),
    "supervised": lambda X, labels, *_: count_likelihood(
        X, labels, np.where(labels, 1.0, 0.0), np.arange(len(X))
    ),
}


def run(name, bag_size, split, method):
    """Return the record of one cell; data that a method refuses have its message instead."""
    *train, X_test, labels = split_in_bags(name, bag_size, split)
    cell = {"data": name, "bag_size": bag_size, "split": split, "method": method}
    began = time.process_time()
    # Random bags satisfy the assumptions: tests would only take time.
    options = {"check_assumptions": name in SIMULATIONS} if method == "auto" else {}
    try:
        model = METHODS[method](*train, **options)
    except ValueError as error:
        return cell | {"refused": str(error)}
    return cell | {
        "balanced_accuracy": round(balanced_accuracy_score(labels, model.predict(X_test)), 4),
        "log_loss": round(log_loss(model, X_test, labels), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def log_loss(model, X, labels):
    probability = np.clip(model.predict_proba(X)[:, 1], 1e-6, 1 - 1e-6)
    return float(-np.mean(np.log(np.where(labels, probability, 1 - probability))))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def key(record):
    return record["data"], record["bag_size"], record["split"], record["method"]


def accuracies(records, group):
    """Return {(data, bag size): {method: {split: balanced accuracy}}} of a group's records."""
    names, sizes, splits, methods = SETS[group]
    found = {(name, size): {} for name in sorted(names) for size in sizes}
    for one in records:
        is_own = one["method"].removesuffix(BEFORE) in methods
        is_own = is_own and one["data"] in names and one["split"] in splits
        if is_own and "refused" not in one:
            for size in sizes if one["method"] in WITHOUT_BAGS else [one["bag_size"]]:
                place = found[one["data"], size].setdefault(one["method"], {})
                place[one["split"]] = one["balanced_accuracy"]
    return found


def gaps_of(cells, method, rival):
    """Return {cell: mean gap over the splits that both methods have}."""
    gaps = {}
    for cell, own in cells.items():
        common = own.get(method, {}).keys() & own.get(rival, {}).keys()
        if common:
            gaps[cell] = np.mean([own[method][k] - own[rival][k] for k in common])
    return gaps


def compared(cells, method, rival):
    """Return the mean gap with its standard error over cells, and wins, ties and losses."""
    gaps = list(gaps_of(cells, method, rival).values())
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    won, lost = sum(gap > 0.01 for gap in gaps), sum(gap < -0.01 for gap in gaps)
    counts = f"{won} won, {len(gaps) - won - lost} within .01, {lost} lost"
    return (
        f"- {method} − {rival}: {np.mean(gaps):+.3f} ± {error:.3f} over {len(gaps)} cells; {counts}"
    )


def by_data(cells, method, rival):
    """Return the mean gap over the bag sizes of each data set."""
    gaps = gaps_of(cells, method, rival)
    names = sorted({name for name, _ in gaps})
    means = [np.mean([gap for (own, _), gap in gaps.items() if own == name]) for name in names]
    listed = ", ".join(f"{name} {mean:+.3f}" for name, mean in zip(names, means, strict=True))
    return f"- {method} − {rival} by data set: {listed}"


def table(records, group):
    """Return a Markdown table of balanced accuracies, and each new method against its rivals.

    An entry is the mean over the splits of all methods of its line.
    """
    cells = accuracies(records, group)
    known = {method for own in cells.values() for method in own}
    methods = [name for one in METHODS for name in (one + BEFORE, one) if name in known]
    lines = [f"| data | bag size | {' | '.join(methods)} |", "|---|---:|" + "---:|" * len(methods)]
    for (name, size), own in cells.items():
        common = set.intersection(*(set(by_split) for by_split in own.values())) if own else set()
        means = [
            np.mean([own[m][k] for k in common]) if m in own and common else None for m in methods
        ]
        values = " | ".join("" if mean is None else f"{mean:.3f}" for mean in means)
        lines.append(f"| {name} | {size or ''} | {values} |")
    lines.append("")
    for one in methods:
        if one + BEFORE in methods:
            rivals = [other for other in methods if other == one + BEFORE or one == "auto" != other]
            lines += [compared(cells, one, rival) for rival in rivals]
            lines += [by_data(cells, one, rival) for rival in rivals if rival in PLAIN_SEARCHES]
    return "\n".join(lines)


def cells_of(group, methods):
    names, sizes, splits, own_methods = SETS[group]
    for split, name, size, method in itertools.product(splits, names, sizes, own_methods):
        if method in methods:
            yield name, 1 if method in WITHOUT_BAGS else size, split, method


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--sets", choices=SETS, nargs="+", default=list(SETS))
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--suffix", choices=("", BEFORE), default="")
    options = parser.parse_args()
    if options.table:
        for group in options.sets:
            print(f"### {group}\n\n{table(read(options.records), group)}\n")
        return
    warnings.simplefilter("ignore")
    done = {key(one) for one in read(options.records)}
    options.records.parent.mkdir(parents=True, exist_ok=True)
    for cell in (cell for group in options.sets for cell in cells_of(group, options.methods)):
        *place, method = cell
        if (*place, method + options.suffix) in done:
            continue
        done.add((*place, method + options.suffix))
        record = run(*cell) | {"method": method + options.suffix}
        with options.records.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(record, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
