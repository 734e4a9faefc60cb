"""Bags of two Gaussian classes whose best classifier is known."""

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

DIRECTION = np.array([2.0, 0.0])


def losses_against_the_bayes_rule(model, numbers_of_bags=(20, 1000)):
    """Return what models of more and more bags of 10 lose, and the last of them.

    Unit Gaussians at distance 2: the best balanced accuracy is Φ(1) = 84.1 %.
    """
    rng = np.random.default_rng(5)
    test_labels = np.arange(40_000) % 2
    X_test = rng.normal(size=(40_000, 2)) + test_labels[:, None] * DIRECTION
    losses = []
    for n_bags in numbers_of_bags:
        shares = rng.choice([0.0, 0.2, 0.4, 0.6], n_bags)
        bags = np.repeat(np.arange(n_bags), 10)
        labels = (np.arange(10) < np.rint(10 * shares)[:, None]).ravel().astype(int)
        X = rng.normal(size=(len(labels), 2)) + labels[:, None] * DIRECTION
        fitted = clone(model).fit(X, shares[bags], bags=bags)
        losses.append(norm.cdf(1) - balanced_accuracy_score(test_labels, fitted.predict(X_test)))
    return losses, fitted
