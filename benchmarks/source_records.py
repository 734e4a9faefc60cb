"""Accuracy of the automatic choice for noisy sources: one record per cell.

"develop" are the data on which constants were decided, "test" those that only report. Two thirds
of the rows, at most 800, are labelled by sources with known rates; at most 2,000 others are the
test set. True labels of training rows make the noisy ones and nothing else. See records.py for how
to run it.
"""

import time
from itertools import product

import numpy as np
from sklearn import datasets
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from data_sets import DEVELOP as BAG_DEVELOP
from data_sets import TEST as BAG_TEST
from data_sets import digits, with_noise
from decorrupt import (
    AutoLabelProportionsClassifier,
    AutoSourcesClassifier,
    CountLikelihoodClassifier,
)
from decorrupt.corruption import corrupt_labels
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS
from records import RESULTS, common_means, main, markdown

RECORDS = RESULTS / "sources" / "records.jsonl"
# (flip_pos, flip_neg) of sources with equal numbers of rows.
NOISE = {
    "mild": {"a": (0.1, 0.2), "b": (0.3, 0.1)},
    "strong": {"a": (0.1, 0.1), "b": (0.4, 0.2), "c": (0.2, 0.5)},
}
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 800, 2000
SVC_GRID = {"C": [0.1, 1, 10, 100], "gamma": ["scale", 0.01, 0.001]}

DEVELOP = {name: BAG_DEVELOP[name] for name in ("circles", "quantiles", "clusters", "hyperplane")}
DEVELOP["moons"] = lambda: with_noise(datasets.make_moons(3000, noise=0.25, random_state=0), 3, 0)
TEST = {name: BAG_TEST[name] for name in ("breast_cancer", "digits_3_8", "diabetes", "wine")}
TEST |= {"digits_even": lambda: digits(range(0, 10, 2)), "adult": BAG_TEST["adult_b"]}
# Of each group: the data, the number of splits, the methods.
SETS = {
    "develop": (DEVELOP, 1, ("auto", "kernel")),
    "test": (TEST, 13, ("auto", "kernel", "svc")),
}


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


def automatic(X, noisy, sources, rates):
    model = AutoSourcesClassifier(random_state=0)
    return model.fit(X, noisy, sources=sources, noise_rates=rates)


# "kernel" and "svc" take the noisy labels at face value.
METHODS = {
    "auto": automatic,
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


def run(data, noise, split, method):
    """Return the measures of one cell."""
    X, noisy, sources, X_test, labels = noisy_split(data, noise, split)
    began = time.process_time()
    model = METHODS[method](X, noisy, sources, NOISE[noise])
    return {
        "balanced_accuracy": round(balanced_accuracy_score(labels, model.predict(X_test)), 4),
        "auc": round(roc_auc_score(labels, model.decision_function(X_test)), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def cells():
    """Yield every cell."""
    for names, n_splits, methods in SETS.values():
        for split, data, noise, method in product(range(n_splits), names, NOISE, methods):
            yield {"data": data, "noise": noise, "split": split, "method": method}


def tables(records):
    """Return a Markdown table per group, and the wins of "auto" by cell."""
    parts = []
    for group, (names, _, methods) in SETS.items():
        rows = []
        for name, noise in product(sorted(names), NOISE):
            some = [r for r in records if (r["data"], r["noise"]) == (name, noise)]
            rows.append([name, noise, *common_means(some, "balanced_accuracy", methods)])
        means = np.array([row[3:] for row in rows])
        rows.append(["mean", "", "", *means.mean(axis=0).tolist()])
        parts += [f"### {group}", markdown(["data", "noise", "splits", *methods], rows)]
        for rival, gaps in zip(methods[1:], (means[:, :1] - means[:, 1:]).T, strict=True):
            won, lost = np.sum(gaps > 0.01), np.sum(gaps < -0.01)
            tied = len(gaps) - won - lost
            parts.append(f"auto against {rival}: {won} won, {tied} within .01, {lost} lost")
    return "\n\n".join(parts)


if __name__ == "__main__":
    main(__doc__, RECORDS, cells(), run, tables)
