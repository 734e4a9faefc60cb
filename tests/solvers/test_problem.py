"""A method as a problem: λ paths, starts, and a matched class prior."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax

from decorrupt.losses import class_loss, prior_scores
from decorrupt.observed import Observed, class_columns
from decorrupt.risks import CorrectedRisk, count_risk
from decorrupt.solvers import (
    Objective,
    Problem,
    count_start,
    prior_start,
    problem,
    sample_of_bags,
    solve,
    solve_problem,
)
from oracles.solved_problems import logistic_regression


def labelled(n_classes, n_rows=60):
    """Return features, and the risk of clean labels."""
    rng = np.random.default_rng(n_classes)
    labels = np.arange(n_rows) % n_classes
    features = rng.normal(size=(n_rows, 4))
    features[:, 0] += labels
    coef = np.eye(n_classes)[labels] / n_rows
    return features, CorrectedRisk(coef, class_loss("logistic", n_classes))


def bags(n_rows=3000, bag_size=10):
    """Return centred rows, and bags of two classes."""
    rng = np.random.default_rng(0)
    labels = rng.random(n_rows) < 0.4
    X = rng.normal(size=(n_rows, 3)) + 1.5 * labels[:, None]
    row_bag = rng.permutation(n_rows) // bag_size
    shares = class_columns(np.bincount(row_bag, labels) / np.bincount(row_bag))
    return X - X.mean(axis=0), Observed(np.array([0, 1]), np.arange(len(shares)), row_bag, shares)


def path_of(objective, reg_strengths, start=None, **options):
    return solve_problem(
        Problem(objective.risk, 60, None if start is None else lambda *_: start),
        objective.features,
        reg_strengths,
        n_classes=objective.n_classes,
        fit_intercept=objective.fit_intercept,
        **options,
    )


def test_a_path_is_the_solutions_one_by_one_in_the_order_given():
    objective, _ = logistic_regression(fit_intercept=True)
    reg_strengths = [0.1, 1e-3, 1.0, 0.1, 0.01]
    path = path_of(objective, reg_strengths, tol=1e-7)
    assert len(path) == 5
    for reg_strength, solution in zip(reg_strengths, path, strict=True):
        result = solution.result
        alone = replace(objective, reg_strength=reg_strength)
        cold = solve(alone, tol=1e-7)
        assert_allclose(result.coef, cold.coef, atol=1e-4)
        assert_allclose(result.objective, alone.value_and_gradient(result.coef)[0], rtol=1e-12)
        assert solution.objective.reg_strength == reg_strength
        assert_allclose(solution.scores, alone.scores(result.coef))
        risk_value = objective.risk.value_and_slope(solution.scores)[0]
        assert_allclose(solution.risk_value, risk_value, rtol=1e-9)


def test_a_path_of_several_classes_reaches_the_same_solutions():
    features, risk = labelled(3)
    objective = Objective(features, risk, 1.0, True, 3)
    path = path_of(objective, [0.01, 0.1], tol=1e-9)
    for reg_strength, solution in zip([0.01, 0.1], path, strict=True):
        alone = solve(replace(objective, reg_strength=reg_strength), tol=1e-9)
        assert_allclose(solution.result.coef, alone.coef, atol=1e-6)


def test_a_path_starts_each_solution_from_the_next_larger_one():
    objective, _ = logistic_regression()
    small, large = (one.result for one in path_of(objective, [0.01, 0.02]))
    start = replace(objective, reg_strength=0.01).value_and_gradient(large.coef)[0]
    assert_allclose(small.objective_history[0], start, rtol=1e-12)
    given = np.ones(objective.n_coef)
    (first,) = path_of(objective, [0.5], start=given)
    at_start = replace(objective, reg_strength=0.5).value_and_gradient(given)[0]
    assert_allclose(first.result.objective_history[0], at_start, rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_start_at_the_class_prior_is_the_constant_model(n_classes, fit_intercept):
    features, risk = labelled(n_classes)
    objective = Objective(features, risk, 1.0, fit_intercept, n_classes)
    prior = np.array([0.2, 0.8]) if n_classes == 2 else np.array([0.2, 0.5, 0.3])
    scores = objective.scores(prior_start(prior)(objective, solve))
    expected = prior_scores(prior) if fit_intercept else 0.0
    assert_allclose(scores, np.broadcast_to(expected, scores.shape))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_matched_prior_is_the_mean_probability_of_the_rows(n_classes):
    features, risk = labelled(n_classes)
    prior = np.array([0.3, 0.7]) if n_classes == 2 else np.array([0.2, 0.5, 0.3])
    options = {"n_classes": n_classes, "tol": 1e-9}
    (free,) = solve_problem(Problem(risk, 60), features, [0.1], fit_intercept=True, **options)
    (matched,) = solve_problem(
        Problem(risk, 60, match_prior=prior), features, [0.1], fit_intercept=True, **options
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
    (free,) = solve_problem(Problem(risk, 60), features, [0.1], **options)
    given = Problem(risk, 60, match_prior=np.array([0.3, 0.7]))
    (matched,) = solve_problem(given, features, [0.1], **options)
    assert_allclose(matched.result.coef, free.result.coef)


class TestCountStart:
    """From the intercept alone down a path of λ; of many rows, on a sample of bags first."""

    @pytest.mark.parametrize("reg_strengths", [[1e-3], [1e-3, 1e-1, 1e-3]])
    def test_the_solution_for_a_sample_leads_to_that_of_all_rows(self, reg_strengths, monkeypatch):
        X, observed = bags()
        options = {"n_classes": 2, "fit_intercept": True, "tol": 1e-7}
        count = Problem(
            count_risk(observed), 3000, partial(count_start, observed=observed, risk_of=count_risk)
        )
        whole = solve_problem(count, X, reg_strengths, **options)
        monkeypatch.setattr(problem, "SAMPLE_ROWS", 600)
        sampled = solve_problem(count, X, reg_strengths, **options)
        for one, expected in zip(sampled, whole, strict=True):
            assert one.result.converged
            assert_allclose(one.result.coef, expected.result.coef, atol=1e-5)
            assert_allclose(one.risk_value, expected.risk_value, rtol=1e-6)

    def test_a_sample_consists_of_whole_bags(self, monkeypatch):
        monkeypatch.setattr(problem, "SAMPLE_ROWS", 600)
        _, observed = bags()
        rows = sample_of_bags(observed)
        assert len(rows) == 600
        assert_array_equal(np.unique(np.bincount(observed.row_bag[rows])), [0, 10])
        assert_array_equal(sample_of_bags(observed), rows)
