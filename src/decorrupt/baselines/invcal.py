"""InvCal (Rüping 2010): support vector regression of the bags' log-odds on the bags' means."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array
from scipy.special import logit
from sklearn.svm import SVR
from sklearn.utils import gen_batches

from decorrupt._typing import FloatArray
from decorrupt.baselines.support_vector import MAX_ITER, SupportVectorClassifier
from decorrupt.corruption import row_coefficients
from decorrupt.estimators import estimator
from decorrupt.observed import Observed

# LIBSVM's tolerance of the optimality conditions, in units of the score.
SVR_TOL = 1e-8
# Kernel values in memory at a time while bags are averaged: 32 MB.
BLOCK_ENTRIES = 2**22


@estimator
class InvCalClassifier(SupportVectorClassifier):
    """Support vector regression of the bags' log-odds on their mean rows (inverse calibration).

    It minimises ½‖f‖² + C_p·Σ_k max(0, |mean_k f + b − logit(p_k)| − ε) over f and b (Rüping
    2010). The proportion p_k is converted to a score, logit(p_k), and distances of the bag's mean
    score from a tube around it are penalised. Proportions are clipped to [1/n, 1−1/n] for n rows,
    because the log-odds of a pure bag are infinite. scikit-learn's SVR solves it, on the kernel of
    the bags' means.

    Parameters
    ----------
    C_p : float, default=1.0
        Weight of the distance from the tube.
    epsilon : float, default=0.1
        ε, half the width of the tube.

    Attributes
    ----------
    bag_coef_ : ndarray of shape (n_bags,)
        β of f(x) = Σ_k β_k·mean_{i∈k} k(x, x_i) + b, in the sorted order of the bag ids.
    dual_coef_, landmarks_, coef_, intercept_
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_, with the rows of the bags with
        β_k ≠ 0 as landmarks; or f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    classes_, class_prior_, kernel_gamma_, n_features_in_, feature_names_in_
        The two classes and their shares among the training rows; γ as a number; the columns.

    See Also
    --------
    AlternatingPSVMClassifier : A support vector machine of the rows instead of the bags' means.
    decorrupt.CountLikelihoodClassifier : The method to start with.

    Examples
    --------
    >>> from decorrupt.baselines import InvCalClassifier
    >>> from decorrupt.datasets import load_digits_bags
    >>> data = load_digits_bags(bag_size=8)
    >>> model = InvCalClassifier().fit(data.X, data.y, bags=data.bags)
    >>> bool(model.score(data.X_test, data.y_test) > 0.85)
    True
    """

    needs_common_classes: ClassVar[bool] = True

    C_p: float = 1.0
    epsilon: float = 0.1

    def _fit_rows(self, X: Any, observed: Observed) -> tuple[FloatArray, float]:
        margin = 1 / observed.n_rows
        targets = logit(np.clip(observed.proportions[:, 1], margin, 1 - margin))
        is_pure = observed.proportions.max(axis=1) == 1
        has_labels = len(observed.row_bag) == observed.n_bags and is_pure.all()
        # A row with a label counts as often as its weight says, a bag once.
        weights = observed.sizes if has_labels else None
        machine = SVR(
            kernel="precomputed", C=self.C_p, epsilon=self.epsilon, tol=SVR_TOL, max_iter=MAX_ITER
        ).fit(self.bag_mean_gram(X, observed), targets, sample_weight=weights)
        self.bag_coef_ = np.zeros(observed.n_bags)
        self.bag_coef_[machine.support_] = machine.dual_coef_[0]
        dual = row_coefficients(self.bag_coef_[:, None], observed)[:, 0]
        return dual, float(machine.intercept_[0])

    def bag_mean_gram(self, X: Any, observed: Observed) -> FloatArray:
        """Return AKAᵀ, where A averages rows into bags; K is computed in blocks of rows."""
        n_rows, n_bags = X.shape[0], observed.n_bags
        share = row_coefficients(np.ones((n_bags, 1)), observed)[:, 0]
        average = csc_array((share, (observed.row_bag, np.arange(n_rows))), shape=(n_bags, n_rows))
        gram = np.zeros((n_bags, n_bags))
        for rows in gen_batches(n_rows, max(1, BLOCK_ENTRIES // n_rows)):
            gram += average[:, rows] @ (self.kernel_rows(X, rows) @ average.T)
        return gram
