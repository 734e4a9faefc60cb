"""Reading labels, bags, sources and rates: every way of giving them leads to one form."""

import numpy as np
import pytest

from decorrupt import NoiseRates
from decorrupt.estimators.inputs import (
    read_class_priors,
    read_labels,
    read_sources,
    read_strata,
    source_priors,
)

LABELS = np.array([1, -1, 1, 1, -1, -1])
SOURCES = ["b", "a", "b", "a", "b", "a"]
RATES = {"a": (0.1, 0.2), "b": (0.3, 0.0)}
BY_ROW = np.array([RATES[source] for source in SOURCES])


def test_the_larger_label_is_the_positive_class():
    classes, signs = read_labels(["no", "yes", "no"])
    assert classes.tolist() == ["no", "yes"]
    assert signs.tolist() == [-1, 1, -1]


def test_labels_make_two_strata_or_one_for_each_row():
    _, pure = read_strata([0, 1, 1], None)
    _, single = read_strata([0, 1, 1], None, rows_as_bags=True)
    assert (pure.sizes.tolist(), pure.proportions.tolist()) == ([1, 2], [0, 1])
    assert (single.sizes.tolist(), single.proportions.tolist()) == ([1, 1, 1], [0, 1, 1])


def test_rates_by_source_and_by_row_are_the_same():
    for given in (RATES, {k: NoiseRates(*v) for k, v in RATES.items()}, BY_ROW):
        noisy = read_sources(LABELS, SOURCES, given)
        assert noisy.ids.tolist() == ["a", "b"]
        assert noisy.sizes.tolist() == [3, 3]
        assert noisy.is_pos.tolist() == [True, False, True, True, False, False]
        np.testing.assert_array_equal(noisy.rates, BY_ROW)
        assert noisy.rates_by_source == RATES


def test_rates_that_vary_within_a_source_are_no_source_rates():
    varying = BY_ROW.copy()
    varying[5] = 0.25
    assert read_sources(LABELS, SOURCES, varying).rates_by_source is None


def test_one_pair_is_for_all_rows_and_no_rates_are_clean_labels():
    one = read_sources(LABELS, None, (0.2, 0.1))
    assert one.rates_by_source == {"all rows": (0.2, 0.1)}
    assert not read_sources(LABELS, None, None).rates.any()


def test_priors_are_given_once_or_by_source():
    ids = np.array(["a", "b"])
    assert read_class_priors(0.3, ids).tolist() == [0.3, 0.3]
    assert read_class_priors({"b": 0.2, "a": 0.4}, ids).tolist() == [0.4, 0.2]


def test_the_common_prior_by_hand():
    """Rates (.2, .1) and a noisy share of ½: π = (½ − .1)/.7; a sample never implies 0 or 1."""
    noisy = read_sources(LABELS, None, (0.2, 0.1))
    assert source_priors(None, noisy) == pytest.approx([0.4 / 0.7])
    all_pos = read_sources(np.array([1] * 5 + [-1]), None, (0.0, 0.6))
    assert source_priors(None, all_pos) == pytest.approx([(5 / 6 - 0.6) / 0.4])
    few = read_sources(np.array([1, -1, -1, -1, -1]), None, (0.0, 0.6))
    assert source_priors(None, few) == pytest.approx([0.1])
