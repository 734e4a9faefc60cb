"""An election: who voted for which party, learned from precinct results.

The electorate is synthetic, so that the truth is known. Every voter has an age, an income, years of
education and a degree of urbanity; published are these columns of the register of voters and, per
precinct, the results of three parties. Compared are

- the group rate: every voter has the result of the precinct;
- ecological regression: the precincts' results regressed on the precincts' means, applied to the
  voters' own columns. A result of a precinct is not what a voter does, which is why it errs;
- the count likelihood of the library, which models every voter and fits the counts.

Run it: python examples/election.py [number of precincts]
"""

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import scale

from decorrupt import AutoLabelProportionsClassifier

PARTIES = np.array(["Green", "Labour", "Union"])
COLUMNS = ("age", "income", "education", "urbanity")
N_PRECINCTS, VOTERS = 60, 80
# Log-odds of each party per standard deviation of a column; and of age squared: Labour is weak
# among the young and the old, which means of precincts hardly show.
SLOPES = np.array([[-1.6, 0.2, 1.4], [0.6, -1.2, 0.8], [1.0, -0.8, -0.4], [1.2, 0.2, -1.4]])
CURVE = np.array([0.5, -1.0, 0.5])


@dataclass
class Electorate:
    """Voters (columns as in COLUMNS) and their precincts.

    No model sees their votes, nor the probabilities from which the votes were drawn.
    """

    X: NDArray[np.float64]
    precincts: NDArray[np.intp]
    votes: NDArray[np.intp]
    probabilities: NDArray[np.float64]

    @property
    def results(self) -> NDArray[np.float64]:
        """The published share of each party, one row per precinct."""
        counts = [np.bincount(self.precincts, self.votes == c) for c in range(len(PARTIES))]
        return np.array(counts).T / np.bincount(self.precincts)[:, None]


def draw_electorate(n_precincts=N_PRECINCTS, seed=0):
    """Return voters whose precincts differ: income, education and urbanity cluster by place."""
    rng = np.random.default_rng(seed)
    precincts = np.repeat(np.arange(n_precincts), VOTERS)
    place = rng.normal(size=(n_precincts, 4)) * [0.4, 0.6, 0.6, 0.9]
    z = place[precincts] + rng.normal(size=(len(precincts), 4)) * [0.9, 0.8, 0.8, 0.4]
    prob = softmax(z @ SLOPES + z[:, :1] ** 2 * CURVE, axis=1)
    votes = (rng.random((len(z), 1)) > prob.cumsum(axis=1)).sum(axis=1)
    X = np.column_stack(
        [50 + 16 * z[:, 0], 40 * np.exp(0.4 * z[:, 1]), 13 + 2.5 * z[:, 2], z[:, 3]]
    )
    return Electorate(X, precincts, votes, prob)


def group_rate(electorate):
    """Return the results of every voter's precinct."""
    return electorate.results[electorate.precincts]


def ecological_regression(electorate):
    """Return the shares that a regression on precinct means predicts for single voters."""
    X, precincts = scale(electorate.X), electorate.precincts
    sizes = np.bincount(precincts)
    means = np.array([np.bincount(precincts, column) for column in X.T]).T / sizes[:, None]
    found = LinearRegression().fit(means, electorate.results, sample_weight=sizes).predict(X)
    found = np.clip(found, 1e-3, None)
    return found / found.sum(axis=1, keepdims=True)


def from_counts(electorate):
    """Return the probabilities of the automatic choice, trained on the precincts' results."""
    model = AutoLabelProportionsClassifier(
        candidates=["mean_map", "count_likelihood"],
        kernel_gammas=["scale"],
        cv=3,
        decision="accuracy",
        random_state=0,
    )
    X, y = scale(electorate.X), group_rate(electorate)
    return model.fit(X, y, bags=electorate.precincts).predict_proba(X)


METHODS = {
    "precinct result": group_rate,
    "ecological regression": ecological_regression,
    "decorrupt": from_counts,
    "true probabilities": lambda electorate: electorate.probabilities,  # the best that is possible
}


def support(votes, age):
    """Return the mean of rows of votes by age group: below 35, 35 to 64, 65 and above."""
    group = np.digitize(age, [35, 65])
    return np.array([votes[group == g].mean(axis=0) for g in range(3)])


def compare(electorate):
    """Return the accuracy, macro recall and support by age group of every method."""
    truth = np.eye(len(PARTIES))[electorate.votes]
    age, found = electorate.X[:, 0], {}
    for name, method in METHODS.items():
        prob = method(electorate)
        predicted = prob.argmax(axis=1)
        found[name] = {
            "accuracy": float(np.mean(predicted == electorate.votes)),
            "macro recall": float(balanced_accuracy_score(electorate.votes, predicted)),
            "support": support(prob, age),
            "error": float(np.abs(support(prob, age) - support(truth, age)).mean()),
        }
    return found


def report(electorate, found):
    """Print the table of all methods, and the support of each party by age group."""
    print(f"{'':<22} {'accuracy':>8} {'macro recall':>12} {'error of support':>16}")
    for name, one in found.items():
        shown = f"{one['accuracy']:>8.3f} {one['macro recall']:>12.3f} {one['error']:>16.3f}"
        print(f"{name:<22} {shown}")
    truth = support(np.eye(len(PARTIES))[electorate.votes], electorate.X[:, 0])
    rows = {"truth": truth} | {name: one["support"] for name, one in found.items()}
    print(f"\n{'support by age group':<22} {'   '.join(f'{party:>16}' for party in PARTIES)}")
    print(f"{'':<22} {'   '.join(len(PARTIES) * ['  <35 35-64  65+'])}")
    for name, one in rows.items():
        shares = ["".join(f"{share:>5.0%}" for share in party) for party in one.T]
        print(f"{name:<22} {'    '.join(shares)}")


def main(n_precincts=N_PRECINCTS):
    """Print the comparison."""
    electorate = draw_electorate(n_precincts)
    print(f"{len(electorate.votes)} voters in {n_precincts} precincts of {VOTERS}\n")
    report(electorate, compare(electorate))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
