"""Rates estimated from noisy labels alone."""

import logging
import runpy
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import beta
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.svm import LinearSVC

from decorrupt import noise_rates
from decorrupt.corruption import corrupt_labels
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.noise_rates.estimate import tail_bounds
from decorrupt.noise_rates.scores import count_labels
from decorrupt.observed import read_sources

RATES = {"a": (0.1, 0.3), "b": (0.2, 0.2), "c": (0.05, 0.15)}
LINEAR = LogisticRegression()
LOG = logging.getLogger(__name__)  # docs/evidence/noise_rates.md quotes what the slow tests measure


def noisy_rows(X, labels, seed, rates=RATES):
    """Give each source every third row, and flip its labels."""
    names = np.array(list(rates))
    sources = names[np.arange(len(labels)) % len(names)]
    noisy = corrupt_labels(labels, [rates[s] for s in sources], random_state=seed)
    return X, noisy, sources


def normal_classes(n_rows, seed, distance=2.5, prior=0.5, rates=RATES):
    """Unit normal classes in three dimensions, their means `distance` apart."""
    rng = np.random.default_rng(seed)
    labels = (rng.uniform(size=n_rows) < prior).astype(int)
    X = rng.normal(size=(n_rows, 3))
    X[:, 0] += distance * (labels - 0.5)
    return noisy_rows(X, labels, seed, rates)


def errors(found, rates=RATES):
    return np.array([np.abs(np.subtract(list(found.rates[s]), rates[s])) for s in rates])


def covered(found, rates=RATES):
    return np.array(
        [
            [
                low <= rate <= high
                for rate, (low, high) in zip(rates[s], found.intervals[s].values(), strict=True)
            ]
            for s in rates
        ]
    )


def quickly(X, y, sources, **options):
    """Estimate the rates from a linear score, without resampling."""
    options = {"estimator": LINEAR, "n_bootstrap": 0, "random_state": 0} | options
    return estimate_noise_rates(X, y, sources=sources, **options)


def test_three_sources_of_normal_classes():
    X, y, sources = normal_classes(15_000, seed=0)
    found = estimate_noise_rates(X, y, sources=sources, n_bootstrap=50, random_state=0)
    assert errors(found).mean() < 0.03
    assert covered(found).mean() > 0.8
    assert found.class_prior == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.slow
def test_error_and_coverage_over_twenty_seeds():
    """5,000 rows per source."""
    error, hits = [], []
    for seed in range(20):
        X, y, sources = normal_classes(15_000, seed)
        found = estimate_noise_rates(X, y, sources=sources, random_state=seed)
        error.append(errors(found))
        hits.append(covered(found))
    LOG.info("mean error %.4f, coverage %.3f", np.mean(error), np.mean(hits))
    assert np.mean(error) <= 0.03
    assert np.mean(hits) >= 0.8


def overlapping_squares(rng, n_rows):
    labels = rng.integers(0, 2, n_rows)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    X[:, 0] += labels - 0.5
    return X, labels


def ring(rng, n_rows):
    labels = rng.integers(0, 2, n_rows)
    angle, radius = rng.uniform(0, 2 * np.pi, n_rows), 2.5 * labels + 0.7 * rng.normal(size=n_rows)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), labels


def chequerboard(rng, n_rows):
    corner = rng.integers(0, 2, (n_rows, 2))
    X = 1.2 * (2 * corner - 1) + 0.7 * rng.normal(size=(n_rows, 2))
    return X, (corner[:, 0] == corner[:, 1]).astype(int)


def close_classes(rng, n_rows):
    labels = rng.integers(0, 2, n_rows)
    return rng.normal(size=(n_rows, 3)) + 1.5 * (labels[:, None] - 0.5) * [1, 0, 0], labels


def very_close_classes(rng, n_rows):
    labels = rng.integers(0, 2, n_rows)
    return rng.normal(size=(n_rows, 3)) + (labels[:, None] - 0.5) * [1, 0, 0], labels


def rare_class(rng, n_rows):
    labels = (rng.uniform(size=n_rows) < 0.2).astype(int)
    return rng.normal(size=(n_rows, 3)) + 3 * (labels[:, None] - 0.5) * [1, 0, 0], labels


def heavy_tails(rng, n_rows):
    labels = rng.integers(0, 2, n_rows)
    return rng.standard_t(3, size=(n_rows, 2)) + 3 * (labels[:, None] - 0.5) * [1, 0], labels


GRID = [
    overlapping_squares, ring, chequerboard, close_classes, very_close_classes, rare_class,
    heavy_tails,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("setting", GRID)
def test_mean_error_in_other_settings(setting):
    error = []
    for seed in range(5):
        X, y, sources = noisy_rows(*setting(np.random.default_rng(seed), 6000), seed)
        found = estimate_noise_rates(X, y, sources=sources, n_bootstrap=0, random_state=seed)
        error.append(errors(found).mean())
    LOG.info("%s: %.3f", setting.__name__, np.mean(error))
    assert np.mean(error) <= 0.06


def test_random_state_decides_everything():
    X, y, sources = normal_classes(1500, seed=1)
    first, again, other = (
        estimate_noise_rates(X, y, sources=sources, n_bootstrap=10, random_state=state)
        for state in (3, 3, 4)
    )
    assert (first.rates, first.intervals) == (again.rates, again.intervals)
    np.testing.assert_array_equal(first.class_prior, again.class_prior)
    assert (first.level, first.method, str(first)) == (again.level, again.method, str(again))
    assert first.intervals != other.intervals


def test_any_increasing_transform_of_the_score_gives_the_same_rates():
    X, y, sources = normal_classes(3000, seed=3)

    class Cubed(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) ** 3

    found = [quickly(X, y, sources, estimator=model) for model in (LINEAR, Cubed())]
    assert found[0].rates == found[1].rates


def sources_of(y, sources, rates=(0.0, 0.0)):
    return read_sources(y, np.arange(2), sources, rates)


def test_tied_scores_do_not_reveal_sorted_labels():
    """With all scores tied, labels in sorted order must not look like a perfect score."""
    noisy = sources_of(np.repeat([0, 1], 1000), None)
    by_bin = count_labels(np.zeros(2000), noisy, np.random.RandomState(0))[:, 0]
    assert by_bin.shape == (40, 2)
    assert by_bin.min() > 8  # of 50; 25 is expected


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.UninformativeRatesWarning")
@pytest.mark.parametrize("distance", [0.5, 1.0, 3.0])
def test_bounds_hold_where_classes_overlap(distance):
    hits = []
    for seed in range(6):
        X, y, sources = normal_classes(1500, seed=seed, distance=distance)
        found = quickly(X, y, sources)
        hits.append(covered(found).mean())
        assert all(low == 0 for own in found.intervals.values() for low, _ in own.values())
    assert np.mean(hits) >= 0.9


def test_bounds_by_hand():
    # The top tenth has 1 of 4 labels wrong, the bottom tenth 0 of 4; the level is ½.
    counts = np.zeros((10, 1, 2))
    counts[-1, 0], counts[0, 0] = (1, 3), (4, 0)
    ends = tail_bounds(counts, np.zeros((1, 2)), 0.5)[0]
    assert ends[1, 0] == pytest.approx([0, beta.ppf(0.5, 2, 3)])
    assert ends[0, 1] == pytest.approx([0, 1 - 0.5 ** (1 / 4)])
    assert ends[1, 1] == pytest.approx([1 - beta.ppf(0.5, 2, 3), 1])


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(20, min_samples_leaf=40, random_state=0), LinearSVC()]
)
def test_other_estimators(estimator):
    X, y, sources = normal_classes(3000, seed=0)
    assert errors(quickly(X, y, sources, estimator=estimator)).mean() < 0.06


def test_frames_sparse_matrices_and_strings():
    X, y, sources = normal_classes(2000, seed=0)
    words = np.where(y == 1, "sick", "healthy")
    assert quickly(pd.DataFrame(X), words, sources).rates == quickly(X, y, sources).rates
    assert errors(quickly(csr_matrix(X), y, sources)).mean() < 0.08


def test_splitters():
    X, y, sources = normal_classes(2000, seed=0)
    assert errors(quickly(X, y, sources, cv=KFold(4))).mean() < 0.08
    with pytest.raises(ValueError, match=r"cv holds row \d+ out \d times.*partition"):
        estimate_noise_rates(X, y, sources=sources, cv=ShuffleSplit(3, random_state=0))


def test_labels_that_follow_nothing_are_reported():
    rng = np.random.default_rng(0)
    with pytest.warns(UninformativeRatesWarning, match=r"no better than chance \(AUC"):
        estimate_noise_rates(
            rng.normal(size=(600, 2)), rng.integers(0, 2, 600), n_bootstrap=0, random_state=0
        )


def test_a_coin_among_the_sources_is_reported():
    rates = {"good": (0.1, 0.1), "coin": (0.5, 0.4999)}
    X, y, sources = normal_classes(4000, seed=0, distance=3.0, rates=rates)
    with pytest.warns(UninformativeRatesWarning, match="source 'coin'") as caught:
        found = estimate_noise_rates(X, y, sources=sources, n_bootstrap=30, random_state=0)
    assert not any("'good'" in str(warning.message) for warning in caught)
    assert sum(found.rates["coin"]) < 1
    assert caught[0].filename == __file__


def test_good_sources_warn_of_nothing():
    X, y, sources = normal_classes(1500, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = estimate_noise_rates(X, y, sources=sources, n_bootstrap=20, random_state=0)
    assert "90% upper bounds; roc_slope" in str(found)


X_BAD = np.random.default_rng(0).normal(size=(60, 2))
Y_BAD = np.tile([0, 1], 30)
TWO = np.repeat(["s", "t"], 30)
BAD = [
    ({"y": np.zeros(60)}, r"only one class"),
    ({"y": np.tile([0, 1, 2], 20)}, r"y has 3 classes: use an audit or annotators"),
    ({"y": Y_BAD[:-1]}, r"inconsistent numbers of samples: \[60, 59\]"),
    ({"sources": TWO[:-1]}, r"inconsistent numbers of samples"),
    ({"sources": np.where(Y_BAD == 1, "s", "t")}, r"source 's' has no row labelled 0"),
    ({"y": np.r_[np.ones(5), np.zeros(55)]}, r"'all rows' has only 5 rows labelled 1.*at least 10"),
    ({"cv": 25, "sources": TWO}, r"source 's' has only 15 rows labelled 0: at least 25"),
    ({"level": 1.0}, r"level=1\.0 must lie strictly between 0 and 1"),
    ({"n_bootstrap": -1}, r"n_bootstrap=-1 must be at least 0"),
    ({"X": np.full((60, 2), np.nan)}, r"Input contains NaN"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.UninformativeRatesWarning")
def test_bad_input(change, message):
    arguments = {"X": X_BAD, "y": Y_BAD, "sources": None} | change
    with pytest.raises(ValueError, match=message):
        estimate_noise_rates(arguments.pop("X"), arguments.pop("y"), **arguments)


# --- the worked example


EXAMPLE = Path(__file__).parents[2] / "examples" / "weak_labels.py"


def test_rates_help(capsys, monkeypatch):
    # Few repetitions: the estimates themselves do not depend on them.
    for name, fewer in {
        "estimate_noise_rates": {"n_bootstrap": 10},
        "estimate_noise_rates_from_annotators": {"n_bootstrap": 10},
    }.items():
        monkeypatch.setattr(noise_rates, name, partial(getattr(noise_rates, name), **fewer))
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    accuracy = {line[:44].strip(): line[44:] for line in lines if "0." in line[44:49]}
    naive = float(accuracy["no rates: labels taken as correct"])
    for way in ("50 checked rows each", "200 shared rows", "labels and features"):
        assert float(accuracy[way]) > naive + 0.05
