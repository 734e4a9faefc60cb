"""
Decision boundary from bags alone
=================================

Two half moons in bags of ten rows. The label of no row is known, only the share of positives in
each bag. The plot shows what a method sees, and the boundary that it finds.
"""

# %%
# The labels are used for two things: to compute the share of each bag, and to test the model at the
# end.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from decorrupt import CountLikelihoodClassifier
from decorrupt.datasets import make_bags

X_all, labels = make_moons(600, noise=0.3, random_state=0)
made = make_bags(labels, bag_size=10, random_state=0)
X, y, bags = X_all[made.rows], made.y, made.bags
X_test, y_test = make_moons(2000, noise=0.3, random_state=1)

print(f"{len(made.proportions)} bags with shares from {y.min():.1f} to {y.max():.1f}")

# %%
# :class:`~decorrupt.CountLikelihoodClassifier` maximises the likelihood of the count of positives
# in each bag, with a Gaussian kernel. The second model is the same method with true labels: every
# row is a bag of one row.
options = {"kernel_gamma": 2.0, "reg_strength": 1e-4, "random_state": 0}
from_bags = CountLikelihoodClassifier(**options).fit(X, y, bags=bags)
from_labels = CountLikelihoodClassifier(**options).fit(X, labels[made.rows])

# %%
# On the left, the colour of a row is the share of its bag: all that is known. On the right are the
# same rows with their true labels, and the boundaries of both models.
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
points = axes[0].scatter(*X.T, c=y, cmap="coolwarm", vmin=0, vmax=1, s=14)
axes[0].set_title("what is known: the share of each row's bag")
fig.colorbar(points, ax=axes[0], label="share of positives")
axes[1].scatter(*X.T, c=labels[made.rows], cmap="coolwarm", s=14, alpha=0.6)
for model, colour, style in ((from_bags, "black", "-"), (from_labels, "tab:green", "--")):
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="decision_function", plot_method="contour", levels=[0],
        colors=colour, linestyles=style, ax=axes[1],
    )  # fmt: skip
axes[1].set_title("true labels, and both boundaries")
lines = [Line2D([], [], color="black"), Line2D([], [], color="tab:green", linestyle="--")]
axes[1].legend(lines, ["from bags", "from labels"], loc="lower left")
plt.show()

# %%
# How far apart are the two? On new rows:
for name, model in {"60 shares": from_bags, "600 labels": from_labels}.items():
    print(f"trained on {name}: accuracy {model.score(X_test, y_test):.3f}")
some = np.random.default_rng(0).permutation(len(X))[:60]
few = CountLikelihoodClassifier(**options).fit(X[some], labels[made.rows][some])
print(f"trained on 60 labels: accuracy {few.score(X_test, y_test):.3f}")

# %%
# The standard error of each accuracy is .007: sixty shares lead to about the same model as 600
# labels here, and to a slightly better one than 60 labels, although no share belongs to a single
# row.
