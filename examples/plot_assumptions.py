"""
What the bags satisfy, and what it costs to ignore it
=====================================================

Methods for bags assume either (A) that the rows of a class look the same in every bag, or (B) that
rows with equal features have equal class probabilities in every bag. Real bags are precincts and
hospitals: they may satisfy one, the other, or neither. :func:`decorrupt.check_assumptions` tests
both, without labels.
"""

# %%
# Four cases of two Gaussian classes in two columns, 50 bags of 20 rows. In the case "feature" the
# bags are slices of the first column.
import warnings
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score, log_loss

from decorrupt import CountLikelihoodClassifier, MeanMapClassifier, check_assumptions

REPEATS, N_BAGS, BAG_SIZE, N_TEST = 5, 50, 20, 4000
MEAN = np.array([0.8, 0.8])
CASES = {
    "random": "rows drawn at random: both assumptions hold",
    "priors": "bags with different priors: class distributions are common, P(y|x) is not",
    "feature": "bags by the first column: P(y|x) is common, class distributions are not",
    "effect": "bags whose log-odds have a part of their own: neither holds",
}


def draw_rows(case, bags, rng):
    """Return rows and labels; a bag's effect shifts the log-odds of its prior or of its labels."""
    effect = 1.5 * rng.normal(size=bags.max() + 1)[bags]
    labels = rng.random(len(bags)) < (expit(effect) if case == "priors" else 0.5)
    X = rng.normal(size=(len(bags), 2)) + np.where(labels, 1, -1)[:, None] * MEAN
    if case == "effect":
        labels = rng.random(len(bags)) < expit(2 * X @ MEAN + effect)
    return X, labels


def draw(case, seed):
    """Return rows in bags of known shares, and test rows of equal class shares with labels."""
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(N_BAGS), BAG_SIZE)
    X, labels = draw_rows(case, bags, rng)
    if case == "feature":
        order = np.argsort(X[:, 0])
        X, labels = X[order], labels[order]
    y = (np.bincount(bags, labels) / BAG_SIZE)[bags]
    test_case = "effect" if case == "effect" else "random"
    X_test, y_test = draw_rows(test_case, np.arange(N_TEST), rng)
    return SimpleNamespace(X=X, y=y, bags=bags, X_test=X_test, y_test=y_test.astype(int))


draws = {case: [draw(case, seed) for seed in range(REPEATS)] for case in CASES}
reports = {
    case: check_assumptions(data[0].X, data[0].y, bags=data[0].bags, random_state=0)
    for case, data in draws.items()
}
for case, report in reports.items():
    print(f"--- {case}: {CASES[case]}\n{report}\n")

# %%
# What does it cost to use a method whose assumption fails? The mean map needs (A), the count
# likelihood (B). The bag effect is an extra variance of the bags' shares, for bags that satisfy
# neither.
METHODS = {
    "mean map (A)": MeanMapClassifier(kernel="linear", reg_strength=1e-3),
    "count likelihood (B)": CountLikelihoodClassifier(kernel="linear", reg_strength=1e-3),
    "count likelihood, bag effect": CountLikelihoodClassifier(
        kernel="linear", reg_strength=1e-3, bag_effect="estimate"
    ),
}


def lost(model, data):
    """Return the loss on test rows above that of the true log-odds 2⟨μ, x⟩: accuracy, log loss."""
    with warnings.catch_warnings():  # the mean map warns that (A) fails; here it does so on purpose
        warnings.simplefilter("ignore")
        model.fit(data.X, data.y, bags=data.bags)
    true = 2 * data.X_test @ MEAN
    hits = balanced_accuracy_score(data.y_test, model.predict(data.X_test))
    best = balanced_accuracy_score(data.y_test, true > 0)
    probability = model.predict_proba(data.X_test, class_prior=0.5)[:, 1]
    return best - hits, log_loss(data.y_test, probability) - log_loss(data.y_test, expit(true))


losses = {
    name: np.array([[lost(model, data) for data in draws[case]] for case in CASES])
    for name, model in METHODS.items()
}

# %%
# The p-values of both tests, and what each method loses.
fig, (tests, *costs) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
p_values = np.array(
    [[report.class_means.p_value, report.count_dispersion.p_value] for report in reports.values()]
)
tests.imshow(p_values > 0.05, cmap="RdYlGn", vmin=-0.7, vmax=1.7, aspect="auto")
for (row, column), p_value in np.ndenumerate(p_values):
    verdict = "rejected" if p_value <= 0.05 else "not rejected"
    tests.text(column, row, f"{verdict}\np = {p_value:.3f}", ha="center", va="center")
tests.set_xticks([0, 1], ["(A) common class\ndistributions", "(B) common\nP(y|x)"])
tests.set_yticks(range(4), list(CASES))
tests.set_title("What the tests find")

places = np.arange(len(CASES))
for measure, axis in enumerate(costs):
    for shift, (name, found) in zip((-0.27, 0, 0.27), losses.items(), strict=True):
        values = found[..., measure]
        error = values.std(axis=1, ddof=1) / np.sqrt(REPEATS)
        axis.bar(places + shift, values.mean(axis=1), 0.25, yerr=error, capsize=3, label=name)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xticks(places, list(CASES))
costs[0].set_title("Balanced accuracy below the best")
fig.legend(*costs[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
costs[1].set_title("Log loss above the best")
costs[1].set_yscale("symlog", linthresh=0.1)
plt.show()

# %%
print("balanced accuracy lost, log loss added")
for name, found in losses.items():
    means = zip(CASES, found.mean(axis=1), strict=True)
    print(f"{name:<29}", "  ".join(f"{case} {a:.3f}, {b:.3f}" for case, (a, b) in means))

# %%
# Ignoring (A) is expensive: with bags formed by a column, the mean map loses .043 and the
# count likelihood .003, and the mean map's probabilities are useless. Its own warnings (not shown
# here) say so. Where only (B) fails ("priors"), the count likelihood loses .001: priors that have
# nothing to do with the features do not change the direction of the boundary. Where bags have an
# effect of their own, every method loses, and probabilities suffer most: a bag effect reduces the
# excess log loss from .160 to .091.
#
# The test of (A) does not reject it in the case "effect", although it fails there: the classes
# differ too little between bags. A test that does not reject is not a proof; the report shows how
# large a difference would have been found. The penalty is the same for all methods and was not
# tuned. With a penalty ten times as large, the count likelihood loses .019 in the case "feature".
# See :doc:`/evidence/assumptions` for real data.
