"""
Do uncertain noise rates matter?
================================

An audit of 200 rows per source leaves intervals. Refit the model at random rates within them: if
predictions and accuracy hardly change, no further rows need to be checked.
"""

# %%
# Two sources label digits: has it a loop (0, 6, 8, 9)? True labels simulate sources and audit.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from decorrupt import ForwardSourcesClassifier, estimate_noise_rates_from_audit
from decorrupt.corruption import corrupt_labels

rng = np.random.default_rng(0)
X, digit = load_digits(return_X_y=True)
X, truth = X / 16, np.isin(digit, (0, 6, 8, 9)).astype(int)
who = rng.choice(["ann", "bob"], len(X))
label = corrupt_labels(truth, [(0.1, 0.05) if name == "ann" else (0.3, 0.2) for name in who], 0)
audit = estimate_noise_rates_from_audit(y_noisy=label[:400], y_true=truth[:400], sources=who[:400])

# %%
# A model at the estimated rates, and models at 15 random rates within the 90 % intervals.
ends = {name: np.array([*own.values()]).T for name, own in audit.intervals.items()}
drawn = [{name: tuple(rng.uniform(*own)) for name, own in ends.items()} for _ in range(15)]
predictions = []
for rates in (audit.rates, *drawn):
    model = ForwardSourcesClassifier(random_state=0)
    model.fit(X[:1200], label[:1200], sources=who[:1200], noise_rates=rates)
    predictions.append(model.predict(X[1200:]))
changed = np.mean(predictions != predictions[0], axis=1)
accuracy = np.mean(predictions == truth[1200:], axis=1)

# %%
_, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(changed, accuracy, "o")
axis.set(xlabel="share of predictions that change", ylabel="accuracy on other rows")
plt.show()
