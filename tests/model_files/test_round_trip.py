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
    AutoSourcesClassifier,
    BagGridSearchCV,
    BagKFold,
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CostWeightedSourcesClassifier,
    CountLikelihoodClassifier,
    EMClassifier,
    ForwardSourcesClassifier,
    LaplaceNoise,
    MeanMapClassifier,
    NoiseRates,
    ProportionMatchingClassifier,
)
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.model_files import load_with_metadata, save
from decorrupt.model_files.trusted import OURS, SKLEARN
from decorrupt.model_selection import WithinBagKFold
from helpers.estimators import ALL

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
FOR_BAGS = [
    AlternatingPSVMClassifier(n_starts=1, random_state=0),
    CountLikelihoodClassifier(random_state=0),
    CountLikelihoodClassifier(count_noise=LaplaceNoise(0.5), random_state=0),
    EMClassifier(cv=2, random_state=0),
    InvCalClassifier(),
    CorrectedLossClassifier(random_state=0),
    CorrectedLossClassifier(kernel="linear", combine="pairs", random_state=0),
    CorrectedLossClassifier(random_state=np.random.RandomState(3)),
    MeanMapClassifier(),
    ProportionMatchingClassifier(random_state=0),
    AutoLabelProportionsClassifier(cv=3, random_state=0, reg_strengths=(0.01, 0.1)),
    AutoLabelProportionsClassifier(
        candidates=["invcal"], cv=3, kernels=["linear", "rbf"], kernel_gammas=[0.5]
    ),
    AutoLabelProportionsClassifier(
        candidates=[CorrectedLossClassifier()],
        cv=WithinBagKFold(3),
        ensemble="best",
        kernels=["rbf"],
        reg_strengths=(0.01, 0.1),
    ),
    AutoLabelProportionsClassifier(
        candidates=[CountLikelihoodClassifier()],
        cv=BagKFold(3),
        ensemble="best",
        kernels=["rbf"],
        reg_strengths=(0.01, 0.1),
    ),
    BagGridSearchCV(MeanMapClassifier(), {"reg_strength": [0.01, 0.1]}, cv=3),
]
FOR_SOURCES = [
    AutoSourcesClassifier(cv=3, random_state=0, reg_strengths=(0.1,)),
    CorruptedSourcesClassifier(random_state=0),
    CostWeightedSourcesClassifier(random_state=0),
    ForwardSourcesClassifier(random_state=0),
]


def kind(model):
    return type(model).__name__


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


@pytest.mark.parametrize("model", FOR_BAGS, ids=kind)
def test_models_for_bags(model, bag_data, tmp_path):
    X, y, bags = bag_rows(bag_data)
    fitted = sklearn.base.clone(model).fit(X, y, bags=bags)
    again = assert_same_answers(fitted, tmp_path / "m.skops", bag_data.X)
    for told in ("diagnostics_", "leaderboard_"):
        if hasattr(fitted, told):
            assert str(getattr(again, told)) == str(getattr(fitted, told))


@pytest.mark.parametrize("model", FOR_SOURCES, ids=kind)
@pytest.mark.parametrize("form", ["pairs", "rates", "estimate"])
def test_models_for_sources(model, form, source_data, tmp_path):
    d, model = source_data, sklearn.base.clone(model)
    known = {
        "pairs": d.rates,
        "rates": {source: NoiseRates(*pair) for source, pair in d.rates.items()},
        "estimate": "estimate",
    }[form]
    model.fit(d.X[:300], d.noisy[:300], sources=d.sources[:300], noise_rates=known)
    again = assert_same_answers(model, tmp_path / "m.skops", d.X)
    assert again.noise_rates_ == model.noise_rates_


def test_every_public_estimator_is_tried_above():
    tried = {kind(model) for model in FOR_BAGS + FOR_SOURCES}
    assert {kind(model) for model in ALL} <= tried


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
