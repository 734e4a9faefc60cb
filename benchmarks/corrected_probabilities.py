"""Log loss of corrected losses and the mean map as probabilities, before and after calibration.

Two Gaussian classes in the plane, 1,000 rows in 50 bags or two noisy sources, 1,000 test rows with
equal class shares; means and maxima of 10 draws. "σ(f)" takes the score for log-odds, "search" is
the automatic choice of λ with this method alone, which calibrates the scores of the corrected loss
on held-out counts. A constant has .693.

    python benchmarks/corrected_probabilities.py
"""

import warnings

import numpy as np
from scipy.special import expit
from sklearn.metrics import log_loss

from decorrupt import (
    AutoLabelProportionsClassifier,
    AutoSourcesClassifier,
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    ForwardSourcesClassifier,
    MeanMapClassifier,
)
from decorrupt.datasets import GaussianClasses, make_corrupted_sources, make_gaussian_classes
from decorrupt.losses import probabilities, shift_prior

SEEDS = range(10)
RATES = {"nurse": (0.05, 0.1), "rule": (0.4, 0.3)}
BALANCED = np.array([0.5, 0.5])
ON_BAGS = {"corrected loss": CorrectedLossClassifier, "mean map": MeanMapClassifier}
ON_SOURCES = {"corrected sources": CorruptedSourcesClassifier, "forward": ForwardSourcesClassifier}


def as_log_odds(model, X):
    """Return σ(f), or softmax of several scores, in a balanced population."""
    return probabilities(shift_prior(model.raw_scores(X), model.class_prior_, BALANCED))


def rows_of(case, bags, rng):
    """Return rows of two Gaussian classes and labels; "priors" shifts the prior of each bag."""
    shift = rng.normal(size=bags.max() + 1)[bags]
    labels = (rng.random(len(bags)) < (expit(shift) if case == "priors" else 0.5)).astype(int)
    return GaussianClasses((1.0, 0.0)).draw(2 * labels - 1, rng), labels


def data_of(case, seed):
    """Return training rows, their targets, the arguments of fit, and test rows with labels."""
    if case != "sources":
        rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
        bags = np.repeat(np.arange(50), 20)
        X, labels = rows_of(case, bags, rng)
        if case == "feature":
            order = np.argsort(X[:, 0], kind="stable")
            X, labels = X[order], labels[order]
        X_test, y_test = rows_of("random", np.arange(1000), rng)
        return X, (np.bincount(bags, labels) / 20)[bags], {"bags": bags}, X_test, y_test
    d = make_corrupted_sources({"nurse": 300, "rule": 700}, RATES, random_state=seed)
    test = make_gaussian_classes(1000, class_prior=0.5, random_state=1000 + seed)
    return d.X, d.y, {"sources": d.sources, "noise_rates": RATES}, test.X, test.y


def search_of(case, name):
    options = {"random_state": 0, "kernels": ("rbf",)}
    if case == "sources":
        candidate = "corrected" if name == "corrected sources" else "forward"
        return AutoSourcesClassifier(candidates=[candidate], **options)
    candidates = [name.replace(" ", "_")]
    return AutoLabelProportionsClassifier(candidates=candidates, **options)


def losses(case, name, kind, seed):
    """Return the log losses of σ(f) at the default λ and at .001, and of the search."""
    X, y, arguments, X_test, labels = data_of(case, seed)
    for reg_strength in ("auto", 1e-3):
        model = kind(reg_strength=reg_strength, random_state=0).fit(X, y, **arguments)
        yield log_loss(labels, as_log_odds(model, X_test))
    search = search_of(case, name).fit(X, y, **arguments)
    yield log_loss(labels, search.predict_proba(X_test, class_prior=0.5))


def main():
    warnings.simplefilter("ignore")
    print("| data | method | σ(f), λ auto | σ(f), λ = .001 | search |\n|---|---|--:|--:|--:|")
    for case in ("random", "priors", "feature", "sources"):
        for name, kind in (ON_SOURCES if case == "sources" else ON_BAGS).items():
            found = np.array([list(losses(case, name, kind, seed)) for seed in SEEDS])
            cells = zip(found.mean(axis=0), found.max(axis=0), strict=True)
            shown = " | ".join(f"{mean:.3f} (at most {most:.3f})" for mean, most in cells)
            print(f"| {case} | {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
