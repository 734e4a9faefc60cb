"""The default λ against one λ for everything (1e-3) and the best of a grid.

Each record (a JSON line) is one fit: data set, kernel, bag size or noise, split, method and λ. λ is
"auto", 0.001, or s/(2·C·n) for a grid of C, in the notation of
`decorrupt.estimators.kernel_classifier`. The best λ of all these is chosen with the labels of the
test rows: it is a ceiling, not a method. The two constants C were decided on these data, by the
log loss and the balanced accuracy of the test rows; none of the data sets is one of the paper's.
See records.py for how to run it.

Where counts have noise, n of the default is what their information is worth. `--noisy-counts`
prints the log loss against λ of all rows: 2,000 rows in random bags of 20, 16 draws; a constant has
.693.
"""

import sys
import time
import warnings
from itertools import product

import numpy as np
from scipy.special import expit
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from data_sets import read_uci
from decorrupt import (
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    GeometricNoise,
    LaplaceNoise,
    MeanMapClassifier,
    ProportionMatchingClassifier,
)
from decorrupt.corruption import corrupt_labels
from decorrupt.estimators.kernel_classifier import COUNT_PRIOR_VARIANCE
from decorrupt.features import Kernel
from decorrupt.losses import probabilities, shift_prior
from records import RESULTS, main, markdown

RECORDS = RESULTS / "defaults" / "records.jsonl"
TWO_CLASSES = ("breast_cancer", "digits_3_8", "digits_even", "moons", "clusters", "quantiles")
TWO_CLASSES += ("hastie", "adult")
SEVERAL_CLASSES = ("wine", "clusters_5", "digits")
ON_SOURCES = ("breast_cancer", "digits_3_8", "moons", "clusters", "quantiles", "adult")
BAG_SIZES = (4, 16, 64, 256)
KERNELS = ("rbf", "linear")
NOISE = {
    "moderate": {"a": (0.1, 0.3), "b": (0.3, 0.1), "c": (0.4, 0.2)},
    "strong": {"a": (0.3, 0.3), "b": (0.45, 0.2), "c": (0.2, 0.45)},
}
BAG_METHODS = {
    "count_likelihood": CountLikelihoodClassifier,
    "proportion_matching": ProportionMatchingClassifier,
    "corrected_loss": CorrectedLossClassifier,
    "mean_map": MeanMapClassifier,
}
CLASS_METHODS = ("count_likelihood", "corrected_loss")
SOURCE_METHODS = ("forward", "corrected_sources", "face_value")
ONE_FOR_ALL = 1e-3
GRID = (0.3, 1, 3, 10, 30, 100)  # C
N_TRAIN, N_TEST = 800, 1000
MAX_RANK = 400
NOISY_ROWS, NOISY_BAG_SIZE, NOISY_DRAWS = 2000, 20, 16
NOISY_SLOPES = np.array([1.2, -0.8, 0, 0])


def load(name, split):
    """Return rows and classes as numbers."""
    seed = {"random_state": split}
    if name == "breast_cancer":
        return datasets.load_breast_cancer(return_X_y=True)
    if name == "wine":
        return datasets.load_wine(return_X_y=True)
    if name == "moons":
        return datasets.make_moons(2000, noise=0.3, **seed)
    if name == "clusters":
        return datasets.make_classification(2000, 10, n_informative=5, weights=[0.7], **seed)
    if name == "clusters_5":
        return datasets.make_classification(
            2000, 8, n_informative=6, n_classes=5, n_clusters_per_class=1, **seed
        )
    if name == "quantiles":
        return datasets.make_gaussian_quantiles(n_samples=2000, n_features=4, n_classes=2, **seed)
    if name == "hastie":
        X, y = datasets.make_hastie_10_2(2000, **seed)
        return X, (y > 0).astype(int)
    if name == "adult":
        return load_adult(split)
    X, y = datasets.load_digits(return_X_y=True)
    if name == "digits_3_8":
        rows = np.isin(y, (3, 8))
        return X[rows], (y[rows] == 8).astype(int)
    return X, y % 2 if name == "digits_even" else y


def load_adult(split):
    """Return 3,000 rows with one column per code."""
    found = read_uci("adult")
    rows = np.random.default_rng(split).permutation(len(found.y))[:3000]
    columns = found.X[rows].T
    is_number = [isinstance(column[0], float) for column in columns]
    numbers = np.array([c.astype(float) for c, n in zip(columns, is_number, strict=True) if n])
    codes = np.array([c.astype(str) for c, n in zip(columns, is_number, strict=True) if not n])
    coded = OneHotEncoder(min_frequency=30, sparse_output=False).fit_transform(codes.T)
    return np.column_stack([np.nan_to_num(numbers.T), coded]), found.y[rows]


def split_rows(name, split):
    X, y = load(name, split)
    n_train = min(N_TRAIN, int(0.7 * len(y)))
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=split
    )
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test)[:N_TEST], y_test[:N_TEST]


def measure(model, X, y):
    """Return balanced accuracy, log loss and the slope of the true log-odds in the predicted."""
    prior = np.bincount(y) / len(y)  # the corrected loss is trained for balanced classes
    scores = shift_prior(model.raw_scores(X), model.class_prior_, prior)
    probability = probabilities(scores)  # also of the corrected loss, which does not offer it
    found = {
        "balanced_accuracy": balanced_accuracy_score(y, model.predict(X)),
        "log_loss": log_loss(y, np.clip(probability, 1e-12, 1)),
    }
    if len(prior) == 2:
        scores = model.decision_function(X)
        scale = max(float(scores.std()), 1e-9)
        fitted = LogisticRegression(C=1e6).fit(scores[:, None] / scale, y)
        found["slope"] = fitted.coef_[0, 0] / scale
    return {what: round(float(value), 4) for what, value in found.items()}


def fit_all(make, fit, X_test, y_test):
    """Yield λ and the measures of every fit; `make` gets λ and returns an estimator."""
    began = time.process_time()
    model = fit(make("auto"))
    unit = model.reg_strength_ * model.prior_variance  # λ of C = 1
    for name, strength in [
        ("auto", None),
        ("1e-3", ONE_FOR_ALL),
        *((f"C={value:g}", unit / value) for value in GRID),
    ]:
        if strength is not None:
            began, model = time.process_time(), fit(make(strength))
        yield {
            "strength": name,
            "reg_strength": float(f"{model.reg_strength_:.3g}"),
            **measure(model, X_test, y_test),
            "cpu_seconds": round(time.process_time() - began, 2),
        }


def on_bags(name, kernel, bag_size, split, method):
    X, y, X_test, y_test = split_rows(name, split)
    bags = np.random.default_rng(split).permutation(len(y)) // bag_size
    bags = np.minimum(bags, max(len(y) // bag_size, 1) - 1)  # the last bag has the remaining rows
    shares = np.array([np.bincount(bags, y == c) for c in range(y.max() + 1)]).T
    shares = (shares / shares.sum(axis=1, keepdims=True))[bags]
    y_bags = shares[:, 1] if shares.shape[1] == 2 else shares
    params = {"kernel": Kernel(kernel, max_rank=MAX_RANK), "random_state": 0}

    def make(strength):
        return BAG_METHODS[method](reg_strength=strength, **params)

    return fit_all(make, lambda model: model.fit(X, y_bags, bags=bags), X_test, y_test)


def on_sources(name, kernel, noise, split, method):
    X, y, X_test, y_test = split_rows(name, split)
    rates = NOISE[noise]
    sources = np.random.default_rng(split).choice(list(rates), len(y))
    noisy = corrupt_labels(y, [rates[source] for source in sources], random_state=split)
    params = {"kernel": Kernel(kernel, max_rank=MAX_RANK), "random_state": 0}
    is_corrected = method != "face_value"
    kind = ForwardSourcesClassifier if method == "forward" else CorruptedSourcesClassifier

    def make(strength):
        return kind(reg_strength=strength, **params)

    def fit(model):
        known = {"sources": sources, "noise_rates": rates} if is_corrected else {}
        return model.fit(X, noisy, **known)

    return fit_all(make, fit, X_test, y_test)


def cells():
    """Yield every cell."""
    two = product(TWO_CLASSES, KERNELS, BAG_SIZES, BAG_METHODS)
    several = product(SEVERAL_CLASSES, ["rbf"], BAG_SIZES[:3], CLASS_METHODS)
    sources = product(ON_SOURCES, KERNELS, NOISE, SOURCE_METHODS)
    for data, kernel, setting, method in (*two, *several, *sources):
        cell = {"data": data, "kernel": kernel, "setting": setting, "split": 0}
        yield cell | {"method": method}


def run(data, kernel, setting, split, method):
    """Return the measures of all λ of a cell."""
    on = on_sources if method in SOURCE_METHODS else on_bags
    return list(on(data, kernel, setting, split, method))


def tables(records):
    """Return means over data sets and splits by kernel, setting and method, and by C."""
    records = [one for one in records if "refused" not in one]
    by_cell = {}
    for one in records:
        cell = tuple(one[name] for name in ("method", "kernel", "setting", "data", "split"))
        by_cell.setdefault(cell, {})[one["strength"]] = one
    groups = {}
    for (method, kernel, setting, data, _), fits in by_cell.items():
        kind = "several classes" if data in SEVERAL_CLASSES else kernel
        groups.setdefault((method, kind, setting), []).append(fits)
    order = (*BAG_METHODS, *SOURCE_METHODS)
    rows = [
        [method.replace("_", " "), kind, setting, len(fits), *columns(fits)]
        for (method, kind, setting), fits in sorted(
            groups.items(), key=lambda g: (order.index(g[0][0]), g[0][1] != "rbf", *g[0][1:])
        )
    ]
    header = ["method", "kernel", "bag size or noise", "cells"]
    header += ["balanced accuracy: 1e-3", "auto", "best λ", "log loss: 1e-3", "auto", "best λ"]
    by_constant = [[method.replace("_", " "), *of_constants(records, method)] for method in order]
    constants = [f"C = {value:g}" for value in GRID]
    first = markdown([*header, "slope: 1e-3", "auto"], rows)
    return f"{first}\n\n{markdown(['method', *constants], by_constant)}"


def columns(fits):
    """Return mean accuracy and log loss at 1e-3, at the default and at the best λ, and slopes."""
    found = []
    for what, best in (("balanced_accuracy", max), ("log_loss", min)):
        found += [float(np.mean([cell[one][what] for cell in fits])) for one in ("1e-3", "auto")]
        found.append(float(np.mean([best(one[what] for one in cell.values()) for cell in fits])))
    for strength in ("1e-3", "auto"):
        slopes = [cell[strength]["slope"] for cell in fits if "slope" in cell[strength]]
        found.append(f"{np.median(slopes):.2f}" if slopes else "")
    return found


def of_constants(records, method):
    """Return balanced accuracy / log loss by C, over all two-class cells of a method."""
    found = []
    for value in GRID:
        some = [
            one
            for one in records
            if (one["method"], one["strength"]) == (method, f"C={value:g}")
            and one["data"] not in SEVERAL_CLASSES
        ]
        means = [np.mean([one[what] for one in some]) for what in ("balanced_accuracy", "log_loss")]
        found.append(f"{means[0]:.3f} / {means[1]:.3f}")
    return found


def noisy_losses(kernel, noise, seed):
    """Return the log loss of a count likelihood with λ of all rows, and with the default."""
    rng = np.random.default_rng(seed)
    X, bags = rng.normal(size=(NOISY_ROWS, 4)), np.arange(NOISY_ROWS) // NOISY_BAG_SIZE
    labels = rng.random(NOISY_ROWS) < expit(X @ NOISY_SLOPES)
    X_test = rng.normal(size=(4000, 4))
    test_labels = rng.random(4000) < expit(X_test @ NOISY_SLOPES)
    counts = np.bincount(bags, labels).astype(float)
    if isinstance(noise, LaplaceNoise):
        counts += rng.laplace(scale=noise.scale, size=len(counts))
    else:
        share = 1 - np.exp(-noise.epsilon)
        counts += rng.geometric(share, len(counts)) - rng.geometric(share, len(counts))
    size = X.var(axis=0).sum() if kernel == "linear" else 1.0
    found = []
    for reg_strength in (size / (2 * COUNT_PRIOR_VARIANCE * NOISY_ROWS), "auto"):
        model = CountLikelihoodClassifier(
            kernel=kernel, count_noise=noise, reg_strength=reg_strength, random_state=0
        )
        model.fit(X, (counts / NOISY_BAG_SIZE)[bags], bags=bags)
        found.append(log_loss(test_labels, model.predict_proba(X_test)[:, 1]))
    return found


def print_noisy_counts():
    """Print the log loss by kernel and noise."""
    warnings.simplefilter("ignore")
    for kernel, epsilon in product(KERNELS, (0.1, 0.3, 1.0)):
        for noise in (GeometricNoise(epsilon), LaplaceNoise(1 / epsilon)):
            draws = [noisy_losses(kernel, noise, seed) for seed in range(NOISY_DRAWS)]
            rows, auto = np.mean(draws, axis=0)
            print(f"{kernel:<8}{noise!s:<40}all rows {rows:.3f}, auto {auto:.3f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--noisy-counts"]:
        print_noisy_counts()
    else:
        main(__doc__, RECORDS, cells(), run, tables)
