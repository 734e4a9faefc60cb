"""Level and power of the tests of assumptions, and the automatic choice in bags by a column.

    python benchmarks/assumption_tests.py PART [--draws N] [--first SEED]
    python benchmarks/assumption_tests.py tables

PART is size-classes, size-counts, fit-warnings, power, choice or baselines. Writes
results/assumptions/PART.csv; the parts need 1 to 20 minutes each. "tables" prints the tables of
docs/evidence/assumptions.md. Adult and other data sets are read with `read_uci`
($DECORRUPT_DATA); without them these rows are left out.
"""

import argparse
import csv
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from data_sets import read_uci
from decorrupt import AutoLabelProportionsClassifier
from decorrupt.assumptions.count_dispersion import check_count_dispersion
from decorrupt.corruption import check_class_means, quick_violation
from decorrupt.observed import Observed
from records import markdown

FOLDER = Path(__file__).parent.parent / "results" / "assumptions"
LEVEL = 0.05
N_NULL = 39  # permutations or simulations: levels of 1/40 are exact
WITH_EFFECT = "_with_effect"
METHODS = (
    "mean_map",
    "corrected_loss",
    "proportion_matching",
    "count_likelihood",
    "count_likelihood" + WITH_EFFECT,
)


def gaussian_rows(rng, n_rows=400):
    """Classes that differ in means and variances, a rare category and a heavy tail."""
    labels = rng.random(n_rows) < 0.3
    X = rng.normal(size=(n_rows, 10))
    X[:, 0] += 2 * labels
    X[:, 1] *= 1 + 2 * labels
    X[:, 2] = rng.random(n_rows) < 0.02 + 0.3 * labels
    X[:, 3] = rng.random(n_rows) < 0.01
    X[:, 4] = np.exp(1.5 * X[:, 4])
    return X, labels


def encoded(X):
    """Numbers standardised, other columns one-hot."""
    X = np.asarray(X, dtype=object)
    is_number = [all(isinstance(v, int | float) for v in column) for column in X.T]
    numbers = [k for k, yes in enumerate(is_number) if yes]
    others = [k for k, yes in enumerate(is_number) if not yes]
    encoder = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), others)
    )
    return np.asarray(encoder.fit_transform(X), dtype=float)


def uci(name):
    """Return rows, labels and the raw columns of a data set, or None if it is not available."""
    try:
        data = read_uci(name)
    except Exception as error:
        print(f"{name}: left out ({type(error).__name__})")
        return None
    labels = np.asarray(data.y) == np.unique(data.y)[-1]
    return encoded(data.X), labels, np.asarray(data.X, dtype=object), data.feature_names


def random_bags(labels, size, rng):
    bags = rng.permutation(len(labels)) // size
    return bags, (np.bincount(bags, labels) / np.bincount(bags))[bags]


def drawn_bags(labels, size, rng, *, exact):
    """Bags of different priors; sizes go with the priors. y is the count or its expectation."""
    n_bags = max(len(labels) // size, 4)
    prior = 0.1 + 0.8 * rng.random(n_bags)
    weight = 0.2 + 3 * prior**2
    own = np.array([weight * (1 - prior), weight * prior])
    own /= own.sum(axis=1, keepdims=True)
    bags = np.empty(len(labels), dtype=int)
    for label in (0, 1):
        rows = labels == label
        bags[rows] = rng.choice(n_bags, rows.sum(), p=own[label])
    if exact:
        _, bags = np.unique(bags, return_inverse=True)
        return bags, (np.bincount(bags, labels) / np.bincount(bags))[bags]
    joint = own * np.array([[1 - labels.mean()], [labels.mean()]])
    return bags, (joint[1] / joint.sum(axis=0))[bags]


BAGS = {
    "random": random_bags,
    "exact counts": lambda labels, size, rng: drawn_bags(labels, size, rng, exact=True),
    "i.i.d. counts": lambda labels, size, rng: drawn_bags(labels, size, rng, exact=False),
}


def size_classes(draws):
    adult = uci("adult")
    for source in ("gaussian", "adult"):
        if source == "adult" and adult is None:
            continue
        for kind, make in BAGS.items():
            for size in (10, 50):
                rng, p_values = np.random.default_rng(size), []
                for draw in range(draws):
                    if source == "gaussian":
                        X, labels = gaussian_rows(rng)
                    else:
                        rows = rng.choice(len(adult[1]), 500, replace=False)
                        X, labels = adult[0][rows], adult[1][rows]
                    bags, y = make(labels, size, rng)
                    observed = Observed.from_bags(y, bags)
                    test = check_class_means(X, observed, n_permutations=N_NULL, random_state=draw)
                    p_values.append(test.p_value)
                yield {"data": source, "bags": kind, "bag_size": size, **rejections(p_values)}


def rate_rows(rng, n_bags=30, size=20):
    """A binary column with P(y|x) = 0.8 or 0.3, whose share differs between bags: (A) fails."""
    bags = np.repeat(np.arange(n_bags), size)
    column = rng.random(len(bags)) < rng.random(n_bags)[bags]
    labels = rng.random(len(bags)) < np.where(column, 0.8, 0.3)
    X = np.column_stack([column, rng.normal(size=len(bags))]).astype(float)
    return X, Observed.from_bags((np.bincount(bags, labels) / size)[bags], bags)


def fit_warnings(draws):
    """How often `fit` warns that the rows of a class differ, in valid bags and in others."""

    def shifted(rng, kind, size, effect):
        X, labels = gaussian_rows(rng)
        bags, y = BAGS[kind](labels, size, rng)
        X[:, 5] += effect * rng.normal(size=bags.max() + 1)[bags]
        return X, Observed.from_bags(y, bags)

    cases = [(f"{kind}, size {size}", kind, size, 0.0) for kind in BAGS for size in (10, 50)]
    cases += [(f"shift {effect:g} of a column", "random", 50, effect) for effect in (0.5, 1.0)]
    for name, *case in [*cases, ("P(y|x) = 0.8 and 0.3",)]:
        rng = np.random.default_rng(0)
        data = (shifted(rng, *case) if case else rate_rows(rng) for _ in range(draws))
        found = np.mean([quick_violation(*one) is not None for one in data])
        yield {"bags": name, "draws": draws, "warned": found}


def logistic_rows(rng, kind, size, effect=0.0, n_rows=400):
    X = rng.normal(size=(n_rows, 5))
    place = X[:, 0] + 0.5 * X[:, 1] if kind == "feature" else rng.random(n_rows)
    bags = np.argsort(np.argsort(place)) // size
    own = effect * rng.normal(size=bags.max() + 1)
    labels = rng.random(n_rows) < expit(1.5 * X[:, 0] - X[:, 1] - 0.5 + own[bags])
    return X, Observed.from_bags((np.bincount(bags, labels) / np.bincount(bags))[bags], bags)


def count_p_value(X, observed, seed):
    rng = np.random.RandomState(seed)
    test = check_count_dispersion(X, observed, n_simulations=N_NULL, random_state=rng)
    return test.p_value


def size_counts(draws):
    for kind in ("random", "feature"):
        for size in (10, 40):
            rng = np.random.default_rng(size)
            found = [count_p_value(*logistic_rows(rng, kind, size), k) for k in range(draws)]
            yield {"data": "logistic", "bags": kind, "bag_size": size, **rejections(found)}


def rejections(p_values):
    p_values = np.array(p_values)
    rates = {f"rejected_at_{level:g}": np.mean(p_values <= level) for level in (0.05, 0.1)}
    return {"draws": len(p_values)} | rates


def power(draws):
    for size in (10, 50):
        for effect in (0.0, 0.1, 0.2, 0.3, 0.5):
            rng, p_values = np.random.default_rng(size), []
            for draw in range(draws):
                X, labels = gaussian_rows(rng)
                bags, y = random_bags(labels, size, rng)
                X[:, 5] += effect * rng.normal(size=bags.max() + 1)[bags]
                observed = Observed.from_bags(y, bags)
                test = check_class_means(X, observed, n_permutations=N_NULL, random_state=draw)
                p_values.append(test.p_value)
            row = {"test": "common class distributions", "bag_size": size, "effect": effect}
            yield row | {"draws": draws, "power": np.mean(np.array(p_values) <= LEVEL)}
    for size in (10, 40):
        for effect in (0.0, 0.25, 0.5, 0.75, 1.0):
            rng = np.random.default_rng(size)
            found = [
                count_p_value(*logistic_rows(rng, "feature", size, effect), k) for k in range(draws)
            ]
            row = {"test": "common P(y|x)", "bag_size": size, "effect": effect}
            yield row | {"draws": draws, "power": np.mean(np.array(found) <= LEVEL)}


def feature_bag_tasks():
    """Yield (name, X, labels, bags by a column): categories as they are, numbers in 20 bins."""
    for name, data, column, positive in (
        ("breast cancer", load_breast_cancer(), 1, [0]),
        ("digits", load_digits(), 20, [1, 3, 5, 7, 9]),
        ("wine", load_wine(), 0, [1]),
    ):
        labels = np.isin(data.target, positive)
        yield name, StandardScaler().fit_transform(data.data), labels, bins(data.data[:, column])
    for name, column in (
        ("adult", "occupation"),
        ("german_categorical", "purpose"),
        ("contraceptive", 0),
        ("cardiotocography", 0),
        ("banknote", 0),
        ("wireless", 0),
    ):
        found = uci(name)
        if found is None:
            continue
        X, labels, raw, names = found
        place = list(names).index(column) if isinstance(column, str) and column in names else 3
        place = column if isinstance(column, int) else place
        values = raw[:, place]
        is_number = all(isinstance(value, int | float) for value in values)
        by = (
            bins(values.astype(float))
            if is_number
            else np.unique(values.astype(str), return_inverse=True)[1]
        )
        yield name, X, labels, by


def bins(values, n_bins=20):
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1]))
    return np.unique(np.digitize(values, edges), return_inverse=True)[1]


def feature_bag_split(labels, seed):
    """Return the training and test rows of one division, of at most 2,000 rows."""
    rows = np.random.default_rng(seed).permutation(len(labels))[:2000]
    return train_test_split(rows, test_size=0.4, random_state=seed)


def choice(draws, only=(), first=0):
    """Balanced test accuracy of the automatic choice and of every single method.

    A single method is the one configuration with the best score on held-out bags, from the kernels
    and λ of the automatic choice. The bag effect is 0 unless the tests reject (B).
    """
    for name, X, labels, by in feature_bag_tasks():
        if only and name not in only:
            continue
        for seed in range(first, first + draws):
            train, test = feature_bag_split(labels, seed)
            _, bags = np.unique(by[train], return_inverse=True)
            y = (np.bincount(bags, labels[train]) / np.bincount(bags))[bags]
            for method in ("auto", *METHODS):
                options = {}
                if method != "auto":
                    options = {"candidates": [method.removesuffix(WITH_EFFECT)]}
                    options |= {"ensemble": "best", "check_assumptions": WITH_EFFECT in method}
                model = AutoLabelProportionsClassifier(random_state=0, **options)
                model.fit(X[train], y, bags=bags)
                report = model.assumptions_
                has_effect = report is not None and report.common_probabilities_rejected
                yield {
                    "data": name,
                    "n_bags": bags.max() + 1,
                    "seed": seed,
                    "method": method,
                    "bag_effect": float(report.bag_effect if has_effect else 0),
                    "gain_in_nats": float(model.held_out_gain_),
                    "balanced_accuracy": balanced_accuracy_score(
                        labels[test], model.predict(X[test]) == 1
                    ),
                }


def baselines(draws, only=(), first=0):
    """Balanced test accuracy below and above `choice`: rates of the bags, and all labels."""
    for name, X, labels, by in feature_bag_tasks():
        if only and name not in only:
            continue
        for seed in range(first, first + draws):
            train, test = feature_bag_split(labels, seed)
            prior = labels[train].mean()
            rows = np.bincount(by[train], minlength=by.max() + 1)
            positives = np.bincount(by[train], labels[train], minlength=by.max() + 1)
            rates = np.divide(positives, rows, out=np.full(len(rows), prior), where=rows > 0)
            model = LogisticRegressionCV(
                Cs=np.logspace(-3, 2, 6), l1_ratios=(0.0,), use_legacy_attributes=False,
                class_weight="balanced", scoring="balanced_accuracy", cv=5, max_iter=2000,
            ).fit(X[train], labels[train])  # fmt: skip
            for method, found in {
                "group_rate": rates[by[test]] > prior,
                "supervised": model.predict(X[test]),
            }.items():
                yield {
                    "data": name,
                    "seed": seed,
                    "method": method,
                    "balanced_accuracy": balanced_accuracy_score(labels[test], found),
                }


PARTS = {
    "size-classes": (size_classes, 1000),
    "size-counts": (size_counts, 1000),
    "fit-warnings": (fit_warnings, 1000),
    "power": (power, 100),
    "choice": (choice, 4),
    "baselines": (baselines, 4),
}


def read(name):
    """Return the rows of a part."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def print_tables():
    """Print the level of both tests, and the automatic choice beside the single methods."""
    columns = ("data", "bags", "bag_size", "draws", "rejected_at_0.05", "rejected_at_0.1")
    for name in ("size-classes", "size-counts"):
        print(markdown(columns, [[row[c] for c in columns] for row in read(name)]), end="\n\n")
    scores = defaultdict(lambda: defaultdict(list))
    chosen = read("choice-200")
    divisions = {(row["data"], row["seed"]) for row in chosen}
    for row in (*chosen, *read("baselines-200")):
        if (row["data"], row["seed"]) in divisions:
            own = scores[row["data"]]
            own[row["method"]].append(float(row["balanced_accuracy"]))
            if row["method"] == "auto":
                own["gain in nats"].append(float(row["gain_in_nats"]))
    header = ("gain in nats", "auto", *METHODS, "group_rate", "supervised")
    rows = [[data, *(float(np.mean(own[name])) for name in header)] for data, own in scores.items()]
    print(markdown(("data", *header), rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=(*PARTS, "tables"))
    parser.add_argument("--draws", type=int)
    parser.add_argument("--data", nargs="*", help="some data sets only; their rows are appended")
    parser.add_argument("--first", type=int, help="first seed; writes PART-FIRST.csv")
    arguments = parser.parse_args()
    if arguments.part == "tables":
        print_tables()
        return
    function, draws = PARTS[arguments.part]
    warnings.simplefilter("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    mode, options = ("a", {"only": arguments.data}) if arguments.data else ("w", {})
    name = arguments.part
    if arguments.first is not None:
        options["first"], name = arguments.first, f"{name}-{arguments.first}"
    with (FOLDER / f"{name}.csv").open(mode, newline="", encoding="utf-8") as file:
        writer = None
        for row in function(arguments.draws or draws, **options):
            shown = {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()}
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                if not file.tell():
                    writer.writeheader()
            writer.writerow(shown)
            file.flush()
            print(shown, flush=True)


if __name__ == "__main__":
    main()
