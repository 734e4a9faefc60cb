"""
Estimating noise rates
======================

Four annotators label digits: has it a loop (0, 6, 8, 9) or not? Nobody knows how often each of
them is wrong. Two ways to find out: check some rows by hand, or use the noisy labels and the
pixels alone.
"""

# %%
# True labels simulate the annotators and the checks.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from decorrupt import (
    CorruptedSourcesClassifier,
    estimate_noise_rates,
    estimate_noise_rates_from_audit,
)
from decorrupt.corruption import corrupt_labels

RATES = {"ann": (0.10, 0.05), "bob": (0.30, 0.05), "cy": (0.45, 0.10), "dot": (0.50, 0.20)}
pixels, digit = load_digits(return_X_y=True)
X, X_test, truth, y_test = train_test_split(
    pixels / 16, np.isin(digit, (0, 6, 8, 9)).astype(int), test_size=0.25, random_state=0
)
who = np.array(list(RATES))[np.random.default_rng(0).permutation(len(X)) % 4]
label = corrupt_labels(truth, [RATES[name] for name in who], random_state=0)

# %%
# An audit of 50 random rows per annotator, and the estimate without any check. The latter needs
# some rows whose class is certain; digits have many of them.
checked = np.concatenate([np.flatnonzero(who == name)[:50] for name in RATES])
estimates = {
    "50 checked rows each": estimate_noise_rates_from_audit(
        y_noisy=label[checked], y_true=truth[checked], sources=who[checked]
    ),
    "no checked rows": estimate_noise_rates(X, label, sources=who, random_state=0),
}

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
for place, (axis, kind) in enumerate(zip(axes, ("flip_pos", "flip_neg"), strict=True)):
    for shift, (name, found) in zip((-0.12, 0.12), estimates.items(), strict=True):
        for row, annotator in enumerate(RATES):
            low, high = found.intervals[annotator][kind]
            colour = "tab:blue" if shift < 0 else "tab:orange"
            axis.plot([low, high], [row + shift] * 2, color=colour, linewidth=3, alpha=0.6)
            axis.plot(found.rates[annotator][place], row + shift, "o", color=colour,
                      label=name if row == 0 else None)  # fmt: skip
    axis.scatter([pair[place] for pair in RATES.values()], range(4), marker="x", color="black",
                 label="true rate", zorder=3)  # fmt: skip
    axis.set(title=kind, xlabel="rate, with 90 % interval", xlim=(-0.02, 0.75))
axes[0].set_yticks(range(4), list(RATES))
axes[0].invert_yaxis()
axes[1].legend(loc="lower right")
plt.show()

# %%
# Do the estimated rates help? The model minimises the share of wrong rows, for which noise matters.
model = CorruptedSourcesClassifier(
    decision="accuracy", reg_strength=1e-3, risk_correction="abs", random_state=0
)
trained = {
    "no rates: labels taken as correct": (0.0, 0.0),
    **{f"rates from {name}": found.rates for name, found in estimates.items()},
    "the true rates": RATES,
}
for name, rates in trained.items():
    score = model.fit(X, label, sources=who, noise_rates=rates).score(X_test, y_test)
    print(f"{name:<38} accuracy {score:.3f}")
print(f"{'(trained on true labels)':<38} accuracy {model.fit(X, truth).score(X_test, y_test):.3f}")

# %%
# Labels taken as correct cost twelve points; both estimates recover most of them. (The standard
# error of these accuracies is .01, so the last two lines do not differ.) The rates without checks
# are more precise here than those of 50 checked rows, because all labels are used; but they depend
# on an assumption that the labels cannot test, see :doc:`/understand/noise_rates`.
