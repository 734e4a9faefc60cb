"""InvCal (Rüping 2010): support vector regression of the bags' log-odds on the bags' means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.svm import SVR

from decorrupt._typing import FloatArray
from decorrupt.baselines.support_vector import DEFAULT_MAX_ITER, SupportVectorClassifier
from decorrupt.corruption import row_coefficients
from decorrupt.estimators import check_choice
from decorrupt.features import KernelFunction, check_gram
from decorrupt.observed import Observed

TUBES = ("logit", "proportion")
# LIBSVM's tolerance of the optimality conditions, in units of the score.
TUBE_TOL = 1e-8
# Kernel values in memory at a time while bags are averaged: 32 MB.
BLOCK_ENTRIES = 2**22


class InvCalClassifier(SupportVectorClassifier):
    """Support vector regression of the bags' log-odds on their mean rows (inverse calibration).

    It minimises ½‖f‖² + C_p·Σ_k max(0, |mean_k f + b − logit(p_k)| − ε_k) over f and b (Rüping
    2010). The proportion p_k is converted to a score, logit(p_k), and distances of the bag's mean
    score from a tube around it are penalised. Proportions are clipped to [1/n, 1−1/n] for n rows,
    because the log-odds of a pure bag are infinite.

    Parameters
    ----------
    C_p : float, default=1.0
        Weight of the distance from the tube.
    epsilon : float, default=0.1
        Half the width of the tube, see `tube`.
    tube : {"logit", "proportion"}, default="logit"
        "logit": ε_k = epsilon for every bag. "proportion": ε_k = epsilon/(p_k(1−p_k)), to first
        order a tube of half-width epsilon in the proportion. It is wide if p_k is near 0 or 1
        (about n·epsilon for a pure bag, which then has almost no effect).
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, or a callable that takes two
        matrices and returns the kernel of all their rows. A :class:`decorrupt.Kernel` also sets
        `degree` and `coef0`; the kernel is exact, so its other options are not used.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter; "scale" is 1/(n_columns·Var X), "auto" is 1/n_columns.
    max_iter : int, default=100_000
        Maximum number of LIBSVM iterations. Columns of standard deviation 1 need hundreds to tens
        of thousands; large unscaled columns need far more.
    check_assumptions : bool, default=True
        Whether `fit` warns if the rows of a class clearly differ between bags.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        [0, 1] after training on bags, otherwise the two labels; the second is the positive class.
    bag_coef_ : ndarray of shape (n_bags,)
        β of f(x) = Σ_k β_k·mean_{i∈k} k(x, x_i) + b, in the sorted order of the bag ids.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_: the rows of the bags with β_k ≠ 0
        (kernel models).
    coef_ : ndarray of shape (n_columns,)
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    intercept_ : float
        b, which is not penalised.
    kernel_gamma_ : float
        The kernel parameter as a number.
    n_iter_ : int
        Number of LIBSVM iterations.
    class_prior_ : ndarray of shape (2,)
        The class shares among the training rows.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    AlternatingPSVMClassifier : A support vector machine of the rows instead of the bags' means.
    decorrupt.MeanMapClassifier : Also uses the means of the bags, and has probabilities.
    decorrupt.CountLikelihoodClassifier : The method to start with.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.baselines import InvCalClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = InvCalClassifier().fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_classes = True

    def __init__(
        self,
        *,
        C_p: float = 1.0,
        epsilon: float = 0.1,
        tube: str = "logit",
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        max_iter: int = DEFAULT_MAX_ITER,
        check_assumptions: bool = True,
    ) -> None:
        self.C_p = C_p
        self.epsilon = epsilon
        self.tube = tube
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.max_iter = max_iter
        self.check_assumptions = check_assumptions

    def _check_parameters(self) -> None:
        check_choice("tube", self.tube, TUBES)

    def _fit_bags(self, X: Any, observed: Observed) -> FloatArray:
        rows = self._training_rows(X, observed.weights)
        margin = 1 / observed.n_rows
        proportions = np.clip(observed.proportions[:, 1], margin, 1 - margin)
        gram = bag_mean_gram(rows.matrix, self.kernel_function(), observed)
        radii = np.full(len(proportions), float(self.epsilon))
        if self.tube == "proportion":
            radii /= proportions * (1 - proportions)
        targets, costs = logit(proportions), self.C_p * _bags_worth(observed)
        found = solve_tubes(gram, targets, radii, costs, max_iter=self.max_iter)
        if not found.converged:
            self._note_max_iter()
        self.bag_coef_, self.n_iter_ = found.coef, max(found.n_iter, 1)
        row_coef = row_coefficients(found.coef[:, None], observed)[:, 0]
        self._keep_dual(rows, row_coef, found.intercept)
        means = gram @ found.coef + found.intercept
        # If bag means have both signs, so have row scores, which are more expensive to compute.
        return means if means.min() < 0 < means.max() else self._score(X)


def _bags_worth(observed: Observed) -> FloatArray:
    """Return how many bags each bag represents: a labelled row as many as its weight says."""
    is_labelled = (
        len(observed.row_bag) == observed.n_bags and observed.proportions.max(1).min() == 1
    )
    return observed.sizes if is_labelled else np.ones(observed.n_bags)


def bag_mean_gram(X: Any, kernel: KernelFunction, observed: Observed) -> FloatArray:
    """Return AKAᵀ, where A averages rows into bags; K is computed in blocks of rows."""
    n_rows, n_bags = X.shape[0], observed.n_bags
    row_share = row_coefficients(np.ones((n_bags, 1)), observed)[:, 0]
    average = sparse.csc_array(
        (row_share, (observed.row_bag, np.arange(n_rows))), shape=(n_bags, n_rows)
    )
    if kernel.name == "precomputed":
        check_gram(X)
        return _dense(average @ X @ average.T)
    if kernel.name == "linear":
        means = _dense(average @ X)
        return means @ means.T
    half = np.zeros((n_bags, n_bags))
    step = max(1, BLOCK_ENTRIES // n_rows)
    for start in range(0, n_rows, step):
        # K is symmetric: use only the rows from this block on; its diagonal part counts half.
        here, onward = average[:, start : start + step], average[:, start:]
        block = kernel.block(X[start : start + step], X[start:])
        half += here @ (block @ onward.T - 0.5 * (block[:, : here.shape[1]] @ here.T))
    return half + half.T


@dataclass(frozen=True)
class Tubes:
    """β and b of the regression, LIBSVM's iterations, and whether it converged."""

    coef: FloatArray
    intercept: float
    n_iter: int
    converged: bool


def solve_tubes(
    gram: FloatArray, targets: FloatArray, radii: FloatArray, costs: FloatArray, *, max_iter: int
) -> Tubes:
    """Return argmin_{β,b} ½βᵀKβ + Σ cost_k·max(0, |(Kβ)_k + b − t_k| − ε_k), by LIBSVM.

    LIBSVM supports only one ε for all bags. Tubes of different widths are solved through
    max(0, |u|−ε) = ½|u−ε| + ½|u+ε| − ε: a regression with ε = 0 in which every bag occurs twice,
    once per edge of its tube, with half the cost.

    Parameters
    ----------
    gram : ndarray of shape (n_bags, n_bags)
        K.
    targets : ndarray of shape (n_bags,)
        t, the centres of the tubes.
    radii : ndarray of shape (n_bags,)
        ε.
    costs : ndarray of shape (n_bags,)
        Weight of the distance from a tube.
    max_iter : int
        Maximum number of LIBSVM iterations.
    """
    if np.ptp(radii) == 0:
        return _solve_tube(gram, targets, radii[0], costs, max_iter)
    edges = np.concatenate([targets - radii, targets + radii])
    found = _solve_tube(np.tile(gram, (2, 2)), edges, 0.0, np.tile(costs / 2, 2), max_iter)
    lower, upper = np.split(found.coef, 2)
    return replace(found, coef=lower + upper)


class _SilentSVR(SVR):
    """An SVR that does not warn if `fit_status_` is not 0; the caller does."""

    def _warn_from_fit_status(self) -> None:
        pass


def _solve_tube(
    gram: FloatArray, targets: FloatArray, radius: float, costs: FloatArray, max_iter: int
) -> Tubes:
    machine = _SilentSVR(kernel="precomputed", epsilon=radius, tol=TUBE_TOL, max_iter=max_iter).fit(
        gram, targets, sample_weight=costs
    )
    coef = np.zeros(len(targets))
    coef[machine.support_] = machine.dual_coef_[0]
    n_iter = int(np.max(machine.n_iter_))
    return Tubes(coef, float(machine.intercept_[0]), n_iter, machine.fit_status_ == 0)


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
