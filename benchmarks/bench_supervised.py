"""Fits from proportions against scikit-learn on labels, and three classes against two.

`fit` as a user calls it, from X to the fitted model, in bags of 32 rows. Against logistic
regression: kernel="linear", and X is a matrix of 256 random features or 50 plain columns.
LogisticRegression (lbfgs, the same penalty) has the true labels and stops when the largest gradient
component of the mean loss is 1e-5. Ours stop when the norm of the gradient is 1e-5, which is
stricter.

Three classes against two: the same rows in the same bags, the share of the first class or the
shares of three, at the defaults of the estimators.

The automatic choice: against a grid search of an SVC with the true labels, 12 settings (four C,
three γ) and five folds, and its growth with the rows; both have their defaults otherwise. A quick
run leaves this part out.
"""

import warnings
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from decorrupt import (
    AutoLabelProportionsClassifier,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
)
from measuring import Figure, bagged, exponent, run, seconds_of

# Name, bar, and the limit of a quick run where it is not the bar with its slack: at 10,000 rows the
# count likelihood is solved from two starts.
METHODS = {
    CorrectedLossClassifier: ("corrected loss", 1.2, None),
    MeanMapClassifier: ("mean map", 1.2, None),
    CountLikelihoodClassifier: ("count likelihood", 2.5, 1.5 * 3.1),
}
RANK, COLUMNS, BAG_SIZE = 256, 50, 32
REG_STRENGTH, TOL = 1e-4, 1e-5
# Three classes: exact counts, and the normal approximation of the counts of several classes.
CLASS_ROWS, CLASS_COLUMNS, N_CLASSES, CLASS_BAG_SIZES, CLASSES_BAR = 2048, 10, 3, (8, 64), 4.0
AUTO_ROWS, AUTO_COLUMNS, AUTO_TEST_ROWS = (4_096, 16_384, 65_536), 10, 4_000
SVC_GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}


def kernel_features(n_rows):
    """Return 256 random features of two overlapping classes, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.random(n_rows) < 0.4
    X = rng.standard_normal((n_rows, 10)) + 0.6 * labels[:, None]
    return RBFSampler(gamma=0.1, n_components=RANK, random_state=0).fit_transform(X), labels


def plain_columns(n_rows):
    """Return 50 correlated columns of two overlapping classes, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.random(n_rows) < 0.4
    X = rng.standard_normal((n_rows, COLUMNS)) + 0.25 * labels[:, None]
    mixing = np.eye(COLUMNS) + rng.standard_normal((COLUMNS, COLUMNS)) / np.sqrt(COLUMNS)
    return X @ mixing, labels


def against_regression(X, labels):
    """Yield the ratio of every method to logistic regression, and its rows correct."""
    y, bags = bagged(X, labels, BAG_SIZE)
    penalty = 1 / (2 * REG_STRENGTH * len(X))
    regression = LogisticRegression(C=penalty, solver="lbfgs", tol=TOL, max_iter=1000)
    models = [kind(kernel="linear", reg_strength=REG_STRENGTH, tol=TOL) for kind in METHODS]
    (base, reference), *ours = seconds_of(
        partial(regression.fit, X, labels),
        *(partial(model.fit, X, y, bags=bags) for model in models),
    )
    right = reference.score(X, labels)
    for (method, bar, quick_limit), (seconds, model) in zip(METHODS.values(), ours, strict=True):
        yield Figure(
            f"{method} / supervised, {len(X):,} × {X.shape[1]}",
            seconds / base,
            at_most=bar,
            note=f"{seconds:.2f} s; {model.score(X, labels):.3f} correct, supervised {right:.3f}",
            quick_limit=quick_limit,
        )


def three_classes(bag_size, repeats):
    """Yield the time of three classes divided by the time of two, for every method."""
    options = {"n_informative": 6, "n_classes": N_CLASSES, "class_sep": 1.5, "random_state": 0}
    X, labels = make_classification(CLASS_ROWS, CLASS_COLUMNS, **options)
    X, bags = scale(X), np.random.default_rng(0).permutation(CLASS_ROWS) // bag_size
    shares = np.array([np.bincount(bags, labels == c) for c in range(N_CLASSES)]).T[bags] / bag_size
    for method, (name, *_) in METHODS.items():
        model = method(random_state=0)
        (two, _), (three, _) = seconds_of(
            partial(model.fit, X, shares[:, 0], bags=bags),
            partial(model.fit, X, shares, bags=bags),
            repeats=repeats,
        )
        what = f"{name}, three classes ÷ two, bags of {bag_size}"
        note = f"{three:.2f} s, {two:.2f} s"
        yield Figure(what, three / two, at_most=CLASSES_BAR, note=note)


def automatic_choice():
    """Yield the ratio of the automatic choice to the grid search, and its growth."""
    seconds = {}
    for n_rows in AUTO_ROWS:
        options = {"n_informative": 6, "n_clusters_per_class": 3, "random_state": 0}
        X, labels = make_classification(n_rows + AUTO_TEST_ROWS, AUTO_COLUMNS, **options)
        X, new, labels, new_labels = train_test_split(
            StandardScaler().fit_transform(X), labels, train_size=n_rows, random_state=0
        )
        y, bags = bagged(X, labels, BAG_SIZE)
        model = AutoLabelProportionsClassifier(random_state=0)
        fits = [partial(model.fit, X, y, bags=bags)]
        if n_rows == AUTO_ROWS[0]:
            fits.append(partial(GridSearchCV(SVC(), SVC_GRID).fit, X, labels))
        (seconds[n_rows], _), *on_labels = seconds_of(*fits, repeats=1)
        for of_svc, svc in on_labels:
            right, of_labels = (one.score(new, new_labels) for one in (model, svc))
            yield Figure(
                f"automatic choice / SVC grid on labels, {n_rows:,} rows",
                seconds[n_rows] / of_svc,
                at_most=0.5,
                note=f"{seconds[n_rows]:.1f} s; {right:.3f} correct, SVC {of_labels:.3f}",
            )
    yield Figure(
        "exponent of the automatic choice's seconds in rows",
        exponent(seconds, seconds.values()),
        at_most=1.1,
        note=", ".join(f"{n_rows:,}: {used:.0f} s" for n_rows, used in seconds.items()),
    )


def measure(quick):
    warnings.simplefilter("ignore")
    for n_rows in (10_000,) if quick else (10_000, 100_000):
        yield from against_regression(*kernel_features(n_rows))
    yield from against_regression(*plain_columns(100_000 if quick else 200_000))
    for bag_size in CLASS_BAG_SIZES[:1] if quick else CLASS_BAG_SIZES:
        yield from three_classes(bag_size, repeats=1 if quick else 3)
    if not quick:
        yield from automatic_choice()


if __name__ == "__main__":
    run(measure)
