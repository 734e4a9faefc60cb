"""The Laplacian and the alternating mean map of Patrini et al. (2014), baselines of the field.

Both are for two classes and linear in X; for a kernel, X is the matrix of its features. The plain
mean map is :class:`decorrupt.MeanMapClassifier`; on published divisions of Adult into bags neither
was more accurate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.spatial.distance import pdist, squareform
from sklearn.linear_model import LogisticRegression

from decorrupt import MeanMapClassifier
from decorrupt.observed import Observed
from decorrupt.risks import logistic_risk
from decorrupt.solvers import Problem, solve_problem
from reproduction import FloatArray

# All bags are linked by at least this share of the mean link. Otherwise the class means of bags
# without similar bags would be undetermined.
WEAK_LINK = 1e-4
TOL = 1e-9


def laplacian_mean_map(
    X: FloatArray, y: Any, bags: Any, *, reg_strength: float, smoothness: float = 1.0
) -> tuple[FloatArray, float]:
    """Return θ and b of the mean map whose class means vary smoothly from bag to bag.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    y, bags : array-like of shape (n_rows,)
        The proportion of positives in each row's bag, and the bag.
    reg_strength : float
        λ, above 0.
    smoothness : float
        How strongly the class means of similar bags are pulled together; → ∞ is the mean map.
    """
    observed = Observed.from_bags(y, bags)
    combination = laplacian_combination(observed.mean_by_bag(X), observed, smoothness)
    problem = Problem(logistic_risk(combination, observed), observed.n_rows)
    (solution,) = solve_problem(
        problem, X, [reg_strength], n_classes=2, fit_intercept=True, tol=TOL
    )
    theta, intercept = solution.objective.split(solution.result.coef)
    return theta, float(intercept)


def laplacian_combination(means: FloatArray, observed: Observed, smoothness: float) -> FloatArray:
    """Return the coefficients of every bag's mean, one column per class.

    With shares s_k = n_k/n and q_k = 1−p_k, the class means of every bag are

        argmin Σ_k s_k·‖mean_k − p_kμ_k⁺ − q_kμ_k⁻‖²
               + (smoothness/2)·Σ_kl v_kl·(‖μ_k⁺−μ_l⁺‖² + ‖μ_k⁻−μ_l⁻‖²),

    and the mean operator is m̂ = Σ_k s_k(p_kμ_k⁺ − q_kμ_k⁻), a weighted sum of bag means.
    """
    share = observed.sizes / observed.sizes.sum()
    pos, links = observed.proportions[:, 1], link_weights(means, share)
    fitted = np.hstack([np.diag(pos), np.diag(1 - pos)])
    rough = np.diag(links.sum(axis=1)) - links
    system = fitted.T @ (share[:, None] * fitted) + smoothness * block_diag(rough, rough)
    operator = np.concatenate([share * pos, -share * (1 - pos)])
    odd = share * (fitted @ np.linalg.solve(system, operator))
    return np.asarray(np.column_stack([share - odd, share + odd]) / 2)


def link_weights(means: FloatArray, share: FloatArray) -> FloatArray:
    """Return v_kl = s_k·s_l·(similarity_kl/mean similarity + `WEAK_LINK`).

    The similarity is exp(−‖mean_k − mean_l‖²/σ²), where σ² is the mean squared distance between two
    bag means.
    """
    squares = pdist(means, "sqeuclidean")
    similarity = np.exp(-squareform(squares) / squares.mean())
    return np.asarray(
        np.outer(share, share) * (similarity / (share @ similarity @ share) + WEAK_LINK)
    )


def alternating_mean_map(
    X: FloatArray, y: Any, bags: Any, *, reg_strength: float, max_rounds: int = 100
) -> LogisticRegression:
    """Return logistic regression on labels that agree with its scores and with the bags.

    It starts at the mean map, labels the round(p_k·n_k) rows of every bag with the highest scores
    as positive, refits, and repeats until no label changes. Each step lowers
    min_labels (1/n)·Σ_j log(1+exp(−y_j f_j)) + λ‖θ‖².

    Parameters
    ----------
    X, y, bags, reg_strength
        As in :func:`laplacian_mean_map`.
    max_rounds : int
        Maximum number of refits.
    """
    observed = Observed.from_bags(y, bags)
    start = MeanMapClassifier(kernel="linear", reg_strength=reg_strength)
    labels = label_top_rows(start.fit(X, y, bags=bags).decision_function(X), observed)
    for _ in range(max_rounds):
        model = LogisticRegression(C=1 / (2 * reg_strength * len(X)), tol=TOL).fit(X, labels)
        before, labels = labels, label_top_rows(model.decision_function(X), observed)
        if np.array_equal(labels, before):
            break
    return model


def label_top_rows(scores: FloatArray, observed: Observed) -> NDArray[np.intp]:
    """Return 1 for the round(p_k·n_k) rows of bag k with the highest scores, and 0 for the rest."""
    counts = np.rint(observed.proportions[:, 1] * observed.sizes)
    order = np.lexsort((-scores, observed.row_bag))
    bag = observed.row_bag[order]
    place = np.arange(len(order)) - (np.cumsum(observed.sizes) - observed.sizes)[bag]
    labels = np.empty(len(order), dtype=np.intp)
    labels[order] = place < counts[bag]
    return labels
