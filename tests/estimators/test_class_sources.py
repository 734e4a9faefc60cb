"""Estimators on noisy labels of several classes from several sources."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils import get_tags

from decorrupt import CorruptedSourcesClassifier, ForwardSourcesClassifier, load, save
from decorrupt.estimators.class_sources import (
    ClassSources,
    common_class_shares,
    read_class_sources,
)
from decorrupt.estimators.inputs import read_noisy_labels, source_priors, source_strata
from helpers.class_sources import RATES, three_classes

EXACT = {"kernel": "linear", "tol": 1e-8, "reg_strength": 0.01, "random_state": 0}
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


def fit(model, data, **rates):
    rates = rates or {"noise_rates": RATES}
    return clone(model).fit(data.X, data.noisy, sources=data.sources, **rates)


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
    in_constructor = fit(clone(model).set_params(noise_rates=RATES), data, noise_rates=None)
    by_row = fit(model, data, noise_rates=data.by_row)
    as_lists = fit(model, data, noise_rates={s: T.tolist() for s, T in RATES.items()})
    for other in (in_constructor, by_row, as_lists):
        assert_allclose(
            other.decision_function(data.X), expected.decision_function(data.X), atol=1e-6
        )
        for source, matrix in RATES.items():
            assert_allclose(other.noise_rates_[source], matrix)
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


@pytest.mark.parametrize("class_priors", [None, {s: [0.5, 0.3, 0.2] for s in RATES}])
def test_minimises_the_corrected_risk_written_source_by_source(data, class_priors):
    model = fit(CorruptedSourcesClassifier(class_priors=class_priors, **EXACT), data)
    scores = model.decision_function(data.X) + model.decision_threshold_
    losses = -log_softmax(scores, axis=1)
    costs = model.score_prior_ / [0.5, 0.3, 0.2] if class_priors else np.ones(3)
    total, noise = 0.0, {}
    for source, weight in model.source_weights_.items():
        rows, inverse = data.sources == source, np.linalg.inv(RATES[source])
        corrected = np.sum(inverse[data.noisy[rows]] * costs * losses[rows], axis=1)
        total += weight * corrected.mean()
        noise[source] = np.abs(inverse).sum(axis=1).max() ** 2 / rows.sum()
    assert model.diagnostics_.training_risk == pytest.approx(total, rel=1e-9)
    share = {source: (1 / c) / sum(1 / c for c in noise.values()) for source, c in noise.items()}
    assert model.source_weights_ == pytest.approx(share)


def test_maximises_the_likelihood_written_row_by_row(data):
    priors = {"expert": [0.5, 0.3, 0.2], "crowd": [0.2, 0.3, 0.5], "rule": [0.3, 0.4, 0.3]}
    model = ForwardSourcesClassifier(class_priors=priors, match_prior=False, **EXACT)
    model = fit(model, data)
    pooled = np.mean(list(priors.values()), axis=0)
    assert_allclose(model.score_prior_, pooled)
    tilt = np.array([priors[source] for source in data.sources]) / pooled

    def objective(coef):
        coef = coef.reshape(3, 3)
        clean = softmax(data.X @ coef[:2] + coef[2], axis=1) * tilt
        clean /= clean.sum(axis=1, keepdims=True)
        noisy = np.einsum("jy,jyn->jn", clean, data.by_row)[np.arange(len(clean)), data.noisy]
        return -np.log(noisy).mean() + 2 * 0.01 * np.sum(coef[:2] ** 2)

    found = minimize(objective, np.zeros(9), tol=1e-10).x.reshape(3, 3)
    centred = model.coef_.T - model.coef_.T.mean(axis=1, keepdims=True)
    assert_allclose(centred, found[:2] - found[:2].mean(axis=1, keepdims=True), atol=2e-4)


class TestTwoClasses:
    """Two classes through the code of several, against the binary code."""

    @pytest.fixture
    def two(self, source_data):
        d = source_data
        d.matrices = {
            source: np.array([[1 - neg, neg], [pos, 1 - pos]])
            for source, (pos, neg) in d.rates.items()
        }
        return d

    @staticmethod
    def as_several(kind, d, **params):
        """Fit with two columns of scores; return the difference of their decisions."""

        class Several(kind):
            _n_columns = 2

        model = Several(**params)
        model.classes_ = np.array([0, 1])
        X = model._read_rows(d.X, reset=True)
        model.classes_ = np.array([0, 1])
        ids, row_source = np.unique(d.sources, return_inverse=True)
        noisy = read_class_sources(d.noisy, [0, 1], ids, row_source, d.matrices)
        scores = model._fit_noisy(X, model.fit_feature_map(X), noisy)
        return np.diff(scores - model.decision_threshold_, axis=1)[:, 0], model

    @pytest.mark.parametrize(
        ("kind", "params"),
        [
            (CorruptedSourcesClassifier, {}),
            (CorruptedSourcesClassifier, {"weights": "uniform", "target_prior": 0.5}),
            (CorruptedSourcesClassifier, {"weights": "exact", "class_priors": 0.4}),
            (CorruptedSourcesClassifier, {"class_priors": 0.4}),
            (CorruptedSourcesClassifier, {"combine": "least_squares"}),
            (ForwardSourcesClassifier, {}),
            (ForwardSourcesClassifier, {"class_priors": 0.4}),
        ],
    )
    def test_equal_the_binary_code(self, two, kind, params):
        exact = EXACT | {"tol": 1e-12, "max_iter": 5000}
        binary = kind(**exact | params).fit(
            two.X, two.noisy, sources=two.sources, noise_rates=two.rates
        )
        if "class_priors" in params:
            params = params | {"class_priors": [1 - params["class_priors"], params["class_priors"]]}
        found, several = self.as_several(kind, two, **exact | params)
        assert_allclose(several.score_prior_[1], binary.score_prior_, rtol=1e-12)
        if kind is CorruptedSourcesClassifier and binary.source_weights_:
            assert several.source_weights_ == pytest.approx(binary.source_weights_, rel=1e-12)
            risks = [m.diagnostics_.training_risk for m in (several, binary)]
            assert risks[0] == pytest.approx(risks[1], abs=1e-8)
        assert_allclose(found, binary.decision_function(two.X), rtol=1e-8, atol=2e-8)

    @wrong_rates
    @pytest.mark.parametrize("kind", [CorruptedSourcesClassifier, ForwardSourcesClassifier])
    def test_a_matrix_is_the_pair_exactly(self, two, kind):
        forms = [two.rates, two.matrices, np.array([two.matrices[s] for s in two.sources])]
        scores = [
            kind(**EXACT)
            .fit(two.X, two.noisy, sources=two.sources, noise_rates=form)
            .decision_function(two.X)
            for form in forms
        ]
        assert_allclose(scores[1], scores[0], rtol=0, atol=0)
        assert_allclose(scores[2], scores[0], rtol=0, atol=0)
        alone = [
            kind(**EXACT).fit(two.X, two.noisy, noise_rates=form).decision_function(two.X)
            for form in ((0.2, 0.3), [[0.7, 0.3], [0.2, 0.8]])
        ]
        assert_allclose(alone[1], alone[0], rtol=0, atol=0)


class TestPriors:
    @staticmethod
    def sources_of(data, rates=RATES, noisy=None):
        codes = data.noisy if noisy is None else noisy
        return read_noisy_labels(codes, np.arange(3), data.sources, rates)

    def test_one_source_solves_the_equation(self, data):
        noisy = read_noisy_labels(data.noisy, np.arange(3), None, RATES["crowd"])
        shares = np.bincount(data.noisy) / len(data.noisy)
        assert_allclose(RATES["crowd"].T @ common_class_shares(noisy), shares)

    def test_several_sources_agree_on_one_population(self):
        data = three_classes(60_000, seed=3)
        (first, *others) = source_priors(None, self.sources_of(data))
        assert_allclose(first, [0.5, 0.3, 0.2], atol=0.015)
        assert all((first == other).all() for other in others)

    def test_impossible_shares_are_clipped(self):
        """No row is labelled 2 though a tenth of the zeros should be: the estimate is negative."""
        rates = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9]])
        codes = np.r_[np.zeros(50), np.ones(49), [2]].astype(int)
        raw = np.linalg.solve(rates.T, np.bincount(codes) / 100)
        assert raw[2] < 0
        shares = common_class_shares(read_noisy_labels(codes, np.arange(3), None, rates))
        assert shares.sum() == pytest.approx(1)
        assert shares[2] == pytest.approx(0.005, rel=0.2)

    def test_strata_follow_bayes_rule(self, data):
        noisy = self.sources_of(data)
        assert isinstance(noisy, ClassSources)
        priors = np.tile([0.5, 0.3, 0.2], (3, 1))
        strata = source_strata(noisy, priors)
        place = list(strata.ids).index("rule labelled 2")
        joint = np.array([0.5, 0.3, 0.2]) * RATES["rule"][:, 2]
        assert_allclose(strata.proportions[place], joint / joint.sum())
        rows = np.flatnonzero(strata.row_stratum == place)
        assert (data.sources[rows] == "rule").all()
        assert (data.noisy[rows] == 2).all()


@for_both
def test_decisions_and_probabilities_at_a_prior(model, data):
    model = fit(model, data)
    probabilities = model.predict_proba(data.X, class_prior=[0.2, 0.3, 0.5])
    assert_allclose(probabilities.sum(axis=1), 1)
    even = model.predict_proba(data.X, class_prior=[1 / 3] * 3)
    assert (even.argmax(axis=1) == model.predict(data.X)).all()  # decision="balanced"
    own = fit(clone(model).set_params(decision="accuracy"), data)
    assert (own.predict_proba(data.X).argmax(axis=1) == own.predict(data.X)).all()
    with pytest.raises(ValueError, match=r"class_prior=0\.3 must contain 3 positive shares"):
        model.predict_proba(data.X, class_prior=0.3)


def test_matched_probabilities_have_the_prior_as_mean(data):
    model = fit(ForwardSourcesClassifier(**EXACT), data)
    assert_allclose(model.predict_proba(data.X).mean(axis=0), model.score_prior_, atol=1e-7)


def test_the_corrected_risk_is_convex_and_described(data):
    """The rows of T⁻¹ sum to 1, so that the convex part of cross-entropy has a positive weight."""
    model = fit(CorruptedSourcesClassifier(**EXACT), data)
    found = model.diagnostics_
    assert found.is_convex
    assert (found.n_strata, found.classes) == (9, [0, 1, 2])
    assert "900 in 9 strata" in str(found)
    assert (found.rows_by_class < 900 * model.score_prior_).all()


def test_target_prior_of_the_risk(data):
    target = [0.1, 0.6, 0.3]
    model = fit(CorruptedSourcesClassifier(target_prior=target, **EXACT), data)
    assert_allclose(model.score_prior_, target)
    with pytest.raises(ValueError, match=r"target_prior=0\.3: give 3 positive shares"):
        fit(CorruptedSourcesClassifier(target_prior=0.3, **EXACT), data)


def test_rates_that_depend_on_the_features_get_uniform_weights(data):
    share = 0.4 / (1 + np.exp(-data.X[:, :1, None]))
    by_row = (1 - share) * np.eye(3) + share / 3
    model = CorruptedSourcesClassifier(**EXACT)
    with pytest.warns(UserWarning, match="noise_rates vary within a source"):
        model.fit(data.X, data.noisy, noise_rates=by_row)
    assert model.source_weights_ is None
    assert model.noise_rates_ is None
    with pytest.raises(ValueError, match="'least_squares' needs one pair of noise rates per"):
        model.set_params(combine="least_squares").fit(data.X, data.noisy, noise_rates=by_row)


def test_without_rates_it_is_multinomial_logistic_regression(data):
    model = ForwardSourcesClassifier(**EXACT).fit(data.X, data.labels)
    reference = LogisticRegression(C=1 / (4 * 0.01 * len(data.X)), tol=1e-10)
    reference.fit(data.X, data.labels)
    centred = model.coef_ - model.coef_.mean(axis=0)
    assert_allclose(centred, reference.coef_ - reference.coef_.mean(axis=0), atol=1e-4)


@wrong_rates
@pytest.mark.parametrize("kind", [CorruptedSourcesClassifier, ForwardSourcesClassifier])
def test_estimated_rates(kind):
    data = three_classes(3000, seed=5, distance=1.3)
    model = kind(noise_rates="estimate", kernel="linear", reg_strength=0.1, random_state=0)
    model.fit(data.X, data.noisy, sources=data.sources)
    errors = [np.abs(model.noise_rates_[source] - T).mean() for source, T in RATES.items()]
    assert max(errors) < 0.06
    assert model.noise_rate_intervals_["rule"].shape == (3, 3, 2)
    assert model.score(data.X, data.labels) > 0.92


def test_a_saved_model_predicts_the_same(data, tmp_path):
    for model in (fit(BOTH[0], data), fit(BOTH[2], data)):
        save(model, tmp_path / "model.skops")
        again = load(tmp_path / "model.skops")
        assert_allclose(again.predict_proba(data.X), model.predict_proba(data.X))
        assert_allclose(again.noise_rates_["crowd"], RATES["crowd"])


def with_rates(**changed):
    return {"noise_rates": RATES | changed}


SINGULAR = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
BAD = {
    "singular": (with_rates(crowd=SINGULAR), r"source 'crowd' are singular.*classes 0, 1"),
    "not stochastic": (with_rates(rule=2 * RATES["rule"]), r"source 'rule': row 0 is \[1\.4"),
    "a pair": (with_rates(rule=(0.1, 0.2)), r"source 'rule' have shape \(2,\).*\(3, 3\)"),
    "words": (with_rates(rule="high"), r"source 'rule' are not a matrix of numbers: 'high'"),
    "more classes than y": (
        with_rates(rule=np.eye(4)),
        r"'rule' have 4 classes, but y has 3: \[0, 1, 2\]; a class that no source reports",
    ),
    "fewer classes than y": (with_rates(rule=np.eye(2)), r"source 'rule' have 2 classes, but y"),
    "no matrix": (
        {"noise_rates": {s: RATES[s] for s in ("expert", "crowd")}},
        r"no entry for source 'rule' \(they have: 'expert', 'crowd'\)",
    ),
    "no rates": ({"noise_rates": None}, r"3 sources but no noise_rates.*matrix"),
    "rows of another shape": (
        {"noise_rates": np.tile(np.eye(2), (900, 1, 1))},
        r"3 classes must be one matrix.*got an array of shape \(900, 2, 2\)",
    ),
    "a singular row": (
        {"noise_rates": np.r_[np.tile(np.eye(3), (899, 1, 1)), SINGULAR[None]]},
        r"source 'rule \(row 899\)' are singular",
    ),
    "a row that is not stochastic": (
        {"noise_rates": np.r_[np.tile(np.eye(3), (899, 1, 1)), 2 * SINGULAR[None]]},
        r"noise_rates of row 899",
    ),
}


@for_both
@pytest.mark.parametrize("case", BAD)
def test_bad_rates(model, data, case):
    rates, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        clone(model).fit(data.X, data.noisy, sources=data.sources, **rates)


@for_both
def test_bad_priors(model, data):
    for wrong in ([0.5, 0.5], [0.5, 0.5, 0.0], 0.5):
        with pytest.raises(ValueError, match=r"class_priors of source 'crowd' are .*3 positive"):
            fit(clone(model).set_params(class_priors=wrong), data)
    with pytest.raises(ValueError, match="class_priors have no entry for source 'crowd'"):
        fit(clone(model).set_params(class_priors={"expert": [0.4, 0.3, 0.3]}), data)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"combine": "superbag"}, r"combine='superbag'.*'sources' or 'least_squares'"),
        ({"loss": "squared"}, r"loss='squared'.*use loss='logistic'"),
        ({"risk_correction": "abs"}, r"risk_correction='abs'"),
        ({"weights": "exact"}, r"scheme='exact' needs class_priors"),
    ],
)
def test_options_for_two_classes_say_so(data, params, message):
    model = CorruptedSourcesClassifier(**params)
    with pytest.raises(ValueError, match=message):
        fit(model, data)
    takes_several = "weights" in params
    assert get_tags(model).classifier_tags.multi_class == takes_several
