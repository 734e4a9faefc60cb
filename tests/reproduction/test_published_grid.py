"""The published grid against one literal gradient descent for every setting and fold."""

import numpy as np
from numpy.testing import assert_allclose

from decorrupt import BagKFold
from decorrupt.corruption import combine_bags
from decorrupt.observed import read_bags
from oracles.dense_kernel import descend_dual, gram
from reproduction.published_grid import PublishedGrid, Setting, fit_published, search_published_grid


def problem(n_bags=15, bag_size=8, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), bag_size)
    rates = np.linspace(0.1, 0.9, n_bags)
    labels = rng.uniform(size=len(bags)) < rates[bags]
    X = rng.normal(size=(len(bags), n_columns))
    X[:, 0] += 1.5 * labels
    order = rng.permutation(len(bags))
    y = (np.bincount(bags, labels) / bag_size)[bags]
    return X[order], y[order], bags[order]


def folds(X, y, bags):
    return BagKFold(3).split(X, y, bags=bags)


def pair_coefs(y, bags):
    """Return the coefficients of every row, its bag looked up one row at a time."""
    ids = np.unique(bags)
    sizes = np.array([np.sum(bags == bag) for bag in ids])
    neg, pos = combine_bags(sizes, [y[bags == bag][0] for bag in ids], method="pairs").T
    own = [int(np.flatnonzero(ids == bag)[0]) for bag in bags]
    return pos[own] / sizes[own], neg[own] / sizes[own]


def literal_alpha(X, y, bags, setting):
    pos, neg = pair_coefs(y, bags)
    return descend_dual(
        gram(X, X, "rbf", setting.kernel_gamma),
        lambda f: -pos / (1 + np.exp(f)) + neg / (1 + np.exp(-f)),
        setting.reg_strength,
        step_size=setting.step_size,
        step_decay=setting.step_decay,
        n_steps=setting.n_steps,
    )


def literal_criterion(X, y, bags, train, test, setting):
    alpha = literal_alpha(X[train], y[train], bags[train], setting)
    scores = gram(X[test], X[train], "rbf", setting.kernel_gamma) @ alpha
    pos, neg = pair_coefs(y[test], bags[test])
    return pos @ np.log1p(np.exp(-scores)) + neg @ np.log1p(np.exp(scores))


def test_the_papers_grid_has_216_settings():
    settings = PublishedGrid().settings()
    assert len(settings) == len(set(settings)) == 216
    assert Setting(0.01, 0.0001, 1600, 0.0, 0.1) in settings


def test_every_criterion_is_that_of_its_own_literal_descent():
    X, y, bags = problem()
    grid = PublishedGrid(iterations=(150, 25, 300))
    splits = list(BagKFold(5).split(X, y, bags=bags))
    choice = search_published_grid(X, read_bags(y, bags), splits, grid)
    expected = [
        [literal_criterion(X, y, bags, *split, setting) for split in splits[:2]]
        for setting in choice.settings[::5]
    ]
    assert choice.criteria.shape == (162, 5)
    assert_allclose(choice.criteria[::5, :2], expected, rtol=1e-6, atol=1e-6)
    assert np.ptp(expected) > 0.05  # the settings differ


def test_the_refit_is_the_descent_of_the_paper():
    X, y, bags = problem()
    observed = read_bags(y, bags)
    setting = Setting(0.1, 0.001, 200, 0.001, 0.1)
    model = fit_published(X, observed, setting)
    expected = gram(X, X, "rbf", 0.1) @ literal_alpha(X, y, bags, setting)
    assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-6)


def test_the_least_mean_criterion_is_chosen_and_refitted():
    X, y, bags = problem()
    grid = PublishedGrid(iterations=(100, 200), kernel_gammas=(0.1, 1.0))
    choice = search_published_grid(X, read_bags(y, bags), folds(X, y, bags), grid)
    means = choice.criteria.mean(axis=1)
    assert choice.criterion == means.min()
    assert choice.setting == choice.settings[int(means.argmin())]
    again = fit_published(X, read_bags(y, bags), choice.setting)
    assert_allclose(choice.model.dual_coef, again.dual_coef)
    scores = choice.model.decision_function(X)
    assert (choice.model.predict(X) == (scores > 0)).all()
    assert np.corrcoef(scores, X[:, 0])[0, 1] > 0.5  # column 0 carries the class


def test_descents_that_leave_the_finite_numbers_are_never_chosen():
    X, y, bags = problem()
    # The penalty alone multiplies by 1 − 2ηλΛ, Λ about the number of rows at so wide a kernel.
    grid = PublishedGrid((100.0, 0.01), (0.0,), (1000,), (10.0, 0.0), (0.001,))
    choice = search_published_grid(X, read_bags(y, bags), folds(X, y, bags), grid)
    wild = np.array([setting.reg_strength == 10.0 for setting in choice.settings])
    assert np.isposinf(choice.criteria[wild]).all()
    assert np.isfinite(choice.criteria[~wild]).all()
    assert np.isfinite(choice.criterion)
    assert np.isfinite(choice.model.dual_coef).all()
