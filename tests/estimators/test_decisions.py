"""One rule of decision and one change of prior, in every estimator that has probabilities."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.base import clone

from decorrupt import (
    AutoLabelProportionsClassifier,
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    ForwardSourcesClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
)
from decorrupt.corruption import corrupt_labels

pytestmark = pytest.mark.filterwarnings("ignore")
SMOOTH = {"reg_strength": 0.01, "random_state": 0, "fit_intercept": True}
SEARCH = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 3, "random_state": 0}
RATES = {"good": (0.1, 0.05), "bad": (0.3, 0.2)}
POOLED = CorrectedLossClassifier(class_prior="pooled", **SMOOTH)
FOR_BAGS = [
    CountLikelihoodClassifier(**SMOOTH),
    CorrectedLossClassifier(**SMOOTH),
    POOLED,
    MeanMapClassifier(**SMOOTH),
    ProportionMatchingClassifier(**SMOOTH),
    AutoLabelProportionsClassifier(candidates=["mean_map"], **SEARCH),
    AutoLabelProportionsClassifier(candidates=["invcal"], **SEARCH),
    AutoLabelProportionsClassifier(candidates=[POOLED], ensemble="best", **SEARCH),
    AutoLabelProportionsClassifier(
        candidates=[CountLikelihoodClassifier()], ensemble="best", **SEARCH
    ),
]
FOR_SOURCES = [
    CorruptedSourcesClassifier(**SMOOTH),
    CorruptedSourcesClassifier(class_prior=0.5, **SMOOTH),
    CorruptedSourcesClassifier(combine="superbag", class_prior="pooled", **SMOOTH),
    ForwardSourcesClassifier(**SMOOTH),
]
KINDS = [(model, kind) for model in FOR_BAGS for kind in ("bags", "labels")] + [
    (model, kind) for model in FOR_SOURCES for kind in ("sources", "labels")
]
KINDS = [
    pytest.param(*one, id=f"{one[0]}, {one[1]}")
    for one in KINDS
    if hasattr(one[0], "predict_proba")
]
with_probabilities = pytest.mark.parametrize(("model", "kind"), KINDS)


def draw(n_rows=600, seed=0):
    """Three rows in ten are positive, so that the two decisions differ."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_rows) < 0.3).astype(int)
    return rng.normal(size=(n_rows, 2)) + 1.5 * labels[:, None], labels


def fit(model, kind, X, labels):
    model = clone(model)
    if kind == "labels":
        return model.fit(X, labels)
    if kind == "bags":
        bags = np.arange(len(X)) // 10
        return model.fit(X, (np.bincount(bags, labels) / 10)[bags], bags=bags)
    sources = np.array(["good", "bad"])[np.arange(len(X)) % 2]
    noisy = corrupt_labels(labels, [RATES[s] for s in sources], random_state=0)
    return model.fit(X, noisy, sources=sources, noise_rates=RATES)


@with_probabilities
def test_predict_agrees_with_the_probabilities_of_its_population(model, kind):
    X, labels = draw()
    balanced = fit(model, kind, X, labels)
    np.testing.assert_array_equal(
        balanced.predict(X), balanced.predict_proba(X, class_prior=0.5).argmax(axis=1)
    )
    accurate = fit(clone(model).set_params(decision="accuracy"), kind, X, labels)
    np.testing.assert_array_equal(accurate.predict(X), accurate.predict_proba(X).argmax(axis=1))


@with_probabilities
def test_class_prior_is_checked_and_shifts_the_log_odds(model, kind):
    X, labels = draw()
    model = fit(model, kind, X, labels)
    for class_prior in (1.5, 1.0, 0, -0.1, np.nan, "0.5"):
        with pytest.raises(ValueError, match=f"class_prior={class_prior!r}"):
            model.predict_proba(X, class_prior=class_prior)
    some, other = (model.predict_proba(X, class_prior=share)[:, 1] for share in (0.5, 0.2))
    np.testing.assert_allclose(logit(some) - logit(other), logit(0.5) - logit(0.2), atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_other_losses_put_the_balanced_threshold_at_the_score_of_the_prior(loss):
    X, labels = draw()
    model = fit(CorruptedSourcesClassifier(loss=loss, **SMOOTH), "labels", X, labels)
    assert model.decision_threshold_ == pytest.approx(2 * labels.mean() - 1)


def test_a_loss_without_probabilities_says_what_to_set():
    X, labels = draw()
    model = CorruptedSourcesClassifier(loss="sigmoid", **SMOOTH)
    with pytest.raises(ValueError, match=r"sigmoid.*Set decision='accuracy' or class_prior=0\.5"):
        model.fit(X, labels)
    for params in ({"decision": "accuracy"}, {"class_prior": 0.5}):
        assert clone(model).set_params(**params).fit(X, labels).decision_threshold_ == 0
