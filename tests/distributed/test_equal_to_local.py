"""The Dask estimators solve the problems of their twins without Dask."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import decorrupt
from decorrupt import distributed
from decorrupt.distributed.engine import Engine
from decorrupt.features import Kernel
from helpers.partitioned import MATRICES, RATES, as_dask, bag_rows, pair, source_rows

LINEAR = {"kernel": "linear"}
# Of full rank, so that the landmarks do not matter.
POLYNOMIAL = {"kernel": Kernel("polynomial", degree=2, rank_tol=0, max_rank=40)}
ON_BAGS = ["CorrectedLossClassifier", "MeanMapClassifier", "CountLikelihoodClassifier"]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit_on_sources(by_dask, local, X, y, sources, **known):
    rows, labels, ids = as_dask(X, y, sources)
    by_dask.fit(rows, labels, sources=ids, **known)
    local.fit(X, y, sources=sources, **known)


def fit_on_bags(name, data, **params):
    """Return the Dask estimator and its twin, trained on the same bags."""
    X, y, bags = data.dask()
    by_dask, local = pair(name, **params)
    return by_dask.fit(X, y, bags=bags), local.fit(data.X, data.y, bags=data.bags)


def assert_same(by_dask, local, X):
    found, expected = by_dask.to_local(), local
    assert hasattr(by_dask, "predict_proba") is hasattr(local, "predict_proba")
    for method in ("decision_function", *["predict_proba"] * hasattr(local, "predict_proba")):
        np.testing.assert_allclose(
            getattr(found, method)(X), getattr(expected, method)(X), atol=1e-6, rtol=0
        )
    assert by_dask.n_passes_ > 4  # the start was not the solution


@quiet
@pytest.mark.parametrize("features", [LINEAR, POLYNOMIAL], ids=["linear", "polynomial"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ON_BAGS)
def test_bags(name, n_classes, features):
    data = bag_rows(n_classes=n_classes)
    assert_same(*fit_on_bags(name, data, **features), data.X)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.BagAssumptionWarning")
@quiet
@pytest.mark.parametrize("features", [LINEAR, LINEAR | {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ON_BAGS)
def test_the_default_penalty_of_bags(name, n_classes, features, monkeypatch):
    """λ does not depend on the sample that the solver starts from."""
    monkeypatch.setattr("decorrupt.distributed.sample.SAMPLE_ROWS", 300)
    data = bag_rows(n_classes=n_classes)
    X, y, bags = data.dask()
    by_dask, local = pair(name, **features | {"reg_strength": "auto"})
    by_dask.fit(X + 1, y, bags=bags)
    local.fit(data.X + 1, data.y, bags=data.bags)
    assert by_dask.reg_strength_ == pytest.approx(local.reg_strength_)
    assert_same(by_dask, local, data.X + 1)


@quiet
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_default_penalty_of_sources(n_classes):
    rates = RATES if n_classes == 2 else MATRICES
    X, y, sources = source_rows(rates=rates, n_classes=n_classes)
    by_dask, local = pair("CorruptedSourcesClassifier", reg_strength="auto")
    fit_on_sources(by_dask, local, X, y, sources, noise_rates=rates)
    assert by_dask.reg_strength_ == pytest.approx(local.reg_strength_)
    assert by_dask.to_local().reg_strength == "auto"


NOISE = {bag: 0.4 * (bag % 3) or None for bag in range(60)}


@quiet
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("CorrectedLossClassifier", {"risk_correction": "abs"}),
        ("CorrectedLossClassifier", {"combine": "least_squares", "class_prior": "pooled"}),
        ("CorrectedLossClassifier", {"loss": "sigmoid", "fit_intercept": False}),
        ("MeanMapClassifier", {"fit_intercept": False}),
        (
            "CountLikelihoodClassifier",
            {"count_noise": NOISE, "decision": "accuracy"},
        ),
        ("CountLikelihoodClassifier", {"count_noise": NOISE}),
        ("CountLikelihoodClassifier", {"bag_effect": 0.1}),
        ("CountLikelihoodClassifier", {"large_bags": 4}),
    ],
    ids=str,
)
def test_options(name, params):
    if "loss" in params:
        params = params | {"reg_strength": 0.1}
    data = bag_rows()
    by_dask, expected = fit_on_bags(name, data, **LINEAR, **params)
    found = by_dask.to_local()
    np.testing.assert_allclose(
        found.decision_function(data.X), expected.decision_function(data.X), atol=1e-6
    )
    assert found.class_prior_ == pytest.approx(expected.class_prior_, abs=1e-6)


def inexact_counts(data, kind):
    """Return y, the upper ends and the noise of bags whose counts are not known exactly."""
    sizes = np.bincount(data.bags)[data.bags].reshape(-1, *[1] * (data.y.ndim - 1))
    random = np.random.default_rng(1)
    if kind == "ranges":
        low, high = ((data.y * sizes + step).clip(0, sizes) / sizes for step in (-1, 1))
        return low, high, None
    shifts = random.normal(scale=1.5, size=(data.bags.max() + 1, *data.y.shape[1:]))
    noise = {"laplace": decorrupt.LaplaceNoise(0.6), "by bag": {}}[kind]
    if kind == "by bag":
        kinds = (decorrupt.GaussianNoise(0.8), decorrupt.GeometricNoise(1.2), 0.5)
        noise = {bag: kinds[bag % 3] for bag in range(data.bags.max() + 1)}
        shifts[1::3] = np.rint(shifts[1::3])
    return data.y + shifts[data.bags] / sizes, None, noise


@quiet
@pytest.mark.parametrize("kind", ["ranges", "laplace", "by bag"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ranges_and_noise_of_any_kind(n_classes, kind):
    data = bag_rows(n_classes=n_classes)
    y, upper, noise = inexact_counts(data, kind)
    assert kind == "ranges" or y.min() < 0  # a noisy share need not be one
    by_dask, local = pair("CountLikelihoodClassifier", **LINEAR, count_noise=noise)
    ends = {} if upper is None else {"upper": upper}
    local.fit(data.X, y, bags=data.bags, **ends)
    X, y, bags, *upper = as_dask(data.X, y, data.bags, *ends.values())
    by_dask.fit(X, y, bags=bags, upper=upper[0] if upper else None)
    assert_same(by_dask, local, data.X)
    assert by_dask.class_prior_ == pytest.approx(local.class_prior_, abs=1e-6)
    assert by_dask.log_likelihood_ == pytest.approx(local.log_likelihood_, abs=1e-5)


@quiet
@pytest.mark.parametrize("kind", ["ranges", "laplace"])
def test_class_shares_of_bags_with_a_normal_approximation(kind):
    data = bag_rows(n_classes=3, bag_size=40)
    y, upper, noise = inexact_counts(data, kind)
    by_dask, local = pair("CountLikelihoodClassifier", **LINEAR, count_noise=noise)
    local.fit(data.X, y, bags=data.bags, upper=upper)
    X, y, bags = as_dask(data.X, y, data.bags, chunks=200)
    upper = None if upper is None else as_dask(upper, chunks=200)[0]
    by_dask.fit(X, y, bags=bags, upper=upper)
    assert by_dask.class_prior_ == pytest.approx(local.class_prior_, abs=1e-6)


@quiet
def test_the_bag_effect_of_several_classes():
    data = bag_rows(n_classes=3)
    fitted = fit_on_bags("CountLikelihoodClassifier", data, **LINEAR, bag_effect=0.1)
    assert_same(*fitted, data.X)


@quiet
def test_ranges_in_columns():
    data = bag_rows()
    low, high, _ = inexact_counts(data, "ranges")
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(low=low, high=high, bag=data.bags)
    by_dask, local = pair("CountLikelihoodClassifier", **LINEAR)
    by_dask.fit(dd.from_pandas(frame, chunksize=150), "low", bags="bag", upper="high")
    local.fit(frame[list("abcd")], low, bags=data.bags, upper=high)
    assert_same(by_dask, local, frame[list("abcd")])


@quiet
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"combine": "superbag"},
        {"combine": "size_sources"},
        {"source_priors": dict.fromkeys(RATES, 0.5)},
    ],
    ids=str,
)
def test_sources(params):
    X, y, sources = source_rows()
    priors = params.pop("source_priors", None)
    by_dask, local = pair("CorruptedSourcesClassifier", **LINEAR, **params)
    fit_on_sources(by_dask, local, X, y, sources, noise_rates=RATES, source_priors=priors)
    assert_same(by_dask, local, X)
    assert by_dask.noise_rates_ == local.noise_rates_
    assert by_dask.source_priors_ == pytest.approx(local.source_priors_)
    assert by_dask.diagnostics_.training_risk == pytest.approx(local.diagnostics_.training_risk)
    assert by_dask.diagnostics_.risk_std_error == pytest.approx(local.diagnostics_.risk_std_error)


SHARES = {"nurse": [0.2, 0.3, 0.5], "rule": [0.4, 0.3, 0.3], "web": [0.3, 0.3, 0.4]}


@quiet
@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.ContradictedRatesWarning")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"combine": "least_squares"},
        {"source_priors": SHARES},
        {"combine": "size_sources"},
        POLYNOMIAL,
    ],
    ids=str,
)
def test_sources_of_several_classes(params):
    X, y, sources = source_rows(seed=1, rates=MATRICES, n_classes=3)
    y[(sources == "rule") & (y == 2)] = 0  # an empty cell
    names = np.array(["high", "low", "none"])[y]
    priors = params.pop("source_priors", None)
    by_dask, local = pair("CorruptedSourcesClassifier", **(LINEAR | params))
    fit_on_sources(by_dask, local, X, names, sources, noise_rates=MATRICES, source_priors=priors)
    assert_same(by_dask, local, X)
    assert by_dask.classes_.tolist() == ["high", "low", "none"]
    for name in ("noise_rates_", "source_priors_"):
        for source in MATRICES:
            expected = getattr(local, name)[source]
            np.testing.assert_allclose(getattr(by_dask, name)[source], expected, atol=1e-12)
    assert by_dask.source_weights_ == local.source_weights_
    found, expected = by_dask.diagnostics_, local.diagnostics_
    assert found.training_risk == pytest.approx(expected.training_risk)
    assert found.risk_std_error == pytest.approx(expected.risk_std_error)
    assert found.n_bags == expected.n_bags


@quiet
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_matrix_for_all_rows(n_classes):
    matrix = np.full((n_classes, n_classes), 0.1) + (1 - 0.1 * n_classes) * np.eye(n_classes)
    X, y, _ = source_rows(rates={"all": matrix}, n_classes=n_classes)
    by_dask, local = pair("CorruptedSourcesClassifier", **LINEAR)
    by_dask.fit(*as_dask(X, y), noise_rates=matrix)
    assert_same(by_dask, local.fit(X, y, noise_rates=matrix), X)


def test_estimated_rates_are_those_of_the_sources(monkeypatch):
    """The sample keeps the frequencies of the noisy labels of each source."""
    monkeypatch.setattr("decorrupt.distributed.sample.SAMPLE_ROWS", 2000)
    X, y, sources = source_rows(n_rows=6000)
    labels = np.array(["rare" if value else "usual" for value in y])
    model = distributed.DaskCorruptedSourcesClassifier(**LINEAR)
    asked = []

    def estimate(self, X, y, how, sources, sample_weight):
        asked.append((y, sources))
        self.noise_rate_intervals_ = {}
        return RATES

    monkeypatch.setattr(decorrupt.CorruptedSourcesClassifier, "estimate_rates", estimate)
    rows, noisy, ids = (da.from_array(v, chunks=1700) for v in (X, labels, sources))
    model.fit(rows, noisy, sources=ids, noise_rates="estimate")
    ((drawn, of),) = asked
    assert 1500 < len(drawn) < 2500
    for source in RATES:
        share = np.mean(labels[sources == source] == "rare")
        assert np.mean(drawn[of == source] == "rare") == pytest.approx(share, abs=0.08)


@quiet
@pytest.mark.parametrize("name", ["CorrectedLossClassifier", "MeanMapClassifier"])
def test_assumptions_are_checked_on_the_sample(name):
    data = bag_rows()
    data.X[:, 3] += 5 * np.sin(data.bags)  # the rows of a class differ between bags
    X, y, bags = data.dask()
    with pytest.warns(decorrupt.exceptions.BagAssumptionWarning, match=f"^Dask{name} assumes"):
        pair(name, **LINEAR)[0].fit(X, y, bags=bags)


@quiet
def test_the_bag_effect_is_estimated_from_the_sample(monkeypatch):
    monkeypatch.setattr("decorrupt.distributed.sample.SAMPLE_ROWS", 600)
    params = LINEAR | {"bag_effect": "estimate"}
    by_dask, local = fit_on_bags("CountLikelihoodClassifier", bag_rows(), **params)
    assert by_dask.bag_effect_ == pytest.approx(local.bag_effect_, abs=1e-3)
    assert by_dask.to_local().bag_effect == "estimate"


@quiet
@pytest.mark.parametrize("name", [*ON_BAGS, "CorruptedSourcesClassifier"])
def test_labels_without_bags(name):
    data = bag_rows()
    X, _, _ = data.dask()
    labels = np.array(["no", "yes"])[data.labels]
    by_dask, local = pair(name, **LINEAR)
    by_dask.fit(X, da.from_array(labels, chunks=170))
    assert_same(by_dask, local.fit(data.X, labels), data.X)
    assert set(by_dask.predict(X).compute()) == {"no", "yes"}


@quiet
def test_sparse_blocks():
    data = bag_rows()
    X, y, bags = data.dask()
    by_dask, local = pair("CountLikelihoodClassifier", **LINEAR)
    by_dask.fit(X.map_blocks(sparse.csr_matrix), y, bags=bags)
    assert_same(by_dask, local.fit(sparse.csr_matrix(data.X), data.y, bags=data.bags), data.X)


NAMES = ["one", "two", "three", "four"]


def named_table(data):
    table = pd.DataFrame(data.X, columns=NAMES)
    return table.assign(share=data.y, bag=[f"b{k}" for k in data.bags])


@quiet
def test_a_table_that_is_shuffled_by_bag():
    """Columns by name, and whole bags by Dask's own shuffle."""
    data = bag_rows()
    table = named_table(data)
    frame = dd.from_pandas(table.sample(frac=1, random_state=0), npartitions=4, sort=False)
    by_dask, local = pair("CountLikelihoodClassifier", **LINEAR)
    with pytest.raises(ValueError, match=r"bag 'b\d+' is in .* and in .*shuffle\(on='bag'\)"):
        by_dask.fit(frame, "share", bags="bag")
    by_dask.fit(frame.shuffle(on="bag"), "share", bags="bag")
    assert by_dask.feature_names_in_.tolist() == NAMES
    assert_same(by_dask, local.fit(table[NAMES], data.y, bags=data.bags), table[NAMES])


@quiet
@pytest.mark.parametrize("name", ON_BAGS)
def test_the_same_whether_rows_are_kept_or_read_in_every_pass(name, monkeypatch):
    data = bag_rows(n_classes=3)
    monkeypatch.setattr(Engine, "memory", lambda *_: 0)
    assert_same(*fit_on_bags(name, data, **POLYNOMIAL), data.X)


@quiet
def test_single_precision_stays_and_converges():
    data = bag_rows()
    X, y, bags = data.dask()
    by_dask, local = pair("CorrectedLossClassifier", **POLYNOMIAL)
    by_dask.fit(X.astype(np.float32), y, bags=bags)
    local.fit(data.X.astype(np.float32), data.y, bags=data.bags)
    assert by_dask.dual_coef_.dtype == np.float32
    expected = local.decision_function(data.X)
    difference = by_dask.to_local().decision_function(data.X) - expected
    # The gradient is known to four digits; both solvers stop there, each on its own path.
    assert np.abs(difference).max() < 5e-3 * np.abs(expected).max()


@quiet
def test_empty_partitions_and_partitions_of_one_bag():
    data = bag_rows()
    cuts = np.append(np.flatnonzero(np.diff(data.bags)) + 1, len(data.bags))[:10]
    sizes = np.diff(np.concatenate([[0], np.repeat(cuts, 2), [len(data.bags)]]))
    assert 0 in sizes
    for name in ON_BAGS:
        by_dask, local = pair(name, **LINEAR)
        parts = [da.from_array(v, chunks=(len(v), *v.shape[1:])) for v in data[:3]]
        X, y, bags = (part.rechunk((tuple(sizes), *part.shape[1:])) for part in parts)
        by_dask.fit(X, y, bags=bags)
        assert_same(by_dask, local.fit(data.X, data.y, bags=data.bags), data.X)


def test_landmarks_of_a_sample_learn_the_classes():
    data = bag_rows(n_rows=1200)
    X, y, bags = data.dask()
    options = {"kernel": Kernel(max_rank=30), "reg_strength": 0.01, "random_state": 0}
    model = distributed.DaskCorrectedLossClassifier(**options)
    model.fit(X, y, bags=bags)
    assert len(model.landmarks_) <= 30
    assert np.mean(model.predict(X).compute() == data.labels) > 0.8


@quiet
def test_parquet_files(tmp_path):
    data = bag_rows()
    table = named_table(data)
    for start in range(0, 600, 100):
        table.iloc[start : start + 100].to_parquet(tmp_path / f"{start:03}.parquet")
    by_dask, local = pair("CorrectedLossClassifier", **LINEAR)
    by_dask.fit(dd.read_parquet(tmp_path), "share", bags="bag")
    assert_same(by_dask, local.fit(table[NAMES], data.y, bags=data.bags), table[NAMES])
