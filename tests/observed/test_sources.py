"""Noisy labels of sources: every way of giving rates and priors leads to one form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from decorrupt.observed import NoiseRates, Observed, matrix_of_rates
from helpers.class_sources import RATES as THREE
from helpers.class_sources import three_classes
from oracles.label_noise import posterior_by_label

LABELS = np.array([1, -1, 1, 1, -1, -1])
SOURCES = ["b", "a", "b", "a", "b", "a"]
RATES = {"a": (0.1, 0.2), "b": (0.3, 0.0)}
TWO = {"expert": (0.1, 0.0), "crowd": (0.2, 0.3), "rule": (0.0, 0.4)}


def read(labels, sources, rates, source_priors=None):
    return Observed.from_sources(labels, sources, rates, source_priors=source_priors)


@pytest.fixture(scope="module")
def data():
    return three_classes(900, seed=0)


class TestRates:
    @pytest.mark.parametrize(
        "given",
        [
            RATES,
            {name: NoiseRates(*pair) for name, pair in RATES.items()},
            {name: matrix_of_rates(*pair) for name, pair in RATES.items()},
        ],
        ids=["pairs", "NoiseRates", "matrices"],
    )
    def test_of_two_classes_are_the_same_in_every_form(self, given):
        noisy = read(LABELS, SOURCES, given)
        assert noisy.sources.ids.tolist() == ["a", "b"]
        assert noisy.source_sizes.tolist() == [3, 3]
        assert noisy.sources.noisy_class.tolist() == [1, 0, 1, 1, 0, 0]
        assert_allclose(noisy.sources.matrices, matrix_of_rates([0.1, 0.3], [0.2, 0.0]))
        assert noisy.sources.rates == RATES

    def test_of_several_classes(self, data):
        noisy = read(data.noisy, data.sources, THREE)
        assert noisy.sources.ids.tolist() == ["crowd", "expert", "rule"]
        for name in THREE:
            assert_allclose(noisy.sources.rates[name], THREE[name])

    def test_a_source_per_row_is_the_same_as_a_source(self):
        rows = read(LABELS, range(6), {row: RATES[source] for row, source in enumerate(SOURCES)})
        noisy = read(LABELS, SOURCES, RATES)
        assert_allclose(rows.given, noisy.given)
        assert_allclose(rows.class_prior, noisy.class_prior)
        assert_allclose(rows.proportions, noisy.proportions)

    def test_one_pair_is_that_of_all_sources(self):
        noisy = read(LABELS, SOURCES, (0.2, 0.1))
        assert noisy.sources.rates == {"a": (0.2, 0.1), "b": (0.2, 0.1)}

    def test_one_pair_is_for_all_rows_and_no_rates_are_clean_labels(self):
        one = read(LABELS, None, (0.2, 0.1))
        assert one.sources.rates == {"all rows": (0.2, 0.1)}
        assert read(LABELS, None, None).sources.rates == {"all rows": (0.0, 0.0)}
        assert read([0, 1, 2], None, None).sources.matrices.tolist() == [np.eye(3).tolist()]

    def test_probabilities_of_the_labels_given_the_classes(self):
        noisy = read(LABELS, SOURCES, RATES)
        # Row 0: source b, label +: ρ₋ = 0 of the negatives, 1 − ρ₊ = 0.7 of the positives.
        assert_allclose(
            noisy.given, [[0, 0.7], [0.8, 0.1], [0, 0.7], [0.2, 0.9], [1, 0.3], [0.8, 0.1]]
        )

    @pytest.mark.parametrize(
        ("sources", "rates", "message"),
        [
            (None, RATES, r"noise_rates are given by source, but fit got no sources"),
            (SOURCES, None, r"2 sources but no noise_rates"),
            (SOURCES, {"a": (0.1, 0.1)}, r"no entry for source 'b' \(they have: 'a'\)"),
            (SOURCES, {"a": (0.1, 0.1), "b": (0.6, 0.5)}, r"source 'b': flip_pos \+ flip_neg"),
            (
                SOURCES,
                {"a": (0.1, 0.1), "b": np.eye(3)},
                r"'b' have shape \(3, 3\),.*\[-1, 1\]; a cl",
            ),
            (SOURCES[:4], RATES, r"inconsistent numbers of samples"),
            (None, np.full((6, 2), 0.1), r"shape \(6, 2\).*every row is a source"),
        ],
    )
    def test_bad_input(self, sources, rates, message):
        with pytest.raises(ValueError, match=message):
            read(LABELS, sources, rates)


class TestPriors:
    def test_are_given_once_or_by_source(self):
        for prior, expected in ((0.3, [0.3, 0.3]), ({"b": 0.2, "a": 0.4}, [0.4, 0.2])):
            noisy = read(LABELS, SOURCES, RATES, prior)
            assert_allclose(noisy.source_priors[:, 1], expected)
            assert_allclose(noisy.source_priors.sum(axis=1), 1)
            assert_allclose(noisy.class_prior[1], np.mean(expected))

    def test_of_several_classes(self, data):
        shares = {"expert": [0.2, 0.3, 0.5], "crowd": [0.5, 0.3, 0.2], "rule": [0.1, 0.1, 0.8]}
        noisy = read(data.noisy, data.sources, THREE, shares)
        assert_allclose(noisy.source_priors, [shares["crowd"], shares["expert"], shares["rule"]])

    @pytest.mark.parametrize(
        "prior", [0, 1, 1.2, [0.5, 0.6], [0.2, 0.3, 0.5], {"a": 0.5, "b": 0.0}]
    )
    def test_bad_ones_name_the_source(self, prior):
        with pytest.raises(ValueError, match=r"source_priors of source '[ab]'="):
            read(LABELS, SOURCES, RATES, prior)
        with pytest.raises(ValueError, match="source_priors have no entry for source 'b'"):
            read(LABELS, SOURCES, RATES, {"a": 0.5})

    def test_the_common_prior_by_hand(self):
        """Rates (.2, .1) and a noisy share of ½: π = (½ − .1)/.7; a sample never implies 0 or 1."""
        assert read(LABELS, None, (0.2, 0.1)).source_priors[:, 1] == pytest.approx([0.4 / 0.7])
        all_pos = read([1] * 5 + [-1], None, (0.0, 0.6))
        assert all_pos.source_priors[:, 1] == pytest.approx([(5 / 6 - 0.6) / 0.4])
        few = read([1, -1, -1, -1, -1], None, (0.0, 0.6))
        assert few.source_priors[:, 1] == pytest.approx([0.1])

    def test_one_source_solves_the_equation(self, data):
        noisy = read(data.noisy, None, THREE["crowd"])
        shares = np.bincount(data.noisy) / len(data.noisy)
        assert_allclose(THREE["crowd"].T @ noisy.class_prior, shares)

    def test_several_sources_agree_on_one_population(self):
        data = three_classes(60_000, seed=3)
        noisy = read(data.noisy, data.sources, THREE)
        (first, *others) = noisy.source_priors
        assert_allclose(first, [0.5, 0.3, 0.2], atol=0.015)
        assert all((first == other).all() for other in others)

    def test_impossible_shares_are_clipped(self):
        """No row is labelled 2 though a tenth of the zeros should be: the estimate is negative."""
        rates = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9]])
        codes = np.r_[np.zeros(50), np.ones(49), [2]].astype(int)
        raw = np.linalg.solve(rates.T, np.bincount(codes) / 100)
        assert raw[2] < 0
        shares = read(codes, None, rates).class_prior
        assert shares.sum() == pytest.approx(1)
        assert shares[2] == pytest.approx(0.005, rel=0.2)

    @settings(max_examples=30)
    @given(st.integers(0, 1000), st.sampled_from([2, 3, 4]))
    def test_they_are_the_least_squares_over_all_rows(self, seed, n_classes):
        """Σ_j ‖e_ỹ − Tᵀπ‖² of the row's matrix is least at π, among shares that sum to 1."""
        rng = np.random.default_rng(seed)
        matrices = {k: 0.5 * np.eye(n_classes) + 0.5 * rng.dirichlet(np.ones(n_classes), n_classes)
                    for k in range(3)}  # fmt: skip
        sources = np.arange(600) % 3
        codes = rng.integers(0, n_classes, 600)
        found = read(codes, sources, matrices).class_prior
        if found.min() < 0.01:  # clipped
            return

        def squares(prior):
            expected = np.array([matrices[k].T @ prior for k in range(3)])[sources]
            return np.sum((np.eye(n_classes)[codes] - expected) ** 2)

        for step in 1e-3 * rng.normal(size=(10, n_classes)):
            assert squares(found) < squares(found + step - step.mean())


class TestStrata:
    """One bag per source and noisy label."""

    @pytest.mark.parametrize("prior", [0.2, 0.5])
    @pytest.mark.parametrize("rates", [(0.0, 0.0), (0.3, 0.05), (0.45, 0.5)])
    def test_shares_of_two_classes_follow_bayes_rule(self, rates, prior):
        strata = read(LABELS, None, rates, prior).strata
        assert strata.ids.tolist() == ["all rows labelled -1", "all rows labelled 1"]
        _, given_pos, given_neg = posterior_by_label(prior, *rates)
        assert_allclose(strata.proportions[:, 1], [given_neg, given_pos])
        assert strata.row_bag.tolist() == [1, 0, 1, 1, 0, 0]

    def test_shares_of_several_classes_follow_bayes_rule(self, data):
        noisy = read(data.noisy, data.sources, THREE, [0.5, 0.3, 0.2])
        strata = noisy.strata
        place = list(strata.ids).index("rule labelled 2")
        joint = np.array([0.5, 0.3, 0.2]) * THREE["rule"][:, 2]
        assert_allclose(strata.proportions[place], joint / joint.sum())
        rows = np.flatnonzero(strata.row_bag == place)
        assert (data.sources[rows] == "rule").all()
        assert (data.noisy[rows] == 2).all()
        assert_allclose(noisy.proportions[rows], np.tile(joint / joint.sum(), (len(rows), 1)))


class TestAsObserved:
    def test_every_row_is_a_bag_of_which_only_the_label_is_known(self):
        observed = read(LABELS, SOURCES, RATES)
        assert observed.is_of_sources
        assert observed.sizes.tolist() == [1] * 6
        assert observed.counts.lower.tolist() == [[0, 0]] * 6
        assert observed.counts.upper.tolist() == [[1, 1]] * 6
        strata = observed.strata
        assert_allclose(observed.proportions, strata.proportions[strata.row_bag])

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_some_rows_are_as_if_read_alone(self, data, n_classes):
        labels = data.noisy if n_classes == 3 else (data.noisy > 0).astype(int)
        rates = THREE if n_classes == 3 else TWO
        rows = np.flatnonzero(data.sources != "expert")[::3]
        part = read(labels, data.sources, rates).take(rows)
        alone = read(labels[rows], data.sources[rows], rates)
        assert part.sources.ids.tolist() == alone.sources.ids.tolist() == ["crowd", "rule"]
        assert part.source_sizes.tolist() == alone.source_sizes.tolist()
        assert_allclose(part.given, alone.given)
        assert_allclose(part.source_priors, alone.source_priors)
        assert_allclose(part.sources.matrices, alone.sources.matrices)
        assert_allclose(part.strata.proportions, alone.strata.proportions)

    @pytest.mark.parametrize("prior", [None, 0.3])
    def test_given_priors_stay_with_their_sources(self, prior):
        given = None if prior is None else {"a": prior, "b": 0.6}
        part = read(LABELS, SOURCES, RATES, given).take(np.array([0, 2, 4]))
        assert part.sources.ids.tolist() == ["b"]
        if prior is not None:
            assert_allclose(part.source_priors, [[0.4, 0.6]])

    def test_values_by_source(self, data):
        noisy = read(LABELS, SOURCES, RATES, {"a": 0.2, "b": 0.4})
        assert noisy.sources.by_source(noisy.source_priors) == pytest.approx({"a": 0.2, "b": 0.4})
        assert noisy.sources.by_source(np.array([1.0, 2.0])) == {"a": 1.0, "b": 2.0}
        three = read(data.noisy, data.sources, THREE, [0.5, 0.3, 0.2])
        assert_allclose(three.sources.by_source(three.source_priors)["rule"], [0.5, 0.3, 0.2])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repeated_rows(data, n_classes):
    labels = data.noisy[:60] if n_classes == 3 else (data.noisy[:60] > 0).astype(int)
    sources = data.sources[:60]
    rates = THREE if n_classes == 3 else TWO
    weights = np.random.default_rng(0).integers(1, 5, 60)
    repeated = np.repeat(np.arange(60), weights)
    weighted = Observed.from_sources(labels, sources, rates, sample_weight=weights)
    longer = read(labels[repeated], sources[repeated], rates)
    assert weighted.source_sizes.tolist() == longer.source_sizes.tolist()
    assert_allclose(weighted.source_priors, longer.source_priors)
    assert weighted.strata.sizes.tolist() == longer.strata.sizes.tolist()
    assert_allclose(weighted.strata.proportions, longer.strata.proportions)
    part = weighted.take(np.arange(10))
    assert part.source_sizes.sum() == weights[:10].sum()
