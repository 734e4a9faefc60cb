"""reg_strength="auto": λ = s/(2·C·n), with n and s computed independently here."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from decorrupt import (
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    MeanMapClassifier,
)
from decorrupt.estimators import ProportionMatchingClassifier
from decorrupt.estimators.kernel_classifier import COUNT_PRIOR_VARIANCE, NOISY_PRIOR_VARIANCE
from decorrupt.features import Kernel
from decorrupt.theory import information

# Some problems here are not consistent; only λ matters.
pytestmark = pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")

ON_BAGS = {
    CountLikelihoodClassifier: COUNT_PRIOR_VARIANCE,
    ProportionMatchingClassifier: COUNT_PRIOR_VARIANCE,
    CorrectedLossClassifier: NOISY_PRIOR_VARIANCE,
}


def rows_worth(kind, data):
    if kind is CorrectedLossClassifier:
        _, sizes = np.unique(data.bags, return_counts=True)
        shares = [data.y[data.bags == bag][0] for bag in np.unique(data.bags)]
        return 4 * float(information(sizes, shares))
    return len(data.X)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
@pytest.mark.parametrize("kind", ON_BAGS)
def test_bags(bag_data, kind, kernel):
    X = 3 * bag_data.X + 1
    model = kind(kernel=Kernel(kernel, gamma=0.5, degree=2), random_state=0)
    model.fit(X, bag_data.y, bags=bag_data.bags)
    size = {
        "rbf": 1.0,
        "linear": np.var(X, axis=0).sum(),  # centred: there is an intercept
        "polynomial": np.mean((0.5 * (X**2).sum(axis=1) + 1) ** 2),
    }[kernel]
    expected = size / (2 * ON_BAGS[kind] * rows_worth(kind, bag_data))
    assert model.reg_strength_ == pytest.approx(expected)
    assert model.reg_strength == "auto"
    given = clone(model).set_params(reg_strength=model.reg_strength_)
    given.fit(X, bag_data.y, bags=bag_data.bags)
    assert_allclose(given.decision_function(X), model.decision_function(X))


def test_bags_of_one_row_are_logistic_regression_with_the_same_prior(bag_data):
    X = bag_data.X - bag_data.X.mean(axis=0)
    model = CountLikelihoodClassifier(kernel="linear", tol=1e-9).fit(X, bag_data.labels)
    size = np.mean((X**2).sum(axis=1))
    reference = LogisticRegression(C=COUNT_PRIOR_VARIANCE / size, tol=1e-9)
    assert_allclose(model.coef_, reference.fit(X, bag_data.labels).coef_[0], rtol=1e-4)


def test_less_information_is_a_stronger_penalty(bag_data):
    """Half of every deviation from the pooled share is a quarter of the information."""
    known, inexact = (
        MeanMapClassifier(random_state=0).fit(bag_data.X, y, bags=bag_data.bags)
        for y in (bag_data.y, (bag_data.y + bag_data.y.mean()) / 2)
    )
    assert inexact.reg_strength_ == pytest.approx(4 * known.reg_strength_, rel=0.2)


@pytest.mark.parametrize("flipped", [0.1, 0.3])
def test_sources(source_data, flipped):
    """One source with symmetric noise is worth n·(1 − 2·flip)² rows, for every class share."""
    rates = (flipped, flipped)
    corrected = CorruptedSourcesClassifier(random_state=0)
    corrected.fit(source_data.X, source_data.labels, noise_rates=rates)
    n_rows = len(source_data.X)
    worth = n_rows * (1 - 2 * flipped) ** 2
    assert corrected.reg_strength_ == pytest.approx(1 / (2 * NOISY_PRIOR_VARIANCE * worth))
    forward = ForwardSourcesClassifier(random_state=0)
    forward.fit(source_data.X, source_data.labels, noise_rates=rates)
    assert forward.reg_strength_ == pytest.approx(1 / (2 * NOISY_PRIOR_VARIANCE * n_rows))


def test_several_classes():
    """Pure bags have the coefficients 1/n of one class: 4·mean of squares is 4/(K·n²) per row."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 40)
    X = rng.normal(size=(120, 2)) + labels[:, None]
    model = CorrectedLossClassifier(class_prior="pooled", random_state=0).fit(X, labels)
    assert model.reg_strength_ == pytest.approx(1 / (2 * NOISY_PRIOR_VARIANCE * 120 * 3 / 4))
    counts = CountLikelihoodClassifier(random_state=0).fit(X, labels)
    assert counts.reg_strength_ == pytest.approx(1 / (2 * COUNT_PRIOR_VARIANCE * 120))


def test_the_squared_loss_gets_a_penalty_with_a_minimum(bag_data):
    """Its corrected risk has no minimum at the λ of the prior; a smaller number is refused."""
    model = CorrectedLossClassifier(loss="squared", fit_intercept=False, random_state=0)
    y = 0.2 * bag_data.y
    model.fit(bag_data.X, y, bags=bag_data.bags)
    assert np.isfinite(model.decision_function(bag_data.X)).all()
    prior = clone(model).set_params(reg_strength=model.reg_strength_ / 3)
    with pytest.raises(ValueError, match="too small for the squared loss"):
        prior.fit(bag_data.X, y, bags=bag_data.bags)


def test_noise_and_a_bag_effect_reduce_the_rows_that_counts_are_worth():
    # 10 bags of 20 rows at p = ½: V = 5. Noise of variance 15 leaves a quarter; an effect of 0.1
    # has the variance (20·0.1)² = 4 and leaves 5/9.
    bags = np.repeat(np.arange(10), 20)
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.tile([0.25, 0.75], 5)[bags]
    for params, share in (({"count_noise": 15**0.5}, 1 / 4), ({"bag_effect": 0.1}, 5 / 9)):
        model = CountLikelihoodClassifier(random_state=0, **params).fit(X, y, bags=bags)
        assert model.reg_strength_ == pytest.approx(1 / (2 * COUNT_PRIOR_VARIANCE * 200 * share))
