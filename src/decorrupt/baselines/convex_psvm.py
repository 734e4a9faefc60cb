"""conv-∝SVM (Yu et al. 2013): a convex relaxation of the support vector machine over labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.baselines.psvm_planes import count_ranges, cutting_planes
from decorrupt.baselines.support_vector import SupportVectorClassifier, gram_matrix
from decorrupt.features import LinearMap
from decorrupt.observed import Observed, refuse_weights


class ConvexPSVMClassifier(SupportVectorClassifier):
    """Support vector machine over all labels that agree with the bags, as one convex problem.

    It solves min_M max_{0≤α≤C} 1ᵀα − ½·αᵀ((K+1)∘M)α with M in the convex hull of yyᵀ over allowed
    labels y, the conv-∝SVM of Yu et al. (2013). Labels y_i = ±1 are allowed if the share of
    positives in every bag k differs from p_k by no more than `tolerance`. For M = yyᵀ this is the
    support vector machine of y. Its minimum over y has many local minima (see
    :class:`~decorrupt.baselines.AlternatingPSVMClassifier`); over the convex hull there is one
    minimum, and no random start.

    The hull is approximated by M = Σ_t μ_t y_t y_tᵀ with few label vectors y_t, the planes, which
    are added one at a time: the next one violates the solution so far the most. The score is f(x) =
    Σ_i α_i v_i (k(x_i, x) + 1), where vvᵀ is the matrix of rank 1 nearest to M. Every plane takes
    about 5 to 30 Cholesky factorisations of a matrix of n_rows × n_rows: seconds for 1,000 rows.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the hinge loss.
    tolerance : float, default=0.0
        Allowed difference between a bag's share of positive labels and p_k. If no whole number of
        rows is within it, which happens with rounded proportions, the nearest number is allowed.
    max_planes : int, default=10
        Maximum number of planes, as in the authors' paper.
    tol : float, default=1e-2
        No plane is added after one that lowers the objective by no more than this relative amount.
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, or a callable that takes two
        matrices and returns the kernel of all their rows. A :class:`decorrupt.Kernel` also sets
        `degree` and `coef0`; the kernel is exact, so its other options are not used. It must be
        positive semidefinite. The whole Gram matrix is kept in memory.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter; "scale" is 1/(n_columns·Var X), "auto" is 1/n_columns.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        [0, 1] after training on bags, otherwise the two labels; the second is the positive class.
    objective_ : float
        The final objective.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each plane; it does not increase.
    n_iter_ : int
        Number of planes.
    plane_weights_ : ndarray of shape (n_iter_,)
        μ.
    labels_ : ndarray of shape (n_rows,)
        The signs of v, values of `classes_`. They need not agree with the proportions.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_: the support vectors (kernel
        models).
    coef_ : ndarray of shape (n_columns,)
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    intercept_ : float
        Σ_i α_i v_i. It is penalised like a coefficient: centre the columns of X for
        kernel="linear".
    kernel_gamma_ : float
        The kernel parameter as a number.
    class_prior_ : ndarray of shape (2,)
        The class shares among the training rows.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    AlternatingPSVMClassifier : The problem without relaxation, from several random starts.
    decorrupt.CountLikelihoodClassifier : The method to start with.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.baselines import ConvexPSVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = ConvexPSVMClassifier().fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_probabilities = True
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    def __init__(
        self,
        *,
        C: float = 1.0,
        tolerance: float = 0.0,
        max_planes: int = 10,
        tol: float = 1e-2,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
    ) -> None:
        self.C = C
        self.tolerance = tolerance
        self.max_planes = max_planes
        self.tol = tol
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma

    # sample_weight is not in the signature: scikit-learn looks there for what can be used.
    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None, **refused: Any) -> Self:
        """See :meth:`CorrectedLossClassifier.fit`; weights are refused: single rows get labels."""
        super().fit(X, y, bags=bags, **refused)
        return self

    def _fit_bags(self, X: Any, observed: Observed) -> FloatArray:
        refuse_weights(observed.weights, type(self).__name__)
        gram = gram_matrix(X, self.kernel_function()) + 1.0
        found = cutting_planes(
            gram,
            count_ranges(observed, self.tolerance),
            self.C,
            max_planes=self.max_planes,
            tol=self.tol,
        )
        soft_labels = found.soft_labels()
        scores = gram @ (found.saddle.dual * soft_labels)
        # vvᵀ does not determine the sign of v; the counts of the bags do.
        if count_error(-scores, observed) < count_error(scores, observed):
            soft_labels, scores = -soft_labels, -scores
        if not found.saddle.converged:
            self._note_unsolved(found.saddle.gap / found.saddle.value)
        self.objective_ = found.history[-1]
        self.objective_history_ = np.array(found.history)
        self.n_iter_ = len(found.history)
        self.plane_weights_ = found.saddle.weights
        self.labels_ = self.classes_[(soft_labels > 0).astype(np.intp)]
        row_coef = found.saddle.dual * soft_labels
        self._keep_dual(LinearMap(X), row_coef, float(row_coef.sum()))
        return scores

    def _note_unsolved(self, gap: float) -> None:
        self._note(
            ConvergenceWarning,
            f"the objective is known only to a relative error of {gap:.1e}: scale the columns of X "
            "(StandardScaler), or lower C",
        )


def count_error(scores: FloatArray, observed: Observed) -> float:
    """Return Σ_k |number of positive scores in bag k − n_k·p_k|."""
    counts = np.bincount(observed.row_bag, scores > 0, minlength=observed.n_bags)
    return float(np.abs(counts - observed.sizes * observed.proportions[:, 1]).sum())
