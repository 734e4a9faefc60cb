"""Training warns of nothing by itself; a public fit does, once, and only when one should act."""

import ast
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import decorrupt
from decorrupt import CorrectedLossClassifier, CountLikelihoodClassifier, MeanMapClassifier
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.datasets import load_breast_cancer_bags
from decorrupt.exceptions import NegativeRiskWarning, OneClassWarning
from decorrupt.notices import train_quietly
from helpers.estimators import SINGLE, SINGLE_ON_BAGS, make, name_of, with_params

# Modules that may filter warnings, which is not thread-safe, and why.
MAY_FILTER = {
    "app/training/train.py": "collects warnings for the model card, in the caller's thread",
}


def test_warnings_are_filtered_in_the_callers_thread_only():
    package = Path(decorrupt.__file__).parent
    filtering = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute | ast.Name)
        and getattr(node, "attr", getattr(node, "id", None)) == "catch_warnings"
    }
    assert filtering == set(MAY_FILTER)


@pytest.mark.parametrize("folder", ["features", "risks", "solvers"])
def test_what_training_stands_on_never_warns(folder):
    paths = list((Path(decorrupt.__file__).parent / folder).glob("*.py"))
    assert paths
    for path in paths:
        assert "import warnings" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("model", SINGLE_ON_BAGS, ids=name_of)
def test_default_fits_on_breast_cancer_are_silent(model):
    for seed in range(3):
        data = load_breast_cancer_bags(16, random_state=seed)
        scaler = StandardScaler().fit(data.X)
        X, X_test = scaler.transform(data.X), scaler.transform(data.X_test)
        fitted = clone(model).fit(X, data.y, bags=data.bags)  # a warning is an error here
        assert fitted.score(X_test, data.y_test) > 0.8


def test_every_estimator_has_an_intercept_by_default():
    for model in SINGLE:
        assert model.get_params().get("fit_intercept", True) is True, name_of(model)


def test_fit_warns_once_at_the_callers_line(bag_data):
    model = MeanMapClassifier(max_iter=1, kernel="linear", solver="lbfgs")
    with pytest.warns(ConvergenceWarning, match="the lbfgs solver stopped after 1") as caught:
        model.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]


def test_quiet_training_says_nothing_in_any_thread_and_returns_its_notices(bag_data):
    def train():
        model = MeanMapClassifier(max_iter=1, kernel="linear", solver="lbfgs")
        found.append(train_quietly(model, bag_data.X, bag_data.y, bags=bag_data.bags))

    found = []
    threads = [threading.Thread(target=train) for _ in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not caught
    assert [[notice.category for notice in notices] for notices in found] == 4 * [
        [ConvergenceWarning]
    ]


def test_a_fitted_model_keeps_no_notices(bag_data):
    model = MeanMapClassifier(max_iter=1, kernel="linear", solver="lbfgs")
    train_quietly(model, bag_data.X, bag_data.y, bags=bag_data.bags)
    assert not [name for name in vars(model) if "notice" in name]


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.RoundedCountsWarning")
@pytest.mark.parametrize("estimator", [CountLikelihoodClassifier, MeanMapClassifier])
def test_one_class_for_all_rows_is_warned_of(estimator, bag_data):
    # A kernel that sees no difference between rows leaves the prior alone.
    model = make(estimator, kernel_gamma=1e-12, decision="accuracy")
    y = bag_data.y / 4
    with pytest.warns(OneClassWarning, match="predicts class 0 for all 600 training rows"):
        model.fit(bag_data.X, y, bags=bag_data.bags)
    assert (model.predict(bag_data.X) == 0).all()


@pytest.mark.parametrize("model", SINGLE_ON_BAGS, ids=name_of)
@pytest.mark.parametrize("kernel", ["rbf", "exponential", "laplacian", "linear"])
def test_where_the_columns_lie_does_not_matter(model, kernel, bag_data):
    d = bag_data
    model = with_params(model, kernel=kernel, n_starts=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NegativeRiskWarning)  # of sharp kernels, and not the point
        expected = train_and_score(model, d, 0.0)
        for shift in (1e6, np.array([1e5, 0.0])):
            found = train_and_score(model, d, shift)
            np.testing.assert_array_equal(found > 0, expected > 0)
            np.testing.assert_allclose(found, expected, atol=1e-4)


def train_and_score(model, data, shift):
    X = data.X + shift
    return model.fit(X, data.y, bags=data.bags).decision_function(X)


def test_sparse_rows_are_not_centred(bag_data):
    model = MeanMapClassifier(kernel="linear")
    assert sparse.issparse(model.fit_feature_map(sparse.csr_matrix(bag_data.X)).matrix)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
@pytest.mark.parametrize("estimator", [InvCalClassifier, AlternatingPSVMClassifier])
def test_unscaled_columns_end_with_advice(monkeypatch, estimator):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    X = 1000 * (rng.normal(size=(400, 3)) + labels[:, None])
    bags = np.arange(400) // 8
    y = (np.bincount(bags, labels) / 8)[bags]
    monkeypatch.setattr(f"{estimator.__module__}.MAX_ITER", 1000)
    model = with_params(make(estimator), kernel="linear", n_starts=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1000.*StandardScaler"):
        model.fit(X, y, bags=bags)


def test_a_slightly_negative_risk_is_a_fact_and_a_far_negative_one_a_warning(bag_data):
    d = bag_data
    facts = make(CorrectedLossClassifier).fit(d.X + 3 * d.labels[:, None], d.y, bags=d.bags)
    assert not facts.diagnostics_.is_overfitted
    overfitted = make(CorrectedLossClassifier, reg_strength=1e-7, kernel_gamma=20.0)
    with pytest.warns(NegativeRiskWarning, match="more than two standard errors"):
        overfitted.fit(d.X, d.y, bags=d.bags)
    found = overfitted.diagnostics_
    assert found.training_risk < -2 * found.risk_std_error
