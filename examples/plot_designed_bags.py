"""
Designing bags that keep the information
========================================

Whoever publishes aggregates may choose which rows form a bag. Here the earlier half of the rows is
published in random bags of 10. A model trained on them predicts a score for the later half, and
rows with similar scores form the bags: intervals of the sorted score, as equal in size as possible.
"""

# %%
# Ten columns, three of which matter; a model sees the share of each bag only.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score

from decorrupt import CountLikelihoodClassifier
from decorrupt.theory import information

SIZES, N_ROWS = (5, 10, 20, 50, 100), 1000


def draw_rows(n_rows, rng):
    """Return rows and labels."""
    X = rng.normal(size=(n_rows, 10))
    return X, rng.random(n_rows) < expit(2 * X[:, 0] - 1.5 * X[:, 1] + X[:, 2] - 1)


def fit(X, labels, bags):
    """Return a model trained on the bags, and their information V."""
    shares = np.bincount(bags, labels) / np.bincount(bags)
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-3)
    return model.fit(X, shares[bags], bags=bags), float(information(np.bincount(bags), shares))


# %%
# Random and designed bags of the same rows.
found = {(kind, size): [] for kind in ("random", "designed") for size in SIZES}
for seed in range(5):
    rng = np.random.default_rng(seed)
    earlier, later, test = (draw_rows(n_rows, rng) for n_rows in (N_ROWS, N_ROWS, 10_000))
    first, _ = fit(*earlier, rng.permutation(N_ROWS) // 10)
    rank = np.argsort(np.argsort(first.decision_function(later[0])))
    for size in SIZES:
        for kind, order in (("random", rng.permutation(N_ROWS)), ("designed", rank)):
            model, worth = fit(*later, order // size)
            accuracy = balanced_accuracy_score(test[1], model.predict(test[0]) == 1)
            found[kind, size].append((worth, accuracy))
found = {key: tuple(np.mean(values, axis=0)) for key, values in found.items()}

# %%
# The information V of random bags falls with their size; designed bags keep it and the accuracy.
_, ax = plt.subplots()
for kind in ("random", "designed"):
    print(kind, *(f"{size}: V {found[kind, size][0]:.0f}" for size in SIZES), sep="  ")
    ax.plot(SIZES, [found[kind, size][1] for size in SIZES], marker="o", label=f"{kind} bags")
ax.set(xlabel="rows per bag", ylabel="balanced accuracy on test rows")
ax.legend()
plt.show()
