import numpy as np
import pytest
from scipy import sparse

from decorrupt.corruption import check_class_means, quick_violation
from decorrupt.observed import Observed


def random_bags(rng, n_rows=200, bag_size=10, n_columns=3):
    """Two classes whose rows are in bags at random."""
    labels = (rng.random(n_rows) < 0.4).astype(float)
    X = rng.normal(size=(n_rows, n_columns)) + labels[:, None]
    bags = rng.permutation(n_rows) // bag_size
    return X, Observed.from_bags((np.bincount(bags, labels) / np.bincount(bags))[bags], bags)


def bags_by_feature(rng, n_rows=400, bag_size=20, n_columns=3):
    X = rng.normal(size=(n_rows, n_columns))
    labels = (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(float)
    bags = np.argsort(np.argsort(X[:, 1])) // bag_size
    return X, Observed.from_bags((np.bincount(bags, labels) / np.bincount(bags))[bags], bags)


def brute_force_dispersions(X, observed):
    """The definition, bag by bag and column by column."""
    shares, sizes, found = observed.proportions, observed.sizes, []
    for column in X.T:
        rows = [column[observed.row_bag == k] for k in range(len(sizes))]
        root = np.sqrt(sizes)
        means = np.array([own.mean() for own in rows])
        centre = shares @ np.linalg.lstsq(shares * root[:, None], means * root, rcond=None)[0]
        squares = np.array([np.mean((o - c) ** 2) for o, c in zip(rows, centre, strict=True)])
        variance = shares @ np.linalg.lstsq(shares * root[:, None], squares * root, rcond=None)[0]
        variance = np.maximum(variance, 0.05 * np.average(squares, weights=sizes))
        weight = np.sqrt(sizes / variance)
        design = shares * weight[:, None]
        fit = design @ np.linalg.lstsq(design, means * weight, rcond=None)[0]
        rank = np.linalg.matrix_rank(shares)
        found.append(np.sum((means * weight - fit) ** 2) / (len(sizes) - rank))
    return np.array(found)


def test_dispersion_of_six_rows_by_hand():
    # Equal shares: the fit is the mean 3. v = (9+1+1+1+1+9)/6, Q = 2·(4+0+4)/v, M − 1 = 2.
    X = np.array([[0.0], [2.0], [2.0], [4.0], [4.0], [6.0]])
    observed = Observed.from_bags([0.5] * 6, [0, 0, 1, 1, 2, 2])
    test = check_class_means(X, observed, n_permutations=9, random_state=0)
    assert test.dispersions[0] == pytest.approx(16 / (22 / 6) / 2, rel=1e-6)


@pytest.mark.parametrize("make", [random_bags, bags_by_feature])
def test_dispersions_are_those_of_the_definition(make):
    X, observed = make(np.random.default_rng(0))
    test = check_class_means(X, observed, n_permutations=3, random_state=0)
    assert test.dispersions == pytest.approx(brute_force_dispersions(X, observed), rel=1e-4)


def test_dispersions_of_three_classes_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    X, bags = rng.normal(size=(120, 2)), np.arange(120) // 8
    observed = Observed.from_bags(rng.dirichlet([1, 1, 1], 15)[bags], bags)
    test = check_class_means(X, observed, n_permutations=3, random_state=0)
    assert test.dispersions == pytest.approx(brute_force_dispersions(X, observed), rel=1e-4)


def test_two_columns_of_shares_are_the_same_test_as_one():
    X, observed = bags_by_feature(np.random.default_rng(2))
    wide = Observed.from_bags(observed.row_proportions, observed.row_bag)
    one, two = (check_class_means(X, bags, random_state=3) for bags in (observed, wide))
    assert one.dispersions.tolist() == two.dispersions.tolist()
    assert one.p_value == two.p_value


def test_sparse_rows_are_the_same_test_as_dense():
    X, observed = random_bags(np.random.default_rng(4))
    X = X * (X > 1)
    dense = check_class_means(X, observed, random_state=5)
    thin = check_class_means(sparse.csr_matrix(X), observed, random_state=5)
    assert dense.p_values.tolist() == thin.p_values.tolist()


def test_random_bags_are_rejected_at_the_nominal_rate():
    rng, found = np.random.default_rng(6), []
    for seed in range(200):
        X, observed = random_bags(rng)
        X[:, 2] = X[:, 2] > 2.5  # rare categories were the problem of a chi-square test
        found.append(check_class_means(X, observed, n_permutations=19, random_state=seed).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_class_variances_and_sizes_that_go_with_the_proportions_are_no_violation():
    # Large bags have few positives, whose variance is 25 times as large.
    rng, found = np.random.default_rng(7), []
    for seed in range(100):
        sizes = np.repeat([80, 5], [5, 30])
        bags = np.repeat(np.arange(35), sizes)
        shares = np.repeat([0.1, 0.8], [5, 30])
        labels = np.concatenate(
            [np.arange(n) < round(n * p) for n, p in zip(sizes, shares, strict=True)]
        )
        X = (rng.normal(size=len(bags)) * (1 + 4 * labels))[:, None]
        observed = Observed.from_bags(shares[bags], bags)
        found.append(check_class_means(X, observed, n_permutations=19, random_state=seed).p_value)
    assert np.mean(np.array(found) <= 0.05) < 0.12


def test_the_column_that_forms_the_bags_is_the_worst():
    X, observed = bags_by_feature(np.random.default_rng(8))
    test = check_class_means(X, observed, random_state=0)
    assert test.p_value == pytest.approx(1 / 200)
    assert test.columns[test.dispersions.argmax()] == 1
    assert test.p_values[2] > 0.05


def test_constant_columns_are_left_out():
    X, observed = random_bags(np.random.default_rng(9))
    X[:, 1] = 7.0
    assert check_class_means(X, observed, random_state=0).columns.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("bags", "y"),
    [([0, 0, 1, 1], [0.5, 0.5, 1, 1]), ([0, 1, 2, 3], [0, 1, 0, 1]), ([0] * 4, [0.5] * 4)],
    ids=["two bags", "labels only", "one bag"],
)
def test_what_cannot_be_tested(bags, y):
    X = np.arange(8.0).reshape(4, 2)
    assert check_class_means(X, Observed.from_bags(y, bags), random_state=0) is None


def test_labelled_rows_form_one_bag_per_class():
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(30, 2)), np.repeat([0.25, 0.75, 0.0, 1.0], [8, 8, 7, 7])
    bags, merged = np.repeat(np.arange(4), [8, 8, 7, 7]), np.arange(30)
    merged[:16] = bags[:16]
    found, expected = (
        check_class_means(X, Observed.from_bags(y, by), random_state=0) for by in (merged, bags)
    )
    assert found.dispersions == pytest.approx(expected.dispersions)
    assert found.p_values.tolist() == expected.p_values.tolist()


def test_a_large_table_is_tested_on_whole_bags_and_some_columns():
    rng = np.random.default_rng(10)
    X, observed = random_bags(rng, n_rows=400, n_columns=50)
    test = check_class_means(X, observed, n_permutations=3, max_cells=900, random_state=0)
    assert test.n_rows % 10 == 0
    assert test.n_rows * len(test.columns) <= 900
    assert len(test.columns) == 30


def test_the_quick_check_rejects_valid_bags_in_about_one_percent():
    rng = np.random.default_rng(11)
    rejected = [quick_violation(*random_bags(rng)) is not None for _ in range(300)]
    assert np.mean(rejected) <= 0.01 + 2 * np.sqrt(0.01 * 0.99 / 300)


def test_the_quick_check_finds_what_the_test_finds():
    """P(y|x) is 0.8 or 0.3: here the mean map returns about 1.00 and 0.10."""
    rng, found = np.random.default_rng(12), []
    bags = np.repeat(np.arange(30), 20)
    for _ in range(20):
        column = rng.random(600) < rng.random(30)[bags]
        labels = rng.random(600) < np.where(column, 0.8, 0.3)
        observed = Observed.from_bags((np.bincount(bags, labels) / 20)[bags], bags)
        found.append(quick_violation(column[:, None].astype(float), observed) is not None)
    assert np.mean(found) > 0.9
