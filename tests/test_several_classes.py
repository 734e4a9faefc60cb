"""What every estimator and search on bags of several classes must do."""

import pickle
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils import get_tags

import decorrupt
from decorrupt import (
    AutoLabelProportionsClassifier,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    EMClassifier,
    LaplaceNoise,
    MeanMapClassifier,
    ProportionMatchingClassifier,
    label_posterior,
)
from decorrupt.model_selection import corrected_accuracy, count_score, proportion_risk
from decorrupt.observed import as_observed
from decorrupt.risks import count_risk
from helpers.estimators import ON_BAGS, SINGLE_ON_BAGS, name_of, with_params

SEVERAL = [model for model in ON_BAGS if get_tags(model).classifier_tags.multi_class]
SINGLE = [model for model in SINGLE_ON_BAGS if get_tags(model).classifier_tags.multi_class]
for_all = pytest.mark.parametrize("model", SEVERAL, ids=name_of)
for_single = pytest.mark.parametrize("model", SINGLE, ids=name_of)
quiet = pytest.mark.filterwarnings("ignore")
CENTRES = 3.0 * np.array([[1, 0], [0, 1], [-1, -1]])
NAMES = ["red", "green", "blue"]


def three_classes(n_bags=40, bag_size=6, seed=0):
    rng = np.random.default_rng(seed)
    mixed = rng.dirichlet(np.full(3, 0.7), n_bags)
    labels = np.array([rng.choice(3, p=p) for p in mixed for _ in range(bag_size)])
    X = CENTRES[labels] + rng.normal(size=(len(labels), 2))
    bags = np.repeat(np.arange(n_bags), bag_size)
    shares = np.array([np.bincount(labels[bags == b], minlength=3) for b in range(n_bags)])
    return SimpleNamespace(X=X, labels=labels, bags=bags, y=(shares / bag_size)[bags])


DATA = three_classes()


def fitted(model, X=DATA.X, y=DATA.y, bags=DATA.bags):
    return clone(model).fit(X, y, bags=bags)


def assert_close(found, expected, tolerance=1e-4):
    assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@quiet
@for_all
def test_the_classes_are_learned_and_named_after_the_columns(model):
    found = fitted(model, y=pd.DataFrame(DATA.y, columns=NAMES))
    assert found.classes_.tolist() == NAMES
    assert balanced_accuracy_score(np.array(NAMES)[DATA.labels], found.predict(DATA.X)) > 0.85
    if hasattr(found, "predict_proba"):
        assert_close(found.predict_proba(DATA.X).sum(axis=1), 1.0, 1e-9)


@quiet
@pytest.mark.parametrize(
    "model", [model for model in SEVERAL if hasattr(model, "predict_proba")], ids=name_of
)
def test_class_prior_multiplies_the_probabilities(model):
    found = fitted(model)
    found = getattr(found, "best_estimator_", found)  # scikit-learn's searches take no class_prior
    prior = np.array([0.2, 0.5, 0.3])
    at_uniform = found.predict_proba(DATA.X, class_prior=np.full(3, 1 / 3))
    expected = at_uniform * prior / (at_uniform @ prior)[:, None]
    assert_close(found.predict_proba(DATA.X, class_prior=prior), expected, 1e-6)


@quiet
@for_all
def test_files_and_pickle_keep_every_score(model, tmp_path):
    found = fitted(model)
    decorrupt.save(found, tmp_path / "model")
    again = [
        pickle.loads(pickle.dumps(found)),  # noqa: S301 — our own bytes
        decorrupt.load(tmp_path / "model"),
    ]
    for other in again:
        assert_array_equal(other.decision_function(DATA.X), found.decision_function(DATA.X))
        assert_array_equal(other.predict(DATA.X), found.predict(DATA.X))


@quiet
@for_single
def test_float32_and_sparse_rows(model):
    model = with_params(model, kernel="linear", reg_strength=0.1)
    expected = fitted(model).decision_function(DATA.X)
    narrow = fitted(model, X=DATA.X.astype(np.float32)).decision_function(DATA.X)
    assert_close(narrow, expected, 0.05)
    wide = sparse.csr_matrix(DATA.X)
    assert_close(fitted(model, X=wide).decision_function(wide), expected, 1e-3)


@quiet
@for_single
def test_order_of_classes_and_of_rows_does_not_matter(model):
    model = with_params(model, reg_strength=0.05, tol=1e-8, rank_tol=0)
    expected = fitted(model).decision_function(DATA.X)
    order = [2, 0, 1]
    assert_close(fitted(model, y=DATA.y[:, order]).decision_function(DATA.X), expected[:, order])
    rows = np.random.default_rng(1).permutation(len(DATA.X))
    moved = fitted(model, DATA.X[rows], DATA.y[rows], -DATA.bags[rows])
    assert_close(moved.decision_function(DATA.X), expected)


@quiet
@pytest.mark.parametrize(
    "model", [model for model in SINGLE if hasattr(model, "predict_proba")], ids=name_of
)
def test_decisions_are_those_of_the_stated_prior(model):
    rare = three_classes(seed=3)
    keep = (rare.labels > 0) | (np.arange(len(rare.labels)) % 4 == 0)
    bags, labels = rare.bags[keep], rare.labels[keep]
    counts = np.array([np.bincount(bags, labels == c) for c in range(3)]).T
    shares = (counts / counts.sum(axis=1, keepdims=True))[bags]
    found = {
        decision: with_params(model, decision=decision).fit(rare.X[keep], shares, bags=bags)
        for decision in ("balanced", "accuracy")
    }
    priors = {"balanced": np.full(3, 1 / 3), "accuracy": found["accuracy"].class_prior_}
    for decision, prior in priors.items():
        expected = found[decision].predict_proba(rare.X, class_prior=prior).argmax(axis=1)
        assert_array_equal(found[decision].predict(rare.X), expected)
    in_class_0 = {name: np.mean(one.predict(rare.X) == 0) for name, one in found.items()}
    assert in_class_0["balanced"] >= in_class_0["accuracy"]


# --- two classes are K = 2

LINEAR = {"kernel": "linear", "reg_strength": 0.05}
TWO = [
    MeanMapClassifier(**LINEAR),
    CorrectedLossClassifier(combine="least_squares", **LINEAR),
    CountLikelihoodClassifier(**LINEAR),
    ProportionMatchingClassifier(**LINEAR),
]


def test_every_method_for_several_classes_is_compared_at_two():
    assert {name_of(model) for model in TWO} == {name_of(model) for model in SINGLE}


@pytest.mark.parametrize("model", TWO, ids=name_of)
def test_two_columns_of_shares_are_the_share_of_positives(model, bag_data):
    X, y, bags = bag_data.X[:240], bag_data.y[:240], bag_data.bags[:240]
    one = clone(model).fit(X, y, bags=bags)
    two = clone(model).fit(X, np.column_stack([1 - y, y]), bags=bags)
    assert two.coef_.shape == one.coef_.shape
    assert_array_equal(two.class_prior_, one.class_prior_)
    if hasattr(one, "predict_proba"):
        assert_array_equal(two.predict_proba(X), one.predict_proba(X))
    assert_array_equal(two.decision_function(X), one.decision_function(X))


# --- noisy counts and ranges


FOR_COUNTS = [
    CountLikelihoodClassifier(kernel="linear"),
    EMClassifier(LogisticRegression(), random_state=0),
]


@pytest.mark.parametrize("model", FOR_COUNTS, ids=name_of)
def test_noisy_counts_as_released(model):
    """Shares that do not sum to 1, from independent noise in the count of each class."""
    rng = np.random.default_rng(0)
    labels, bags = rng.integers(0, 3, 1200), np.arange(1200) // 30
    X = rng.normal(size=(1200, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[labels]
    counts = np.array([np.bincount(bags, labels == c) for c in range(3)]).T
    noise = np.random.default_rng(1).laplace(scale=1.0, size=counts.shape)
    y = ((counts + noise) / 30)[bags]
    with pytest.raises(ValueError, match="are not the shares of 3 classes"):
        clone(model).fit(X, y, bags=bags)
    model = clone(model).set_params(count_noise=LaplaceNoise(1.0)).fit(X, y, bags=bags)
    assert balanced_accuracy_score(labels, model.predict(X)) > 0.85
    assert_allclose(model.class_prior_.sum(), 1)


def test_ranges_next_to_sources():
    """Rows in bags with ranges, a noisy label, and a row about which nothing is known."""
    y = np.vstack([np.tile([0.5, 0, 0], (4, 1)), [[0, 1, 0]], [[0, 0, 0]]])
    upper = np.vstack([np.tile([0.5, 0.5, 0.25], (4, 1)), np.ones((2, 3))])
    bags = np.array(["a"] * 4 + [None, None], dtype=object)
    sources = np.array([None] * 4 + ["s", None], dtype=object)
    matrix = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    observed = as_observed(
        y, bags=bags, upper=pd.DataFrame(upper), sources=sources, noise_rates={"s": matrix}
    )
    scores = np.random.default_rng(0).normal(size=(6, 3))
    p = softmax(scores, axis=1)
    alone = label_posterior(p[:4], y[:4], bags=bags[:4], upper=upper[:4]).posterior
    labelled = p[4] * matrix[:, 1]
    expected = np.vstack([alone, labelled / labelled.sum(), p[5]])
    assert_allclose(count_risk(observed).posterior(scores), expected)


# --- labels


@quiet
@pytest.mark.parametrize("fit_on", ["labels", "bags of one row"])
def test_rows_with_labels_are_multinomial_regression(fit_on):
    reg_strength, n_rows = 0.05, 90
    X, labels = DATA.X[:n_rows], DATA.labels[:n_rows]

    def objective(flat):
        theta, intercept = flat[:6].reshape(2, 3), flat[6:]
        log_prob = log_softmax(X @ theta + intercept, axis=1)
        return -log_prob[np.arange(n_rows), labels].mean() + 2 * reg_strength * np.sum(theta**2)

    best = minimize(objective, np.zeros(9), options={"gtol": 1e-9})
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=reg_strength, tol=1e-9)
    if fit_on == "labels":
        model.fit(X, labels)
    else:
        model.fit(X, np.eye(3)[labels], bags=np.arange(n_rows))
    expected = log_softmax(X @ best.x[:6].reshape(2, 3) + best.x[6:], axis=1)
    assert_allclose(np.log(model.predict_proba(X)), expected, atol=1e-4)


# --- bad input


def changed(rows, values):
    y = DATA.y.copy()
    y[rows] = values
    return pd.DataFrame(y, columns=NAMES)


OF_BAG_0 = DATA.bags == 0
NO_BLUE = np.column_stack([DATA.y[:, 0] + DATA.y[:, 2], DATA.y[:, 1], 0 * DATA.y[:, 2]])
BAD = {
    "sum": (changed(OF_BAG_0, [0.5, 0.2, 0.2]), r"bag .*0.*sum"),
    "varies": (changed(0, [0.9, 0.05, 0.05]), r"bag .*0"),
    "absent": (changed(slice(None), NO_BLUE), r"blue"),
    "rank": (
        pd.DataFrame(np.column_stack([1 - DATA.y[:, 1], DATA.y[:, 1:2] / 2, DATA.y[:, 1:2] / 2]))
        .set_axis(NAMES, axis=1),
        r"green.*blue",
    ),
}  # fmt: skip


@quiet
@for_all
def test_bad_shares_are_refused_by_bag_and_class(model):
    said = {}
    for case, (y, _) in BAD.items():
        with pytest.raises(ValueError) as refusal:  # the texts are compared below
            fitted(model, y=y)
        said[case] = str(refusal.value)
    wrong = {case: text for case, text in said.items() if not re.search(BAD[case][1], text)}
    assert not wrong


@quiet
def test_a_search_needs_as_many_training_bags_as_classes():
    few = DATA.bags < 3
    search = AutoLabelProportionsClassifier(candidates=["count_likelihood"])
    with pytest.raises(
        ValueError, match="3 bags are too few to hold some out and train on at least 3, one per"
    ):
        search.fit(DATA.X[few], DATA.y[few], bags=DATA.bags[few])


# --- criteria


def test_corrected_accuracy_is_unbiased_for_the_mean_recall():
    """Mean over many samples of bags whose classes have known recalls, against their mean."""
    rng = np.random.default_rng(0)
    confusion = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.05, 0.05, 0.9]])
    mixed, bag_size = rng.dirichlet(np.full(3, 0.5), 12), 10
    bags, found = np.repeat(np.arange(12), bag_size), []
    for _ in range(300):
        labels = np.array([rng.choice(3, bag_size, p=p) for p in mixed]).ravel()
        predicted = (rng.random((120, 1)) > confusion[labels].cumsum(axis=1)).sum(axis=1)
        found.append(corrected_accuracy(mixed[bags], np.eye(3)[predicted], bags=bags).value)
    std_error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - np.trace(confusion) / 3) < 4 * std_error < 0.05


def test_criteria_are_best_for_the_true_classes():
    truth, shifted = np.eye(3)[DATA.labels], np.eye(3)[(DATA.labels + 1) % 3]
    assert proportion_risk(DATA.y, truth, bags=DATA.bags).value == pytest.approx(0)
    assert proportion_risk(DATA.y, shifted, bags=DATA.bags).value > 0.2
    assert corrected_accuracy(DATA.y, truth, bags=DATA.bags).value == pytest.approx(1)
    good, bad = (0.9 * one + 0.1 / 3 for one in (truth, shifted))
    scores = [count_score(DATA.y, one, bags=DATA.bags).value for one in (good, bad)]
    assert scores[0] > scores[1] + 0.2
