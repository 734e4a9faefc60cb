"""
Pairs of bags and the superbag
==============================

The paper combines bags in pairs: one bag with many and one with few positives are treated as one
source with noisy labels. The default of this library, the *superbag*, uses all bags above the
pooled proportion against all bags below it. What does it gain?
"""

# %%
# The factor under the root of the generalisation bound is Σ(\|a\|+\|b\|)²/n, where a and b are the
# coefficients of a bag. Its inverse is the effective sample size, the number of labelled rows with
# the same bound. It depends on sizes and proportions only.
import matplotlib.pyplot as plt
import numpy as np

from decorrupt.corruption import combine_bags, pair_bags

rng = np.random.default_rng(0)
SETTINGS = {
    "40 bags of 16,\nrandom, π = ½": ([16] * 40, rng.binomial(16, 0.5, 40) / 16),
    "40 bags of 16,\nuniform shares": ([16] * 40, rng.integers(0, 17, 40) / 16),
    "5 to 60 rows,\nuniform shares": (rng.integers(5, 61, 40), rng.uniform(0, 1, 40)),
    "9 bags alike,\n1 outlier": ([16] * 10, np.array([0.9] + [0.3] * 9)),
}
COMBINATIONS = {
    "optimal pairs": "pairs",
    "least squares": "least_squares",
    "superbag": "superbag",
}


def sample_size(sizes, shares, method):
    """Return the effective sample size of a combination."""
    coef = combine_bags(sizes, shares, method=method)
    return 1 / np.sum(np.abs(coef).sum(axis=1) ** 2 / np.asarray(sizes))


table = {
    setting: {name: sample_size(sizes, shares, method) for name, method in COMBINATIONS.items()}
    for setting, (sizes, shares) in SETTINGS.items()
}
for setting, row in table.items():
    words = setting.replace("\n", " ")
    print(f"{words:<32}" + "  ".join(f"{name} {value:6.1f}" for name, value in row.items()))

# %%
# Left: the optimal pairs of 20 bags join large with small proportions. Right: the effective sample
# sizes, relative to the superbag.
sizes, shares = SETTINGS["5 to 60 rows,\nuniform shares"]
sizes, shares = sizes[:20], shares[:20]
pos, neg, _ = pair_bags(shares, sizes)
pairs = np.stack([pos, neg])
fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", width_ratios=[1, 1.5])
axes[0].plot(sizes[pairs], shares[pairs], color="tab:grey", linewidth=1)
axes[0].scatter(sizes, shares, c=shares, cmap="coolwarm", vmin=0, vmax=1, zorder=2)
axes[0].set(xlabel="rows in the bag", ylabel="share of positives", title="optimal pairs of 20 bags")
for shift, name in enumerate(COMBINATIONS):
    heights = [row[name] / row["superbag"] for row in table.values()]
    axes[1].bar(np.arange(len(table)) + 0.25 * (shift - 1), heights, 0.22, label=name)
axes[1].set_xticks(range(len(table)), list(table), fontsize=8)
axes[1].set(ylabel="relative to the superbag", title="effective sample size", ylim=(0, 1.35))
axes[1].legend(ncols=2, loc="upper left")
plt.show()

# %%
# With many bags of equal size, optimal pairs are within a few per cent of the superbag. Least
# squares, which is the mean map, is close too. The gain is large where a pairing has to leave bags
# out: one outlier has only one partner, and the other eight bags are not used.
