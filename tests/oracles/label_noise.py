"""Label noise written out as a table of probabilities, no algebra."""

from dataclasses import dataclass

import numpy as np


def noise_channel(flip_pos, flip_neg):
    """Return {(y, ỹ): P(Ỹ=ỹ | Y=y)}."""
    return {
        (1, 1): 1 - flip_pos,
        (1, -1): flip_pos,
        (-1, -1): 1 - flip_neg,
        (-1, 1): flip_neg,
    }


def mean_over_noise(loss_of_noisy_label, label, flip_pos, flip_neg):
    """Return E[loss(Ỹ) | Y = label]."""
    channel = noise_channel(flip_pos, flip_neg)
    return sum(channel[label, noisy] * loss_of_noisy_label(noisy) for noisy in (-1, 1))


def corrupted_joint(class_prior, points_pos, points_neg, flip_pos, flip_neg):
    """Return P^ρ(x, ỹ) for a feature of finitely many values, as {ỹ: array over x}."""
    clean = {1: class_prior * points_pos, -1: (1 - class_prior) * points_neg}
    channel = noise_channel(flip_pos, flip_neg)
    return {noisy: sum(channel[y, noisy] * clean[y] for y in (-1, 1)) for noisy in (-1, 1)}


def paired_bags_joint(proportion_pos, proportion_neg, points_pos, points_neg):
    """Return Q(x, ỹ) of Sec. 3.1: a fair coin picks the bag, the bag's mixture draws x."""
    return {
        1: 0.5 * (proportion_pos * points_pos + (1 - proportion_pos) * points_neg),
        -1: 0.5 * (proportion_neg * points_pos + (1 - proportion_neg) * points_neg),
    }


@dataclass(frozen=True)
class PairAsSource:
    """What Theorem 4 calls π_i, ρ_i and α_i."""

    class_prior: float
    flip_pos: float
    flip_neg: float
    cost_pos: float
    cost_neg: float


def pair_as_source(proportion_pos, proportion_neg):
    """Return the corrupted source that a pair of bags is, items (b), (d), (e) of Theorem 4."""
    both = proportion_pos + proportion_neg
    return PairAsSource(
        class_prior=both / 2,
        flip_pos=proportion_neg / both,
        flip_neg=(1 - proportion_pos) / (2 - both),
        cost_pos=1 / both,
        cost_neg=1 / (2 - both),
    )


def posterior_by_label(class_prior, flip_pos, flip_neg):
    """Return (P(Ỹ=1), P(Y=1|Ỹ=1), P(Y=1|Ỹ=−1)) by Bayes' rule on the table."""
    channel = noise_channel(flip_pos, flip_neg)
    joint = {
        (y, noisy): prior * channel[y, noisy]
        for y, prior in ((1, class_prior), (-1, 1 - class_prior))
        for noisy in (-1, 1)
    }
    share = joint[1, 1] + joint[-1, 1]
    return share, joint[1, 1] / share, joint[1, -1] / (1 - share)


def two_point_distribution(seed, n_points=5):
    """Return (P₊, P₋), two random distributions on the same few points."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_points)), rng.dirichlet(np.ones(n_points))
