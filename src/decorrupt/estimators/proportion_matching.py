"""Proportion matching: fit each bag's mean probability to its proportion."""

from __future__ import annotations

from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.default_strength import COUNT_PRIOR_VARIANCE
from decorrupt.observed import Observed
from decorrupt.risks import ProportionRisk
from decorrupt.solvers import Problem, mean_map_start


class ProportionMatchingClassifier(BagClassifier):
    """Kernel classifier whose mean probabilities match the proportions of the bags.

    It minimises (1/M)·Σ_k (n_k/n̄)·CE(p_k, mean_{j∈k} σ(f(x_j))) + λ‖f‖²: empirical proportion risk
    minimisation (Yu et al. 2015) with the cross-entropy CE(p, m) = −p·log m − (1−p)·log(1−m). M is
    the number of bags, n̄ their mean size. With bags of one row this is logistic regression.
    Otherwise it is not convex, and the solver starts from the mean map. For several classes the
    cross-entropy is that of all class shares, with softmax(f) and the penalty 2λ‖f‖².

    Unlike :class:`CountLikelihoodClassifier` it assumes neither that labels are independent given
    the rows nor that p_k·n_k is whole. But a bag matches its proportion equally well if all its
    rows have the same probability as if they are near 0 and 1, so small bags are used less well.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, knn, pca_rbf, pca8_rbf,
        pca_knn, or a callable that takes two matrices and returns the kernel of all their rows. A
        :class:`decorrupt.Kernel` also sets the rarely changed options: the polynomial's degree, the
        rank, and the memory that the features may take.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter. "scale" is 1/(n_columns·Var X), where Var X is the mean of the
        columns' variances; "auto" is 1/n_columns. The principal components are scaled to the total
        variance of X, so it has the same meaning for them; the knn kernels do not use it. It cannot
        be set if the :class:`decorrupt.Kernel` given as `kernel` has a `gamma`.
    reg_strength : float or "auto", default="auto"
        λ, at least 0; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian
        prior on the log-odds with the variance C = 10: n is the number of rows, s the mean of k(x,
        x), 1 for the rbf kernel.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        How the objective is minimised. "auto" is Newton's method for few coefficients and rows, and
        L-BFGS otherwise. Several classes need "auto" or "lbfgs".
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels. Of two
        classes the second is the positive class.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows, Σn_k·p_k/Σn_k.
    decision_threshold_ : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the raw scores.
    coef_ : ndarray of shape (n_columns,) or (n_classes, n_columns)
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    intercept_ : float or ndarray of shape (n_classes,)
        0 without `fit_intercept`.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_ (other kernels). For the knn
        kernels, f(x) is the weighted mean of dual_coef_ of the 10 nearest landmarks, plus
        intercept_.
    projection_ : ndarray of shape (n_columns, n_components)
        x·projection_ are the coordinates of a pca kernel, and `landmarks_` are coordinates.
    kernel_gamma_, reg_strength_ : float
        The kernel parameter and λ as numbers.
    kernel_rank_ : int
        Number of columns of the feature matrix.
    kernel_error_ : float
        Error of the kernel approximation: trace(K − ZZᵀ)/trace(K) for landmarks, 0 for
        kernel="linear"; the share of trace(ZZᵀ) that a rank below 101 leaves out for knn.
    n_iter_ : int
        Number of solver iterations.
    solver_ : str
        The solver that was used.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    CountLikelihoodClassifier : Better with small bags, if labels are independent given the rows.
    AutoLabelProportionsClassifier : Compares the methods on held-out bags and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import ProportionMatchingClassifier, bag_targets
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = ProportionMatchingClassifier(random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    labels_as_bags = True
    needs_common_probabilities = True
    prior_variance = COUNT_PRIOR_VARIANCE

    def problem(self, observed: Observed) -> Problem:
        """Return the cross-entropy of the bags' shares, started at the mean map."""
        return Problem(ProportionRisk(observed), mean_map_start(observed))
