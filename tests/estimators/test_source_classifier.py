"""Estimators on noisy labels: rates, priors and classes in every form, and bad input."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from decorrupt import CorruptedSourcesClassifier, ForwardSourcesClassifier
from decorrupt.corruption import corrupt_labels
from helpers.class_sources import RATES, three_classes

EXACT = {"kernel": "linear", "tol": 1e-7, "reg_strength": 0.01, "random_state": 0}
BOTH = [
    CorruptedSourcesClassifier(**EXACT),
    CorruptedSourcesClassifier(combine="least_squares", **EXACT),
    ForwardSourcesClassifier(**EXACT),
]
# Where the rates are not those of the labels, the risk may well be negative.
wrong_rates = pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
for_both = pytest.mark.parametrize("model", BOTH, ids=["sources", "least_squares", "forward"])


@pytest.fixture(scope="module")
def data():
    return three_classes()


def fit(model, data, noise_rates=RATES, **known):
    return clone(model).fit(
        data.X, data.noisy, sources=data.sources, noise_rates=noise_rates, **known
    )


@for_both
def test_learns_what_a_model_learns_from_the_true_labels(model):
    train, test = three_classes(6000, seed=1), three_classes(6000, seed=2)
    supervised = LogisticRegression(class_weight="balanced").fit(train.X, train.labels)
    best = balanced_accuracy_score(test.labels, supervised.predict(test.X))
    model = fit(clone(model).set_params(reg_strength=1e-4, tol=1e-6), train)
    assert balanced_accuracy_score(test.labels, model.predict(test.X)) > best - 0.012
    naive = LogisticRegression().fit(train.X, train.noisy).predict_proba(test.X)
    shares = np.bincount(test.labels) / len(test.labels)
    found = model.predict_proba(test.X, class_prior=shares)
    loss, naive_loss = (-np.log(p[np.arange(6000), test.labels]).mean() for p in (found, naive))
    assert loss < naive_loss - 0.2


@wrong_rates
@for_both
def test_rates_may_be_given_in_every_form(model, data):
    expected = fit(model, data)
    as_lists = fit(model, data, {s: T.tolist() for s, T in RATES.items()})
    assert_allclose(as_lists.decision_function(data.X), expected.decision_function(data.X))
    for source, matrix in RATES.items():
        assert_allclose(as_lists.noise_rates_[source], matrix)
    alone = clone(model).fit(data.X, data.noisy, noise_rates=RATES["crowd"])
    one = clone(model).fit(
        data.X, data.noisy, sources=["s"] * len(data.X), noise_rates={"s": RATES["crowd"]}
    )
    assert_allclose(alone.decision_function(data.X), one.decision_function(data.X))


@for_both
@pytest.mark.parametrize("order", list(permutations(range(3)))[1:3])
def test_the_order_of_the_classes_does_not_matter(model, data, order):
    place = np.argsort(order)  # class c gets the number place[c]
    moved = {source: T[np.ix_(order, order)] for source, T in RATES.items()}
    scores = fit(model, data).decision_function(data.X)
    again = clone(model).fit(data.X, place[data.noisy], sources=data.sources, noise_rates=moved)
    expected = scores - scores.mean(axis=1, keepdims=True)
    found = again.decision_function(data.X)[:, place]
    assert_allclose(found - found.mean(axis=1, keepdims=True), expected, atol=1e-4)


class TestTwoClasses:
    """Two classes are K = 2: a share of positives, a pair of rates and their K columns agree."""

    @pytest.fixture
    def two(self, source_data):
        d = source_data
        d.matrices = {
            source: np.array([[1 - neg, neg], [pos, 1 - pos]])
            for source, (pos, neg) in d.rates.items()
        }
        return d

    @pytest.mark.parametrize(
        ("model", "prior"),
        [
            (CorruptedSourcesClassifier(), None),
            (CorruptedSourcesClassifier(combine="uniform_sources", class_prior=0.5), None),
            (CorruptedSourcesClassifier(combine="exact_sources"), 0.4),
            (CorruptedSourcesClassifier(), 0.4),
            (CorruptedSourcesClassifier(combine="least_squares"), None),
            (ForwardSourcesClassifier(), None),
            (ForwardSourcesClassifier(), 0.4),
        ],
    )
    def test_one_share_and_one_rate_per_class_are_two_shares_and_a_matrix(self, two, model, prior):
        model.set_params(**EXACT)
        by_pair = fit(model, two, two.rates, source_priors=prior)
        if getattr(model, "class_prior", None) is not None:
            model.set_params(class_prior=[0.5, 0.5])
        shares = None if prior is None else [1 - prior, prior]
        by_matrix = fit(model, two, two.matrices, source_priors=shares)
        assert_array_equal(by_matrix.class_prior_, by_pair.class_prior_)
        assert by_matrix.noise_rates_ == by_pair.noise_rates_
        assert by_matrix.source_priors_ == by_pair.source_priors_
        if isinstance(model, CorruptedSourcesClassifier):
            assert by_matrix.source_weights_ == by_pair.source_weights_
            risks = [model.diagnostics_.training_risk for model in (by_matrix, by_pair)]
            assert risks[0] == risks[1]
        assert_array_equal(by_matrix.decision_function(two.X), by_pair.decision_function(two.X))


@for_both
def test_decisions_and_probabilities_at_a_prior(model, data):
    model = fit(model, data)
    probabilities = model.predict_proba(data.X, class_prior=[0.2, 0.3, 0.5])
    assert_allclose(probabilities.sum(axis=1), 1)
    even = model.predict_proba(data.X, class_prior=[1 / 3] * 3)
    assert (even.argmax(axis=1) == model.predict(data.X)).all()  # decision="balanced"
    own = fit(clone(model).set_params(decision="accuracy"), data)
    assert (own.predict_proba(data.X).argmax(axis=1) == own.predict(data.X)).all()
    with pytest.raises(ValueError, match=r"class_prior=0\.3: give .*3 positive shares"):
        model.predict_proba(data.X, class_prior=0.3)


@pytest.mark.parametrize("kind", [CorruptedSourcesClassifier, ForwardSourcesClassifier])
def test_unknown_rates_are_estimated(kind):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 2)) + 3 * labels[:, None]
    sources = np.array(["a", "b"])[np.arange(6000) % 2]
    rates = {"a": (0.1, 0.3), "b": (0.3, 0.05)}
    noisy = corrupt_labels(labels, [rates[s] for s in sources], random_state=0)
    model = kind(kernel="linear", random_state=0)
    model.fit(X, noisy, sources=sources, noise_rates="estimate")
    for source, pair in rates.items():
        assert_allclose(model.noise_rates_[source], pair, atol=0.06)
        for name in ("flip_pos", "flip_neg"):
            low, high = model.noise_rate_intervals_[source][name]
            assert low <= high
    assert model.score(X, labels) > 0.97
    with pytest.raises(ValueError, match=r"noise_rates='guess'.*'estimate' or None"):
        kind().fit(X, noisy, noise_rates="guess")


@for_both
def test_bad_priors(model, data):
    for wrong in ([0.5, 0.5], [0.5, 0.5, 0.0], 0.5):
        with pytest.raises(ValueError, match=r"source_priors of source 'crowd'=.*3 positive"):
            fit(model, data, source_priors=wrong)
    with pytest.raises(ValueError, match="source_priors have no entry for source 'crowd'"):
        fit(model, data, source_priors={"expert": [0.4, 0.3, 0.3]})
