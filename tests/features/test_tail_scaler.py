"""Which columns have heavy tails, and what is done with them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from decorrupt import CountLikelihoodClassifier, TailScaler, load, save
from decorrupt.features.columns import TAIL_KURTOSIS, tail_kurtosis

rng = np.random.default_rng(0)
N = 3000
NORMAL = rng.normal(size=N)
LIGHT = {
    "normal": 50 + 10 * NORMAL,
    "uniform": rng.random(N),
    "laplace": rng.laplace(size=N),
    "counts": rng.poisson(1, N).astype(float),
    "a rare flag": (np.arange(N) % 500 == 0).astype(float),
    "mostly zero": np.where(np.arange(N) % 20 == 0, 1900 + 300 * NORMAL, 0),
    "constant": np.full(N, 7.0),
}
HEAVY = {
    "log-normal": np.exp(1.5 * NORMAL),
    "negative": -np.exp(1.5 * NORMAL),
    "both sides": stats.t(2).ppf(stats.norm.cdf(NORMAL)),
    "a gain": np.where(np.arange(N) % 12 == 0, 7000 * np.exp(1.5 * NORMAL), 0),
    "missing": np.where(np.arange(N) % 3 == 0, np.nan, np.exp(1.5 * NORMAL)),
    "an outlier": np.append(NORMAL[1:], 1e6),
}
X = np.column_stack([*LIGHT.values(), *HEAVY.values()])
IS_HEAVY = np.arange(X.shape[1]) >= len(LIGHT)


@parametrize_with_checks([TailScaler()])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def test_the_limit_is_the_kurtosis_about_the_median_of_an_exponential_distribution():
    # E(X − m)ᵏ of an exponential variable by quadrature, m = log 2.
    fourth, second = (stats.expon.expect(lambda x, k=k: (x - np.log(2)) ** k) for k in (4, 2))
    assert pytest.approx(fourth / second**2, abs=0.1) == TAIL_KURTOSIS


def test_kurtosis_by_hand():
    # d = −1, 1, 3: (1 + 1 + 81)/3 divided by ((1 + 1 + 9)/3)².
    assert tail_kurtosis(np.array([-1.0, 1.0, 3.0])) == pytest.approx((83 / 3) / (11 / 3) ** 2)
    assert tail_kurtosis(np.array([])) == 0
    assert tail_kurtosis(np.array([-1e200, 1e200])) == pytest.approx(1)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_heavy_columns_are_found_in_every_unit(unit):
    assert_array_equal(TailScaler().fit(unit * X).heavy_tailed_, IS_HEAVY)


def test_other_columns_are_standardised_as_by_scikit_learn():
    found = TailScaler().fit_transform(X)[:, ~IS_HEAVY]
    assert_allclose(found, StandardScaler().fit_transform(X[:, ~IS_HEAVY]))


def test_a_heavy_column_by_hand():
    values = np.array([0.0] * 30 + [2.0, 4.0, 6.0, 8.0, 10.0] * 3 + [1000.0])
    # The median is 0, and the median of the others is 6.
    expected = np.arcsinh(values / 6)
    expected = (expected - expected.mean()) / expected.std()
    scaler = TailScaler().fit(values[:, None])
    assert (scaler.centre_, scaler.spread_) == (0.0, 6.0)
    assert_allclose(scaler.transform(values[:, None])[:, 0], expected)


def test_units_do_not_matter_and_missing_values_stay_missing():
    found = TailScaler().fit_transform(X)
    assert_array_equal(np.isnan(found), np.isnan(X))
    assert_allclose(TailScaler().fit_transform(1e4 * X), found, atol=1e-7)
    assert_allclose(np.nanmean(found, axis=0), 0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # as StandardScaler warns
def test_a_column_without_values_stays_without():
    rows = np.column_stack([NORMAL, np.full(N, np.nan)])
    assert_array_equal(np.isnan(TailScaler().fit_transform(rows)), np.isnan(rows))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_far_outside_the_training_range_stay_finite_and_in_order(dtype):
    values = np.exp(1.5 * NORMAL).astype(dtype)[:, None]
    far = np.finfo(dtype).max * np.array([-1, -1e-3, 0, 1e-30, 1e-3, 1], dtype=dtype)
    found = TailScaler().fit(values).transform(far[:, None])[:, 0]
    assert found.dtype == dtype
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()


def test_sparse_columns_keep_their_zeros_and_equal_dense_ones_up_to_the_mean():
    dense = X[:, [2, 4, 5, 10]]  # the last one has a heavy tail, the last three are mostly 0
    for form in (sparse.csr_matrix, sparse.csr_array):
        rows = form(dense)
        scaler = TailScaler().fit(rows)
        found = scaler.transform(rows)
        assert_array_equal(scaler.heavy_tailed_, [False, False, False, True])
        assert_array_equal(found.toarray() == 0, dense == 0)
        centred = found.toarray() - found.toarray().mean(axis=0)
        assert_allclose(centred, TailScaler().fit_transform(dense))
        assert_array_equal(rows.toarray(), dense)  # not changed in place


def test_names_of_columns_are_kept():
    frame = pd.DataFrame(X, columns=[*LIGHT, *HEAVY])
    scaler = TailScaler().set_output(transform="pandas").fit(frame)
    assert list(scaler.transform(frame)) == list(frame)
    assert list(scaler.get_feature_names_out()) == list(frame)


def test_it_can_be_saved(tmp_path):
    scaler = TailScaler().fit(X)
    save(scaler, tmp_path / "scaler.skops")
    assert_array_equal(load(tmp_path / "scaler.skops").transform(X), scaler.transform(X))


def test_an_rbf_model_needs_it_where_one_column_has_a_heavy_tail():
    labels = NORMAL > 0.2
    rows = np.column_stack([np.exp(3 * NORMAL), rng.normal(size=(N, 4))])
    bags = np.arange(N) // 10
    y = (np.bincount(bags, labels) / 10)[bags]

    def accuracy(scaler):
        scaled = scaler.fit_transform(rows)
        model = CountLikelihoodClassifier(random_state=0).fit(
            scaled[:1000], y[:1000], bags=bags[:1000]
        )
        return model.score(scaled[1000:], labels[1000:])

    assert accuracy(TailScaler()) > accuracy(StandardScaler()) + 0.1
