"""The automatic choice from proportions against scikit-learn's grid search of an SVC on labels.

The SVC has the true labels, 12 settings (four C, three γ) and five folds; the automatic choice has
its defaults. Accuracy is of rows that neither side has seen. The exponent is that of the processor
time of the automatic choice in the number of rows.
"""

import warnings

from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decorrupt import AutoLabelProportionsClassifier
from measuring import Figure, bagged, exponent, run, seconds_of

COMPARED, QUICK_COMPARED = 4_096, 1_024
GROWING = (4_096, 16_384, 65_536)
COLUMNS, BAG_SIZE, TEST_ROWS = 10, 32, 4_000
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}


def data(n_rows):
    X, labels = make_classification(
        n_rows + TEST_ROWS, COLUMNS, n_informative=6, n_clusters_per_class=3, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    return train_test_split(X, labels, train_size=n_rows, random_state=0)


def automatic(X, labels):
    y, bags = bagged(X, labels, BAG_SIZE)
    model = AutoLabelProportionsClassifier(random_state=0)
    return lambda: model.fit(X, y, bags=bags)


def compare(n_rows):
    X, new, labels, new_labels = data(n_rows)
    (seconds_svc, svc), (seconds, model) = seconds_of(
        lambda: GridSearchCV(SVC(), GRID).fit(X, labels), automatic(X, labels), repeats=1
    )
    right = f"{model.score(new, new_labels):.3f} correct, SVC {svc.score(new, new_labels):.3f}"
    what = f"automatic choice / SVC grid on labels, {n_rows:,} rows"
    return Figure(what, seconds / seconds_svc, at_most=0.5, note=f"{seconds:.1f} s; {right}")


def growth():
    seconds = []
    for n_rows in GROWING:
        X, _, labels, _ = data(n_rows)
        ((used, _),) = seconds_of(automatic(X, labels), repeats=1)
        seconds.append(used)
    what = "exponent of the automatic choice's seconds in rows"
    note = ", ".join(f"{n:,}: {used:.0f} s" for n, used in zip(GROWING, seconds, strict=True))
    return Figure(what, exponent(GROWING, seconds), at_most=1.1, note=note)


def measure(quick):
    warnings.simplefilter("ignore")
    yield compare(QUICK_COMPARED if quick else COMPARED)
    if not quick:
        yield growth()


if __name__ == "__main__":
    run(measure)
