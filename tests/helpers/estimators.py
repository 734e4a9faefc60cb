"""All estimators of the package, found in its public list, in settings quick enough for tests."""

import inspect
from dataclasses import replace
from types import SimpleNamespace

from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

import decorrupt
from decorrupt import Kernel, MeanMapClassifier, baselines
from decorrupt.features import as_kernel
from helpers.quick import QUICK_SEARCH

# Arguments that a constructor needs, or that spare time; every other estimator has its defaults.
ARGUMENTS = {
    "AlternatingPSVMClassifier": {"n_starts": 2},
    "AutoLabelProportionsClassifier": QUICK_SEARCH,
    "AutoSourcesClassifier": QUICK_SEARCH,
    "BagGridSearchCV": {
        "estimator": MeanMapClassifier(random_state=0),
        "param_grid": {"reg_strength": [0.1, 0.01]},
        "cv": 3,
    },
    # A forest would turn rounding errors of another form of the same data into other splits.
    "CostWeightedSourcesClassifier": {"estimator": LogisticRegression()},
    "EMClassifier": {"estimator": LogisticRegression(), "cv": 2},
}


def make(kind, **params):
    """Return an estimator of this class with a fixed random_state."""
    model = kind(**ARGUMENTS.get(kind.__name__, {}) | params)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


PUBLIC = [
    *(getattr(decorrupt, name) for name in decorrupt.__all__),
    *(getattr(baselines, name) for name in baselines.__all__),
]
KERNEL_OPTIONS = Kernel().get_params().keys() - {"name", "gamma"}
ALL = [
    make(kind)
    for kind in PUBLIC
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and hasattr(kind, "predict")
]


def takes(model, argument):
    """Return whether the model's fit has this argument."""
    return argument in inspect.signature(model.fit).parameters


ON_BAGS = [model for model in ALL if takes(model, "bags")]
ON_SOURCES = [model for model in ALL if takes(model, "sources")]
# Those that minimise one objective; the others search over some of these.
SINGLE = [model for model in ALL if "kernel" in model.get_params(deep=False)]
SINGLE_ON_BAGS = [model for model in SINGLE if takes(model, "bags")]
# Those on features of a kernel; the baselines compute the kernel of all pairs of rows.
WITH_FEATURES = [model for model in SINGLE if hasattr(model, "fit_intercept")]


def name_of(model):
    """Return the class name, as an id of a test."""
    return type(model).__name__


def with_params(model, **params):
    """Return a copy of the model with those of the parameters that it or its kernel has."""
    known = model.get_params()
    found = {k: v for k, v in params.items() if k in known}
    options = {k: v for k, v in params.items() if k in KERNEL_OPTIONS}
    if options and "kernel" in known:
        found["kernel"] = replace(as_kernel(found.get("kernel", model.kernel)), **options)
    return clone(model).set_params(**found)


def training_data(model, bag_data, source_data):
    """Return X, y, the further arguments of fit, and labels the model never sees."""
    if takes(model, "bags"):
        d = bag_data
        return SimpleNamespace(X=d.X, y=d.y, extra={"bags": d.bags}, labels=d.labels)
    d = source_data
    extra = {"sources": d.sources, "noise_rates": d.rates}
    return SimpleNamespace(X=d.X, y=d.noisy, extra=extra, labels=d.labels)
