r"""
Optimal source weights
======================

Ten sources label 100 rows each. Nine are good; the tenth gets worse from step to step. With equal
weights it spoils the result. Optimal weights, w ∝ n(1−ρ₊−ρ₋)²/(1+\|ρ₊−ρ₋\|)², reduce its
influence.
"""

# %%
# Theorem 2 of Scott & Zhang (2019) bounds the error of the corrected risk by a factor √(Σw²c²).
# :func:`~decorrupt.theory.weights_comparison` computes it for uniform and for optimal weights.
import matplotlib.pyplot as plt
import numpy as np

from decorrupt import CorruptedSourcesClassifier
from decorrupt.datasets import make_corrupted_sources
from decorrupt.theory import weights_comparison

NOISE = np.array([0.01, 0.1, 0.2, 0.3, 0.4, 0.45, 0.48, 0.49])
REPEATS = 8
COMBINE = {"uniform": "uniform_sources", "optimal": "sources"}

factors = {
    scheme: [
        weights_comparison([100] * 10, [0.01] * 9 + [rate], [0.01] * 9 + [rate]).factors[scheme]
        for rate in NOISE
    ]
    for scheme in COMBINE
}

# %%
# The same with models: linear classifiers of two Gaussian classes, whose balanced error is known
# exactly.
errors = {scheme: np.zeros((len(NOISE), REPEATS)) for scheme in COMBINE}
for place, rate in enumerate(NOISE):
    rates = dict.fromkeys(range(9), (0.01, 0.01)) | {9: (rate, rate)}
    for repeat in range(REPEATS):
        data = make_corrupted_sources(100, rates, mean=(1.0, 0.0, 0.0), random_state=repeat)
        for scheme in COMBINE:
            model = CorruptedSourcesClassifier(
                combine=COMBINE[scheme], kernel="linear",
                reg_strength=1e-2, risk_correction="abs",
            )  # fmt: skip
            model.fit(data.X, data.y, sources=data.sources, noise_rates=rates)
            offset = model.intercept_ - model.decision_threshold_
            errors[scheme][place, repeat] = data.population.linear_error(model.coef_, offset)

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for scheme, marker in zip(COMBINE, "os", strict=True):
    axes[0].semilogy(NOISE, factors[scheme], marker=marker, label=f"{scheme} weights")
    mean = errors[scheme].mean(axis=1)
    spread = errors[scheme].std(axis=1, ddof=1) / np.sqrt(REPEATS)
    axes[1].errorbar(NOISE, mean, spread, marker=marker, capsize=3, label=f"{scheme} weights")
axes[1].axhline(data.population.bayes_error, color="grey", linestyle=":", label="best possible")
axes[0].set(xlabel="flip rate of the tenth source", ylabel="Σw²c²", title="factor of the bound")
axes[1].set(xlabel="flip rate of the tenth source", title="balanced error of the model")
for axis in axes:
    axis.legend()
plt.show()

# %%
ratio = factors["uniform"][-1] / factors["optimal"][-1]
print(f"factor of the bound at 49 % noise: uniform / optimal = {ratio:.0f}")
for scheme in COMBINE:
    print(f"balanced error at 49 % noise, {scheme} weights: {errors[scheme][-1].mean():.3f}")
print(f"weight of the tenth source: {model.source_weights_[9]:.5f}")

# %%
# This is the paper's example, for which it says that the ratio "exceeds 100"; it is about 217. The
# weights need the rates. How to find them is shown in
# :ref:`sphx_glr_gallery_plot_noise_rates.py`.
