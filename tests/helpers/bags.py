"""Bags whose numbers are known, without the checks of what a user passes."""

from types import SimpleNamespace

import numpy as np
from scipy.special import expit

from decorrupt.observed import Observed, class_columns


def rows_in_bags(row_bag, shares):
    """Return rows in bags 0, 1, …, with the share of positives or the shares of all classes."""
    shares = np.asarray(shares, dtype=float)
    shares = class_columns(shares) if shares.ndim == 1 else shares
    return Observed(np.arange(shares.shape[1]), np.arange(len(shares)), np.asarray(row_bag), shares)


def gaussian_bags(case, *, n_bags=50, bag_size=20, strength=1.0, seed=0):
    """Draw bags of two Gaussian classes N(±(1, 0), I), and 1,000 test rows with labels.

    "random": both assumptions hold. "priors": bags have different priors, so P(y|x) differs.
    "feature": bags are slices of the first column, so the class distributions differ. "effect":
    the log-odds of a bag's labels have a part of their own, so both differ.
    """
    rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    bags = np.repeat(np.arange(n_bags), bag_size)
    X, labels = _gaussian_rows(case, strength, bags, rng)
    if case == "feature":
        order = np.argsort(X[:, 0], kind="stable")
        X, labels = X[order], labels[order]
    y = (np.bincount(bags, labels) / bag_size)[bags]
    test_case = "effect" if case == "effect" else "random"
    X_test, y_test = _gaussian_rows(test_case, strength, np.arange(1000), rng)
    return SimpleNamespace(X=X, y=y, bags=bags, X_test=X_test, y_test=y_test)


def _gaussian_rows(case, strength, bags, rng):
    shift = strength * rng.normal(size=bags.max() + 1)[bags]
    labels = rng.random(len(bags)) < (expit(shift) if case == "priors" else 0.5)
    X = rng.normal(size=(len(bags), 2)) + np.where(labels, 1, -1)[:, None] * [1.0, 0.0]
    if case == "effect":
        labels = rng.random(len(bags)) < expit(2 * X[:, 0] + shift)
    return X, labels.astype(int)
