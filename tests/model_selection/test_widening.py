"""Smaller λ than those of the default grid, by the likelihood of held-out bags."""

import numpy as np
import pytest

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier
from decorrupt.model_selection.candidates import resolve_candidates
from decorrupt.model_selection.evaluation import Configuration, Evaluation
from decorrupt.model_selection.results import Result
from decorrupt.model_selection.widening import widen

N_BAGS, BAG_SIZE = 50, 4


def configuration(width=1.0, path=(1e-3, 1e-4, 1e-5), has_open_path=True):
    estimator = CountLikelihoodClassifier(kernel_gamma=width)
    return Configuration("count", estimator, {"kernel_gamma": width}, path, has_open_path)


def comparison(nats, is_likelihood=True):
    """Return a function that evaluates configurations by a formula, and the list of its calls."""
    calls = []

    def compare(some):
        calls.append([(one.params, one.reg_strengths) for one in some])
        results = []
        for params in (own for one in some for own in one.results_params()):
            by_bag = np.full(N_BAGS, nats(params) / N_BAGS / BAG_SIZE)
            sizes, scores = np.full(N_BAGS, BAG_SIZE), np.zeros(N_BAGS * BAG_SIZE)
            own = by_bag if is_likelihood else None
            results.append(
                Result("count", params, by_bag.mean(), 0, own, sizes, np.ones(1), scores, scores)
            )
        return Evaluation(results, list(some), [])

    return compare, calls


def strength(params):
    return -np.log10(params["reg_strength"])


def test_the_path_goes_on_while_the_last_strength_is_the_best():
    compare, calls = comparison(lambda params: -10 * abs(strength(params) - 6))
    found = widen(compare([configuration()]), compare, 0)
    (one,) = found.compared
    assert one.reg_strengths == pytest.approx((1e-3, 1e-4, 1e-5, 1e-6, 1e-7))
    assert len(found.results) == 5
    assert [len(call[0][1]) for call in calls] == [3, 1, 1]  # no λ is solved twice


@pytest.mark.parametrize(
    ("nats", "is_open", "is_likelihood"),
    [
        (lambda params: 10 * strength(params), False, True),  # the user's own list
        (lambda params: 10 * strength(params), True, False),  # another criterion is not in nats
        (lambda params: 0.5 * strength(params), True, True),  # half a nat per step is chance
        (lambda params: -10 * abs(strength(params) - 4), True, True),  # the best is inside
    ],
)
def test_the_path_ends_where_it_should(nats, is_open, is_likelihood):
    compare, calls = comparison(nats, is_likelihood)
    found = compare([configuration(has_open_path=is_open)])
    assert widen(found, compare, 0) is found
    assert len(calls) == 1


def test_the_path_goes_three_steps_at_most():
    compare, _ = comparison(lambda params: 10 * strength(params))
    (one,) = widen(compare([configuration()]), compare, 0).compared
    assert min(one.reg_strengths) == pytest.approx(1e-8)


def test_only_the_path_of_a_heavy_configuration_is_continued():
    compare, calls = comparison(lambda p: 10 * strength(p) + 100 * p["kernel_gamma"])
    some = [configuration(width) for width in (0.1, 0.3, 1.0)]
    found = widen(compare(some), compare, 0)
    lengths = [len(one.reg_strengths) for one in found.compared]
    assert lengths[0] == 3
    assert lengths[2] == 6
    assert all(params["kernel_gamma"] > 0.1 for call in calls[1:] for params, _ in call)


def test_only_the_default_path_is_open():
    X = np.random.default_rng(0).normal(size=(20, 2))
    count, psvm = resolve_candidates(["count_likelihood", "alternating_psvm"])
    assert count.configurations(X, ["rbf"], None, None, 2)[0].has_open_path
    assert not count.configurations(X, ["rbf"], None, [0.1], 2)[0].has_open_path
    assert not psvm.configurations(X, ["rbf"], None, None, 2)[0].has_open_path  # has no path


def test_the_choice_leaves_the_grid():
    """Stripes: λ = 1e-5 is too smooth for them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (400, 1))
    labels, bags = np.floor(X[:, 0]) % 2, np.arange(400) // 4
    y = (np.bincount(bags, labels) / 4)[bags]
    model = AutoLabelProportionsClassifier(
        candidates=["count_likelihood"], kernels=("rbf",), cv=3, check_assumptions=False,
        random_state=0,
    ).fit(X, y, bags=bags)  # fmt: skip
    assert model.best_params_["reg_strength"] < 0.99e-5
    assert model.n_compared_ == model.n_configurations_ == 3
    assert model.score(X, labels) > 0.9
