"""Mixture proportions by brute force: every set of a finite space is tried."""

from itertools import product

import numpy as np


def kappa(first, second):
    """Return inf F(S)/H(S) over all sets S that H charges, F and H on the same few points."""
    best = np.inf
    for chosen in product([0, 1], repeat=len(first)):
        mass = np.dot(chosen, second)
        if mass > 1e-200:
            best = min(best, np.dot(chosen, first) / mass)
    return best


def noisy_classes(class_prior, points_pos, points_neg, flip_pos, flip_neg):
    """Return (q, P̃₊, P̃₋) by Bayes' rule on the joint table of (x, Y, Ỹ)."""
    joint_pos = (
        class_prior * points_pos * (1 - flip_pos) + (1 - class_prior) * points_neg * flip_neg
    )
    joint_neg = class_prior * points_pos * flip_pos + (1 - class_prior) * points_neg * (
        1 - flip_neg
    )
    share = joint_pos.sum()
    return share, joint_pos / share, joint_neg / (1 - share)


def expected_counts(posterior, rates, n_rows):
    """Return E[rows] by bin, source and label, for P(Y=1|bin) given and equal bins."""
    table = np.zeros((len(posterior), len(rates), 2))
    for i, (flip_pos, flip_neg) in enumerate(rates):
        share = posterior * (1 - flip_pos) + (1 - posterior) * flip_neg
        table[:, i, 1] = share * n_rows / len(posterior)
        table[:, i, 0] = (1 - share) * n_rows / len(posterior)
    return table
