"""Values too large to be squared, columns that distances do not show, and heavy tails."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CountLikelihoodClassifier,
    MeanMapClassifier,
    TailScaler,
    load,
    save,
)
from decorrupt.exceptions import UnscaledColumnsWarning
from decorrupt.features import check_magnitude, describe_hidden_columns
from decorrupt.features.columns import TAIL_KURTOSIS, tail_kurtosis
from helpers.quick import QUICK_GRID

rng = np.random.default_rng(0)
NORMAL = rng.normal(size=(400, 8))
CATEGORIES = np.eye(20)[rng.integers(0, 20, 400)]
RARE = rng.random((400, 10)) < 0.005
PIXELS = load_digits().data
CANCER = load_breast_cancer().data
SCALED = {
    "normal": NORMAL,
    "scaled": StandardScaler().fit_transform(CANCER),
    "skewed": StandardScaler().fit_transform(np.exp(3 * NORMAL)),
    "one-hot": CATEGORIES,
    "rare flags": np.hstack([NORMAL[:, :2], RARE]),
    "numbers and one-hot": np.hstack([NORMAL, CATEGORIES]),
    "images": PIXELS,
    "images and a number": np.hstack([PIXELS / 16, 8 * rng.normal(size=(len(PIXELS), 1))]),
    "components": PCA().fit_transform(StandardScaler().fit_transform(CANCER)),
    "components of images": PCA().fit_transform(PIXELS),
    "a constant": np.hstack([NORMAL, np.full((400, 1), 1e6)]),
    "one tiny column": NORMAL * np.append(np.ones(7), 1e-6),
    "one column": 1e6 * NORMAL[:, :1],
    "one row": NORMAL[:1],
    "equal rows": np.ones((5, 3)),
}
UNSCALED = {
    "two columns": NORMAL[:, :2] * [1, 1e6],
    "one of eight": NORMAL * np.append(np.ones(7), 100),
    "cancer": CANCER,
    "wine": load_wine().data,
    "age and categories": np.hstack([40 + 13 * NORMAL[:, :1], CATEGORIES]),
    "an outlier": np.vstack([NORMAL, np.full((1, 8), 1.0) * np.append(1e6, np.ones(7))]),
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, np.float32])
@pytest.mark.parametrize("name", [*SCALED, *UNSCALED])
def test_only_columns_hidden_by_another_scale_are_described(name, form):
    X = form((SCALED | UNSCALED)[name])
    assert (describe_hidden_columns(X) is not None) is (name in UNSCALED)


def test_the_description_names_the_column_and_what_to_do():
    message = describe_hidden_columns(UNSCALED["two columns"], ["age", "income"])
    assert "1 of 2 columns of X" in message
    assert "because column 'income' has a far larger scale" in message
    assert "StandardScaler before the classifier in a pipeline" in message


@pytest.mark.filterwarnings("error::decorrupt.exceptions.UnscaledColumnsWarning")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kernel", ["rbf", "exponential", "laplacian", "knn", "pca_rbf"])
def test_kernels_of_distances_warn_at_fit(bag_data, kernel):
    d = bag_data
    X = d.X * [1, 1e6]
    model = MeanMapClassifier(kernel=kernel, random_state=0)
    assert model.fit(d.X, d.y, bags=d.bags).score(d.X, d.labels) > 0.8
    with pytest.raises(UnscaledColumnsWarning, match="column 1 has a far larger scale"):
        model.fit(X, d.y, bags=d.bags)
    for other in ("linear", "polynomial"):
        model.set_params(kernel=other).fit(X, d.y, bags=d.bags)


@pytest.mark.filterwarnings("ignore")
def test_searches_warn_once(bag_data):
    d = bag_data
    X = pd.DataFrame(d.X * [1, 1e6], columns=["a", "b"])
    grid = BagGridSearchCV(CountLikelihoodClassifier(), {"reg_strength": [0.1, 0.01]}, cv=3)
    auto = AutoLabelProportionsClassifier(
        random_state=0, **QUICK_GRID, kernels=["rbf", "laplacian"]
    )
    for model in (grid, auto):
        with pytest.warns(UnscaledColumnsWarning) as caught:
            model.fit(X, d.y, bags=d.bags)
        assert sum(one.category is UnscaledColumnsWarning for one in caught) == 1


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
@pytest.mark.parametrize(("dtype", "value"), [(float, 1e200), (np.float32, -1e19)])
def test_the_first_value_too_large_is_named(form, dtype, value):
    X = np.ones((4, 3), dtype=dtype)
    check_magnitude(form(X), n_rows=4)
    X[2, 1] = value
    with pytest.raises(
        ValueError, match=rf"X has {value:g} in row 2, column 1, .*too large".replace("+", r"\+")
    ):
        check_magnitude(form(X), n_rows=4)
    X[0] = np.nan
    with pytest.raises(ValueError, match="row 2, column 'b'"):
        check_magnitude(form(X), ["a", "b", "c"])


# --- TailScaler

N = 3000
STANDARD = rng.normal(size=N)
LIGHT = {
    "normal": 50 + 10 * STANDARD,
    "uniform": rng.random(N),
    "laplace": rng.laplace(size=N),
    "counts": rng.poisson(1, N).astype(float),
    "a rare flag": (np.arange(N) % 500 == 0).astype(float),
    "mostly zero": np.where(np.arange(N) % 20 == 0, 1900 + 300 * STANDARD, 0),
    "constant": np.full(N, 7.0),
}
HEAVY = {
    "log-normal": np.exp(1.5 * STANDARD),
    "negative": -np.exp(1.5 * STANDARD),
    "both sides": stats.t(2).ppf(stats.norm.cdf(STANDARD)),
    "a gain": np.where(np.arange(N) % 12 == 0, 7000 * np.exp(1.5 * STANDARD), 0),
    "missing": np.where(np.arange(N) % 3 == 0, np.nan, np.exp(1.5 * STANDARD)),
    "an outlier": np.append(STANDARD[1:], 1e6),
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
    rows = np.column_stack([STANDARD, np.full(N, np.nan)])
    assert_array_equal(np.isnan(TailScaler().fit_transform(rows)), np.isnan(rows))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_far_outside_the_training_range_stay_finite_and_in_order(dtype):
    values = np.exp(1.5 * STANDARD).astype(dtype)[:, None]
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


def test_it_can_be_saved(tmp_path):
    scaler = TailScaler().fit(X)
    save(scaler, tmp_path / "scaler.skops")
    assert_array_equal(load(tmp_path / "scaler.skops").transform(X), scaler.transform(X))


def test_an_rbf_model_needs_it_where_one_column_has_a_heavy_tail():
    labels = STANDARD > 0.2
    rows = np.column_stack([np.exp(3 * STANDARD), rng.normal(size=(N, 4))])
    bags = np.arange(N) // 10
    y = (np.bincount(bags, labels) / 10)[bags]

    def accuracy(scaler):
        scaled = scaler.fit_transform(rows)
        model = CountLikelihoodClassifier(random_state=0).fit(
            scaled[:1000], y[:1000], bags=bags[:1000]
        )
        return model.score(scaled[1000:], labels[1000:])

    assert accuracy(TailScaler()) > accuracy(StandardScaler()) + 0.1
