"""The automatic choice from proportions against scikit-learn's grid search of an SVC on labels.

Both have an rbf kernel, five folds, and a grid of two parameters: six λ or C and three γ. Accuracy
is of rows that neither side has seen. There is no bar: the SVC has labels.
"""

import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifierCV
from measuring import Figure, bagged, run, seconds_of

SIZES, QUICK_SIZES = (1_000, 4_000, 8_000), (1_000,)
COLUMNS, BAG_SIZE, TEST_ROWS = 10, 16, 4_000
GAMMAS = [0.03, 0.1, 0.3]
GRID = {"C": np.logspace(-1, 4, 6).tolist(), "gamma": GAMMAS}


def data(n_rows):
    X, labels = make_classification(
        n_rows + TEST_ROWS, COLUMNS, n_informative=6, n_clusters_per_class=3, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    return train_test_split(X, labels, train_size=n_rows, random_state=0)


def compare(n_rows):
    X, new, labels, new_labels = data(n_rows)
    y, bags = bagged(X, labels, BAG_SIZE)
    searches = {
        "automatic choice": AutoLabelProportionsClassifier(kernel_gammas=GAMMAS, random_state=0),
        "count likelihood": CountLikelihoodClassifierCV(kernel_gammas=GAMMAS, random_state=0),
    }
    (seconds_svc, svc), *ours = seconds_of(
        lambda: GridSearchCV(SVC(), GRID).fit(X, labels),
        *(lambda one=one: one.fit(X, y, bags=bags) for one in searches.values()),
        repeats=1,
    )
    with_labels = svc.score(new, new_labels)
    for name, (seconds, model) in zip(searches, ours, strict=True):
        right = f"{model.score(new, new_labels):.3f} correct, SVC {with_labels:.3f}"
        what = f"{name} / SVC grid on labels, {n_rows:,} rows"
        yield Figure(what, seconds / seconds_svc, note=f"{seconds:.1f} s; {right}")


def measure(quick):
    warnings.simplefilter("ignore")
    for n_rows in QUICK_SIZES if quick else SIZES:
        yield from compare(n_rows)


if __name__ == "__main__":
    run(measure)
