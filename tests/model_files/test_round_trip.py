"""Every model of ours, saved and loaded, answers exactly as before."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagKFold,
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    Kernel,
    LaplaceNoise,
    MeanMapClassifier,
    NoiseRates,
)
from decorrupt.model_files import load_with_metadata, save
from decorrupt.model_files.trusted import OURS, SKLEARN
from decorrupt.model_selection import WithinBagKFold
from helpers.estimators import ALL, name_of, training_data
from helpers.quick import QUICK_SEARCH

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
SEARCHES = [
    AutoLabelProportionsClassifier(candidates=candidates, **QUICK_SEARCH | options)
    for candidates, options in [
        (["invcal"], {}),
        ([CorrectedLossClassifier()], {"cv": WithinBagKFold(3), "ensemble": "best"}),
        ([CountLikelihoodClassifier()], {"cv": BagKFold(3), "ensemble": "best"}),
    ]
]
VARIANTS = [
    *SEARCHES,
    CountLikelihoodClassifier(count_noise=LaplaceNoise(0.5), random_state=0),
    CorrectedLossClassifier(kernel="linear", combine="pairs", random_state=0),
    MeanMapClassifier(kernel=Kernel("polynomial", gamma=0.2, degree=2, coef0=0.5, max_rank=20)),
    CorrectedLossClassifier(random_state=np.random.RandomState(3)),
]


def assert_same_answers(model, path, X):
    save(model, path, {"n": 1})
    again, metadata = load_with_metadata(path)
    assert type(again) is type(model)
    assert metadata == {"n": 1}
    for answer in ("decision_function", "predict", "predict_proba"):
        if hasattr(model, answer):
            np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))
    assert set(vars(again)) == set(vars(model))
    return again


def bag_rows(data, n=200):
    return data.X[:n], data.y[:n], data.bags[:n]


@pytest.mark.parametrize("model", [*ALL, *VARIANTS], ids=name_of)
def test_models(model, bag_data, source_data, tmp_path):
    data = training_data(model, bag_data, source_data)
    rows = slice(300)
    extra = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in data.extra.items()}
    fitted = sklearn.base.clone(model).fit(data.X[rows], data.y[rows], **extra)
    again = assert_same_answers(fitted, tmp_path / "m.skops", data.X)
    for told in ("diagnostics_", "leaderboard_", "assumptions_"):
        if hasattr(fitted, told):
            assert str(getattr(again, told)) == str(getattr(fitted, told))


@pytest.mark.parametrize("form", [tuple, lambda pair: NoiseRates(*pair), "estimate"])
def test_noise_rates_in_every_form(form, source_data, tmp_path):
    d, rates = source_data, form
    if callable(form):
        rates = {source: form(pair) for source, pair in d.rates.items()}
    model = CorruptedSourcesClassifier(random_state=0)
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates=rates)
    assert assert_same_answers(model, tmp_path / "m.skops", d.X).noise_rates_ == model.noise_rates_


@pytest.mark.filterwarnings("ignore")
def test_every_trusted_name_is_a_class():
    for name in OURS | SKLEARN:
        module, _, cls = name.rpartition(".")
        assert isinstance(getattr(import_module(module), cls), type), name


def test_sparse_rows_string_labels_and_string_bags(bag_data, tmp_path):
    X, y, bags = bag_rows(bag_data)
    names = np.array([f"branch {bag}" for bag in bags])
    model = CorrectedLossClassifier(random_state=0).fit(sparse.csr_array(X), y, bags=names)
    again = assert_same_answers(model, tmp_path / "a.skops", sparse.csr_array(X))
    assert again.diagnostics_ == model.diagnostics_
    labels = np.where(bag_data.labels[:200] == 1, "yes", "no")
    model = CorrectedLossClassifier(random_state=0).fit(X, labels)
    assert assert_same_answers(model, tmp_path / "b.skops", X).classes_.tolist() == ["no", "yes"]


def test_a_pipeline_trained_on_a_frame(bag_data, tmp_path):
    X, y, bags = bag_rows(bag_data)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    frame["city"] = rng.choice(["Bonn", "Köln", "Wien", "rare"], len(X), p=[0.4, 0.4, 0.19, 0.01])
    frame["member"] = rng.random(len(X)) > 0.5
    frame.loc[3, "height"] = np.nan
    frame.loc[5, "city"] = None
    numeric = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True),
        StandardScaler(),
        FunctionTransformer(np.arctan),
    )
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5)
    text = make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), encoder)
    columns = ColumnTransformer(
        [("numeric", numeric, ["height", "weight"]), ("text", text, ["city"])],
        remainder="passthrough",
    )
    model = Pipeline([("columns", columns), ("model", CountLikelihoodClassifier(random_state=0))])
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(frame, y, bags=bags)
    unseen = frame.assign(city=["Graz"] * len(frame))
    again = assert_same_answers(model, tmp_path / "m.skops", frame)
    np.testing.assert_array_equal(again.predict_proba(unseen), model.predict_proba(unseen))
    assert list(again.feature_names_in_) == list(frame)
