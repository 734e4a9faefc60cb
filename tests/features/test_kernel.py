"""The parameter object of a kernel, alone and in estimators."""

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import decorrupt
from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CountLikelihoodClassifier,
    Kernel,
    MeanMapClassifier,
    load,
    save,
)
from decorrupt.features import as_kernel
from helpers.estimators import ALL, SINGLE, name_of, training_data

OPTIONS = {
    "degree": 2,
    "coef0": 0.5,
    "rank_tol": 0.1,
    "max_rank": 20,
}
for_single = pytest.mark.parametrize("model", SINGLE, ids=name_of)


def test_all_options_have_a_value_of_their_own_above():
    assert Kernel().get_params().keys() == OPTIONS.keys() | {"name", "gamma"}


def test_copies_are_equal_and_separate():
    kernel = Kernel("polynomial", gamma=0.2, **OPTIONS)
    for copied in (clone(kernel), pickle.loads(pickle.dumps(kernel))):  # noqa: S301 — ours
        assert copied == kernel
        assert copied is not kernel
        assert copied.get_params() == kernel.get_params()
        assert copied.set_params(max_rank=3) != kernel
    assert Kernel("linear") != "linear"


def test_the_text_shows_what_was_set():
    assert repr(Kernel("linear")) == "Kernel(name='linear')"


def test_only_the_name_may_be_given_by_position():
    with pytest.raises(TypeError):
        Kernel("rbf", 0.5)


class TestGamma:
    def test_it_is_that_of_the_object_or_of_the_estimator(self):
        assert as_kernel("rbf", 0.3) == as_kernel(Kernel("rbf"), 0.3) == Kernel("rbf", gamma=0.3)
        assert as_kernel(Kernel("rbf", gamma=0.3), "scale") == Kernel("rbf", gamma=0.3)
        given = Kernel("rbf")
        as_kernel(given, 0.3)
        assert given.gamma == "scale"

    @pytest.mark.parametrize("kernel_gamma", [0.3, "auto"])
    def test_it_is_not_given_twice(self, kernel_gamma, bag_data):
        model = MeanMapClassifier(kernel=Kernel(gamma=0.3), kernel_gamma=kernel_gamma)
        message = rf"kernel_gamma={kernel_gamma!r} and in .*gamma=0\.3\): give one of them"
        with pytest.raises(ValueError, match=message):
            model.fit(bag_data.X, bag_data.y, bags=bag_data.bags)


@for_single
def test_clones_and_nested_parameters_of_estimators(model):
    model = clone(model).set_params(kernel=Kernel("polynomial", gamma=0.2))
    model.set_params(**{f"kernel__{name}": value for name, value in OPTIONS.items()})
    assert model.kernel == Kernel("polynomial", gamma=0.2, **OPTIONS)
    assert model.get_params()["kernel__max_rank"] == 20
    copied = clone(model)
    assert copied.kernel == model.kernel
    copied.set_params(kernel__max_rank=3)
    assert model.kernel.max_rank == 20


@pytest.mark.filterwarnings("ignore")
@for_single
def test_a_saved_model_has_the_same_kernel_and_scores(model, bag_data, source_data, tmp_path):
    d = training_data(model, bag_data, source_data)
    kernel = Kernel("polynomial", gamma=0.2, degree=2, coef0=0.5, max_rank=20)
    model = clone(model).set_params(kernel=kernel).fit(d.X, d.y, **d.extra)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert again.kernel == kernel
    assert_array_equal(again.decision_function(d.X), model.decision_function(d.X))


WRAPS = {
    "dense": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_matrix,
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("name", ["linear", "rbf", "polynomial", "knn", "pca_rbf"])
def test_an_object_with_defaults_is_its_name(name, wrap, bag_data):
    d, X = bag_data, wrap(bag_data.X)
    by_name, by_object = (
        MeanMapClassifier(kernel=kernel, reg_strength=0.1, random_state=0)
        .fit(X, d.y, bags=d.bags)
        .decision_function(X)
        for kernel in (name, Kernel(name))
    )
    assert_array_equal(by_name, by_object)
    assert by_object.dtype == X.dtype


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize(
    "kernel",
    [Kernel("rbf", max_rank=7), Kernel("knn", max_rank=7), Kernel("pca8_rbf", max_rank=7)],
    ids=str,
)
def test_options_are_used(kernel, wrap, bag_data):
    d, X = bag_data, wrap(bag_data.X[:300])
    model = MeanMapClassifier(kernel=kernel, reg_strength=0.1, random_state=0)
    model.fit(X, d.y[:300], bags=d.bags[:300])
    assert model.kernel_rank_ == 7
    assert model.landmarks_.shape[0] == (300 if kernel.name == "knn" else 7)
    assert model.decision_function(X).dtype == X.dtype


class TestSearches:
    def test_a_list_contains_names_and_objects(self, bag_data):
        d = bag_data
        kernels = ["linear", Kernel("rbf", gamma=0.1, max_rank=9), Kernel("rbf", max_rank=5)]
        model = AutoLabelProportionsClassifier(
            candidates=["mean_map"],
            kernels=kernels,
            kernel_gammas=[0.2, 0.5],
            reg_strengths=[0.1],
            cv=2,
            random_state=0,
        ).fit(d.X, d.y, bags=d.bags)
        found = [
            (row.params["kernel"], row.params.get("kernel_gamma")) for row in model.leaderboard_
        ]
        expected = [(kernels[0], None), (kernels[1], None), (kernels[2], 0.2), (kernels[2], 0.5)]
        assert len(found) == 4
        assert all(one in found for one in expected)

    def test_an_object_that_equals_a_name_is_tried_once(self, bag_data):
        d = bag_data
        model = AutoLabelProportionsClassifier(
            candidates=["mean_map"],
            kernels=["linear", Kernel("linear")],
            reg_strengths=[0.1],
            cv=2,
        ).fit(d.X, d.y, bags=d.bags)
        assert len(model.leaderboard_) == 1

    def test_a_grid_has_options_of_the_kernel(self, bag_data):
        d = bag_data
        model = CountLikelihoodClassifier(kernel=Kernel("rbf", gamma=0.2), random_state=0)
        grid = {"kernel__max_rank": [1, 30], "reg_strength": [0.01]}
        search = BagGridSearchCV(model, grid, cv=3).fit(d.X, d.y, bags=d.bags)
        assert search.best_params_["kernel__max_rank"] == 30
        assert search.best_estimator_.kernel_rank_ == 30


# One more than the others: rates and weights of sources besides the options of a corrected loss.
LARGEST = {"CorruptedSourcesClassifier": 17}


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_estimators_have_few_parameters(model):
    n_parameters = len(inspect.signature(type(model)).parameters)
    assert n_parameters <= LARGEST.get(name_of(model), 16)


def test_kernel_is_public():
    assert decorrupt.Kernel is Kernel
