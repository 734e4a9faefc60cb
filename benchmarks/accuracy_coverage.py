"""How often does the interval of the estimated accuracy contain the true one?

A model is trained on bags, its balanced accuracy (mean recall) is estimated from the same bags with
:func:`decorrupt.estimate_accuracy`, and compared with the accuracy on labelled rows of the same
population that were not used. Constants of the method were decided on the development cases; the
table is about the reporting cases. Their seeds are others, and so are their data sets, except for
cardiotocography (with three classes in development).

    python -m benchmarks.accuracy_coverage --development     # records of the development cases
    python -m benchmarks.accuracy_coverage                   # records of the reporting cases
    python -m benchmarks.accuracy_coverage --table           # the table of the records
    python -m benchmarks.accuracy_coverage --labels          # the same combined with labelled rows

Records are appended to results/accuracy/records.jsonl, one per case; finished cases are not run
again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from data_sets import read_uci
from decorrupt import (
    CountLikelihoodClassifier,
    MeanMapClassifier,
    estimate_accuracy,
)
from decorrupt.app.training.evaluate import combined, contradiction
from decorrupt.app.training.results import ExpectedAccuracy, Measured

RECORDS = Path("results/accuracy/records.jsonl")
# Development cases decided the constants; reporting cases did not.
TABLES = {
    "development": ("german", "banknote", "breast_cancer"),
    "reporting": ("adult", "cardiotocography", "contraceptive", "wireless", "sports"),
}
CLASS_TABLES = {"development": ("iris", "cardiotocography3"), "reporting": ("wine", "wireless4")}
FIRST_SEED = {"development": 0, "reporting": 1000}
N_SEEDS = 8
MOST_TRAINING_ROWS, N_TEST = 1500, 4000
# Of print_with_labels.
N_LABELS, N_DRAWS, ENDS = (12, 50, 100, 300), 40, ("value", "low", "high")
MODELS: dict[str, Callable[[], Any]] = {
    "linear": lambda: CountLikelihoodClassifier(kernel="linear"),
    "rbf": lambda: CountLikelihoodClassifier(random_state=0),
    "mean map": lambda: MeanMapClassifier(kernel="linear"),
}


def cases(part: str) -> Iterator[tuple[str, str, str, Callable[[], tuple[Any, ...]]]]:
    """Yield name, kind, model and a function that draws the data of every case."""
    for seed in range(FIRST_SEED[part], FIRST_SEED[part] + N_SEEDS):
        yield from _simulated_cases(seed)
        yield from _table_cases(part, seed)
        if part == "reporting":
            yield f"adult/sex/{seed}", "bags by a column", "linear", _columns("adult", "sex", seed)


def _simulated_cases(seed: int) -> Iterator[tuple[str, str, str, Callable[[], tuple[Any, ...]]]]:
    model = ("linear", "rbf")[seed % 2]
    for size in (4, 16, 64):
        yield f"gauss/{size}/{seed}", "random bags", model, _random(size, seed)
    for n_bags in (10, 40):
        yield f"effect/{n_bags}/{seed}", "bags with an effect", model, _effect(n_bags, seed)
    for n_bags in (2, 3, 4, 6):
        own = ("linear", "rbf", "mean map")[seed % 3]
        yield f"few/{n_bags}/{seed}", "two to six bags", own, _few(n_bags, seed)
    yield f"sorted/{seed}", "sorted bags", model, _sorted(seed)
    yield f"priors/{seed}", "bags drawn by class", model, _priors(seed)


def _table_cases(
    part: str, seed: int
) -> Iterator[tuple[str, str, str, Callable[[], tuple[Any, ...]]]]:
    for table in TABLES[part]:
        for place in (seed % 4, (seed + 2) % 4):
            model = ("linear", "rbf")[(seed // 2) % 2]
            name = f"{table}/column {place}/{seed}"
            yield name, "bags by a column", model, _columns(table, place, seed)
        size, model = (8, 32)[seed % 2], ("rbf", "linear")[(seed // 2) % 2]
        yield f"{table}/{size}/{seed}", "random bags", model, _table_bags(table, size, seed)
    for table in CLASS_TABLES[part]:
        size, model = (4, 16)[seed % 2], ("linear", "rbf")[(seed // 2) % 2]
        name = f"{table}/{size}/{seed}"
        yield name, "several classes", model, _table_bags(table, size, seed)


# --- simulations


def _rows(n_rows: int, rng: np.random.Generator, n_columns: int = 5) -> tuple[Any, Any]:
    X = rng.normal(size=(n_rows, n_columns))
    slopes = np.array([1.2, -0.8, 0.5, 0.0, 0.0])[:n_columns]
    scores = X @ slopes + 0.5 * (X[:, 0] ** 2 - 1) * rng.integers(0, 2)
    return X, scores


def _labels(scores: Any, rng: np.random.Generator) -> Any:
    return (rng.random(len(scores)) < expit(scores - 0.5)).astype(int)


def _split(X: Any, labels: Any, n_train: int) -> tuple[Any, ...]:
    return X[:n_train], labels[:n_train], X[n_train:], labels[n_train:]


def _random(size: int, seed: int) -> Callable[[], tuple[Any, ...]]:
    def draw() -> tuple[Any, ...]:
        rng = np.random.default_rng([1, size, seed])
        X, scores = _rows(1024 + N_TEST, rng)
        X, labels, X_test, labels_test = _split(X, _labels(scores, rng), 1024)
        return X, labels, np.arange(1024) // size, X_test, labels_test

    return draw


def _effect(n_bags: int, seed: int) -> Callable[[], tuple[Any, ...]]:
    """Bags differ in the mean of their first column, and in their log-odds."""

    def draw() -> tuple[Any, ...]:
        rng = np.random.default_rng([2, n_bags, seed])
        n_rows = 40 * n_bags
        X, scores = _rows(n_rows + N_TEST, rng)
        bags = rng.integers(0, n_bags, len(X))
        shift, effect = rng.normal(size=n_bags), 0.7 * rng.normal(size=n_bags)
        X[:, 0] += shift[bags]
        scores += 1.2 * shift[bags] + effect[bags]
        X, labels, X_test, labels_test = _split(X, _labels(scores, rng), n_rows)
        return X, labels, bags[:n_rows], X_test, labels_test

    return draw


def _few(n_bags: int, seed: int) -> Callable[[], tuple[Any, ...]]:
    """Large bags that differ in a column that is relevant, or in one that is not."""

    def draw() -> tuple[Any, ...]:
        rng = np.random.default_rng([3, n_bags, seed])
        n_rows = 1200
        X, _ = _rows(n_rows + N_TEST, rng)
        bags = rng.integers(0, n_bags, len(X))
        X[:, 3 if seed % 2 else 0] += np.linspace(-1, 1, n_bags)[bags]
        scores = X @ np.array([1.2, -0.8, 0.5, 0.0, 0.0])
        X, labels, X_test, labels_test = _split(X, _labels(scores, rng), n_rows)
        return X, labels, bags[:n_rows], X_test, labels_test

    return draw


def _sorted(seed: int) -> Callable[[], tuple[Any, ...]]:
    """Rows sorted by a noisy score and cut into 20 bags."""

    def draw() -> tuple[Any, ...]:
        rng = np.random.default_rng([4, seed])
        X, scores = _rows(1000 + N_TEST, rng)
        labels = _labels(scores, rng)
        X, labels, X_test, labels_test = _split(X, labels, 1000)
        order = np.argsort(X[:, 0] + X[:, 3] + rng.normal(size=1000))
        return X[order], labels[order], np.arange(1000) // 50, X_test, labels_test

    return draw


def _priors(seed: int) -> Callable[[], tuple[Any, ...]]:
    """Bags of 40 rows with shares between 0.1 and 0.9; the rows of a class are alike."""

    def draw() -> tuple[Any, ...]:
        rng = np.random.default_rng([5, seed])
        bags = np.arange(1000) // 40
        shares = np.append(rng.uniform(0.1, 0.9, 25)[bags], np.full(N_TEST, 0.5))
        labels = (rng.random(len(shares)) < shares).astype(int)
        X = rng.normal(size=(len(shares), 5))
        X[:, :2] += np.outer(labels, [1.0, -0.7])
        X, labels, X_test, labels_test = _split(X, labels, 1000)
        return X, labels, bags, X_test, labels_test

    return draw


# --- real tables


def _table(name: str) -> tuple[Any, Any, Any]:
    """Return the rows as numbers, the labels and the rows as they are."""
    embedded = {
        "breast_cancer": load_breast_cancer,
        "iris": load_iris,
        "wine": load_wine,
        "digits": load_digits,
    }
    if name in embedded:
        X, labels = embedded[name](return_X_y=True)
        return StandardScaler().fit_transform(X), labels, X
    data = read_uci(name.rstrip("0123456789"))
    labels = data.y
    if name[-1].isdigit():
        labels = np.unique(data.original_classes, return_inverse=True)[1]
    if data.X.dtype != object:
        return StandardScaler().fit_transform(data.X), labels, data.X
    import pandas as pd

    frame = pd.DataFrame(data.X, columns=data.feature_names).infer_objects()
    encode = OneHotEncoder(min_frequency=0.01, handle_unknown="infrequent_if_exist")
    prepared = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (encode, make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    ).fit_transform(frame)
    return prepared, labels, data.X


def _table_rows(name: str, seed: int) -> tuple[Any, ...]:
    X, labels, raw = _table(name)
    order = np.random.default_rng([6, seed]).permutation(len(labels))
    n_train = min(len(labels) // 2, MOST_TRAINING_ROWS)
    train, test = order[:n_train], order[n_train : n_train + N_TEST]
    return X[train], labels[train], raw[train], X[test], labels[test]


def _table_bags(name: str, size: int, seed: int) -> Callable[[], tuple[Any, ...]]:
    def draw() -> tuple[Any, ...]:
        X, labels, _, X_test, labels_test = _table_rows(name, seed)
        return X, labels, np.arange(len(labels)) // size, X_test, labels_test

    return draw


def _columns(name: str, column: int | str, seed: int) -> Callable[[], tuple[Any, ...]]:
    """Bags by the values of a column; numbers with many values are cut into 12 intervals."""

    def draw() -> tuple[Any, ...]:
        X, labels, raw, X_test, labels_test = _table_rows(name, seed)
        values = raw[:, _column(name, column, raw)]
        if len(set(values.tolist())) > 20 and not isinstance(values[0], str):
            values = np.asarray(values, dtype=float)
            edges = np.unique(np.quantile(values, np.linspace(0, 1, 13)[1:-1]))
            values = np.searchsorted(edges, values, side="right")
        bags = np.unique([str(value) for value in values], return_inverse=True)[1]
        return X, labels, bags, X_test, labels_test

    return draw


def _column(name: str, column: int | str, raw: Any) -> int:
    if isinstance(column, str):
        return list(read_uci(name).feature_names).index(column)
    several = [k for k in range(raw.shape[1]) if len(set(raw[:, k].tolist())) > 3]
    return several[column * len(several) // 4]


# --- records


def measure(model: Any, drawn: tuple[Any, ...]) -> dict[str, Any]:
    """Train, estimate and compare."""
    X, labels, bags, X_test, labels_test = drawn
    n_classes = int(labels.max()) + 1
    counts = np.array([np.bincount(bags, labels == c) for c in range(n_classes)]).T
    shares = counts / counts.sum(axis=1, keepdims=True)
    y = shares[bags] if n_classes > 2 else shares[bags, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, bags=bags)
        began = time.perf_counter()
        found = estimate_accuracy(model, X, y, bags=bags, random_state=0)
    return {
        "truth": float(balanced_accuracy_score(labels_test, model.predict(X_test))),
        "n_classes": n_classes,
        "n_bags": len(shares),
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "seconds": time.perf_counter() - began,
    }


def run(part: str) -> None:
    """Run the cases that have no record."""
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    done = {record["case"] for record in read_records()}
    for name, kind, model, draw in cases(part):
        if f"{part}/{name}" in done:
            continue
        about = {"case": f"{part}/{name}", "part": part, "kind": kind, "model": model}
        drawn = draw()
        if len(np.unique(drawn[2])) < 2:  # a column with one value in nearly all rows
            continue
        record = about | measure(MODELS[model](), drawn)
        with RECORDS.open("a") as file:
            file.write(json.dumps(record) + "\n")


def read_records() -> list[dict[str, Any]]:
    """Return the records so far."""
    return [json.loads(line) for line in RECORDS.open()] if RECORDS.exists() else []


def print_table(part: str) -> None:
    """Print coverage, bias and width by kind of bags."""
    records = [record for record in read_records() if record["part"] == part]
    kinds = dict.fromkeys(record["kind"] for record in records)
    print(
        f"| {part} cases | cases | coverage | bias | width | seconds |\n|---|---|---|---|---|---|"
    )
    for kind in [*kinds, "all"]:
        some = [record for record in records if kind in (record["kind"], "all")]
        covered = [record["low"] <= record["truth"] <= record["high"] for record in some]
        bias = np.array([record["value"] - record["truth"] for record in some])
        width = np.mean([record["high"] - record["low"] for record in some])
        seconds = np.mean([record["seconds"] for record in some])
        print(
            f"| {kind} | {len(some)} | {np.mean(covered):.3f} | {bias.mean():+.3f} | "
            f"{width:.2f} | {seconds:.2f} |"
        )


def print_with_labels() -> None:
    """Print how often ±2 standard errors contain the truth if labelled rows are added.

    As `decorrupt evaluate` does it: combined unless both intervals are disjoint.
    """
    rng = np.random.default_rng(0)
    lines = RECORDS.read_text(encoding="utf-8").splitlines()
    records = [r for r in map(json.loads, lines) if r["n_classes"] == 2]
    records = [r for r in records if r["part"] == "reporting"]
    print("| reporting cases | " + " | ".join(map(str, N_LABELS)) + " |")
    for kind in dict.fromkeys(record["kind"] for record in records):
        shares = []
        for n_labels in N_LABELS:
            covered = []
            for record in [r for r in records if r["kind"] == kind] * N_DRAWS:
                value = rng.binomial(n_labels, record["truth"]) / n_labels
                rounded = (value * n_labels + 1) / (n_labels + 2)  # not 0 if all are right
                std_error = float(np.sqrt(rounded * (1 - rounded) / n_labels))
                found = Measured(value=value, std_error=std_error)
                expected = ExpectedAccuracy(**{k: record[k] for k in ENDS}, level=0.95)
                if not contradiction(found, expected):
                    found = combined(found, expected)
                covered.append(abs(found["value"] - record["truth"]) <= 2 * found["std_error"])
            shares.append(f"{np.mean(covered):.2f}")
        print(f"| {kind} | " + " | ".join(shares) + " |")


def main() -> None:
    """Run the cases, or print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--development", action="store_true", help="the development cases")
    parser.add_argument("--table", action="store_true", help="print the table of the records")
    parser.add_argument("--labels", action="store_true", help="the same with labelled rows")
    given = parser.parse_args()
    part = "development" if given.development else "reporting"
    if given.labels:
        print_with_labels()
    elif given.table:
        print_table(part)
    else:
        run(part)


if __name__ == "__main__":
    main()
