"""
Designing bags that keep the information
========================================

Whoever publishes aggregates may choose which rows form a bag. Here the earlier half of the rows is
published in random bags of 10. A model trained on them predicts a score for the later half, and
:func:`decorrupt.datasets.design_bags` forms bags of rows with similar scores. The labels of test
rows measure the models.
"""

# %%
# Ten columns, three of which matter; a model sees the share of each bag only.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score

from decorrupt import CountLikelihoodClassifier
from decorrupt.datasets import design_bags
from decorrupt.theory import information

SIZES = (5, 10, 20, 50, 100)


def draw_rows(n_rows, rng):
    """Return ten columns, three of which matter, and labels."""
    X = rng.normal(size=(n_rows, 10))
    labels = rng.random(n_rows) < expit(2 * X[:, 0] - 1.5 * X[:, 1] + X[:, 2] - 1)
    return X, labels


def fit(X, labels, bags):
    """Return a model that sees the share of each bag only, and the information V of the bags."""
    sizes = np.bincount(bags)
    shares = np.bincount(bags, labels) / sizes
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-3, starts=("intercept",))
    return model.fit(X, shares[bags], bags=bags), float(information(sizes, shares))


# %%
# Random bags and designed bags of the same rows, by the size of the smallest bag.
def compare(sizes=SIZES, n_draws=5, n_rows=1000):
    """Return {(kind, size): (mean V, mean balanced accuracy on test rows)}."""
    found = {(kind, size): [] for kind in ("random", "designed") for size in sizes}
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        earlier, later, test = (draw_rows(n, rng) for n in (n_rows, n_rows, 10_000))
        first, _ = fit(*earlier, rng.permutation(n_rows) // 10)
        score = first.decision_function(later[0])
        for size in sizes:
            for kind, bags in (
                ("random", rng.permutation(n_rows) // size),
                ("designed", design_bags(later[0], score, size=size)),
            ):
                model, worth = fit(*later, bags)
                accuracy = balanced_accuracy_score(test[1], model.predict(test[0]) == 1)
                found[kind, size].append((worth, accuracy))
    return {key: tuple(np.mean(values, axis=0)) for key, values in found.items()}


# %%
# The information V of random bags falls with their size; designed bags keep it, and with it the
# accuracy. In bags of 5 random bags are slightly better: there is little left to design.
found = compare()
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for kind in ("random", "designed"):
    print(kind, [f"{size}: V {found[kind, size][0]:.0f}" for size in SIZES])
    ax.plot(SIZES, [found[kind, size][1] for size in SIZES], marker="o", label=f"{kind} bags")
ax.set(xscale="log", xlabel="rows in the smallest bag", ylabel="balanced accuracy on test rows")
ax.set_xticks(SIZES, SIZES)
ax.minorticks_off()
ax.legend()
plt.show()
