"""Means, deviations and distances, against numbers worked out by hand."""

import pytest

from helpers.synthetic_records import failed, record
from reproduction.report.agreement import pooled_deviations
from reproduction.report.tables import Spread, scores_by_method, spread


def test_deviations_divide_by_one_less():
    assert spread([1.0, 3.0]) == (2.0, pytest.approx(2**0.5), 2)
    assert spread([0.7]) == (0.7, None, 1)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Spread(0.9, 0.1, 5), Spread(0.7, 0.1, 5), 2.0),
        # ((2-1)·.3² + (5-1)·.1²) / 5 = .026
        (Spread(0.9, 0.3, 2), Spread(0.7, 0.1, 5), 0.2 / 0.026**0.5),
        (Spread(0.9, None, 1), Spread(0.7, 0.1, 5), 2.0),
        (Spread(0.7, 0.1, 5), Spread(0.9, 0.1, 5), -2.0),
        (Spread(1.0, 0.0, 2), Spread(1.0, 0.0, 5), 0.0),
        (Spread(0.9, 0.0, 2), Spread(1.0, 0.0, 5), None),
        (Spread(0.9, None, 1), Spread(0.9, None, 1), 0.0),
    ],
)
def test_distances_in_pooled_deviations(one, other, expected):
    found = pooled_deviations(one, other)
    assert found == (None if expected is None else pytest.approx(expected))


def test_failed_runs_have_no_scores():
    records = [record("cnae", 2, "auto", 1), failed("cnae", 2, "auto", 0)]
    assert scores_by_method(records, "accuracy") == {
        "auto": {("cnae", 2): {1: records[0]["accuracy"]}}
    }
