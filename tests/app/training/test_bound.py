import pytest

from decorrupt.app.training.bound import report_bags, report_sources
from decorrupt.corruption import combine_bags
from decorrupt.theory import bound_bags, bound_common_source, bound_varying_priors

BALL = {"radius": 2.0, "kernel_bound": 1.0, "failure_prob": 0.05}
NO_TARGETS = {"bound": None, "effective_sample_size": None}


def test_bags_and_the_rows_a_target_asks_for():
    sizes, shares = [100, 100], [0.6, 0.4]
    found = report_bags(sizes, shares, {"bound": 0.5, "effective_sample_size": 400}, **BALL)
    expected = bound_bags(sizes, combine_bags(sizes, shares), **BALL)
    assert found["bounds"]["superbag"]["bound"] == pytest.approx(expected)
    assert found["effective_sample_size"] == pytest.approx(8)  # 4V = 4·200·0.01
    assert found["required"]["effective_sample_size"]["n_rows"] == 10_000
    factor = found["required"]["bound"]["factor"]
    more = [size * factor for size in sizes]
    assert bound_bags(more, combine_bags(more, shares), **BALL) == pytest.approx(0.5)


def test_sources_with_and_without_priors():
    rates = ([1000, 2000], [0.1, 0.3], [0.1, 0.2])
    found = report_sources(*rates, None, NO_TARGETS, **BALL)
    assert found["theorem"] == 2
    assert found["bounds"]["size"]["bound"] == pytest.approx(
        bound_common_source(*rates, weights="size", **BALL)
    )
    assert found["required"] == {}
    found = report_sources(*rates, [0.5, 0.2], NO_TARGETS, **BALL)
    assert found["theorem"] == 3
    assert found["bounds"]["optimal"]["bound"] == pytest.approx(
        bound_varying_priors(*rates, [0.5, 0.2], **BALL)
    )
