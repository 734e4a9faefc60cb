"""Every estimator checks its parameters, and a second fit leaves nothing of the first."""

import numpy as np
import pytest
from sklearn.base import clone

from decorrupt import (
    AlternatingPSVMClassifier,
    CorrectedLossClassifier,
    CorrectedLossClassifierCV,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    CountLikelihoodClassifierCV,
    ForwardSourcesClassifier,
    InvCalClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
    SetClassifier,
)

ESTIMATORS = [
    AlternatingPSVMClassifier(n_starts=1),
    CorruptedSourcesClassifier(),
    CountLikelihoodClassifier(),
    ForwardSourcesClassifier(),
    InvCalClassifier(),
    CorrectedLossClassifier(),
    MeanMapClassifier(),
    ProportionMatchingClassifier(),
    SetClassifier(),
]
WRONG = {
    "C": [0, -1.0, np.inf, np.nan, "1"],
    "C_p": [0, -1.0, np.inf, np.nan, "1"],
    "coef0": [np.inf, "1", None],
    "degree": [0, -1, np.inf, "3"],
    "epsilon": [-0.1, np.inf, "0"],
    "fit_intercept": ["no", 2],
    "kernel_gamma": [0, -1.0, np.inf, np.nan, "wide", None],
    "match_prior": ["no"],
    "max_iter": [0, -1, 2.5, "10", None],
    "max_rank": [0, 2.5, "10"],
    "max_rounds": [0, 1.5],
    "n_starts": [0, 2.5],
    "rank_tol": [-1, np.inf, "0"],
    "reg_strength": [-1.0, np.inf, np.nan, "0.1", None],
    "smoothness": [0, -1.0, np.inf],
    "step_decay": [-1.0, np.inf],
    "step_size": [0, np.inf],
    "tol": [-1, np.inf, np.nan, "0"],
}
CASES = [
    pytest.param(model, name, value, id=f"{type(model).__name__}-{name}={value!r}")
    for model in ESTIMATORS
    for name in model.get_params()
    for value in WRONG.get(name, [])
]
RNG = np.random.default_rng(0)
LABELS = np.tile([0, 1], 20)
X = RNG.normal(size=(40, 2)) + 2 * LABELS[:, None]


@pytest.mark.parametrize(("model", "name", "value"), CASES)
def test_wrong_values_are_refused_by_name(model, name, value):
    with pytest.raises(ValueError, match=rf"{name}={value!r}"):
        clone(model).set_params(**{name: value}).fit(X, LABELS)


@pytest.mark.parametrize(
    "search", [CorrectedLossClassifierCV(cv=2), CountLikelihoodClassifierCV(cv=2)]
)
def test_searches_check_their_lists_and_templates(search):
    for wrong in (-1.0, np.inf, "0.1"):
        model = clone(search).set_params(reg_strengths=[0.1, wrong])
        with pytest.raises(ValueError, match=rf"reg_strengths.*{wrong!r}"):
            model.fit(X, LABELS)
    template = type(search)()._template().set_params(max_iter=0)
    with pytest.raises(ValueError, match="max_iter=0"):
        clone(search).set_params(estimator=template).fit(X, LABELS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_refit_with_another_kernel_leaves_no_coefficients_of_the_first(model):
    refitted = clone(model).set_params(kernel="linear").fit(X, LABELS)
    refitted.set_params(kernel="rbf").fit(X, LABELS)
    assert vars(refitted).keys() == vars(clone(model).fit(X, LABELS)).keys()
    refitted.set_params(kernel="linear").fit(X, LABELS)
    assert not {"dual_coef_", "landmarks_"} & vars(refitted).keys()


def test_a_refit_with_another_variant_forgets_the_labels():
    bags = np.arange(40) // 4
    y = (np.bincount(bags, LABELS[::-1] * (bags < 6)) / 4)[bags]
    model = MeanMapClassifier(variant="alternating", reg_strength=0.1).fit(X, y, bags=bags)
    assert hasattr(model, "labels_")
    assert not hasattr(model.set_params(variant="mean").fit(X, y, bags=bags), "labels_")
