"""A table of margins against the same likelihood with one row per voter: time and memory.

Places with two groups and three outcomes. The left side is EcologicalInference with 20 draws, for
the table alone; the right side CountLikelihoodClassifier with a linear kernel on one-hot groups.
"""

import tracemalloc
import warnings

import numpy as np

from decorrupt import CountLikelihoodClassifier, EcologicalInference
from measuring import Figure, run, seconds_of

RATES = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
# Full and quick sizes.
PLACES, VOTERS = (200, 60), (1000, 400)


def problem(n_places, n_voters, seed=0):
    """Return groups and outcomes of places, and the group, bag and shares of every voter."""
    rng = np.random.default_rng(seed)
    first = rng.binomial(n_voters, rng.uniform(0.1, 0.9, n_places))
    groups = np.column_stack([first, n_voters - first])
    outcomes = sum(np.array([rng.multinomial(n, RATES[r]) for n in groups[:, r]]) for r in (0, 1))
    group = np.concatenate([np.repeat([0, 1], own) for own in groups])
    bags = np.repeat(np.arange(n_places), n_voters)
    return groups, outcomes, np.eye(2)[group], (outcomes / n_voters)[bags], bags


def peak(function):
    """Return the most memory that Python's objects and arrays needed, in bytes."""
    tracemalloc.start()
    function()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def measure(quick):
    warnings.simplefilter("ignore")
    n_places, n_voters = PLACES[quick], VOTERS[quick]
    groups, outcomes, X, y, bags = problem(n_places, n_voters)

    def margins():
        return EcologicalInference(n_draws=20).fit(groups, outcomes)

    def voters():
        strength = 1 / (4 * len(X))
        model = CountLikelihoodClassifier(kernel="linear", reg_strength=strength)
        return model.fit(X, y, bags=bags)

    (ours, _), (theirs, _) = seconds_of(voters, margins, repeats=1)
    what = f"one row per voter ÷ margins, {n_places} places of {n_voters}"
    yield Figure(f"time: {what}", ours / theirs, at_least=100, note=f"{ours:.1f} s, {theirs:.3f} s")
    memory = peak(voters), peak(margins)
    note = f"{memory[0] / 1e6:.1f} MB, {memory[1] / 1e6:.1f} MB"
    yield Figure(f"memory: {what}", memory[0] / memory[1], note=note)


if __name__ == "__main__":
    run(measure)
