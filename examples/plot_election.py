"""
An election with three parties
==============================

Precinct results are public, ballots are secret. Who votes for which party? The electorate is
synthetic, so that the truth is known: 4,800 voters in 60 precincts, with age, income, education and
urbanity. Every precinct publishes the results of three parties.
"""

# %%
# Log-odds of each party per standard deviation of a column, and of age squared: Labour is weak
# among the young and the old. Income, education and urbanity cluster by place. The results of
# precincts hardly show the effect of age, because every precinct has voters of all ages.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import scale

from decorrupt import AutoLabelProportionsClassifier

PARTIES = np.array(["Green", "Labour", "Union"])
N_PRECINCTS, VOTERS = 60, 80
SLOPES = np.array([[-1.6, 0.2, 1.4], [0.6, -1.2, 0.8], [1.0, -0.8, -0.4], [1.2, 0.2, -1.4]])
CURVE = np.array([0.5, -1.0, 0.5])

rng = np.random.default_rng(0)
precincts = np.repeat(np.arange(N_PRECINCTS), VOTERS)
place = rng.normal(size=(N_PRECINCTS, 4)) * [0.4, 0.6, 0.6, 0.9]
z = place[precincts] + rng.normal(size=(len(precincts), 4)) * [0.9, 0.8, 0.8, 0.4]
true_probabilities = softmax(z @ SLOPES + z[:, :1] ** 2 * CURVE, axis=1)
votes = (rng.random((len(z), 1)) > true_probabilities.cumsum(axis=1)).sum(axis=1)
age = 50 + 16 * z[:, 0]
columns = np.column_stack([age, 40 * np.exp(0.4 * z[:, 1]), 13 + 2.5 * z[:, 2], z[:, 3]])

counts = np.array([np.bincount(precincts, votes == party) for party in range(3)]).T
results = counts / VOTERS
print("results of the first precincts, in %:", *PARTIES)
print((100 * results[:3]).round(1))

# %%
# Four answers: the result of the voter's precinct; ecological regression, which regresses results
# on the means of precincts; the automatic choice of decorrupt, trained on the counts; and the
# probabilities from which the votes were drawn, which nobody has.
X = scale(columns)


def ecological_regression():
    """Return the shares that a regression on precinct means predicts for single voters."""
    means = np.array([np.bincount(precincts, column) for column in X.T]).T / VOTERS
    found = np.clip(LinearRegression().fit(means, results).predict(X), 1e-3, None)
    return found / found.sum(axis=1, keepdims=True)


model = AutoLabelProportionsClassifier(
    candidates=["mean_map", "count_likelihood"],
    kernel_gammas=["scale"],
    cv=3,
    decision="accuracy",
    random_state=0,
)
found = {
    "precinct result": results[precincts],
    "ecological regression": ecological_regression(),
    "decorrupt": model.fit(X, results[precincts], bags=precincts).predict_proba(X),
    "true probabilities": true_probabilities,
}

# %%
# How many votes are right, and how far is the support of the parties from the votes, in three age
# groups: below 35, 35 to 64, 65 and above?
group = np.digitize(age, [35, 65])


def support(shares):
    """Return the support of each party, one row per age group."""
    return np.array([shares[group == g].mean(axis=0) for g in range(3)])


truth = support(np.eye(3)[votes])
scores = {}
print(f"{'':<22} {'accuracy':>8} {'macro recall':>12} {'error of support':>16}")
for name, shares in found.items():
    chosen = shares.argmax(axis=1)
    recall = balanced_accuracy_score(votes, chosen)
    scores[name] = np.mean(chosen == votes), recall, np.abs(support(shares) - truth).mean()
    print("{:<22} {:>8.3f} {:>12.3f} {:>16.3f}".format(name, *scores[name]))

print(f"\n{'support of Labour':<22} {'<35':>8} {'35-64':>8} {'65+':>8}")
for name, by_age in {"truth": truth, **{name: support(s) for name, s in found.items()}}.items():
    print("{:<22} {:>8.0%} {:>8.0%} {:>8.0%}".format(name, *by_age[:, 1]))

# %%
# The support of each party by age. The black line is the truth: the share of the votes.
edges = np.quantile(age, np.linspace(0, 1, 13))
band = np.digitize(age, edges[1:-1])
middle = np.array([age[band == b].mean() for b in range(12)])
STYLES = {
    "precinct result": {"color": "tab:gray", "linestyle": ":"},
    "ecological regression": {"color": "tab:orange", "linestyle": "--"},
    "decorrupt": {"color": "tab:blue", "marker": "o", "markersize": 4},
}
fig, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for party, axis in enumerate(axes):
    share_of_votes = [np.mean(votes[band == b] == party) for b in range(12)]
    axis.plot(middle, share_of_votes, color="black", linewidth=2, label="truth")
    for name, style in STYLES.items():
        axis.plot(
            middle, [found[name][band == b, party].mean() for b in range(12)], label=name, **style
        )
    axis.set(title=PARTIES[party], xlabel="age", ylim=(0, 1))
axes[0].set_ylabel("share of votes")
axes[1].legend()
plt.show()

# %%
# From 60 rows of results, decorrupt recovers 80.4 % of the votes; with the true probabilities it
# would be 81.4 %, with the result of the precinct 63.3 %. Ecological regression is not far behind
# in accuracy (77.5 %), but it sees straight lines only: Labour seems equally strong at every age.
# decorrupt finds that Labour is weaker among the young and the old, and still misses half of this
# curve: the spread of ages is the same in every precinct, so the results contain little about it.
# A confident answer about single groups of voters needs more precincts, or some that differ in
# age. :doc:`/howto/election_results` shows the same with tables.
