"""Combinations of bags by brute force: moments, Lagrange systems and quadratic programs.

Coefficients have the columns of the library: b of the negative class, a of the positive class.
"""

import numpy as np
from qpsolvers import solve_qp


def moments(coef, proportions):
    """Return (Σaγ, Σa(1−γ), Σbγ, Σb(1−γ)): what the combination estimates.

    It estimates Σaγ·E₊ℓ(f,1) + Σa(1−γ)·E₋ℓ(f,1) + Σbγ·E₊ℓ(f,−1) + Σb(1−γ)·E₋ℓ(f,−1).
    """
    neg, pos = np.transpose(coef)
    proportions = np.asarray(proportions, dtype=float)
    return np.array(
        [
            np.sum(pos * proportions),
            np.sum(pos * (1 - proportions)),
            np.sum(neg * proportions),
            np.sum(neg * (1 - proportions)),
        ]
    )


def wanted_moments(class_prior):
    """Return the moments of the target risk π·E₊ℓ(f,1) + (1−π)·E₋ℓ(f,−1)."""
    return np.array([class_prior, 0.0, 0.0, 1 - class_prior])


def bound_factor(coef, sizes):
    """Return Σ(|a|+|b|)²/n, the sum under the root of the generalisation bound."""
    neg, pos = np.transpose(coef)
    return float(np.sum((np.abs(pos) + np.abs(neg)) ** 2 / sizes))


def square_factor(coef, sizes):
    """Return Σ(a²+b²)/n."""
    neg, pos = np.transpose(coef)
    return float(np.sum((pos**2 + neg**2) / sizes))


def least_squares_by_lagrange(sizes, proportions, class_prior):
    """Solve min Σ(a²+b²)/n subject to the four moments, as one linear (KKT) system."""
    sizes, proportions = np.asarray(sizes, dtype=float), np.asarray(proportions, dtype=float)
    count = len(sizes)
    rows, nothing = np.vstack([proportions, 1 - proportions]), np.zeros((2, count))
    constraints = np.block([[rows, nothing], [nothing, rows]])
    # In a/√n the objective is the plain norm, so the system is as well conditioned as it gets.
    root = np.sqrt(np.concatenate([sizes, sizes]))
    scaled = constraints * root
    kkt = np.block([[np.eye(2 * count), scaled.T], [scaled, np.zeros((4, 4))]])
    right = np.concatenate([np.zeros(2 * count), wanted_moments(class_prior)])
    both = np.linalg.solve(kkt, right)[: 2 * count] * root
    return np.column_stack([both[count:], both[:count]])


def smallest_bound_factor(sizes, proportions):
    """Return min Σ(|a|+|b|)²/n over balanced unbiased combinations, by quadratic programming."""
    sizes, proportions = np.asarray(sizes, dtype=float), np.asarray(proportions, dtype=float)
    count = len(sizes)
    # a = a⁺−a⁻ and b = b⁺−b⁻ with all four parts ≥ 0; |a|+|b| is their sum at the optimum.
    total = np.hstack([np.eye(count)] * 4)
    hessian = 2 * total.T @ np.diag(1 / sizes) @ total
    rows, nothing = np.vstack([proportions, 1 - proportions]), np.zeros((2, count))
    constraints = np.block([[rows, -rows, nothing, nothing], [nothing, nothing, rows, -rows]])
    parts = solve_qp(
        hessian,
        np.zeros(4 * count),
        A=constraints,
        b=wanted_moments(0.5),
        lb=np.zeros(4 * count),
        solver="piqp",
        eps_abs=1e-9,
        eps_rel=1e-9,
    )
    return float(np.sum((total @ parts) ** 2 / sizes))


def combine_pairs(pairs, sizes, proportions):
    """Return the balanced combination of the given disjoint (bag, bag) pairs, by a plain loop.

    Each pair estimates the risk by the LLP reduction, bag means taken bag by bag, and the pairs
    are weighted by (n_a·n_b/(n_a+n_b))·gap².
    """
    pos, neg, total = np.zeros(len(sizes)), np.zeros(len(sizes)), 0.0
    for one, other in pairs:
        up, low = (one, other) if proportions[one] > proportions[other] else (other, one)
        gap = proportions[up] - proportions[low]
        if gap == 0:
            continue
        weight = sizes[up] * sizes[low] / (sizes[up] + sizes[low]) * gap**2
        total += weight
        pos[up] += weight * (1 - proportions[low]) / (2 * gap)
        neg[up] -= weight * proportions[low] / (2 * gap)
        pos[low] -= weight * (1 - proportions[up]) / (2 * gap)
        neg[low] += weight * proportions[up] / (2 * gap)
    return np.column_stack([neg, pos]) / total


def average_over_whole_pair(size_pos, size_neg, proportion_pos, proportion_neg):
    """Return the paper's b and a of one pair: Σ_j over both bags, divided by n_i = n⁺ + n⁻."""
    gap = proportion_pos - proportion_neg
    share = np.array([size_pos, size_neg]) / (size_pos + size_neg)
    pos = share * np.array([1 - proportion_neg, -(1 - proportion_pos)]) / gap
    neg = share * np.array([-proportion_neg, proportion_pos]) / gap
    return np.column_stack([neg, pos])
