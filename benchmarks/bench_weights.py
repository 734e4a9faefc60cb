"""One row per person against one weighted row per category, with the same model.

A table of 40 districts has 12 categories of people each (age, sex, education); the share of voters
of each district is known. The models are equal because the count likelihood of a row of weight m is
that of m equal rows.
"""

import numpy as np

from decorrupt import CountLikelihoodClassifier
from measuring import Figure, run, seconds_of

BAR = 100
DISTRICTS, CATEGORIES = 40, (3, 2, 2)
PEOPLE, QUICK_PEOPLE = 400_000, 50_000
# A quick run measured 13.1.
QUICK_LIMIT = 13.1 / 1.5


def categories_and_votes(n_people: int, rng: np.random.Generator):
    """Return indicators of the categories, districts, numbers of people and of their votes."""
    cells = np.indices((DISTRICTS, *CATEGORIES)).reshape(4, -1)
    X = np.concatenate(
        [np.eye(n)[codes] for n, codes in zip(CATEGORIES, cells[1:], strict=True)], axis=1
    )
    share = rng.gamma(2.0, size=len(X))
    people = 1 + rng.multinomial(n_people - len(X), share / share.sum())
    prob = 1 / (1 + np.exp(1 - X @ rng.normal(size=X.shape[1])))
    return X, cells[0], people, rng.binomial(people, prob)


def measure(quick):
    n_people = QUICK_PEOPLE if quick else PEOPLE
    X, districts, people, votes = categories_and_votes(n_people, np.random.default_rng(0))
    y = (np.bincount(districts, votes) / np.bincount(districts, people))[districts]
    person = np.repeat(np.arange(len(X)), people)
    rows = X[person], y[person], districts[person]

    def fitted(X, y, bags, weights=None):
        model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-5)
        return model.fit(X, y, bags=bags, sample_weight=weights)

    (by_person, one), (by_category, other) = seconds_of(
        lambda: fitted(*rows), lambda: fitted(X, y, districts, people), repeats=1
    )
    apart = np.abs(one.coef_ - other.coef_).max()
    yield Figure(
        f"one row per person / weights, {n_people:,} people in {len(X):,} rows",
        by_person / by_category,
        at_least=BAR,
        quick_limit=QUICK_LIMIT,
        note=f"{by_person:.1f} s and {by_category:.3f} s; coefficients within {apart:.1g}",
    )


if __name__ == "__main__":
    run(measure)
