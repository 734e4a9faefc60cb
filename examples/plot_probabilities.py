"""
Probabilities for another prior, and decisions
==============================================

A model is trained where 20 % of the rows are positive and used where 60 % are. Its probabilities
are for the first population until it is told about the second.
"""

# %%
# Bags of ten rows with 20 % positives on average.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve

from decorrupt import CountLikelihoodClassifier
from decorrupt.datasets import make_bags, make_gaussian_classes

train = make_gaussian_classes(4000, class_prior=0.2, random_state=0)
made = make_bags(train.y, bag_size=10, random_state=0)
model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-4, random_state=0)
model.fit(train.X[made.rows], made.y, bags=made.bags)
new = make_gaussian_classes(20000, class_prior=0.6, random_state=1)

# %%
# The probabilities of the new rows are far too small without the new prior, and correct with it.
# The model was never trained on a label.
fig, axis = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
for prior, colour in ((None, "tab:blue"), (0.6, "tab:orange")):
    probability = model.predict_proba(new.X, class_prior=prior)[:, 1]
    share, mean = calibration_curve(new.y, probability, n_bins=10, strategy="quantile")
    axis.plot(mean, share, "o-", color=colour, label=f"class_prior={prior}")
axis.plot([0, 1], [0, 1], color="grey", linestyle=":")
axis.set(xlabel="mean predicted probability", ylabel="share of positives among new rows",
         title="calibration where 60 % are positive")  # fmt: skip
axis.legend()
plt.show()

# %%
# Three decisions by the same model. A threshold on the probability for the right prior minimises
# the expected cost; the balanced decision does not depend on the prior.
probability = model.predict_proba(new.X, class_prior=0.6)[:, 1]
decisions = {
    "balanced (predict)": model.predict(new.X) == 1,
    "accuracy": probability > 0.5,
    "a miss costs 5×": probability > 1 / (1 + 5),
}
kinds = {
    "misses": lambda flag: new.y[~flag].sum(),
    "false alarms": lambda flag: (1 - new.y)[flag].sum(),
}
fig, axis = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
bottom = np.zeros(len(decisions))
for name, count in kinds.items():
    heights = [count(flag) / len(new.y) for flag in decisions.values()]
    axis.bar(list(decisions), heights, bottom=bottom, label=name)
    bottom += heights
axis.set(ylabel="share of all new rows", title="errors of three decisions")
axis.legend()
plt.show()

# %%
print(f"{'decision':<22}{'accuracy':>9}{'balanced':>9}{'cost per row, miss 5×':>24}")
for name, flag in decisions.items():
    found, kept = flag[new.y == 1].mean(), (~flag)[new.y == 0].mean()
    cost = (5 * (new.y[~flag].sum()) + (1 - new.y)[flag].sum()) / len(new.y)
    print(f"{name:<22}{np.mean(flag == new.y):>9.3f}{(found + kept) / 2:>9.3f}{cost:>24.3f}")

# %%
# Each decision is the best of the three by its own measure.
