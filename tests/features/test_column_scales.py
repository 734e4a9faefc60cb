"""Values too large to be squared, and columns that distances between rows do not show."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CountLikelihoodClassifier,
    MeanMapClassifier,
    check_assumptions,
    estimate_noise_rates,
)
from decorrupt.exceptions import UnscaledColumnsWarning
from decorrupt.features import check_magnitude, describe_hidden_columns
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
    with pytest.raises(ValueError, match="column 'b'"):
        check_magnitude(form(X), ["a", "b", "c"])


def test_missing_values_are_not_too_large():
    X = np.array([[np.nan, 1.0], [np.nan, 1e200]])
    check_magnitude(X[:, :1])
    with pytest.raises(ValueError, match="row 1, column 1"):
        check_magnitude(X)


def test_functions_on_rows_name_the_value_too(bag_data, source_data):
    X = np.array(bag_data.X)
    X[3, 1] = 1e200
    with pytest.raises(ValueError, match="row 3, column 1, which is too large"):
        check_assumptions(X, bag_data.y, bags=bag_data.bags)
    X = np.array(source_data.X)
    X[3, 1] = 1e200
    with pytest.raises(ValueError, match="row 3, column 1, which is too large"):
        estimate_noise_rates(X, source_data.noisy, sources=source_data.sources, n_bootstrap=2)
