import numpy as np
import pytest
from scipy.stats import norm

from decorrupt import check_assumptions
from decorrupt.datasets import BAG_CASES, make_gaussian_bags


@pytest.mark.parametrize(
    ("case", "classes", "counts"),
    [("random", False, False), ("priors", False, True), ("feature", True, False)],
)
def test_cases_satisfy_what_they_say(case, classes, counts):
    data = make_gaussian_bags(case, n_bags=60, random_state=1)
    report = check_assumptions(data.X, data.y, bags=data.bags, random_state=0)
    assert report.common_classes_rejected is classes
    assert report.common_probabilities_rejected is counts


def test_bags_with_an_effect_violate_the_second_assumption():
    data = make_gaussian_bags("effect", n_bags=60, strength=1.5, random_state=0)
    report = check_assumptions(data.X, data.y, bags=data.bags, random_state=0)
    assert report.common_probabilities_rejected


@pytest.mark.parametrize("case", BAG_CASES)
def test_bayes_error_is_that_of_the_bayes_rule(case):
    data = make_gaussian_bags(case, n_test=100_000, random_state=0)
    wrong = (data.X_test[:, 0] > 0) != data.y_test
    assert np.mean(wrong) == pytest.approx(data.bayes_error, abs=0.005)
    if case != "effect":
        assert data.bayes_error == pytest.approx(norm.cdf(-1))


def test_bags_have_their_sizes_and_counts():
    data = make_gaussian_bags("priors", n_bags=7, bag_size=4, random_state=0)
    assert np.bincount(data.bags).tolist() == [4] * 7
    assert np.allclose(4 * data.y, np.rint(4 * data.y))


@pytest.mark.parametrize(
    "wrong", [{"case": "odd"}, {"n_bags": 0}, {"bag_size": 2.5}, {"strength": -1}]
)
def test_bad_arguments_are_named(wrong):
    arguments = {"case": "random"} | wrong
    name = next(iter(wrong))
    with pytest.raises(ValueError, match="unknown case 'odd'" if name == "case" else name):
        make_gaussian_bags(arguments.pop("case"), **arguments)
