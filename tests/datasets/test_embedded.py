"""The embedded tasks: sizes, reproducible, and only the test rows keep their labels."""

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from decorrupt.datasets import load_breast_cancer_bags, load_digits_bags, load_wine_bags

TASKS = [
    (load_breast_cancer_bags, load_breast_cancer, lambda target: target == 0),
    (load_digits_bags, load_digits, lambda target: np.isin(target, [1, 3, 5, 7, 9])),
    (load_wine_bags, load_wine, lambda target: target == 1),
]


@pytest.fixture(params=TASKS, ids=lambda task: task[0].__name__)
def task(request):
    """Look the true labels up again by the rows' features, as only a test may."""
    load, original, is_pos = request.param
    X, target = original(return_X_y=True)
    label_of = dict(zip(map(bytes, X), is_pos(target).astype(int), strict=True))
    return load, len(X), lambda rows: np.array([label_of[bytes(row)] for row in rows])


def test_proportions_are_those_of_the_hidden_labels(task):
    load, _, label_of = task
    data = load(bag_size=5)
    hidden = label_of(data.X)
    for bag in np.unique(data.bags):
        rows = data.bags == bag
        assert rows.sum() == 5
        np.testing.assert_allclose(data.y[rows], hidden[rows].mean())
    np.testing.assert_array_equal(data.y_test, label_of(data.X_test))


def test_every_row_is_counted_once(task):
    load, n_rows, _ = task
    data = load()
    n_left_out = n_rows - len(data.X) - len(data.X_test)
    assert 0 <= n_left_out < len(data.X) // len(set(data.bags.tolist()))
    assert not {bytes(row) for row in data.X} & {bytes(row) for row in data.X_test}
    assert len(data.feature_names) == data.X.shape[1]


def test_no_attribute_exposes_training_labels(task):
    load, _, label_of = task
    data = load()
    hidden = label_of(data.X)
    for field in dataclasses.fields(data):
        values = getattr(data, field.name)
        if np.shape(values) == hidden.shape:
            assert not np.array_equal(values, hidden), field.name
            assert not np.array_equal(values, 1 - hidden), field.name
    assert not np.isin(data.y, (0, 1)).all()


def test_the_seed_decides(task):
    load, _, _ = task
    first, again, other = (load(random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y_test, again.y_test)
    assert not np.array_equal(first.X, other.X)


def test_options_reach_the_bags(task):
    load, _, _ = task
    data = load(bag_size=4, test_size=20, random_state=1)
    assert set(np.bincount(data.bags).tolist()) == {4}
    assert len(data.X_test) == 20
