"""Dawid & Skene (1979) written out with dictionaries and loops, and by enumeration."""

from itertools import product
from math import prod


def dawid_skene(labels, annotators, items, n_rounds):
    """Return (rates, prior, posteriors) after so many rounds of EM from the majority's shares."""
    votes = list(zip(labels, annotators, items, strict=True))
    posterior = {}
    for item in set(items):
        own = [label for label, _, of in votes if of == item]
        posterior[item] = sum(own) / len(own)
    for _ in range(n_rounds):
        rates, prior = maximise(votes, posterior)
        for item in posterior:
            own = [(label, who) for label, who, of in votes if of == item]
            pos = prior * prod(1 - rates[w][0] if v else rates[w][0] for v, w in own)
            neg = (1 - prior) * prod(rates[w][1] if v else 1 - rates[w][1] for v, w in own)
            posterior[item] = pos / (pos + neg)
    return *maximise(votes, posterior), posterior


def maximise(votes, posterior):
    rates = {}
    for annotator in {who for _, who, _ in votes}:
        own = [(label, posterior[item]) for label, who, item in votes if who == annotator]
        flip_pos = sum(p for label, p in own if not label) / sum(p for _, p in own)
        flip_neg = sum(1 - p for label, p in own if label) / sum(1 - p for _, p in own)
        rates[annotator] = (flip_pos, flip_neg)
    return rates, sum(posterior.values()) / len(posterior)


def likelihood(labels, annotators, items, rates, prior):
    """Return P(labels) as a sum over all assignments of true classes to items."""
    names = sorted(set(items))
    total = 0.0
    for classes in product([0, 1], repeat=len(names)):
        true = dict(zip(names, classes, strict=True))
        term = prod(prior if y else 1 - prior for y in classes)
        for label, who, item in zip(labels, annotators, items, strict=True):
            flip = rates[who][0] if true[item] else rates[who][1]
            term *= 1 - flip if label == true[item] else flip
        total += term
    return total
