"""Noisy labels of sources: every way of giving rates and priors leads to one form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt import NoiseRates
from decorrupt.observed import labels_as_bags, read_labels, read_sources
from helpers.class_sources import RATES as CLASS_RATES
from helpers.class_sources import three_classes

CLASSES = np.array([-1, 1])
CODES = np.array([1, 0, 1, 1, 0, 0])
SOURCES = ["b", "a", "b", "a", "b", "a"]
RATES = {"a": (0.1, 0.2), "b": (0.3, 0.0)}
BY_ROW = np.array([RATES[source] for source in SOURCES])


def rates_of(noisy):
    """Return (flip_pos, flip_neg) of each row, from its transition matrix."""
    matrices = noisy.matrices[noisy.row_matrix]
    return np.column_stack([matrices[:, 1, 0], matrices[:, 0, 1]])


def test_the_larger_label_is_the_positive_class():
    classes, codes = read_labels(["no", "yes", "no"])
    assert classes.tolist() == ["no", "yes"]
    assert codes.tolist() == [0, 1, 0]


def test_labels_make_two_bags_or_one_for_each_row():
    pure = labels_as_bags([0, 1, 1], rows_as_bags=False)
    single = labels_as_bags([0, 1, 1], rows_as_bags=True)
    assert (pure.sizes.tolist(), pure.proportions[:, 1].tolist()) == ([1, 2], [0, 1])
    assert (single.sizes.tolist(), single.proportions[:, 1].tolist()) == ([1, 1, 1], [0, 1, 1])


def test_rates_by_source_and_by_row_are_the_same():
    for given in (RATES, {k: NoiseRates(*v) for k, v in RATES.items()}, BY_ROW):
        noisy = read_sources(CODES, CLASSES, SOURCES, given)
        assert noisy.ids.tolist() == ["a", "b"]
        assert noisy.sizes.tolist() == [3, 3]
        assert noisy.noisy_class.tolist() == [1, 0, 1, 1, 0, 0]
        np.testing.assert_array_equal(rates_of(noisy), BY_ROW)
        assert noisy.rates_by_source == RATES


def test_rates_that_vary_within_a_source_are_no_source_rates():
    varying = BY_ROW.copy()
    varying[5] = 0.25
    assert read_sources(CODES, CLASSES, SOURCES, varying).rates_by_source is None


def test_one_pair_is_for_all_rows_and_no_rates_are_clean_labels():
    one = read_sources(CODES, CLASSES, None, (0.2, 0.1))
    assert one.rates_by_source == {"all rows": (0.2, 0.1)}
    assert not rates_of(read_sources(CODES, CLASSES, None, None)).any()


def test_priors_are_given_once_or_by_source():
    for given, expected in ((0.3, [0.3, 0.3]), ({"b": 0.2, "a": 0.4}, [0.4, 0.2])):
        noisy = read_sources(CODES, CLASSES, SOURCES, RATES, given)
        assert noisy.priors[:, 1].tolist() == expected


def test_the_common_prior_by_hand():
    """Rates (.2, .1) and a noisy share of ½: π = (½ − .1)/.7; a sample never implies 0 or 1."""

    def prior(codes, rates):
        return read_sources(np.array(codes), CLASSES, None, rates).priors[:, 1]

    assert prior(CODES, (0.2, 0.1)) == pytest.approx([0.4 / 0.7])
    assert prior([1] * 5 + [0], (0.0, 0.6)) == pytest.approx([(5 / 6 - 0.6) / 0.4])
    assert prior([1, 0, 0, 0, 0], (0.0, 0.6)) == pytest.approx([0.1])


class TestSeveralClasses:
    @pytest.fixture
    def data(self):
        return three_classes()

    @staticmethod
    def read(codes, sources, rates, priors=None):
        return read_sources(codes, np.arange(3), sources, rates, priors)

    def test_one_source_solves_the_equation(self, data):
        noisy = self.read(data.noisy, None, CLASS_RATES["crowd"])
        shares = np.bincount(data.noisy) / len(data.noisy)
        assert_allclose(CLASS_RATES["crowd"].T @ noisy.class_prior, shares)

    def test_several_sources_agree_on_one_population(self):
        data = three_classes(60_000, seed=3)
        (first, *others) = self.read(data.noisy, data.sources, CLASS_RATES).priors
        assert_allclose(first, [0.5, 0.3, 0.2], atol=0.015)
        assert all((first == other).all() for other in others)

    def test_impossible_shares_are_clipped(self):
        """No row is labelled 2 though a tenth of the zeros should be: the estimate is negative."""
        rates = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9]])
        codes = np.r_[np.zeros(50), np.ones(49), [2]].astype(int)
        raw = np.linalg.solve(rates.T, np.bincount(codes) / 100)
        assert raw[2] < 0
        shares = self.read(codes, None, rates).class_prior
        assert shares.sum() == pytest.approx(1)
        assert shares[2] == pytest.approx(0.005, rel=0.2)

    def test_bags_of_sources_and_labels_follow_bayes_rule(self, data):
        strata = self.read(data.noisy, data.sources, CLASS_RATES, [0.5, 0.3, 0.2]).strata
        place = list(strata.ids).index("rule labelled 2")
        joint = np.array([0.5, 0.3, 0.2]) * CLASS_RATES["rule"][:, 2]
        assert_allclose(strata.proportions[place], joint / joint.sum())
        rows = np.flatnonzero(strata.row_bag == place)
        assert (data.sources[rows] == "rule").all()
        assert (data.noisy[rows] == 2).all()
