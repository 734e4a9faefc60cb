"""How often dependent annotators are found, and independent ones are warned of.

    python benchmarks/annotator_dependence.py

Annotators are wrong at a rate between .1 and .35 and label 80 % of the items; the second copies the
first on a share of the items. Warnings are those of the 1 % level.
"""

import numpy as np

from decorrupt.noise_rates.annotators import _read_votes
from decorrupt.noise_rates.dawid_skene import dawid_skene
from decorrupt.noise_rates.dependence import DEPENDENCE_LEVEL, check_agreement

CASES = ((300, 4, 2), (300, 6, 2), (1000, 4, 2), (1000, 10, 2), (1000, 5, 3))
DRAWS = {0.0: 200, 0.3: 40, 0.6: 40}


def draw(rng, n_items, n_annotators, copied, n_classes):
    true, labels = rng.integers(0, n_classes, n_items), []
    for _ in range(n_annotators):
        rate = rng.uniform(0.1, 0.35)
        is_wrong = rng.random(n_items) < rate
        labels.append(
            np.where(is_wrong, (true + rng.integers(1, n_classes, n_items)) % n_classes, true)
        )
    if copied:
        labels[1] = np.where(rng.random(n_items) < copied, labels[0], labels[1])
    seen = [np.flatnonzero(rng.random(n_items) >= 0.2) for _ in labels]
    own = [one[items] for one, items in zip(labels, seen, strict=True)]
    annotators = np.repeat(np.arange(n_annotators), [len(items) for items in seen])
    return np.concatenate(own), annotators, np.concatenate(seen)


def is_warned(rng, *case):
    votes, *_ = _read_votes(*draw(rng, *case))
    rates, posterior, _ = dawid_skene(votes, votes.shares, np.ones(votes.n_items), 1000, 1e-5)
    return check_agreement(votes, rates, posterior.mean(axis=0)).p_value < DEPENDENCE_LEVEL


def main():
    for n_items, n_annotators, n_classes in CASES:
        for copied, draws in DRAWS.items():
            rng, case = np.random.default_rng(0), (n_items, n_annotators, copied, n_classes)
            warned = np.mean([is_warned(rng, *case) for _ in range(draws)])
            print(
                f"{n_items} items, {n_annotators} annotators, {n_classes} classes, copied "
                f"{copied:.0%}: warned in {warned:.1%} of {draws}",
                flush=True,
            )


if __name__ == "__main__":
    main()
