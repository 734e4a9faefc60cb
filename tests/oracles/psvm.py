"""InvCal and conv-∝SVM as quadratic programmes, and ∝SVM by trying all labellings."""

from itertools import product

import numpy as np
from qpsolvers import solve_qp
from sklearn.svm import SVC


def bag_means(matrix, bags):
    """Return the mean row of every bag, in the sorted order of the ids."""
    return np.array([matrix[bags == bag].mean(axis=0) for bag in np.unique(bags)])


def tube_objective(half_norm, bag_scores, centres, epsilon, cost):
    """Return ½‖f‖² + C_p·Σ max(0, |f̄_k − t_k| − ε)."""
    return half_norm + cost * np.maximum(0, np.abs(bag_scores - centres) - epsilon).sum()


def solve_tube_qp(gram, centres, epsilon, cost):
    """Return (β, b) of the primal, in the variables β, b and one slack a bag."""
    n = len(gram)
    identity, ones, zeros = np.eye(n), np.ones((n, 1)), np.zeros((n, n))
    quadratic = np.zeros((2 * n + 1, 2 * n + 1))
    quadratic[:n, :n] = gram
    linear = np.r_[np.zeros(n + 1), np.full(n, cost)]
    above = np.hstack([gram, ones, -identity])
    below = np.hstack([-gram, -ones, -identity])
    slack = np.hstack([zeros, 0 * ones, -identity])
    solution = solve_qp(
        quadratic,
        linear,
        np.vstack([above, below, slack]),
        np.r_[centres + epsilon, epsilon - centres, np.zeros(n)],
        solver="piqp",
        eps_abs=1e-10,
        eps_rel=1e-10,
    )
    return solution[:n], solution[n]


def proportion_objective(half_norm, scores, labels, bags, proportions, *, cost, cost_p, penalty):
    """Return ½‖f‖² + C·Σ hinge(y_i f_i) + C_p·Σ s_k·|p̂_k(y) − p_k|, bag by bag."""
    total = half_norm + cost * sum(max(0.0, 1 - y * f) for y, f in zip(labels, scores, strict=True))
    for bag, proportion in zip(np.unique(bags), proportions, strict=True):
        members = labels[bags == bag]
        factor = len(members) if penalty == "size" else 1
        total += cost_p * factor * abs((members == 1).mean() - proportion)
    return total


def all_labellings(n_rows):
    """Return every labelling by −1 and +1."""
    return np.array(list(product([-1, 1], repeat=n_rows)))


def lowest_objective(gram, bags, proportions, *, cost, **costs):
    """Return the minimum over all labellings of two classes, a machine solved for each."""
    lowest = np.inf
    for labels in all_labellings(len(gram))[1:-1]:  # the first and the last are of one class
        svc = SVC(kernel="precomputed", C=cost, tol=1e-8).fit(gram, labels)
        dual = np.zeros(len(labels))
        dual[svc.support_] = svc.dual_coef_[0]
        half_norm, scores = 0.5 * dual @ gram @ dual, svc.decision_function(gram)
        value = proportion_objective(
            half_norm, scores, labels, bags, proportions, cost=cost, **costs
        )
        lowest = min(lowest, value)
    return lowest


def box_maximum(quadratic, cost):
    """Return max_{0≤α≤C} 1ᵀα − ½αᵀQα, and α."""
    n = len(quadratic)
    dual = solve_qp(
        quadratic,
        -np.ones(n),
        lb=np.zeros(n),
        ub=np.full(n, cost),
        solver="piqp",
        eps_abs=1e-11,
        eps_rel=1e-11,
    )
    return dual.sum() - 0.5 * dual @ quadratic @ dual, dual


def label_matrix(planes, weights):
    """Return Σ_t μ_t y_t y_tᵀ, plane by plane."""
    return sum(w * np.outer(y, y) for w, y in zip(weights, planes.T, strict=True))


def allowed_labellings(bags, proportions):
    """Return all labellings whose bags have the proportions as shares."""
    labellings = all_labellings(len(bags))
    shares = np.array([(labellings[:, bags == k] > 0).mean(axis=1) for k in np.unique(bags)]).T
    return labellings[(np.abs(shares - proportions) <= 1e-9).all(axis=1)]
