"""A method as a problem: paths of λ, several routes, and a matched class prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from decorrupt.losses import class_loss, prior_scores
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import Objective, Problem, prior_start, solve, solve_problem, warm_path
from oracles.solved_problems import logistic_regression

DESCENTS = ("newton", "lbfgs")


def labelled(n_classes, n_rows=60):
    """Return features, and the risk of clean labels."""
    rng = np.random.default_rng(n_classes)
    labels = np.arange(n_rows) % n_classes
    features = rng.normal(size=(n_rows, 4))
    features[:, 0] += labels
    coef = np.eye(n_classes)[labels] / n_rows
    return features, CorrectedRisk(coef, class_loss("logistic", n_classes))


def path_of(objective, reg_strengths, start=None, **options):
    problem = Problem(objective.risk, start=None if start is None else lambda _: start)
    return solve_problem(
        problem,
        objective.features,
        reg_strengths,
        n_classes=objective.n_classes,
        fit_intercept=objective.fit_intercept,
        **options,
    )


@pytest.mark.parametrize("solver", ["auto", *DESCENTS])
def test_a_path_is_the_solutions_one_by_one_in_the_order_given(solver):
    objective, _ = logistic_regression(fit_intercept=True)
    reg_strengths = [0.1, 1e-3, 1.0, 0.1, 0.01]
    path = path_of(objective, reg_strengths, solver=solver, tol=1e-7)
    assert len(path) == 5
    for reg_strength, solution in zip(reg_strengths, path, strict=True):
        result = solution.result
        alone = objective.with_reg_strength(reg_strength)
        cold = solve(alone, solver=solver, tol=1e-7)
        assert_allclose(result.coef, cold.coef, atol=1e-4)
        assert_allclose(result.objective, alone.value_and_gradient(result.coef)[0], rtol=1e-12)
        assert solution.objective.reg_strength == reg_strength
        assert solution.solver == (solver if solver in DESCENTS else "newton")
        assert solution.route == "start"
        assert_allclose(solution.scores, alone.scores(result.coef))
        risk_value = objective.risk.value_and_slope(solution.scores)[0]
        assert_allclose(solution.risk_value, risk_value, rtol=1e-9)


def test_a_path_of_several_classes_reaches_the_same_solutions():
    features, risk = labelled(3)
    objective = Objective(features, risk, 1.0, True, 3)
    path = path_of(objective, [0.01, 0.1], tol=1e-9)
    for reg_strength, solution in zip([0.01, 0.1], path, strict=True):
        alone = solve(objective.with_reg_strength(reg_strength), tol=1e-9)
        assert_allclose(solution.result.coef, alone.coef, atol=1e-6)


def test_a_path_starts_each_solution_from_the_next_larger_one():
    objective, _ = logistic_regression()
    small, large = (one.result for one in path_of(objective, [0.01, 0.02], solver="lbfgs"))
    start = objective.with_reg_strength(0.01).value_and_gradient(large.coef)[0]
    assert_allclose(small.objective_history[0], start, rtol=1e-12)
    given = np.ones(objective.n_coef)
    (first,) = path_of(objective, [0.5], start=given)
    at_start = objective.with_reg_strength(0.5).value_and_gradient(given)[0]
    assert_allclose(first.result.objective_history[0], at_start, rtol=1e-12)


def test_an_array_of_reg_strengths_is_a_path_too():
    objective, _ = logistic_regression()
    path = path_of(objective, np.logspace(-2, 0, 3))
    norms = [np.linalg.norm(solution.result.coef) for solution in path]
    assert norms == sorted(norms, reverse=True)


def test_the_best_route_is_taken_for_each_reg_strength():
    """Of two routes that stop early, the one with the lower objective; the first if equal."""
    objective, _ = logistic_regression()

    def stuck(at, better_below):
        def route(objective, reg_strengths, minimize):
            found = {}
            for value in reg_strengths:
                here = objective.with_reg_strength(value)
                coef = np.zeros(objective.n_coef) if value < better_below else at
                found[value] = solve(here, start=coef, max_iter=0)
            return found

        return route

    def solved(order):
        routes = {name: ROUTES[name] for name in order}
        return solve_problem(
            Problem(objective.risk, routes=routes),
            objective.features,
            [0.1, 0.01],
            n_classes=2,
            fit_intercept=False,
        )

    far = np.full(objective.n_coef, 5.0)
    ROUTES = {"small": stuck(far, 0.05), "never": stuck(far, 0.0), "path": warm_path(None)}
    assert [one.route for one in solved(["never", "small"])] == ["never", "small"]
    assert [one.route for one in solved(["small", "path"])] == ["path", "path"]
    assert [one.route for one in solved(["small", "never"])] == ["small", "small"]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_start_at_the_class_prior_is_the_constant_model(n_classes, fit_intercept):
    features, risk = labelled(n_classes)
    objective = Objective(features, risk, 1.0, fit_intercept, n_classes)
    prior = np.array([0.2, 0.8]) if n_classes == 2 else np.array([0.2, 0.5, 0.3])
    scores = objective.scores(prior_start(prior)(objective))
    expected = prior_scores(prior) if fit_intercept else 0.0
    assert_allclose(scores, np.broadcast_to(expected, scores.shape))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_matched_prior_is_the_mean_probability_of_the_rows(n_classes):
    features, risk = labelled(n_classes)
    prior = np.array([0.3, 0.7]) if n_classes == 2 else np.array([0.2, 0.5, 0.3])
    options = {"n_classes": n_classes, "tol": 1e-9}
    (free,) = solve_problem(Problem(risk), features, [0.1], fit_intercept=True, **options)
    (matched,) = solve_problem(
        Problem(risk, match_prior=prior), features, [0.1], fit_intercept=True, **options
    )
    if n_classes == 2:
        means = [1 - expit(matched.scores).mean(), expit(matched.scores).mean()]
    else:
        means = softmax(matched.scores, axis=1).mean(axis=0)
    assert_allclose(means, prior, atol=1e-7)
    # Only the intercept has moved, and the first solution is left as it was.
    moved = matched.scores - free.scores
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-12)
    assert np.abs(moved).max() > 0.1


def test_without_an_intercept_there_is_nothing_to_match():
    features, risk = labelled(2)
    options = {"n_classes": 2, "fit_intercept": False}
    (free,) = solve_problem(Problem(risk), features, [0.1], **options)
    problem = Problem(risk, match_prior=np.array([0.3, 0.7]))
    (matched,) = solve_problem(problem, features, [0.1], **options)
    assert_allclose(matched.result.coef, free.result.coef)
