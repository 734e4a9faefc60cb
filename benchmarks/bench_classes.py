"""Three classes against two: the time of a fit on the same rows in the same bags.

The binary fit has the share of the first class, the other one the shares of three. All have the
defaults of the estimator. Processor time on one thread, the best of three runs.
"""

import warnings
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale

from decorrupt import CorrectedLossClassifier, CountLikelihoodClassifier, MeanMapClassifier
from decorrupt.exceptions import NegativeRiskWarning
from measuring import Figure, run, seconds_of

ROWS, COLUMNS, CLASSES = 2048, 10, 3
# Exact counts, and the normal approximation of the counts of several classes.
BAG_SIZES = (8, 64)
METHODS = (MeanMapClassifier, CorrectedLossClassifier, CountLikelihoodClassifier)
TARGET = 4.0
RUNS = 3


def problem(bag_size, seed=0):
    """Return rows, the shares of three classes per row, and bags."""
    X, labels = make_classification(
        ROWS, COLUMNS, n_informative=6, n_classes=CLASSES, class_sep=1.5, random_state=seed
    )
    bags = np.random.default_rng(seed).permutation(ROWS) // bag_size
    shares = np.array([np.bincount(bags, labels == c) for c in range(CLASSES)]).T / bag_size
    return scale(X), shares[bags], bags


def measure(quick):
    warnings.simplefilter("ignore", NegativeRiskWarning)  # the defaults overfit these bags
    for bag_size in BAG_SIZES:
        X, shares, bags = problem(bag_size)
        for method in METHODS:
            model = method(random_state=0)
            (two, _), (three, _) = seconds_of(
                partial(model.fit, X, shares[:, 0], bags=bags),
                partial(model.fit, X, shares, bags=bags),
                repeats=1 if quick else RUNS,
            )
            yield Figure(
                f"{method.__name__}, three classes ÷ two, bags of {bag_size}",
                three / two,
                at_most=TARGET,
                note=f"{three:.2f} s, {two:.2f} s",
            )


if __name__ == "__main__":
    run(measure)
