"""∝SVM: the label step against all labellings, the alternation, and what the estimator promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from decorrupt.baselines import psvm_alternation
from decorrupt.baselines.alternating_psvm import AlternatingPSVMClassifier
from decorrupt.baselines.psvm_alternation import (
    Trial,
    alternate,
    constant_machine,
    refit,
    stage_costs,
)
from decorrupt.baselines.psvm_labels import best_labels, labels_at_random, proportion_penalty
from helpers.bags import rows_in_bags
from oracles.psvm import all_labellings, lowest_objective, proportion_objective

GAMMA = 0.4
PENALTY_NAMES = ["size", "bag"]


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
    weights = proportion_penalty(observed, cost_p, penalty)

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

    found = objective(best_labels(scores, weights, cost))
    lowest = min(map(objective, all_labellings(len(scores))))
    assert found == pytest.approx(lowest, rel=1e-12, abs=1e-12)


def test_label_step_by_hand():
    """Two bags of three; a unit of wrong share costs 3·C_p, a label against its score 2|f|."""
    observed = rows_in_bags([0, 0, 0, 1, 1, 1], [2 / 3, 0.0])
    scores = np.array([-0.2, 0.5, -0.9, 0.3, -0.5, 0.8])
    wanted = {1.0: [1, 1, -1, -1, -1, 1], 0.3: [-1, 1, -1, 1, -1, 1], 5.0: [1, 1, -1, -1, -1, -1]}
    for cost_p, labels in wanted.items():
        weights = proportion_penalty(observed, cost_p, "size")
        assert best_labels(scores, weights, 1.0).tolist() == labels


@pytest.mark.parametrize("penalty", PENALTY_NAMES)
def test_starts_have_the_counts_nearest_to_the_proportions(penalty):
    bags = np.repeat([0, 1, 2, 3], [10, 5, 4, 1])
    weights = proportion_penalty(rows_in_bags(bags, [0.3, 0.5, 0.9, 0.2]), 7.0, penalty)
    starts = labels_at_random(weights, 5, np.random.RandomState(0))
    counts = np.array([np.bincount(bags, labels > 0) for labels in starts])
    assert len(starts) == 5
    assert len({labels.tobytes() for labels in starts}) == 5
    assert (counts[:, [0, 2, 3]] == [3, 4, 0]).all()
    assert set(counts[:, 1]) <= {2, 3}


def test_even_starts_are_the_same_with_the_classes_swapped():
    bags = np.repeat(np.arange(6), 5)
    shares = np.array([0.1, 0.3, 0.5, 0.6, 0.8, 1.0])

    def starts(proportions):
        weights = proportion_penalty(rows_in_bags(bags, proportions), 1.0, "size")
        return labels_at_random(weights, 6, np.random.RandomState(1))

    straight = {labels.tobytes() for labels in starts(shares)}
    swapped = {(-labels).tobytes() for labels in starts(1 - shares)}
    assert straight == swapped


def test_stages():
    costs = stage_costs(2.0, (1e-4, 1.5))
    assert len(costs) == 23
    assert costs[0] == pytest.approx(2 * 1.5e-4)
    assert costs[-1] == 2.0
    np.testing.assert_allclose(np.divide(costs[1:-1], costs[:-2]), 1.5)
    assert 1 < costs[-1] / costs[-2] <= 1.5
    assert stage_costs(2.0, None) == stage_costs(2.0, (1.0, 1.5)) == [2.0]


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
    assert model.objective_ == model.start_objectives_.min()
    assert model.start_objectives_.shape == (2,)


@pytest.mark.parametrize("svm_tol", [1e-4, 0.3])
@pytest.mark.parametrize("penalty", PENALTY_NAMES)
def test_the_objective_never_rises_within_a_stage(monkeypatch, bag_data, penalty, svm_tol):
    """Not even where the support vector machine is solved so roughly that it would."""
    monkeypatch.setattr(psvm_alternation, "SVM_TOL", svm_tol)
    model = fit(bag_data, penalty=penalty, C_p=1.0, tol=0.0, n_starts=1)
    stage, value = model.objective_history_.T
    assert len(stage) == model.n_iter_ > 23
    same_stage = stage[1:] == stage[:-1]
    assert (np.diff(stage) >= 0).all()
    assert same_stage.sum() > 3
    assert (np.diff(value)[same_stage] < 0).all()
    assert (stage[-1], value[-1]) == (model.C, model.objective_)


@pytest.mark.parametrize(
    ("penalty", "cost_p"), [("size", 0.3), ("size", 1.0), ("size", 3.0), ("bag", 1.0), ("bag", 3.0)]
)
def test_many_starts_find_the_best_of_all_labellings(penalty, cost_p):
    rng = np.random.default_rng(2)
    bags = np.repeat([0, 1, 2], [3, 4, 2])
    shares = np.array([0.3, 0.75, 0.5])
    X = rng.normal(size=(9, 2))
    lowest = lowest_objective(
        rbf_kernel(X, gamma=GAMMA), bags, shares, cost=1.0, cost_p=cost_p, penalty=penalty
    )
    model = AlternatingPSVMClassifier(
        C_p=cost_p, penalty=penalty, n_starts=100, kernel_gamma=GAMMA, tol=0, annealing=None
    )
    model.set_params(random_state=0).fit(X, shares[bags], bags=bags)
    assert model.objective_ == pytest.approx(lowest, rel=1e-4)
    assert model.start_objectives_.max() > model.objective_ + 0.01


def test_more_starts_never_do_worse(bag_data):
    few = fit(bag_data, n_starts=2, tol=0)
    many = fit(bag_data, n_starts=6, tol=0)
    np.testing.assert_array_equal(many.start_objectives_[:2], few.start_objectives_)
    assert many.objective_ <= few.objective_


@pytest.mark.parametrize("penalty", PENALTY_NAMES)
@pytest.mark.parametrize("annealing", [(1e-4, 1.5), None])
def test_learns_the_classes_from_proportions_alone(bag_data, penalty, annealing):
    model = fit(bag_data, penalty=penalty, annealing=annealing, n_starts=4)
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
    unmoved = rows_in_bags(bag_data.bags, bag_data.shares)
    moved = rows_in_bags(bag_data.bags[order], bag_data.shares)
    penalties = [proportion_penalty(rows, 10.0, "size") for rows in (unmoved, moved)]
    start = labels_at_random(penalties[0], 1, np.random.RandomState(0))[0]
    costs = stage_costs(1.0, (1e-4, 1.5))
    (straight,) = alternate(gram, penalties[0], [start], costs, tol=0)
    (shuffled,) = alternate(
        np.ascontiguousarray(gram[np.ix_(order, order)]),
        penalties[1],
        [start[order]],
        costs,
        tol=0,
    )
    np.testing.assert_array_equal(shuffled.labels, straight.labels[order])
    np.testing.assert_allclose(shuffled.machine.scores, straight.machine.scores[order], atol=1e-3)


def test_the_result_does_not_depend_on_n_jobs(bag_data):
    alone = fit(bag_data, n_starts=4)
    for n_jobs in (2, -1):
        together = fit(bag_data, n_starts=4, n_jobs=n_jobs)
        np.testing.assert_array_equal(together.start_objectives_, alone.start_objectives_)
        np.testing.assert_array_equal(together.dual_coef_, alone.dual_coef_)
        np.testing.assert_array_equal(together.labels_, alone.labels_)


def test_starts_that_meet_share_their_way(monkeypatch, bag_data):
    """Clean labels leave one labelling to start from: one machine a stage, not one a start."""
    solved = []
    monkeypatch.setattr(psvm_alternation, "refit", lambda *args: solved.append(1) or refit(*args))
    model = AlternatingPSVMClassifier(n_starts=8).fit(bag_data.X, bag_data.labels)
    assert len(solved) == model.n_iter_ == 23
    assert model.start_objectives_.shape == (8,)


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
    gram = np.eye(4)
    labels = np.array([1, -1, 1, -1], dtype=np.int8)
    machine = refit(gram, Trial(constant_machine(labels), labels), 1.0)
    assert refit(gram, Trial(machine, np.ones(4, dtype=np.int8)), 2.0) is machine


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
    assert model.n_iter_ == 0


def test_linear_kernel(bag_data):
    model = fit(bag_data, kernel="linear")
    gram = bag_data.X @ bag_data.X.T
    precomputed = fit(bag_data, X=gram, kernel="precomputed")
    np.testing.assert_allclose(
        model.decision_function(bag_data.X), precomputed.decision_function(gram), atol=1e-3
    )
    assert model.coef_.shape == (2,)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"annealing": 1e-4}, r"annealing=0\.0001: give a pair \(start, factor\)"),
        ({"annealing": (0.0, 1.5)}, r"annealing=\(0\.0, 1\.5\).*start above 0"),
        ({"annealing": (0.1, 1.0)}, r"annealing=\(0\.1, 1\.0\).*factor above 1, or None"),
    ],
)
def test_bad_parameters(bag_data, params, message):
    with pytest.raises(ValueError, match=message):
        fit(bag_data, **params)
