"""Maximum likelihood of the bags' counts of positives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.default_strength import COUNT_PRIOR_VARIANCE
from decorrupt.estimators.kernel_classifier import Fit
from decorrupt.exceptions import RoundedCountsWarning
from decorrupt.features import FeatureMap
from decorrupt.losses import probabilities
from decorrupt.notices import Notice, emit_notices
from decorrupt.observed import Observed, describe_impossible
from decorrupt.risks import (
    ESTIMATE,
    bag_effect_of_scores,
    check_bag_effect,
    count_risk,
    with_bag_effect,
)
from decorrupt.solvers import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    Problem,
    from_intercept,
    from_mean_maps,
    from_sample,
    sample_of_bags,
)

AUTO_STARTS = "auto"
STARTS = ("mean_map", "intercept")
COUNT_SOLVERS = ("auto", "lbfgs")
# The share of positives is estimated from noisy counts or ranges; both classes exist.
SMALLEST_PRIOR = 1e-3
# The estimate of the bag effect starts here: from above, because a model that fits the counts
# exactly leaves nothing to a bag effect. It changes little after a few rounds.
FIRST_BAG_EFFECT = 0.1
BAG_EFFECT_ROUNDS = 5
BAG_EFFECT_TOL = 1e-3


class CountLikelihoodClassifier(BagClassifier):
    """Kernel classifier that makes the known count of every bag most likely.

    It minimises −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k) + λ‖f‖² with P(Y_j=1) = σ(f(x_j)). The number
    of positives in a bag, c_k = p_k·n_k, is a sum of independent labels. Its distribution
    (Poisson-binomial) is computed exactly; the gradient of a row is its probability without the
    bag's count minus its probability given the count. For several classes the counts of all classes
    are used, with softmax(f) and the penalty 2λ‖f‖².

    With bags of one row this is logistic regression. Otherwise the objective is not convex: the
    solver starts from the mean map and from the intercept alone, and the solution with the lower
    objective is kept. With few bags and many columns every start can fit the training counts; then
    it is better to choose the start on held-out bags, with the grid ``{"starts": [("mean_map",),
    ("intercept",)]}`` of :class:`AutoLabelProportionsClassifier` or :class:`BagGridSearchCV`. The
    likelihood uses all information in the counts, the mean map only the means of the bags. With few
    large bags the mean map can be the safer choice.

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
        x), 1 for the rbf kernel. Noise of the counts and a bag effect reduce n to what the counts
        are worth, Σ_k n_k·V_k/(V_k + noise variance) with V_k = n_k·p(1 − p).
    large_bags : "auto" or float, default="auto"
        Bags with more rows than this use a normal approximation of the count's distribution. It
        costs O(n_k) instead of O(n_k²); its error is at most 0.01 in a bag's log-likelihood and
        0.001 in a row's gradient. "auto" is 256; ``numpy.inf`` always uses the exact distribution.
        The bag's scores are first shifted so that the expected count equals c_k. If the variance is
        then small, where a normal approximation is inaccurate for any bag size, an exact sum is
        used instead.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None, default=None
        Noise in the counts p_k·n_k (for example from a privacy mechanism), for all bags or by bag
        id, with None for a bag without noise. A number is the standard deviation of Gaussian noise,
        in rows. Noisy proportions can be below 0 or above 1. The likelihood is that of the reported
        count; with several classes see :func:`label_posterior`. Ignored in a fit without bags:
        labels have no such noise.
    bag_effect : float or "estimate", default=0.0
        Standard deviation of what the bags add to the shares that their rows explain: bags that
        differ in P(y|x), for example hospitals. n_k²·bag_effect² is added to the variance of the
        count of a bag of two rows or more, as for Gaussian noise. "estimate" maximises the
        likelihood over it, in turns with the model. Not together with `upper`.
        :func:`decorrupt.check_assumptions` tests whether there is one.
    starts : "auto" or sequence of {"mean_map", "intercept"}, default="auto"
        Where the solver starts: at the mean map with the same λ, or at the intercept alone,
        followed by a path from larger λ. The solution with the lower objective is kept. "auto" is
        both for two classes, and "intercept" for several: there the mean map leads to the same
        solution at large λ, and to a poor one at small λ.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "lbfgs"}, default="auto"
        L-BFGS; in a fit without bags "auto" may use Newton's method.
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots.

    Attributes
    ----------
    bag_effect_ : float
        The bag effect used; 0 in a fit without bags.
    start_ : str
        The start that led to the solution.
    log_likelihood_ : float
        Σ_k log P(c_k) at the solution; with ranges or noise, Σ_k log P(observation).
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels. Of two
        classes the second is the positive class.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows: Σn_k·p_k/Σn_k, or with `upper` or noise the mean
        of the posterior probabilities at the solution, with a bag effect that of the probabilities.
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
    ProportionMatchingClassifier : Does not assume that labels are independent given the rows.
    MeanMapClassifier : Convex, and often safer with few large bags.
    EMClassifier : The same likelihood with any learner, for example a forest.
    AutoLabelProportionsClassifier : Compares the methods on held-out bags and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CountLikelihoodClassifier, bag_targets
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = CountLikelihoodClassifier(random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.9)
    True
    """

    needs_common_probabilities = True
    prior_variance = COUNT_PRIOR_VARIANCE
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "bags": True,
        "upper": True,
        "sample_weight": True,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        large_bags: float | str = "auto",
        count_noise: Any = None,
        bag_effect: float | str = 0.0,
        starts: Sequence[str] | str = AUTO_STARTS,
        fit_intercept: bool = True,
        decision: str = "balanced",
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.large_bags = large_bags
        self.count_noise = count_noise
        self.bag_effect = bag_effect
        self.starts = starts
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        bags: Any = None,
        upper: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Train on bags with known, rounded, noisy or bounded proportions, or on labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows. Column names of a data frame are kept.
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            The proportion of positives in each row's bag, or the share of each class; the shares
            of a row sum to 1 (within 1e-6), and column names become `classes_`.
            :func:`decorrupt.bag_targets` computes y from one entry per bag. A proportion that is
            not a multiple of 1/n_k was rounded: all counts that round to it are possible. Without
            `bags`: class labels, and the model is an ordinary classifier.
        bags : array-like of shape (n_rows,), optional
            The bag of each row; any hashable ids.
        upper : array-like of shape (n_rows,) or (n_rows, n_classes), optional
            The upper end of the range of each row's bag, or of each class; y is then the lower end.
            A suppressed count "fewer than 5" is the range from 0 to 4/n_k; a row about which
            nothing is known is a bag of one row with the range from 0 to 1.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0; whole numbers in bags of several classes.
            The labels of these rows are independent: a bag's count is a sum of binomials.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If y, bags, upper, sample_weight or a parameter is invalid, a range contains no whole
            number of rows, or the proportions do not distinguish the classes (for example, if they
            are equal in all bags).

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        OneClassWarning
            If the model predicts one class for all training rows.
        UnscaledColumnsWarning
            If distances between rows hardly depend on at least half of the columns.
        RoundedCountsWarning
            If a proportion is not possible with its bag's number of rows.
        """
        emit_notices(self.train(X, y, bags=bags, upper=upper, sample_weight=sample_weight))
        return self

    def train(
        self,
        X: Any,
        y: ArrayLike,
        *,
        bags: Any = None,
        upper: Any = None,
        sample_weight: Any = None,
    ) -> list[Notice]:
        """Fit as `fit` does, and return the warnings instead of emitting them."""
        noise = None if bags is None else self.count_noise  # labels have none
        known = {"upper": upper, "sample_weight": sample_weight, "count_noise": noise}
        return self._train(X, y, bags=bags, **known)

    def train_observed(
        self, X: Any, observed: Observed, *, features: FeatureMap | None = None
    ) -> list[Notice]:
        """See :meth:`KernelClassifier.train_observed`; counts have the noise `count_noise`."""
        observed = observed.with_count_noise(self.count_noise)
        return super().train_observed(X, observed, features=features)

    def _check_parameters(self) -> None:
        check_bag_effect("bag_effect", self.bag_effect)
        if self.solver not in COUNT_SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not available for the count likelihood, whose "
                f"curvature is not implemented: choose one of {', '.join(COUNT_SOLVERS)}"
            )
        is_auto = isinstance(self.starts, str) and self.starts == AUTO_STARTS
        names = () if isinstance(self.starts, str) else tuple(self.starts)
        if not is_auto and (not names or not set(names) <= set(STARTS)):
            known = ", ".join(STARTS)
            raise ValueError(
                f"starts={self.starts!r}: give 'auto' or a list of one or more of {known}"
            )

    def problem_over(
        self, observed: Observed, matrix: Any, reg_strengths: Sequence[float]
    ) -> Problem:
        """Return the likelihood of the counts, with the bag effect."""
        observed = observed.with_count_noise(self.count_noise)
        effect = self.effect_of(observed)
        if effect == ESTIMATE:
            middle = sorted(reg_strengths)[len(reg_strengths) // 2]
            effect = self.estimate_effect(observed, matrix, middle)
        noisy = with_bag_effect(observed, float(effect))
        problem = self._count_problem(noisy)
        details = {"bag_effect": float(effect)}
        return replace(problem, n_rows=rows_worth(noisy), details=details)

    def effect_of(self, observed: Observed) -> float | str:
        """Return the bag effect, or "estimate"; 0 for labels.

        Raises
        ------
        ValueError
            If there is one and the counts have ranges.
        """
        effect = 0.0 if self._is_labelled(observed) else self.bag_effect
        if effect and observed.is_inexact and observed.counts.has_ranges:
            raise ValueError(f"bag_effect={self.bag_effect!r} cannot be combined with upper=")
        return effect

    @staticmethod
    def _is_labelled(observed: Observed) -> bool:
        """Return whether all bags are pure and exact, as those of labels are."""
        is_pure = (observed.proportions.max(axis=1) == 1).all()
        return bool(is_pure) and not observed.is_inexact

    def _count_problem(self, observed: Observed) -> Problem:
        risk = count_risk(observed, large_bags=self.large_bags)
        names = ("intercept",) if risk.is_convex else self._starts(observed)
        routes = {
            "mean_map": from_mean_maps(observed),
            "intercept": from_intercept(observed.class_prior),
        }
        problem = Problem(risk, routes={name: routes[name] for name in names})
        rows = None if risk.is_convex else sample_of_bags(observed)
        if rows is None or observed.n_classes > 2:
            return problem
        sample = self._count_problem(observed.take(rows))
        return replace(problem, routes={"sample": from_sample(sample, rows)})

    def _starts(self, observed: Observed) -> Sequence[str]:
        """Return the starts to compare: as listed, or those that help.

        At large λ both starts of several classes lead to one solution; at small λ the mean map
        leads to objectives far above those of the path from the intercept.
        """
        if not isinstance(self.starts, str):
            return list(self.starts)
        return STARTS if observed.n_classes == 2 else ("intercept",)

    def estimate_effect(self, observed: Observed, matrix: Any, reg_strength: float) -> float:
        """Return the bag effect estimated in turns with the model at one λ."""
        effect = FIRST_BAG_EFFECT
        for _ in range(BAG_EFFECT_ROUNDS):
            problem = self._count_problem(with_bag_effect(observed, effect))
            (solution,) = self._solutions(problem, matrix, observed, [reg_strength])
            before, effect = effect, bag_effect_of_scores(solution.scores, observed)
            if abs(effect - before) < BAG_EFFECT_TOL:
                break
        return effect

    def _describe(self, fit: Fit) -> None:
        observed, solution = fit.observed, fit.solution
        self.bag_effect_ = fit.problem.details["bag_effect"]
        shares = None
        if self.bag_effect_:  # the share that rows alone explain: that of these bags has effects
            shares = observed.mean(probabilities(solution.scores))
        elif observed.is_inexact:
            shares = observed.mean(count_risk(observed).posterior(solution.scores))
        self.describe_counts(observed, solution.risk_value, solution.route, shares)

    def describe_counts(
        self, observed: Observed, risk_value: float, start: str, shares: FloatArray | None
    ) -> None:
        """Set the likelihood and the start; note bags without a whole number of rows.

        Parameters
        ----------
        observed : Observed
            The bags.
        risk_value : float
            The risk at the solution, without the penalty.
        start : str
            The start that led to it.
        shares : ndarray of shape (n_classes,) or None
            The class prior, if it is not the class shares of the bags: their counts are inexact or
            contain effects of the bags.
        """
        self.start_ = start
        self.log_likelihood_ = -risk_value * observed.n_rows
        if shares is not None:
            self.set_class_prior(estimated_prior(shares))
        rounded = describe_impossible(observed)
        if rounded:
            self._note(RoundedCountsWarning, rounded)


def rows_worth(observed: Observed) -> float:
    """Return Σ_k n_k·V_k/(V_k + noise variance), V_k = n_k·p(1 − p): what noisy counts are worth.

    The noise reduces the information of a count about the log-odds by this factor; p is the pooled
    share, of several classes the mean of p_c(1 − p_c) is used. Without noise it is the number of
    rows. A bag effect is noise of variance n_k²·bag_effect².
    """
    shares, sizes = observed.inner_prior, observed.sizes
    variance = sizes * float(np.mean(shares * (1 - shares)))
    return float(np.sum(sizes * variance / (variance + observed.counts.noise_variance)))


def estimated_prior(shares: FloatArray) -> FloatArray:
    """Return class shares of which the observations contain only an estimate."""
    clipped = np.clip(shares, SMALLEST_PRIOR, 1 - SMALLEST_PRIOR)
    return np.asarray(clipped / clipped.sum())
