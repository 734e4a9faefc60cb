"""∝SVM: the label step against all labellings, the alternation, and what the estimator promises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from decorrupt.baselines import alternating_psvm
from decorrupt.baselines.alternating_psvm import (
    STAGES,
    AlternatingPSVMClassifier,
    Alternation,
    Trial,
)
from helpers.bags import rows_in_bags
from oracles.psvm import all_labellings, lowest_objective, proportion_objective

GAMMA = 0.4
PENALTY_NAMES = ["size", "bag"]


def alternation(observed, cost_p=10.0, penalty="size", gram=None, tol=0.0):
    gram = np.eye(len(observed.row_bag)) if gram is None else gram
    sizes = observed.sizes if penalty == "size" else np.ones(observed.n_bags)
    return Alternation(gram, observed, cost_p * sizes, tol)


def fit(data, X=None, **params):
    model = AlternatingPSVMClassifier(**{"n_starts": 2, "random_state": 0} | params)
    return model.fit(data.X if X is None else X, data.y, bags=data.bags)


@st.composite
def scored_bags(draw):
    """Up to 8 rows in up to 3 bags; scores on a coarse grid tie within bags and at the kinks."""
    bags = draw(st.lists(st.integers(0, 2), min_size=1, max_size=8))
    bags = np.unique(bags, return_inverse=True)[1]
    n_bags = bags.max() + 1
    score = st.integers(-6, 6).map(lambda k: k / 4) | st.floats(-3, 3)
    scores = draw(st.lists(score, min_size=len(bags), max_size=len(bags)))
    share = st.sampled_from([0, 0.25, 1 / 3, 0.5, 1]) | st.floats(0, 1)
    proportions = draw(st.lists(share, min_size=int(n_bags), max_size=int(n_bags)))
    return np.array(scores), rows_in_bags(bags, proportions)


@settings(deadline=None)
@given(
    scored_bags(),
    st.sampled_from([0.01, 0.5, 1.0, 10.0]),
    st.sampled_from([0.1, 0.5, 1.0, 30.0]),
    st.sampled_from(PENALTY_NAMES),
)
def test_label_step_is_the_best_of_all_labellings(scored, cost, cost_p, penalty):
    scores, observed = scored
    turns = alternation(observed, cost_p, penalty)

    def objective(labels):
        return proportion_objective(
            0.0,
            scores,
            labels,
            observed.row_bag,
            observed.proportions[:, 1],
            cost=cost,
            cost_p=cost_p,
            penalty=penalty,
        )

    found = objective(turns.best_labels(scores, cost))
    lowest = min(map(objective, all_labellings(len(scores))))
    assert found == pytest.approx(lowest, rel=1e-12, abs=1e-12)


def test_label_step_by_hand():
    """Two bags of three; a unit of wrong share costs 3·C_p, a label against its score 2|f|."""
    observed = rows_in_bags([0, 0, 0, 1, 1, 1], [2 / 3, 0.0])
    scores = np.array([-0.2, 0.5, -0.9, 0.3, -0.5, 0.8])
    wanted = {1.0: [1, 1, -1, -1, -1, 1], 0.3: [-1, 1, -1, 1, -1, 1], 5.0: [1, 1, -1, -1, -1, -1]}
    for cost_p, labels in wanted.items():
        assert alternation(observed, cost_p).best_labels(scores, 1.0).tolist() == labels


@pytest.mark.parametrize("penalty", PENALTY_NAMES)
def test_starts_have_the_counts_nearest_to_the_proportions(penalty):
    bags = np.repeat([0, 1, 2, 3], [10, 5, 4, 1])
    turns = alternation(rows_in_bags(bags, [0.3, 0.5, 0.9, 0.2]), 7.0, penalty)
    starts = turns.random_labels(5, np.random.RandomState(0))
    counts = np.array([np.bincount(bags, labels > 0) for labels in starts])
    assert len(starts) == 5
    assert len({labels.tobytes() for labels in starts}) == 5
    assert (counts[:, [0, 2, 3]] == [3, 4, 0]).all()
    assert set(counts[:, 1]) <= {2, 3}


def test_even_starts_are_the_same_with_the_classes_swapped():
    bags = np.repeat(np.arange(6), 5)
    shares = np.array([0.1, 0.3, 0.5, 0.6, 0.8, 1.0])

    def starts(proportions):
        turns = alternation(rows_in_bags(bags, proportions), 1.0)
        return turns.random_labels(6, np.random.RandomState(1))

    straight = {labels.tobytes() for labels in starts(shares)}
    swapped = {(-labels).tobytes() for labels in starts(1 - shares)}
    assert straight == swapped


def test_stages():
    assert len(STAGES) == 23
    assert STAGES[0] == pytest.approx(1.5e-4)
    assert STAGES[-1] == 1.0
    np.testing.assert_allclose(STAGES[1:-1] / STAGES[:-2], 1.5)
    assert 1 < STAGES[-1] / STAGES[-2] <= 1.5


def evaluate(model, data, gamma=GAMMA):
    """Return the objective of a fitted model, from its public attributes."""
    gram = rbf_kernel(model.landmarks_, gamma=gamma)
    return proportion_objective(
        0.5 * model.dual_coef_ @ gram @ model.dual_coef_,
        model.decision_function(data.X),
        2 * model.labels_ - 1,
        data.bags,
        data.shares,
        cost=model.C,
        cost_p=model.C_p,
        penalty=model.penalty,
    )


@pytest.mark.parametrize("penalty", PENALTY_NAMES)
@pytest.mark.parametrize(("C", "C_p"), [(0.1, 1.0), (1.0, 10.0), (10.0, 1.0)])
def test_the_objective_is_what_it_says(bag_data, penalty, C, C_p):
    model = fit(bag_data, penalty=penalty, C=C, C_p=C_p, kernel_gamma=GAMMA)
    assert model.objective_ == pytest.approx(evaluate(model, bag_data), rel=1e-9)


@pytest.mark.parametrize("svm_tol", [1e-4, 0.3])
@pytest.mark.parametrize("penalty", PENALTY_NAMES)
def test_the_objective_never_rises_within_a_stage(monkeypatch, bag_data, penalty, svm_tol):
    """Not even where the support vector machine is solved so roughly that it would."""
    monkeypatch.setattr(alternating_psvm, "SVM_TOL", svm_tol)
    monkeypatch.setattr(alternating_psvm, "MAX_ROUNDS", 1)
    gram = rbf_kernel(bag_data.X, gamma=GAMMA)
    turns = alternation(rows_in_bags(bag_data.bags, bag_data.shares), 1.0, penalty, gram)
    (labels,) = turns.random_labels(1, np.random.RandomState(0))
    trial, n_falls = turns.run(labels, STAGES[0]), 0
    for cost in STAGES:
        values = [turns.objective(trial, cost)]
        for _ in range(5):
            trial = turns.stage(trial, cost)
            values.append(turns.objective(trial, cost))
        assert (np.diff(values) <= 0).all()
        n_falls += np.sum(np.diff(values) < 0)
    assert n_falls > 23


@pytest.mark.parametrize(
    ("penalty", "cost_p"), [("size", 0.3), ("size", 1.0), ("size", 3.0), ("bag", 1.0), ("bag", 3.0)]
)
def test_many_starts_find_the_best_of_all_labellings(monkeypatch, penalty, cost_p):
    """One stage, so that the starts end in different local minima."""
    monkeypatch.setattr(alternating_psvm, "STAGES", np.ones(1))
    rng = np.random.default_rng(2)
    bags = np.repeat([0, 1, 2], [3, 4, 2])
    shares = np.array([0.3, 0.75, 0.5])
    X = rng.normal(size=(9, 2))
    lowest = lowest_objective(
        rbf_kernel(X, gamma=GAMMA), bags, shares, cost=1.0, cost_p=cost_p, penalty=penalty
    )
    model = AlternatingPSVMClassifier(
        C_p=cost_p, penalty=penalty, n_starts=100, kernel_gamma=GAMMA, tol=0
    )
    model.set_params(random_state=0).fit(X, shares[bags], bags=bags)
    assert model.objective_ == pytest.approx(lowest, rel=1e-4)
    alone = [model.set_params(n_starts=1, random_state=k) for k in range(9)]
    assert max(one.fit(X, shares[bags], bags=bags).objective_ for one in alone) > lowest + 0.01


def test_more_starts_never_do_worse(bag_data):
    few = fit(bag_data, n_starts=2, tol=0)
    many = fit(bag_data, n_starts=6, tol=0)
    assert many.objective_ <= few.objective_


@pytest.mark.parametrize("penalty", PENALTY_NAMES)
def test_learns_the_classes_from_proportions_alone(bag_data, penalty):
    model = fit(bag_data, penalty=penalty, n_starts=4)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.88
    assert (model.labels_ == bag_data.labels).mean() > 0.88


def test_penalties_differ_by_the_bag_size(bag_data):
    """With bags of ten, s_k = n_k at C_p is s_k = 1 at 10·C_p."""
    by_size = fit(bag_data, penalty="size", C_p=0.7)
    by_bag = fit(bag_data, penalty="bag", C_p=7.0)
    assert by_size.objective_ == pytest.approx(by_bag.objective_, rel=1e-9)
    np.testing.assert_array_equal(by_size.labels_, by_bag.labels_)


def test_row_order_does_not_matter_to_the_alternation(bag_data):
    """Random starts belong to rows, so the rows are moved together with their start."""
    order = np.random.default_rng(0).permutation(len(bag_data.y))
    gram = rbf_kernel(bag_data.X, gamma=GAMMA)
    moved = np.ascontiguousarray(gram[np.ix_(order, order)])
    shares = bag_data.shares
    straight = alternation(rows_in_bags(bag_data.bags, shares), gram=gram)
    shuffled = alternation(rows_in_bags(bag_data.bags[order], shares), gram=moved)
    (start,) = straight.random_labels(1, np.random.RandomState(0))
    expected, found = straight.run(start, 1.0), shuffled.run(start[order], 1.0)
    np.testing.assert_array_equal(found.labels, expected.labels[order])
    np.testing.assert_allclose(
        moved @ found.dual + found.intercept,
        (gram @ expected.dual + expected.intercept)[order],
        atol=1e-3,
    )


def test_the_result_does_not_depend_on_n_jobs(bag_data):
    alone = fit(bag_data, n_starts=4)
    for n_jobs in (2, -1):
        together = fit(bag_data, n_starts=4, n_jobs=n_jobs)
        assert together.objective_ == alone.objective_
        np.testing.assert_array_equal(together.dual_coef_, alone.dual_coef_)
        np.testing.assert_array_equal(together.labels_, alone.labels_)


def test_equal_starts_are_run_once(monkeypatch, bag_data):
    """Clean labels leave one labelling to start from."""
    runs = []
    run = Alternation.run
    monkeypatch.setattr(Alternation, "run", lambda *args: runs.append(1) or run(*args))
    AlternatingPSVMClassifier(n_starts=8).fit(bag_data.X, bag_data.labels)
    assert len(runs) == 1


def test_without_bags_it_is_a_support_vector_machine(bag_data):
    names = np.where(bag_data.labels == 1, "yes", "no")
    model = AlternatingPSVMClassifier(C_p=1e3, kernel_gamma=GAMMA).fit(bag_data.X, names)
    reference = SVC(gamma=GAMMA).fit(bag_data.X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.labels_, names)
    np.testing.assert_allclose(
        model.decision_function(bag_data.X), reference.decision_function(bag_data.X), atol=5e-3
    )


def test_landmarks_are_the_support_vectors(bag_data):
    model = fit(bag_data)
    assert 0 < len(model.landmarks_) < 600
    assert (model.dual_coef_ != 0).all()
    assert not hasattr(model, "predict_proba")


def test_labels_of_one_class_keep_the_previous_machine():
    turns = alternation(rows_in_bags([0, 0, 0, 0], [0.5]))
    labels = np.array([1, -1, 1, -1], dtype=np.int8)
    fitted = turns.next_round(Trial(labels, np.zeros(4), 1.0), 1.0)
    kept = turns.next_round(replace(fitted, labels=np.ones(4, dtype=np.int8)), 2.0)
    assert (kept.dual is fitted.dual, kept.intercept) == (True, fitted.intercept)


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
def test_proportions_too_small_for_a_single_positive():
    """Every start labels all rows negative: the machine is f = −1, and nothing costs hinge loss."""
    rng = np.random.default_rng(0)
    bags = np.repeat([0, 1], 5)
    shares = np.array([0.05, 0.01])
    model = AlternatingPSVMClassifier(C_p=10.0).fit(
        rng.normal(size=(10, 2)), shares[bags], bags=bags
    )
    assert (model.labels_ == 0).all()
    assert (model.predict(rng.normal(size=(10, 2))) == 0).all()
    assert model.objective_ == pytest.approx(10 * 5 * 0.06)


def test_linear_kernel(bag_data):
    model = fit(bag_data, kernel="linear")
    gram = bag_data.X @ bag_data.X.T
    precomputed = fit(bag_data, X=gram, kernel="precomputed")
    np.testing.assert_allclose(
        model.decision_function(bag_data.X), precomputed.decision_function(gram), atol=1e-3
    )
    assert model.coef_.shape == (2,)


def test_an_unknown_penalty_is_refused(bag_data):
    with pytest.raises(ValueError, match="unknown penalty 'rows': choose one of size, bag"):
        fit(bag_data, penalty="rows")
