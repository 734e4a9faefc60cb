"""The mean map family from its defining equations: loops, dense solves, a general minimiser."""

import numpy as np
from scipy.optimize import minimize


def least_squares_class_means(sizes, proportions, means):
    """Return [μ⁺, μ⁻] = (ΓᵀNΓ)⁻¹ΓᵀN·means with Γ = [p, 1−p]."""
    design = np.column_stack([proportions, 1 - proportions])
    weighted = design.T @ np.diag(sizes)
    return np.linalg.solve(weighted @ design, weighted @ means)


def pooled_mean_operator(sizes, proportions, means):
    """Return γ̄μ⁺ − (1−γ̄)μ⁻ of the least-squares class means."""
    prior = np.average(proportions, weights=sizes)
    mean_pos, mean_neg = least_squares_class_means(sizes, proportions, means)
    return prior * mean_pos - (1 - prior) * mean_neg


def link_weights(sizes, similarity, weak_link):
    """Return v_kl = s_k·s_l·(similarity_kl/mean similarity + weak link), pair by pair."""
    share = np.asarray(sizes) / np.sum(sizes)
    n_bags = len(share)
    pairs = [(k, m) for k in range(n_bags) for m in range(n_bags)]
    mean = sum(share[k] * share[m] * similarity[k][m] for k, m in pairs)
    links = np.zeros((n_bags, n_bags))
    for k, m in pairs:
        links[k, m] = share[k] * share[m] * (similarity[k][m] / mean + weak_link)
    return links


def laplacian_objective(mean_pos, mean_neg, sizes, proportions, means, links, smoothness):
    """Return the misfit of the bag means plus the roughness of the class means."""
    share = np.asarray(sizes) / np.sum(sizes)
    value = 0.0
    for k in range(len(share)):
        fitted = proportions[k] * mean_pos[k] + (1 - proportions[k]) * mean_neg[k]
        value += share[k] * np.sum((means[k] - fitted) ** 2)
        for m in range(len(share)):
            rough = np.sum((mean_pos[k] - mean_pos[m]) ** 2)
            rough += np.sum((mean_neg[k] - mean_neg[m]) ** 2)
            value += smoothness / 2 * links[k, m] * rough
    return value


def laplacian_class_means(sizes, proportions, means, links, smoothness):
    """Return the minimiser of `laplacian_objective`, by its 2M×2M normal equations."""
    share = np.asarray(sizes) / np.sum(sizes)
    fit = np.hstack([np.diag(proportions), np.diag(1 - proportions)])
    laplacian = np.diag(links.sum(axis=1)) - links
    system = fit.T @ np.diag(share) @ fit + smoothness * np.kron(np.eye(2), laplacian)
    both = np.linalg.solve(system, fit.T @ (share[:, None] * means))
    return both[: len(share)], both[len(share) :]


def laplacian_mean_operator(sizes, proportions, means, links, smoothness):
    """Return Σ_k s_k(p_kμ_k⁺ − (1−p_k)μ_k⁻)."""
    share = np.asarray(sizes) / np.sum(sizes)
    mean_pos, mean_neg = laplacian_class_means(sizes, proportions, means, links, smoothness)
    return (share * proportions) @ mean_pos - (share * (1 - proportions)) @ mean_neg


def fit_from_mean_operator(X, mean_operator, prior, reg_strength):
    """Return (θ, b) minimising (1/n)Σ log(2cosh(f/2)) − ½⟨θ, m̂⟩ − ½b(2·prior−1) + λ‖θ‖²."""

    def objective(coef):
        theta, intercept = coef[:-1], coef[-1]
        scores = X @ theta + intercept
        even = np.logaddexp(scores / 2, -scores / 2)
        odd = 0.5 * (theta @ mean_operator + intercept * (2 * prior - 1))
        gradient = X.T @ np.tanh(scores / 2) / (2 * len(X)) - mean_operator / 2
        gradient += 2 * reg_strength * theta
        intercept_slope = np.mean(np.tanh(scores / 2)) / 2 - (2 * prior - 1) / 2
        value = even.mean() - odd + reg_strength * theta @ theta
        return value, np.r_[gradient, intercept_slope]

    found = minimize(
        objective, np.zeros(X.shape[1] + 1), jac=True, method="BFGS", options={"gtol": 1e-10}
    )
    return found.x[:-1], found.x[-1]


def top_rows(scores, bags, counts):
    """Return which rows are among the counts[bag] highest of their bag, a bag at a time."""
    is_pos = np.zeros(len(scores), dtype=bool)
    for bag, count in counts.items():
        rows = np.flatnonzero(bags == bag)
        best = sorted(rows, key=lambda row: -scores[row])[:count]
        is_pos[best] = True
    return is_pos
