"""Rates from audited rows, against scipy."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, norm

from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates import NoiseRateEstimate, estimate_noise_rates_from_audit
from decorrupt.noise_rates.result import bootstrap_ends, informative
from decorrupt.observed import NoiseRates, matrix_of_rates, rates_of_matrix


def audited(wrong_pos, n_pos, wrong_neg, n_neg):
    """Return y_noisy and y_true with so many wrong labels among so many of either class."""
    y_true = np.repeat([1, 0], [n_pos, n_neg])
    y_noisy = np.concatenate([np.arange(n_pos) >= wrong_pos, np.arange(n_neg) < wrong_neg])
    return {"y_noisy": y_noisy.astype(int), "y_true": y_true}


counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n // 3), st.just(n)))


@given(counts, counts, st.sampled_from([0.5, 0.9, 0.99]))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.UninformativeRatesWarning")
def test_shares_and_clopper_pearson_intervals(pos, neg, level):
    found = estimate_noise_rates_from_audit(**audited(*pos, *neg), level=level)
    assert tuple(found.rates["all rows"]) == pytest.approx((pos[0] / pos[1], neg[0] / neg[1]))
    tail = (1 - level) / 2
    for name, (wrong, size) in (("flip_pos", pos), ("flip_neg", neg)):
        low, high = found.intervals["all rows"][name]
        # Clopper & Pearson's ends are quantiles of beta distributions.
        assert low == pytest.approx(beta.ppf(tail, wrong, size - wrong + 1) if wrong else 0)
        assert high == pytest.approx(beta.ppf(1 - tail, wrong + 1, size - wrong))


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_coverage_is_never_below_the_level(rate):
    """Exact: the intervals of all 31 outcomes, weighted by their binomial probability."""
    hit = 0.0
    for wrong in range(21):
        found = estimate_noise_rates_from_audit(**audited(0, 60, wrong, 30), level=0.9)
        low, high = found.intervals["all rows"]["flip_neg"]
        hit += binom.pmf(wrong, 30, rate) * (low <= rate <= high)
    assert hit >= 0.9


def test_by_source_with_words_for_labels():
    first, second = audited(1, 10, 2, 10), audited(0, 5, 1, 20)
    labels = {
        name: np.where(np.concatenate([first[name], second[name]]) == 1, "yes", "no")
        for name in first
    }
    sources = ["nurse"] * 20 + ["rule"] * 25
    found = estimate_noise_rates_from_audit(**labels, sources=sources)
    assert {s: tuple(r) for s, r in found.rates.items()} == {
        "nurse": (0.1, 0.2),
        "rule": (0.0, 0.05),
    }
    assert found.class_prior == pytest.approx([30 / 45, 15 / 45])


@given(counts, counts)
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.UninformativeRatesWarning")
def test_swapping_the_labels_swaps_the_rates(pos, neg):
    assume(pos[0] / pos[1] + neg[0] / neg[1] < 0.9)
    labels = audited(*pos, *neg)
    here = estimate_noise_rates_from_audit(**labels)
    there = estimate_noise_rates_from_audit(**{name: 1 - y for name, y in labels.items()})
    assert tuple(there.rates["all rows"]) == tuple(here.rates["all rows"])[::-1]


def test_intervals_that_reach_a_coin_warn():
    with pytest.warns(UninformativeRatesWarning, match="may be as large as"):
        estimate_noise_rates_from_audit(**audited(1, 4, 1, 4))


def test_labels_that_mean_the_opposite_warn_and_are_drawn_back():
    with pytest.warns(UninformativeRatesWarning, match=r"estimated at 1\.6.*swap its labels"):
        found = estimate_noise_rates_from_audit(**audited(16, 20, 16, 20))
    assert sum(found.rates["all rows"]) == pytest.approx(0.99)


def test_labels_go_by_name_only():
    """In scikit-learn's order, y_true first, they would give rates, and wrong ones."""
    labels = audited(1, 10, 4, 10)
    with pytest.raises(TypeError, match="positional"):
        estimate_noise_rates_from_audit(labels["y_true"], labels["y_noisy"])


LABELS = audited(1, 10, 1, 10)
BAD = [
    ({"y_noisy": LABELS["y_noisy"][:-1]}, r"inconsistent numbers of samples: \[19, 20\]"),
    ({"sources": ["s"] * 19}, r"inconsistent numbers of samples"),
    ({"y_true": LABELS["y_true"] + 5}, r"no audited row whose true label is 0: its row of the"),
    ({"y_noisy": [1, 1], "y_true": [1, 1]}, r"two classes, found 1: \[1\]"),
    ({"sources": np.repeat(["s", "t"], 10)}, r"'s' has no audited.*is 0.*flip_neg"),
    ({"level": 90}, r"level=90 must lie"),
]


@pytest.mark.parametrize(("changed", "message"), BAD)
def test_bad_input(changed, message):
    with pytest.raises(ValueError, match=message):
        estimate_noise_rates_from_audit(**LABELS | changed)


# --- intervals


def estimate(ends, **options):
    """Return the estimate of one source with flip rates of .1 and .25."""
    rates, prior = matrix_of_rates([0.1], [0.25]), np.array([0.6, 0.4])
    return NoiseRateEstimate(["nurse"], rates, ends, 0.9, prior, "audit", ["no", "yes"], **options)


@given(st.floats(-0.5, 1.5), st.floats(-0.5, 1.5))
def test_drawn_back_rates_are_rates(flip_pos, flip_neg):
    pair = rates_of_matrix(informative(matrix_of_rates([flip_pos], [flip_neg]))[0])
    assert NoiseRates(*pair).signal >= 0.01 - 1e-12
    if min(flip_pos, flip_neg) >= 0 and flip_pos + flip_neg <= 0.99:
        np.testing.assert_allclose(pair, (flip_pos, flip_neg))


def test_intervals_are_the_wider_of_two():
    """Skewed draws around .2 for one rate, draws far below the estimate for the other."""
    draws = np.zeros((101, 1, 2))
    draws[:, 0, 0] = 0.2 + np.linspace(0, 1, 101) ** 4 * 0.4
    draws[:, 0, 1] = np.linspace(-0.1, 0.1, 101)
    moved = matrix_of_rates(draws[..., 0], draws[..., 1])
    ends = bootstrap_ends(matrix_of_rates([0.2], [0.3]), moved, 0.9)
    found = NoiseRateEstimate(["s"], moved[0], ends, 0.9, np.full(2, 0.5), "x", [0, 1])
    (low, high), (second_low, second_high) = found.intervals["s"].values()
    reach = norm.ppf(0.95) * draws.std(axis=0)[0]
    assert low == pytest.approx(0.2 - reach[0])
    assert high == pytest.approx(0.2 + 0.95**4 * 0.4)
    assert second_low == 0
    assert second_high == pytest.approx(0.3 + reach[1])


def test_no_draws_no_intervals():
    assert bootstrap_ends(matrix_of_rates([0.2], [0.3]), np.array([]), 0.9) is None
    assert estimate(None).intervals == {}


def test_the_table():
    found = estimate(np.array([[[[0.7, 0.8], [0.2, 0.3]], [[0.05, 0.2], [0.8, 0.95]]]]))
    assert found.rates == {"nurse": (0.1, 0.25)}
    assert found.intervals == {"nurse": {"flip_pos": (0.05, 0.2), "flip_neg": (0.2, 0.3)}}
    lines = str(found).splitlines()
    assert " ".join(lines[1].split()) == "nurse 0.100 (0.050 to 0.200) 0.250 (0.200 to 0.300)"
    assert lines[2] == "class prior 0.400; 90% intervals; audit"


def test_the_table_tells_what_its_intervals_leave_out():
    left_out = "The intervals leave out the weather."
    assert str(estimate(None, left_out=left_out)).splitlines()[-1] == left_out
