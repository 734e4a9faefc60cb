"""Bags of several classes for tests, and the probability of their counts by enumeration."""

import itertools

import numpy as np
from scipy.special import log_softmax, logsumexp

from decorrupt.corruption import Strata


def make_class_strata(counts, seed=0):
    """Return bags with these counts of every class, one row of `counts` per bag, rows shuffled."""
    counts = np.asarray(counts)
    sizes = counts.sum(axis=1)
    rows = np.repeat(np.arange(len(counts)), sizes)
    np.random.default_rng(seed).shuffle(rows)
    return Strata(np.arange(len(counts)), rows, counts / sizes[:, None])


def as_two_columns(strata):
    """Return the same bags with one share per class, [1−p, p]."""
    shares = np.column_stack([1 - strata.proportions, strata.proportions])
    return Strata(strata.ids, strata.row_stratum, shares)


def enumerate_class_counts(scores, counts):
    """Return log P(counts) and P(Y_j=c | counts) − P(Y_j=c), from every labelling of the rows."""
    log_prob = log_softmax(scores, axis=1)
    n_rows, n_classes = scores.shape
    labellings = [
        labels
        for labels in itertools.product(range(n_classes), repeat=n_rows)
        if (np.bincount(labels, minlength=n_classes) == counts).all()
    ]
    logs = np.array([log_prob[np.arange(n_rows), labels].sum() for labels in labellings])
    total = logsumexp(logs)
    posterior = np.zeros(scores.shape)
    for labels, log in zip(labellings, logs, strict=True):
        posterior[np.arange(n_rows), labels] += np.exp(log - total)
    return total, posterior - np.exp(log_prob)
