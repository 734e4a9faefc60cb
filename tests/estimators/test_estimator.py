"""Estimators are keyword-only dataclasses, documented in full, and an Observed is a y of theirs."""

import dataclasses
import inspect
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone

from decorrupt import BagGridSearchCV, MeanMapClassifier
from decorrupt.estimators import estimator
from decorrupt.observed import as_observed
from helpers.estimators import ALL, name_of, takes, training_data

for_all = pytest.mark.parametrize("model", ALL, ids=name_of)
quiet = pytest.mark.filterwarnings("ignore")
MAX_PARAMETERS = 12
# It is scikit-learn's class, with fewer parameters.
NO_DATACLASS = {BagGridSearchCV}


@for_all
def test_every_estimator_is_a_dataclass_with_scikit_learns_repr_and_hash(model):
    kind = type(model)
    assert kind in NO_DATACLASS or "__dataclass_fields__" in vars(kind)
    assert kind.__eq__ is object.__eq__
    assert kind.__hash__ is object.__hash__
    assert kind.__repr__ is BaseEstimator.__repr__
    assert len(model.get_params(deep=False)) <= MAX_PARAMETERS


@for_all
def test_parameters_are_keywords_except_for_the_learner_of_a_meta_estimator(model):
    parameters = inspect.signature(type(model)).parameters.values()
    positional = {p.name for p in parameters if p.kind is not p.KEYWORD_ONLY}
    assert positional <= {"estimator", "param_grid"}


@for_all
def test_every_parameter_is_described_once_and_has_a_plain_default(model):
    doc = inspect.getdoc(type(model))
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n\S", doc, re.DOTALL)[1]
    headers = re.findall(r"(?m)^(\S[^:\n]*?)(?: :|$)", section)
    described = [name for header in headers for name in header.split(", ")]
    assert sorted(described) == sorted(model.get_params(deep=False))
    for parameter in inspect.signature(type(model)).parameters.values():
        is_required = parameter.default is parameter.empty and parameter.name in (
            "estimator",
            "param_grid",
        )
        assert (
            is_required
            or parameter.default is None
            or isinstance(parameter.default, str | float | int)
        )


def test_a_subclass_has_parameters_of_its_own(bag_data):
    @estimator
    class Linear(MeanMapClassifier):
        """A linear model.

        Parameters
        ----------
        reg_strength : float, default=0.1
            λ.
        width : int, default=1
            A parameter of its own.
        """

        kernel: str = "linear"
        reg_strength: float = 0.1
        width: int = 1

    class Renamed(MeanMapClassifier):
        """A subclass with its own `__init__`."""

        def __init__(self, penalty=0.1):
            super().__init__(kernel="linear", reg_strength=penalty)
            self.penalty = penalty

    d = bag_data
    expected = MeanMapClassifier(kernel="linear", reg_strength=0.1).fit(d.X, d.y, bags=d.bags)
    for model in (Linear(), clone(Linear(width=2)), Renamed(), clone(Renamed(0.1))):
        model.fit(d.X, d.y, bags=d.bags)
        assert_array_equal(model.decision_function(d.X), expected.decision_function(d.X))
    assert repr(Linear(width=2)) == "Linear(width=2)"
    assert Linear.__eq__ is object.__eq__
    assert Linear.__doc__.count("\nreg_strength : ") == 1
    assert "kernel_gamma : float" in Linear.__doc__
    assert [f.name for f in dataclasses.fields(Linear)][:2] == ["kernel", "kernel_gamma"]


# --- an Observed in place of y


@quiet
@for_all
def test_an_observed_gives_the_fit_of_its_arguments(model, bag_data, source_data):
    d = training_data(model, bag_data, source_data)
    weights = (
        {"sample_weight": 1.0 + np.arange(len(d.y)) % 2} if takes(model, "sample_weight") else {}
    )
    for known in (d.extra, d.extra | weights):
        expected = clone(model).fit(d.X, d.y, **known)
        found = clone(model).fit(d.X, as_observed(d.y, **known))
        assert_array_equal(found.classes_, expected.classes_)
        assert_array_equal(found.decision_function(d.X), expected.decision_function(d.X))


@for_all
def test_an_observed_of_other_rows_is_refused(model, bag_data, source_data):
    d = training_data(model, bag_data, source_data)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[100, "):
        clone(model).fit(d.X[:100], as_observed(d.y, **d.extra))


@for_all
def test_an_observed_contains_all_that_is_known_about_labels(model, bag_data, source_data):
    d = training_data(model, bag_data, source_data)
    observed = as_observed(d.y, **d.extra)
    known = d.extra | {"upper": d.y, "sample_weight": np.ones(len(d.y)), "source_priors": 0.5}
    for name in known:
        if takes(model, name):
            with pytest.raises(ValueError, match=rf"{name} belongs to the Observed"):
                clone(model).fit(d.X, observed, **{name: known[name]})
    if "count_noise" in model.get_params(deep=False):
        with pytest.raises(ValueError, match="count_noise belongs to the Observed"):
            clone(model).set_params(count_noise=1.0).fit(d.X, observed)


# --- docstrings of methods


METHODS = [
    model
    for model in ALL
    if type(model).__module__.startswith(
        ("decorrupt.estimators", "decorrupt.baselines", "decorrupt.meta")
    )
]


@pytest.mark.parametrize("model", METHODS, ids=name_of)
def test_docstring(model):
    kind = type(model)
    text = inspect.getdoc(kind)
    for section in ("Attributes", "See Also", "Examples"):
        assert f"\n{section}\n---" in text, section
