"""Three classes with labels from three sources, which the tests share."""

from types import SimpleNamespace

import numpy as np

from decorrupt.corruption import corrupt_labels

RATES = {
    "expert": np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]]),
    "crowd": np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]]),
    "rule": np.array([[0.7, 0.0, 0.3], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]),
}
CENTRES = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])


def three_classes(n_rows=900, seed=0, shares=(0.5, 0.3, 0.2), distance=1.0):
    """Return rows of three normal classes, their labels, and noisy labels of three sources."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, n_rows, p=shares)
    X = rng.normal(size=(n_rows, 2)) + distance * CENTRES[labels]
    sources = np.array(list(RATES))[np.arange(n_rows) % 3]
    by_row = np.array([RATES[source] for source in sources])
    noisy = corrupt_labels(labels, by_row, random_state=seed)
    return SimpleNamespace(
        X=X, labels=labels, noisy=noisy, sources=sources, rates=RATES, by_row=by_row
    )


def fit_on_sources(kind, data, source_priors=None, **params):
    """Return an estimator of this class, trained on the noisy labels of the sources."""
    model = kind(**{"reg_strength": 0.01, "random_state": 0} | params)
    known = {"sources": data.sources, "noise_rates": data.rates, "source_priors": source_priors}
    return model.fit(data.X, data.noisy, **known)
