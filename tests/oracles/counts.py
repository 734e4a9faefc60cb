"""Class counts by brute force: all labellings, convolutions, recursions in logarithms."""

import itertools
import math

import numpy as np
from scipy.signal import convolve
from scipy.special import expit, log_expit, log_softmax, logsumexp

from decorrupt.observed import Observed
from decorrupt.risks import CountRisk
from decorrupt.risks.groups import noisy_rows


def make_observed(counts, seed=0):
    """Return bags with these counts of every class, one row of `counts` per bag, rows shuffled."""
    counts = np.asarray(counts)
    sizes = counts.sum(axis=1)
    rows = np.repeat(np.arange(len(counts)), sizes)
    np.random.default_rng(seed).shuffle(rows)
    classes = np.arange(counts.shape[1])
    return Observed(classes, np.arange(len(counts)), rows, counts / sizes[:, None])


def row_risk(given, shift=0.0):
    """Return −(1/n)·Σ_j log Σ_c given[j, c]·P(Y=c|x_j), at the scores f_j + shift_j."""
    rows = np.arange(len(given))
    return CountRisk(len(rows), len(rows), (noisy_rows(rows, rows, given, None),), shift=shift)


def enumerate_count(scores, count):
    """Return log P(ΣY = count) and E[Y_j | count] − σ(f_j), from every labeling with that count."""
    scores = np.asarray(scores, dtype=float)
    chosen = list(itertools.combinations(range(len(scores)), count))
    labelings = np.zeros((len(chosen), len(scores)))
    for labeling, positives in zip(labelings, chosen, strict=True):
        labeling[list(positives)] = 1
    log_weights = np.where(labelings == 1, log_expit(scores), log_expit(-scores)).sum(axis=1)
    log_prob = logsumexp(log_weights)
    return log_prob, np.exp(log_weights - log_prob) @ labelings - expit(scores)


def convolved_pmf(scores):
    """Return P(ΣY = s) for s = 0 … n, one row at a time."""
    pmf = np.ones(1)
    for score in scores:
        pmf = convolve(pmf, [expit(-score), expit(score)], method="direct")
    return pmf


def convolved_count(scores, count):
    """Return log P(ΣY = count) and its slope, leaving out each row in turn."""
    prob = convolved_pmf(scores)[count]
    rest = [convolved_pmf(np.delete(scores, j))[count - 1] for j in range(len(scores))]
    return math.log(prob), expit(scores) * rest / prob - expit(scores)


def log_recursion(scores, count):
    """Return log P(ΣY = count), by logarithms of P(S_j = s) only: no scale can hurt it."""
    logs = np.full(count + 1, -np.inf)
    logs[0] = 0.0
    for score in scores:
        stay = logs + log_expit(-score)
        move = np.append(-np.inf, logs[:-1] + log_expit(score))
        logs = np.logaddexp(stay, move)
    return logs[count]


def noisy_count_density(scores, count, noise_sd):
    """Return log Σ_s P(ΣY = s)·N(count; s, noise_sd²)."""
    pmf = convolved_pmf(scores)
    distance = (count - np.arange(len(pmf))) / noise_sd
    normal = np.exp(-0.5 * distance**2) / (noise_sd * math.sqrt(2 * math.pi))
    return math.log(pmf @ normal)


def proportion_cross_entropy(scores, bags, proportion_of):
    """Return (1/M)·Σ_k (n_k/n̄)·CE(p_k, mean_k σ(f)), bag by bag."""
    names = sorted(set(bags))
    mean_size = len(scores) / len(names)
    total = 0.0
    for name in names:
        probs = [1 / (1 + math.exp(-f)) for f, bag in zip(scores, bags, strict=True) if bag == name]
        mean, p = sum(probs) / len(probs), proportion_of[name]
        cross_entropy = -(p * math.log(mean) if p else 0) - ((1 - p) * math.log(1 - mean))
        total += len(probs) / mean_size * cross_entropy
    return total / len(names)


def enumerate_weights(probabilities, weights):
    """Return Σ_k ν_k·P(ΣY = k) and P(Y_j=1 | ν), from all labelings of the rows."""
    probabilities = np.asarray(probabilities, dtype=float)
    labelings = np.array(list(itertools.product([0, 1], repeat=len(probabilities))))
    each = np.where(labelings == 1, probabilities, 1 - probabilities).prod(axis=1)
    each *= np.asarray(weights)[labelings.sum(axis=1)]
    return each.sum(), each @ labelings / each.sum()


def random_ranges(rng, size, n_classes, width):
    """Return the ends of ranges that contain the counts of random labels."""
    counts = rng.multinomial(size, np.full(n_classes, 1 / n_classes))
    low = np.maximum(counts - rng.integers(0, width + 1, n_classes), 0)
    return low, np.minimum(counts + rng.integers(0, width + 1, n_classes), size)


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
