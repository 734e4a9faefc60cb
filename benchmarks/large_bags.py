"""Few large bags: 8 and 16 bags of 512 rows, proportions uniform in [0, ½]; areas under ROC curves.

The automatic choice against single methods with their defaults, on rows that no method has seen.
Training labels make the bags and go no further. Run it (about two minutes):

    python benchmarks/large_bags.py
"""

import sys
import warnings

import numpy as np
from sklearn.datasets import make_classification, make_gaussian_quantiles
from sklearn.metrics import roc_auc_score

from decorrupt import (
    AutoLabelProportionsClassifier,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
)

N_ROWS, BAG_SIZE, TEST_ROWS = 30_000, 512, 4_000
DATA = {
    "clusters": lambda seed: make_classification(
        N_ROWS, 10, n_informative=6, n_clusters_per_class=2, random_state=seed
    ),
    "quantiles": lambda seed: make_gaussian_quantiles(
        n_samples=N_ROWS, n_features=4, n_classes=2, random_state=seed
    ),
}
METHODS = {
    "auto": AutoLabelProportionsClassifier(random_state=0, check_assumptions=False),
    "count likelihood": CountLikelihoodClassifier(random_state=0),
    "mean map": MeanMapClassifier(random_state=0, check_assumptions=False),
    "corrected loss": CorrectedLossClassifier(random_state=0, check_assumptions=False),
}


def draw_bags(labels, n_bags, seed):
    """Return rows in bags with uniform proportions, and the bag of each."""
    rng = np.random.default_rng(seed)
    left = [list(rng.permutation(np.flatnonzero(labels == c))) for c in (0, 1)]
    rows = []
    for share in rng.uniform(0, 0.5, n_bags):
        n_pos = round(BAG_SIZE * share)
        rows += [left[1].pop() for _ in range(n_pos)]
        rows += [left[0].pop() for _ in range(BAG_SIZE - n_pos)]
    return np.array(rows), np.repeat(np.arange(n_bags), BAG_SIZE)


def main():
    warnings.simplefilter("ignore")
    found = {}
    for name, load in DATA.items():
        for n_bags in (8, 16):
            for seed in range(3):
                X, labels = load(seed)
                rows, bags = draw_bags(labels, n_bags, seed)
                y = (np.bincount(bags, labels[rows]) / BAG_SIZE)[bags]
                test = np.setdiff1d(np.arange(N_ROWS), rows)[:TEST_ROWS]
                for method, model in METHODS.items():
                    scores = model.fit(X[rows], y, bags=bags).decision_function(X[test])
                    area = roc_auc_score(labels[test], scores)
                    found.setdefault((name, n_bags), {}).setdefault(method, []).append(area)
                print(f"{name}, {n_bags} bags, seed {seed}", file=sys.stderr, flush=True)
    print(f"| data | bags | {' | '.join(METHODS)} |")
    print("|---|---:|" + "---:|" * len(METHODS))
    for (name, n_bags), areas in found.items():
        values = " | ".join(f"{np.mean(areas[method]):.3f}" for method in METHODS)
        print(f"| {name} | {n_bags} | {values} |")


if __name__ == "__main__":
    main()
