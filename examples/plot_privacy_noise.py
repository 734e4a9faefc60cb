"""
Counts with noise that protects privacy
=======================================

An office releases the counts of small groups with geometric noise, so that no person can be
identified: the smaller ε, the more noise. Does it help to state the noise to the model? The
functions are those of ``examples/privacy_noise.py``.
"""

# %%
# Bags of 8 rows. With ε = 0.1 the standard deviation of the noise is 14, more than a bag has rows.
import matplotlib.pyplot as plt
import numpy as np

from privacy_noise import BAG_SIZE, compare, released

LEVELS = (0.1, 0.2, 0.5, 1.0, 2.0)
REPEATS, N_BAGS = 5, 300

rng = np.random.default_rng(0)
for epsilon in LEVELS:
    noise = released(rng, np.zeros(100_000), epsilon)
    kept = np.mean(noise == 0)
    print(f"ε = {epsilon}: standard deviation {noise.std():.1f}, unchanged counts {kept:.0%}")

# %%
# Two models per level and repetition: one takes the released counts, clipped to 0 … 8, for exact
# ones; the other is given ``count_noise=GeometricNoise(ε)``. Both are tested on the same rows.
found = np.array(
    [[compare(epsilon, N_BAGS, seed) for seed in range(REPEATS)] for epsilon in LEVELS]
)
exact = np.mean([compare(np.inf, N_BAGS, seed)[0] for seed in range(REPEATS)])
means, errors = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(REPEATS)
for epsilon, mean, error in zip(LEVELS, means, errors, strict=True):
    print(f"ε = {epsilon}: ignored {mean[0]:.3f} ± {error[0]:.3f}", end="   ")
    print(f"stated {mean[1]:.3f} ± {error[1]:.3f}")
print(f"exact counts: {exact:.3f}")

# %%
# Left: the true count and the released one for two levels. Right: balanced accuracy.
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
counts = rng.integers(0, BAG_SIZE + 1, N_BAGS)
for epsilon, colour in ((0.2, "tab:orange"), (1.0, "tab:blue")):
    shift = rng.uniform(-0.25, 0.25, N_BAGS)
    left.scatter(
        counts + shift, released(rng, counts, epsilon), s=9, alpha=0.6, color=colour,
        label=f"ε = {epsilon}",
    )  # fmt: skip
left.axhspan(0, BAG_SIZE, color="tab:gray", alpha=0.2, label="possible counts")
left.set(xlabel="true count of the bag", ylabel="released count", title="What is released")
left.legend()
for column, name in enumerate(("noise ignored", "noise stated")):
    right.errorbar(LEVELS, means[:, column], errors[:, column], marker="o", capsize=3, label=name)
right.axhline(exact, color="grey", linestyle=":", label="exact counts")
right.set(xscale="log", xlabel="ε (less noise to the right)", ylabel="balanced accuracy")
right.set_title("What is learned")
right.set_xticks(LEVELS, LEVELS)
right.minorticks_off()
right.legend()
plt.show()

# %%
# With ε = 1 more than half of the counts are changed, and nothing is lost: stating the noise has no
# benefit either. With ε = 0.2, where nine of ten counts are wrong, the model that knows the noise
# loses .010 and the one that does not .050; with ε = 0.1 they lose .033 and .120. The noise of one
# bag is large, but it is independent between 300 bags, and a count of 25 of 8 is known to be noise
# only if the noise is stated. In larger bags the same noise is a smaller part of the count.
