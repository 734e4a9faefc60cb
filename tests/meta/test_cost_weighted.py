"""Label-dependent costs: an exact identity on finite supports."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from decorrupt import CostWeightedSourcesClassifier
from decorrupt.corruption import label_costs
from decorrupt.estimators import label_weights, noisy_mixture, true_class_scores
from decorrupt.observed import matrix_of_rates, read_observed

rates = st.tuples(st.floats(0, 0.45), st.floats(0, 0.45))


@given(
    st.lists(rates, min_size=1, max_size=4),
    st.floats(0.05, 0.95),
    st.lists(st.floats(0, 1), min_size=2, max_size=8),
    st.integers(0, 1000),
)
def test_decisions_and_probabilities_are_those_of_clean_labels(pairs, threshold, clean, seed):
    """On a finite support the weighted learner's q(x) is known, and P(Y=1|x) comes back."""
    pairs, clean = np.array(pairs), np.array(clean)
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(pairs)))
    sources = SimpleNamespace(
        sizes=shares, source_matrices=np.array([matrix_of_rates(*pair) for pair in pairs])
    )
    costs = label_costs(sources.source_matrices, threshold)
    assert (costs >= 0).all()
    flip_pos, flip_neg = pairs.T
    noisy = clean[:, None] * (1 - flip_pos) + (1 - clean[:, None]) * flip_neg
    pos, neg = noisy @ (shares * costs[:, 1]), (1 - noisy) @ (shares * costs[:, 0])
    q = pos / (pos + neg)
    found = expit(true_class_scores(logit(q), noisy_mixture(sources, costs)))
    limited = np.maximum([1 - clean, clean], 1e-6)  # so that log-odds are finite
    assert_allclose(found, limited[1] / limited.sum(axis=0), atol=1e-9)
    apart = np.abs(clean - threshold) > 1e-9
    assert ((q > 0.5) == (clean > threshold))[apart].all()


@pytest.mark.parametrize("decision", ["balanced", "accuracy"])
def test_a_tree_on_four_points_gives_the_clean_probabilities(decision):
    """A learner that is exact on a finite support: the noisy counts are exact too."""
    clean, flips = np.array([0.1, 0.4, 0.6, 0.9]), {"a": (0.1, 0.2), "b": (0.3, 0.0)}
    rows = []
    for point, share in enumerate(clean):
        for source, (flip_pos, flip_neg) in flips.items():
            n_pos = round(1000 * (share * (1 - flip_pos) + (1 - share) * flip_neg))
            rows += [(point, source, 1)] * n_pos + [(point, source, 0)] * (1000 - n_pos)
    points, sources, y = map(np.array, zip(*rows, strict=True))
    model = CostWeightedSourcesClassifier(
        DecisionTreeClassifier(), noise_rates=flips, decision=decision
    ).fit(points[:, None], y, sources=sources)
    support = np.arange(4)[:, None]
    assert_allclose(model.predict_proba(support)[:, 1], clean, atol=1e-6)
    assert_allclose(model.class_prior_, 0.5, atol=1e-9)
    assert model.predict(support).tolist() == [0, 0, 1, 1]


def test_it_learns_the_clean_classes(source_data):
    d = source_data
    for learner in (None, LogisticRegression()):
        model = CostWeightedSourcesClassifier(learner, random_state=0)
        model.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
        assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.88
    noisy = read_observed(d.noisy, sources=d.sources, noise_rates=d.rates).sources
    weights = label_weights(noisy, "label_dependent", "balanced")
    by_source = dict(zip(noisy.ids, weights, strict=True))
    assert by_source["expert"][1] > by_source["crowd"][1]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearSVC(), "LinearSVC has no predict_proba"),
        (LinearRegression(), "LinearRegression has no predict_proba: choose another classifier$"),
        ("forest", "estimator='forest' is not an estimator"),
    ],
)
def test_bad_estimators(estimator, message, source_data):
    d = source_data
    with pytest.raises(ValueError, match=message):
        CostWeightedSourcesClassifier(estimator).fit(d.X, d.labels)


def test_rates_by_row_are_those_of_a_source_per_row(source_data):
    d = source_data
    varied = np.column_stack([np.linspace(0, 0.4, 900), np.zeros(900)])
    with pytest.raises(ValueError, match="every row is a source"):
        CostWeightedSourcesClassifier().fit(d.X, d.noisy, noise_rates=varied)
