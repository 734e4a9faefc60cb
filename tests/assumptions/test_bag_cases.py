"""The tests of both assumptions on bags that satisfy or violate each."""

import pytest

from decorrupt import check_assumptions
from helpers.bags import gaussian_bags


@pytest.mark.parametrize(
    ("case", "classes", "counts"),
    [("random", False, False), ("priors", False, True), ("feature", True, False)],
)
def test_what_is_violated_is_rejected(case, classes, counts):
    data = gaussian_bags(case, n_bags=60, seed=1)
    report = check_assumptions(data.X, data.y, bags=data.bags, random_state=0)
    assert report.common_classes_rejected is classes
    assert report.common_probabilities_rejected is counts


def test_bags_with_an_effect_violate_the_second_assumption():
    data = gaussian_bags("effect", n_bags=60, strength=1.5)
    report = check_assumptions(data.X, data.y, bags=data.bags, random_state=0)
    assert report.common_probabilities_rejected
