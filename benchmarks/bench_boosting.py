"""Boosting on bags against LightGBM on labels, and EM with a forest against the forest alone.

Boosting has the same trees as LightGBM's own binary objective, which gets the true labels. EM has
its defaults; on the true labels it fits its forest once.
"""

import lightgbm
import numpy as np

from decorrupt import BoostedCountClassifier, EMClassifier
from measuring import Figure, bagged, run, seconds_of

N_COLUMNS = 20
# Full and quick sizes.
BOOSTING_ROWS, ROUNDS = (1_000_000, 100_000), (100, 20)
EM_ROWS = 20_000, 5_000
TREES = {"learning_rate": 0.1, "num_leaves": 31, "random_state": 0, "n_jobs": 1}


def problem(n_rows, bag_size, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    margin = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2] - 0.5 * X[:, 3] ** 2
    labels = (rng.random(n_rows) < 1 / (1 + np.exp(-2 * margin))).astype(int)
    return X, labels, *bagged(X, labels, bag_size)


def boosting(n_rows, n_rounds, repeats):
    X, labels, y, bags = problem(n_rows, 32)
    own = lightgbm.LGBMClassifier(n_estimators=n_rounds, verbose=-1, **TREES)
    ours = BoostedCountClassifier(
        n_rounds,
        early_stopping=False,
        subsample=1.0,
        colsample_bytree=1.0,
        min_child_samples=20,
        **TREES,
    )
    (on_bags, _), (on_labels, _) = seconds_of(
        lambda: ours.fit(X, y, bags=bags), lambda: own.fit(X, labels), repeats=repeats
    )
    accuracies = [model.score(X[:50_000], labels[:50_000]) for model in (ours, own)]
    return Figure(
        f"boosting ÷ LightGBM on labels, {n_rows:,} rows, {n_rounds} rounds",
        on_bags / on_labels,
        at_most=3.0,
        note=f"{on_bags:.1f} s, {on_labels:.1f} s; accuracy {accuracies[0]:.3f}, "
        f"{accuracies[1]:.3f}",
    )


def em(n_rows, repeats):
    X, labels, y, bags = problem(n_rows, 16)
    model = EMClassifier(random_state=0)
    (rounds, _), (once, _) = seconds_of(
        lambda: model.fit(X, y, bags=bags),
        lambda: EMClassifier(random_state=0).fit(X, labels),
        repeats=repeats,
    )
    return Figure(
        f"EM ÷ its forest on labels, {n_rows:,} rows",
        rounds / once,
        at_most=8.0,
        note=f"{rounds:.1f} s, {once:.1f} s",
    )


def measure(quick):
    repeats = 1 if quick else 2
    yield boosting(BOOSTING_ROWS[quick], ROUNDS[quick], repeats)
    yield em(EM_ROWS[quick], repeats)


if __name__ == "__main__":
    run(measure)
