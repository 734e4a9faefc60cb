"""Convex problems with one minimum, found without the library's objective and solvers."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from oracles.dense_kernel import solve_dual
from oracles.dense_risk import SLOPES, clean_coefs, make_objective, row_curvatures, row_slopes


def _with_ones(features, fit_intercept):
    return np.column_stack([features, np.ones(len(features))]) if fit_intercept else features


def known_optimum(loss, *, n_rows=40, n_coef=6, reg_strength=0.05, fit_intercept=False):
    """Return an objective and its minimum θ*, chosen first and the coefficients made to fit.

    The rows' slopes s must obey Zᵀs = −2λθ* (and Σs = 0 with an intercept); every s_j is then
    shared between two non-negative coefficients, so that a convex loss gives a convex objective.
    """
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_rows, n_coef)) / np.sqrt(n_coef)
    columns = _with_ones(features, fit_intercept)
    optimum = 0.2 * rng.normal(size=columns.shape[1])
    scores = columns @ optimum
    assert np.abs(scores).max() < 1  # where every loss falls
    wanted = -2 * reg_strength * optimum
    wanted[n_coef:] = 0.0
    slopes = np.linalg.lstsq(columns.T, wanted, rcond=None)[0]
    fall = np.array([-SLOPES[loss](t) for t in scores])  # ℓ(t, 1) contributes −a·fall
    rise = np.array([-SLOPES[loss](-t) for t in scores])  # ℓ(t, −1) contributes +b·rise
    shared = rng.uniform(0.5, 1.5, size=n_rows) / n_rows
    coef_pos = shared * rise + np.maximum(-slopes, 0) / fall
    coef_neg = shared * fall + np.maximum(slopes, 0) / rise
    if loss == "sigmoid":
        # Convex for certain while no row can bend down by more than the penalty bends up.
        bend = np.abs(coef_pos - coef_neg).max() / (6 * np.sqrt(3))
        assert bend * np.linalg.norm(features, 2) ** 2 < 2 * reg_strength
    objective = make_objective(
        features, coef_pos, coef_neg, loss, reg_strength, fit_intercept=fit_intercept
    )
    return objective, optimum


def squared_closed_form(*, fit_intercept=False):
    """Return an objective with signed coefficients and the solution of its linear equations.

    Σ a(1−f)² + b(1+f)² + λ‖θ‖² is stationary where Zᵀ((a+b)f − (a−b)) + λθ = 0.
    """
    rng = np.random.default_rng(1)
    features = rng.normal(size=(30, 5))
    coef_pos, coef_neg = rng.normal(size=(2, 30)) / 30
    coef_pos += np.maximum(0, -(coef_pos + coef_neg)) + 0.01  # every row bends upwards
    penalty = 0.02 * np.eye(5 + fit_intercept)
    penalty[5:] = 0.0
    columns = _with_ones(features, fit_intercept)
    matrix = columns.T @ ((coef_pos + coef_neg)[:, None] * columns) + penalty
    optimum = np.linalg.solve(matrix, columns.T @ (coef_pos - coef_neg))
    objective = make_objective(
        features, coef_pos, coef_neg, "squared", 0.02, fit_intercept=fit_intercept
    )
    return objective, optimum


def logistic_regression(*, fit_intercept=False):
    """Return the objective of clean labels and scikit-learn's coefficients.

    scikit-learn minimises C·Σℓ + ½‖θ‖²; here it is (1/n)·Σℓ + λ‖θ‖², so C = 1/(2λn).
    """
    rng = np.random.default_rng(2)
    features = rng.normal(size=(60, 4))
    labels = np.where(features[:, 0] + rng.normal(size=60) > 0.4, 1, -1)
    reg_strength = 0.03
    model = LogisticRegression(
        C=1 / (2 * reg_strength * 60),
        fit_intercept=fit_intercept,
        solver="newton-cholesky",
        tol=1e-12,
    ).fit(features, labels)
    objective = make_objective(
        features, *clean_coefs(labels), "logistic", reg_strength, fit_intercept=fit_intercept
    )
    optimum = model.coef_[0]
    return objective, np.append(optimum, model.intercept_) if fit_intercept else optimum


def kernel_machine(loss, *, n_columns):
    """Return an objective and θ = Zᵀα, α the dense dual solution with K = ZZᵀ."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(50, n_columns)) / np.sqrt(n_columns)
    coefs = clean_coefs(np.where(rng.uniform(size=50) < 0.5, 1, -1))
    alpha = solve_dual(
        features @ features.T,
        lambda scores: row_slopes(loss, *coefs, scores),
        lambda scores: row_curvatures(loss, *coefs, scores),
        reg_strength=0.02,
    )
    return make_objective(features, *coefs, loss, 0.02), features.T @ alpha


SOLVED = {
    "logistic": lambda: known_optimum("logistic"),
    "squared": lambda: known_optimum("squared"),
    "huber": lambda: known_optimum("huber"),
    "sigmoid": lambda: known_optimum("sigmoid", reg_strength=0.1),
    "logistic, intercept": lambda: known_optimum("logistic", fit_intercept=True),
    "squared, intercept": lambda: known_optimum("squared", fit_intercept=True),
    "huber, intercept": lambda: known_optimum("huber", fit_intercept=True),
    "linear equations": squared_closed_form,
    "linear equations, intercept": lambda: squared_closed_form(fit_intercept=True),
    "scikit-learn": logistic_regression,
    "scikit-learn, intercept": lambda: logistic_regression(fit_intercept=True),
    "dual, few columns": lambda: kernel_machine("logistic", n_columns=10),
    "dual, more columns than rows": lambda: kernel_machine("logistic", n_columns=90),
    "dual, very many columns": lambda: kernel_machine("logistic", n_columns=600),
    "dual, squared": lambda: kernel_machine("squared", n_columns=600),
}
