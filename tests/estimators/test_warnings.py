"""A fit warns once, at the caller's line, when one should act; members of a search do not."""

import ast
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import decorrupt
from decorrupt import (
    BagGridSearchCV,
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    MeanMapClassifier,
)
from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier
from decorrupt.estimators import bags
from decorrupt.exceptions import (
    BagAssumptionWarning,
    ContradictedRatesWarning,
    DroppedBagsWarning,
    NegativeRiskWarning,
    OneClassWarning,
    RoundedCountsWarning,
    UnscaledColumnsWarning,
    is_quiet,
    quiet,
    warn_again,
)
from helpers.estimators import SINGLE_ON_BAGS, make, name_of, with_params

# Modules that may filter warnings, which is not thread-safe, and why.
MAY_FILTER = {
    "exceptions.py": "records the warnings of all members of a search at once",
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


# Model, what is changed in the data, and the warning.
ON_BAGS = [
    (MeanMapClassifier(max_iter=1, kernel="linear"), {}, ConvergenceWarning),
    (MeanMapClassifier(reg_strength=1e-7, kernel_gamma=20.0), {}, NegativeRiskWarning),
    (CorrectedLossClassifier(reg_strength=1e-7, kernel_gamma=20.0), {}, NegativeRiskWarning),
    (CorrectedLossClassifier(combine="pairs"), {"y": 0.34}, DroppedBagsWarning),
    (CountLikelihoodClassifier(max_iter=1), {}, ConvergenceWarning),
    (CountLikelihoodClassifier(), {"y": 0.34}, RoundedCountsWarning),
    (CountLikelihoodClassifier(kernel_gamma=1e-12, decision="accuracy"), {"y": 0}, OneClassWarning),
    (MeanMapClassifier(), {"X": 1e3}, BagAssumptionWarning),
    (InvCalClassifier(), {"X": 1e3}, BagAssumptionWarning),
    (InvCalClassifier(kernel_gamma=1e-12), {"y": 0}, OneClassWarning),
    (CountLikelihoodClassifier(), {"scale": 1e4}, UnscaledColumnsWarning),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "changed", "category"), ON_BAGS, ids=str)
def test_a_fit_on_bags_warns_once_at_the_callers_line(model, changed, category, bag_data):
    X, y = bag_data.X.copy(), bag_data.y.copy()
    first = bag_data.bags < 6
    y[first] = changed.get("y", y[first])
    X[bag_data.bags < 30, 0] += changed.get("X", 0.0)
    X[:, 1] *= changed.get("scale", 1.0)
    with pytest.warns(category) as caught:
        clone(model).fit(X, y, bags=bag_data.bags)
    (warning,) = [one for one in caught if one.category is category]
    assert Path(warning.filename).name == Path(__file__).name
    if category is OneClassWarning:
        assert "predicts class 0 for all 600 training rows" in str(warning.message)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "category"),
    [
        (CorruptedSourcesClassifier(), ContradictedRatesWarning),
        (ForwardSourcesClassifier(), ContradictedRatesWarning),
        (CorruptedSourcesClassifier(reg_strength=1e-8, kernel_gamma=20.0), NegativeRiskWarning),
        (ForwardSourcesClassifier(max_iter=1), ConvergenceWarning),
    ],
    ids=str,
)
def test_a_fit_on_sources_warns_once_at_the_callers_line(model, category, source_data):
    d = source_data
    rates = dict.fromkeys(d.rates, (0.45, 0.1))
    with pytest.warns(category) as caught:
        clone(model).fit(d.X, d.noisy, sources=d.sources, noise_rates=rates)
    files = [Path(one.filename).name for one in caught if one.category is category]
    assert files == [Path(__file__).name]


# --- members of a search


def warn_twice():
    for _ in range(2):
        warnings.warn("text", NegativeRiskWarning, stacklevel=1)


def test_quiet_records_what_is_warned_of_and_nests():
    assert not is_quiet()
    with quiet() as recorded:
        warn_twice()
        with quiet() as inner:
            warn_twice()
            assert is_quiet()
        warn_twice()  # still recorded, after the inner one ended
        assert is_quiet()
    assert not is_quiet()
    assert len(recorded) == 6
    assert not inner
    with pytest.warns(NegativeRiskWarning):
        warn_twice()
    with pytest.raises(KeyError), quiet():
        raise KeyError
    assert not is_quiet()


def test_quiet_records_all_threads():
    with quiet() as recorded:
        threads = [threading.Thread(target=warn_twice) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(recorded) == 8


def test_recorded_warnings_of_a_category_are_emitted_once():
    with quiet() as recorded:
        warn_twice()
        warnings.warn("other", OneClassWarning, stacklevel=1)
    with pytest.warns(NegativeRiskWarning, match="text") as caught:
        warn_again(recorded, NegativeRiskWarning)
    assert len(caught) == 1


def test_checks_that_only_warn_are_skipped_for_members(bag_data, monkeypatch):
    calls = []
    monkeypatch.setattr(bags, "quick_violation", lambda *_: calls.append(1))
    with quiet():
        MeanMapClassifier().fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert not calls
    MeanMapClassifier().fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert calls == [1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_the_refit_of_a_search_warns(n_jobs, bag_data, capfd):
    model = MeanMapClassifier(max_iter=1, kernel="linear")
    search = BagGridSearchCV(model, {"reg_strength": [0.1, 0.01]}, cv=2, n_jobs=n_jobs)
    with pytest.warns(ConvergenceWarning) as caught:
        search.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert len(caught) == 1
    assert "Warning" not in capfd.readouterr().err  # of a worker process


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
