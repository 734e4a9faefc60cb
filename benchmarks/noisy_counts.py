"""Test log loss of the default λ where counts have noise, against λ = s/(2·C·n) of all rows.

    python benchmarks/noisy_counts.py

2,000 rows in random bags of 20, 16 draws; a constant has the log loss 0.693.
"""

import warnings

import numpy as np
from scipy.special import expit
from sklearn.metrics import log_loss

from decorrupt import CountLikelihoodClassifier, GeometricNoise, LaplaceNoise
from decorrupt.estimators.default_strength import COUNT_PRIOR_VARIANCE

SIZE, N_ROWS, SLOPES = 20, 2000, np.array([1.2, -0.8, 0, 0])


def draw(seed, noise):
    rng = np.random.default_rng(seed)
    X, bags = rng.normal(size=(N_ROWS, 4)), np.arange(N_ROWS) // SIZE
    labels = rng.random(N_ROWS) < expit(X @ SLOPES)
    X_test = rng.normal(size=(4000, 4))
    test_labels = rng.random(4000) < expit(X_test @ SLOPES)
    counts = np.bincount(bags, labels).astype(float)
    if isinstance(noise, LaplaceNoise):
        counts += rng.laplace(scale=noise.scale, size=len(counts))
    else:
        share = 1 - np.exp(-noise.epsilon)
        counts += rng.geometric(share, len(counts)) - rng.geometric(share, len(counts))
    return X, (counts / SIZE)[bags], bags, X_test, test_labels


def losses(kernel, noise, seed):
    """Return the log loss with λ of all rows, and with the default."""
    X, y, bags, X_test, labels = draw(seed, noise)
    size = X.var(axis=0).sum() if kernel == "linear" else 1.0
    found = []
    for reg_strength in (size / (2 * COUNT_PRIOR_VARIANCE * N_ROWS), "auto"):
        model = CountLikelihoodClassifier(
            kernel=kernel, count_noise=noise, reg_strength=reg_strength, random_state=0
        )
        model.fit(X, y, bags=bags)
        found.append(log_loss(labels, model.predict_proba(X_test)[:, 1]))
    return found


def main():
    warnings.simplefilter("ignore")
    for kernel in ("rbf", "linear"):
        for epsilon in (0.1, 0.3, 1.0):
            for noise in (GeometricNoise(epsilon), LaplaceNoise(1 / epsilon)):
                rows, auto = np.mean([losses(kernel, noise, seed) for seed in range(16)], axis=0)
                print(f"{kernel:<8}{noise!s:<40}all rows {rows:.3f}, auto {auto:.3f}", flush=True)


if __name__ == "__main__":
    main()
