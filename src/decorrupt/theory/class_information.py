"""How much bags can tell about several classes, before any training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import check_class_strata


@dataclass(frozen=True, eq=False)
class ClassInformation:
    """What ΓᵀNΓ tells; ``float`` of it is the smallest eigenvalue, in rows.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_classes,)
        Of ΓᵀNΓ, in ascending order. Pure bags have the rows of each class.
    direction : ndarray of shape (n_classes,)
        The unit vector of the smallest one: the difference of classes that is known worst. Large
        entries are the classes that are hard to tell apart.
    rows_by_class : ndarray of shape (n_classes,)
        1/[(ΓᵀNΓ)⁻¹]_cc: the rows of known class c that would give its mean with the same variance.
    """

    eigenvalues: FloatArray
    direction: FloatArray
    rows_by_class: FloatArray

    @property
    def total(self) -> float:
        """The smallest eigenvalue."""
        return float(self.eigenvalues[0])

    @property
    def condition_number(self) -> float:
        """The largest eigenvalue over the smallest."""
        return float(self.eigenvalues[-1] / self.eigenvalues[0])

    def __float__(self) -> float:
        return self.total


def class_information(
    sizes: ArrayLike, proportions: ArrayLike, *, classes: Sequence[Any] | None = None
) -> ClassInformation:
    """Return the spectrum of ΓᵀNΓ, the information of bags about several classes.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        n, rows of each bag; N = diag(n).
    proportions : array-like of shape (n_bags, n_classes)
        Γ, shares of the classes in each bag; rows sum to 1.
    classes : sequence, optional
        What an error message calls the classes.

    Raises
    ------
    ValueError
        If sizes or shares are out of range, or the bags do not tell some classes apart, which are
        named.

    Examples
    --------
    Three pure bags, and a mixed one:

    >>> from decorrupt.theory import class_information
    >>> shares = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]]
    >>> told = class_information([20, 20, 5, 10], shares)
    >>> told.eigenvalues.round(2).tolist(), told.rows_by_class.round(2).tolist()
    ([7.09, 20.0, 22.91], [20.0, 21.67, 7.22])
    """
    sizes, proportions = check_class_strata(sizes, proportions, classes)
    moments = proportions.T @ (sizes[:, None] * proportions)
    eigenvalues, directions = np.linalg.eigh(moments)
    return ClassInformation(eigenvalues, directions[:, 0], 1 / np.diag(np.linalg.inv(moments)))
