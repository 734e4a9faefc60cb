"""What bags tell about several classes: the spectrum of ΓᵀNΓ."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.corruption import combine_classes
from decorrupt.theory import ClassInformation, class_information, information

SIZES = [20, 20, 5, 10]
SHARES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]])


def test_by_hand():
    """ΓᵀNΓ has the blocks (20) and (22.5, 2.5; 2.5, 7.5)."""
    told = class_information(SIZES, SHARES)
    root = np.sqrt(7.5**2 + 2.5**2)
    assert_allclose(told.eigenvalues, [15 - root, 20, 15 + root])
    assert_allclose(float(told), 15 - root)
    assert_allclose(told.condition_number, (15 + root) / (15 - root))
    assert_allclose(told.rows_by_class, [20, 162.5 / 7.5, 162.5 / 22.5])
    assert np.abs(told.direction).argmax() == 2


def test_pure_bags_are_worth_their_rows():
    told = class_information([7, 3, 5, 2], np.eye(3)[[0, 1, 2, 1]])
    assert_allclose(told.rows_by_class, [7, 5, 5])


def test_rows_by_class_is_the_variance_of_the_combination():
    """The estimate of class c's mean has the variance Σ_b a_bc²/n_b/π_c² of its combination."""
    told = class_information(SIZES, SHARES)
    coef = combine_classes(SIZES, SHARES).coef * 3
    assert_allclose(told.rows_by_class, 1 / np.sum(coef**2 / np.array(SIZES)[:, None], axis=0))


def test_the_direction_names_the_classes_that_hardly_differ():
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.46, 0.44], [0.2, 0.39, 0.41], [0.5, 0.25, 0.25]])
    direction = np.abs(class_information([50] * 4, shares).direction)
    assert (direction[1:] > 0.6).all()
    assert direction[0] < 0.1


def test_information_takes_a_matrix():
    told = information(SIZES, SHARES)
    assert isinstance(told, ClassInformation)
    assert_allclose(told.eigenvalues, class_information(SIZES, SHARES).eigenvalues)


def test_classes_that_cannot_be_told_apart_are_named():
    shares = np.column_stack([SHARES[:, 0], 0.5 * SHARES[:, 1:], 0.5 * SHARES[:, 1:]])
    shares = np.vstack([shares, [0.2, 0.2, 0.2, 0.2, 0.2]])
    with pytest.raises(ValueError, match="the classes 'b', 'c', 'd', 'e' cannot be distinguished"):
        class_information([*SIZES, 5], shares, classes=list("abcde"))
