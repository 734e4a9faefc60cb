"""conv-∝SVM: the saddle point, the label planes and the classifier."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from helpers.bags import rows_in_bags
from oracles.psvm import allowed_labellings, box_maximum, label_matrix
from reproduction import convex_psvm
from reproduction.convex_psvm import (
    GAP_TOL,
    ConvexPSVMClassifier,
    CountRanges,
    count_error,
    cutting_planes,
    most_violated,
    principal_directions,
    solve_saddle,
)

GAMMA = 0.4
KERNELS = {
    "full rank": lambda X: rbf_kernel(X, gamma=5.0) + 1,
    "smooth": lambda X: rbf_kernel(X, gamma=0.01) + 1,
    "linear": lambda X: X @ X.T + 1,
    "zero": lambda X: np.zeros((len(X), len(X))),
}


def make_case(kernel, n_planes, n_rows=60):
    rng = np.random.default_rng(1)
    labels = rng.choice([-1.0, 1.0], n_rows)
    X = rng.normal(size=(n_rows, 3)) + labels[:, None]
    flips = rng.random((n_rows, n_planes)) < np.linspace(0.1, 0.4, n_planes)
    return KERNELS[kernel](X), labels[:, None] * np.where(flips, -1.0, 1.0)


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_one_plane_is_a_quadratic_programme(kernel, cost):
    gram, planes = make_case(kernel, 1)
    found = solve_saddle(gram, planes, cost)
    expected, _ = box_maximum(gram * np.outer(planes, planes), cost)
    assert found.gap <= GAP_TOL * found.value
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.weights == [1.0]
    assert (found.dual >= 0).all()
    assert (found.dual <= cost).all()


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_planes", [2, 5, 12])
def test_no_other_weights_are_better(kernel, cost, n_planes):
    """max over α at the found weights is the found value, and so is the bound from the found α."""
    gram, planes = make_case(kernel, n_planes)
    found = solve_saddle(gram, planes, cost)
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    expected, dual = box_maximum(gram * label_matrix(planes, found.weights), cost)
    assert found.value == pytest.approx(expected, rel=1e-6)
    quadratics = [0.5 * (found.dual * y) @ gram @ (found.dual * y) for y in planes.T]
    assert found.dual.sum() - max(quadratics) == pytest.approx(found.value, rel=1e-5)
    if kernel == "full rank":  # α is unique
        np.testing.assert_allclose(found.dual, dual, atol=1e-4 * cost)


def test_a_repeated_plane_changes_nothing():
    gram, planes = make_case("full rank", 2)
    once = solve_saddle(gram, planes, 1.0)
    twice = solve_saddle(gram, planes[:, [0, 1, 1]], 1.0)
    assert twice.value == pytest.approx(once.value, rel=1e-7)
    np.testing.assert_allclose(twice.dual, once.dual, atol=1e-3)


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_planes", [1, 5])
def test_unscaled_columns_do_not_end_in_a_division_by_zero(n_planes, cost):
    """α reaches C to the last digit; the bounds still agree to six digits."""
    gram, planes = make_case("linear", n_planes)
    found = solve_saddle(1e6 * gram, planes, cost)
    assert 0 <= found.gap < 1e-6 * found.value


# --- label planes


def ranges_of(bags, shares):
    return CountRanges.of(rows_in_bags(bags, shares))


@pytest.mark.parametrize(
    ("size", "proportion", "lowest", "highest"),
    [
        (10, 0.3, 3, 3),
        (3, 0.333, 1, 1),  # a rounded proportion: the nearest count
        (4, 0.3, 1, 1),
        (5, 0.5, 2, 3),  # both are equally near
        (5, 0.05, 0, 0),
        (4, 1.0, 4, 4),
    ],
)
def test_allowed_counts(size, proportion, lowest, highest):
    ranges = ranges_of(np.zeros(size, dtype=int), [proportion])
    assert (ranges.lowest.tolist(), ranges.highest.tolist()) == ([lowest], [highest])


@st.composite
def weighted_directions(draw):
    """Up to 10 rows in up to 3 bags; α is often 0, and values tie."""
    bags = draw(st.lists(st.integers(0, 2), min_size=1, max_size=10))
    bags = np.unique(bags, return_inverse=True)[1]
    counts = [draw(st.integers(0, int(np.sum(bags == k)))) for k in range(bags.max() + 1)]
    n_directions = draw(st.integers(1, 3))
    entry = st.integers(-4, 4).map(float) | st.floats(-3, 3)
    entries = draw(
        st.lists(entry, min_size=len(bags) * n_directions, max_size=len(bags) * n_directions)
    )
    alpha = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
    dual = draw(st.lists(alpha, min_size=len(bags), max_size=len(bags)))
    shares = np.array(counts) / np.bincount(bags)
    return np.array(dual), np.reshape(entries, (len(bags), n_directions)), bags, shares


@given(weighted_directions())
def test_the_most_violated_labels_are_the_best_of_all_allowed_labellings(drawn):
    dual, directions, bags, shares = drawn
    allowed = allowed_labellings(bags, shares)
    labels = most_violated(dual, directions, ranges_of(bags, shares))
    values = np.abs((allowed * dual) @ directions).max(axis=1)
    assert np.abs((labels * dual) @ directions).max() == pytest.approx(values.max(), abs=1e-12)
    assert (allowed == labels).all(axis=1).any()


def centred(gram):
    means = gram.mean(axis=0)
    return gram - means - means[:, None] + means.mean()


def test_directions_keep_the_trace_and_at_least_fifty():
    X = np.random.default_rng(0).normal(size=(120, 2))
    smooth, sharp = rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=50.0)
    assert principal_directions(smooth).shape == (120, 50)
    directions = principal_directions(sharp)
    assert 50 < directions.shape[1] < 120
    assert np.sum(directions**2) >= 0.9 * np.trace(centred(sharp))
    assert np.sum(directions[:, :-1] ** 2) < 0.9 * np.trace(centred(sharp))
    few = principal_directions(smooth[:20, :20])
    np.testing.assert_allclose(few @ few.T, centred(smooth[:20, :20]), atol=1e-8)


@pytest.fixture
def small_case():
    """Eight rows in three bags: 18 allowed labellings."""
    rng = np.random.default_rng(1)
    bags = np.repeat([0, 1, 2], [3, 3, 2])
    shares = np.array([1 / 3, 2 / 3, 0.5])
    gram = rbf_kernel(rng.normal(size=(8, 2)), gamma=0.4)
    return gram, bags, shares


@pytest.mark.parametrize("cost", [1.0, 10.0])
def test_planes_lower_the_objective_down_to_that_of_the_whole_hull(small_case, cost):
    """The hull of all labellings is below every subset of them and below every single one."""
    gram, bags, shares = small_case
    ranges = ranges_of(bags, shares)
    found = cutting_planes(gram, ranges, cost, max_planes=30, tol=0.0)
    assert 1 < len(found.history) == found.planes.shape[1]
    assert (np.diff(found.history) <= 1e-6 * found.history[0]).all()
    allowed = allowed_labellings(bags, shares)
    assert len(allowed) == 18
    hull = solve_saddle(gram, allowed.T.astype(float), cost).value
    single = min(box_maximum(gram * np.outer(y, y), cost)[0] for y in allowed)
    assert hull <= single * (1 + 1e-7)
    assert hull * (1 - 1e-7) <= found.history[-1] <= hull * 1.01


def test_soft_labels_are_the_top_eigenvector(small_case):
    gram, bags, shares = small_case
    ranges = ranges_of(bags, shares)
    found = cutting_planes(gram, ranges, 10.0, max_planes=4, tol=0.0)
    values, vectors = np.linalg.eigh(label_matrix(found.planes, found.saddle.weights))
    expected = vectors[:, -1] * np.sqrt(values[-1])
    soft = found.soft_labels()
    np.testing.assert_allclose(soft, np.sign(soft @ expected) * expected, atol=1e-9)
    assert soft @ (found.planes @ found.saddle.weights) > 0


# --- the classifier


def fit(data, **params):
    model = ConvexPSVMClassifier(**{"kernel_gamma": GAMMA, "max_planes": 3} | params)
    return model.fit(data.X, data.y, bags=data.bags)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_learns_the_classes_from_proportions_alone(bag_data, C):
    model = fit(bag_data, C=C)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.9
    assert len(model.objective_history_) == 3
    assert (np.diff(model.objective_history_) < 0).all()


def test_bags_of_one_row_give_a_support_vector_machine_with_a_penalised_intercept(bag_data):
    X, labels = bag_data.X, bag_data.labels
    model = ConvexPSVMClassifier(kernel_gamma=GAMMA).fit(X, labels, bags=np.arange(len(X)))
    signs = 2 * labels - 1
    gram = rbf_kernel(X, gamma=GAMMA) + 1
    value, dual = box_maximum(gram * np.outer(signs, signs), 1.0)
    assert model.objective_history_ == [pytest.approx(value, rel=1e-6)]
    np.testing.assert_allclose(model.decision_function(X), gram @ (dual * signs), atol=1e-3)


def test_count_error():
    observed = rows_in_bags([0, 0, 0, 1, 1], [1 / 3, 0.5])
    assert count_error(np.array([1.0, 2.0, -1.0, -1.0, -1.0]), observed) == pytest.approx(2)
    assert count_error(np.array([1.0, -2.0, -1.0, -1.0, 1.0]), observed) == pytest.approx(0)


def test_an_inaccurate_objective_is_warned_of(monkeypatch, bag_data):
    monkeypatch.setattr(convex_psvm, "MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="not exact"):
        fit(bag_data)
