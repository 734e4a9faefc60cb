"""Maximum likelihood of the bags' counts of positives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.default_strength import COUNT_PRIOR_VARIANCE
from decorrupt.estimators.inputs import check_upper_has_bags, read_observations
from decorrupt.estimators.log_odds import LogOddsClassifier
from decorrupt.estimators.priors import score_probabilities
from decorrupt.estimators.shared_features import SharedFeaturesClassifier
from decorrupt.exceptions import RoundedCountsWarning
from decorrupt.features import DEFAULT_RANK_TOL, FeatureMap
from decorrupt.notices import Notice, emit_notices
from decorrupt.risks.bag_effect import (
    ESTIMATE,
    bag_effect_of_scores,
    check_bag_effect,
    check_no_effect_with_ranges,
    observe_with_effect,
    with_bag_effect,
)
from decorrupt.risks.label_posterior import posterior_of
from decorrupt.risks.multiclass import describe_rounded_classes
from decorrupt.risks.observations import describe_impossible
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, SolverResult
from decorrupt.solvers.count_path import AUTO_STARTS, CountSolution, fit_count_path

# The share of positives is estimated from noisy counts or ranges; both classes exist.
SMALLEST_PRIOR = 1e-3
# The estimate of the bag effect starts here: from above, because a model that fits the counts
# exactly leaves nothing to a bag effect. It changes little after a few rounds.
FIRST_BAG_EFFECT = 0.1
BAG_EFFECT_ROUNDS = 5
BAG_EFFECT_TOL = 1e-3


class CountLikelihoodClassifier(SharedFeaturesClassifier, LogOddsClassifier):
    """min_f −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k) + λ‖f‖², P(Y_j=1) = σ(f(x_j)).

    The number of positives in a bag, c_k = p_k·n_k, is a sum of independent labels. Its
    distribution (Poisson-binomial) is computed exactly; the gradient of a row is its probability
    without the bag's count minus its probability given the count. With bags of one row this is
    logistic regression. Otherwise the objective is not convex: the solver starts from the mean map
    and from the intercept alone, and the solution with the lower objective is kept. With few bags
    and many columns every start can fit the training counts; then it is better to choose the start
    on held-out bags, with the grid ``{"starts": [("mean_map",), ("intercept",)]}`` of
    :class:`AutoLabelProportionsClassifier` or :class:`BagGridSearchCV`. The likelihood uses all
    information in the counts, the mean map only the means of the bags. With few large bags the mean
    map can be the safer choice.

    Parameters
    ----------
    kernel, kernel_gamma, degree, coef0, rank_tol, max_rank, features, \
memory_budget, tol, max_iter, random_state
        As in :class:`CorrectedLossClassifier`.
    reg_strength : float or "auto", default="auto"
        λ, at least 0. "auto" is s/(2·C·n), a Gaussian prior on the log-odds with the variance
        C = 10: n is the number of rows, s the mean of k(x, x), 1 for the rbf kernel.
    large_bags : "auto" or float, default="auto"
        Bags with more rows than this use a normal approximation of the count's distribution. It
        costs O(n_k) instead of O(n_k²); its error is at most 0.01 in a bag's log-likelihood and
        0.001 in a row's gradient. "auto" is 256; ``numpy.inf`` always uses the exact distribution.
        The bag's scores are first shifted so that the expected count equals c_k. If the variance
        is then small, where a normal approximation is inaccurate for any bag size, an exact sum is
        used instead.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None, default=None
        Noise in the counts p_k·n_k (for example from a privacy mechanism), for all bags or by bag
        id, with None for a bag without noise. A number is the standard deviation of Gaussian noise,
        in rows. Noisy proportions can be below 0 or above 1. The likelihood is that of the
        reported count; with several classes see :func:`label_posterior`. Ignored in a fit without
        bags: labels have no such noise.
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
        Whether f has an unpenalised intercept.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "lbfgs"}, default="auto"
        L-BFGS; in a fit without bags "auto" may use Newton's method.

    Attributes
    ----------
    bag_effect_ : float
        The bag effect used; 0 in a fit without bags.
    start_ : str
        The start that led to the solution.
    log_likelihood_ : float
        Σ_k log P(c_k) at the solution; with ranges or noise, Σ_k log P(observation).
    score_prior_ : float or ndarray of shape (n_classes,)
        The share of positives, or of each class, among the training rows: Σn_k·p_k/Σn_k, or with
        `upper` or noise the mean of the posterior probabilities at the solution.
    classes_, decision_threshold_, dual_coef_, landmarks_, feature_coef_, frequencies_, \
frequency_centre_, projection_, coef_, intercept_, kernel_gamma_, \
reg_strength_, kernel_rank_, kernel_error_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.estimators.count_likelihood import CountLikelihoodClassifier
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

    _needs_common_probabilities = True
    _prior_variance = COUNT_PRIOR_VARIANCE
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True, "upper": True}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        reg_strength: float | str = "auto",
        large_bags: float | str = "auto",
        count_noise: Any = None,
        bag_effect: float | str = 0.0,
        starts: Sequence[str] | str = AUTO_STARTS,
        fit_intercept: bool = True,
        decision: str = "balanced",
        solver: str = "auto",
        rank_tol: float = DEFAULT_RANK_TOL,
        max_rank: int | None = None,
        features: str = "landmarks",
        memory_budget: Any = None,
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.coef0 = coef0
        self.reg_strength = reg_strength
        self.large_bags = large_bags
        self.count_noise = count_noise
        self.bag_effect = bag_effect
        self.starts = starts
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.rank_tol = rank_tol
        self.max_rank = max_rank
        self.features = features
        self.memory_budget = memory_budget
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None, upper: Any = None) -> Self:
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

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If y, bags, upper or a parameter is invalid, a range contains no whole number of rows,
            or the proportions do not distinguish the classes (for example, if they are equal in
            all bags).

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        OneClassWarning
            If the model predicts one class for all training rows.
        RoundedCountsWarning
            If a proportion is not possible with its bag's number of rows.
        """
        emit_notices(self._train(X, y, bags=bags, upper=upper))
        return self

    def _train(
        self,
        X: Any,
        y: ArrayLike,
        *,
        bags: Any = None,
        upper: Any = None,
        features: FeatureMap | None = None,
    ) -> list[Notice]:
        self._upper = upper
        try:
            return super()._train(X, y, bags=bags, features=features)
        finally:
            del self._upper

    def _read_strata(self, y: ArrayLike, bags: Any) -> tuple[NDArray[Any], Strata]:
        self._observed, self._noise, self._in_bags = None, None, bags is not None
        check_upper_has_bags(self._upper, bags)
        if bags is None:
            return super()._read_strata(y, bags)
        check_no_effect_with_ranges(self.bag_effect, self._upper)
        self._noise = self.count_noise  # labels have none
        classes, strata, self._observed = read_observations(
            y, bags, upper=self._upper, count_noise=self._noise
        )
        return classes, strata

    def _check_parameters(self) -> None:
        check_bag_effect("bag_effect", self.bag_effect)

    def _fit_features(self, X: Any, features: FeatureMap, strata: Strata) -> FloatArray:
        observed, noise = self.__dict__.pop("_observed"), self.__dict__.pop("_noise")
        options, self.bag_effect_ = self._solver_options(), 0.0
        if self.__dict__.pop("_in_bags"):
            self.bag_effect_ = self._effect(
                features.matrix, strata, self.reg_strength_, options, noise
            )
        total = with_bag_effect(strata, noise, self.bag_effect_)
        seen = observe_with_effect(strata, observed, total) if self.bag_effect_ else observed
        (solution,) = self._solutions(
            features.matrix,
            strata,
            [self.reg_strength_],
            options,
            count_noise=total,
            observations=seen,
        )
        self._note_rounded(strata, observed, noise)
        self._keep(X, features, solution.result.coef)
        self.start_, self.solver_ = solution.start, solution.solver
        self.n_iter_, self.log_likelihood_ = solution.result.n_iter, solution.log_likelihood
        self._note_unconverged(solution.result)
        scores = self._training_scores(features, solution.result.coef)
        if observed is not None and (self._upper is not None or noise is not None):
            posterior = posterior_of(score_probabilities(scores), strata, observed).posterior
            self._set_prior(posterior.mean(axis=0))
        return scores

    def _note_rounded(self, strata: Strata, observed: Any, noise: Any) -> None:
        if strata.n_classes is not None:
            has_ranges = observed is not None and noise is None  # they contain whole counts
            rounded = "" if has_ranges else describe_rounded_classes(strata, noise)
        else:
            rounded = "" if observed is None else describe_impossible(strata, observed)
        if rounded:
            self._note(RoundedCountsWarning, rounded)

    def _set_prior(self, prior: Any) -> None:
        """Set the class shares, of which the observations contain only an estimate."""
        shares = np.clip(prior, SMALLEST_PRIOR, 1 - SMALLEST_PRIOR)
        self.score_prior_ = shares / shares.sum() if np.ndim(shares) else float(shares)
        self.decision_threshold_ = self._threshold(self.score_prior_)

    def _effect(
        self,
        matrix: Any,
        strata: Strata,
        reg_strength: float,
        options: dict[str, Any],
        count_noise: Any,
    ) -> float:
        """Return the bag effect: as given, or estimated in turns with the model at one λ."""
        if self.bag_effect != ESTIMATE:
            return float(self.bag_effect)
        columns = () if strata.n_classes is None else (strata.n_classes,)
        effect = FIRST_BAG_EFFECT
        for _ in range(BAG_EFFECT_ROUNDS):
            noise = with_bag_effect(strata, count_noise, effect)
            (solution,) = self._solutions(
                matrix, strata, [reg_strength], options, count_noise=noise
            )
            coef = solution.result.coef.reshape(-1, *columns)
            scores = matrix @ coef[: matrix.shape[1]]
            if self.fit_intercept:
                scores = scores + coef[-1]
            before, effect = effect, bag_effect_of_scores(scores, strata, count_noise)
            if abs(effect - before) < BAG_EFFECT_TOL:
                break
        return effect

    def _solutions(
        self,
        matrix: Any,
        strata: Strata,
        reg_strengths: Sequence[float],
        options: dict[str, Any],
        **observed: Any,
    ) -> list[CountSolution]:
        return fit_count_path(
            matrix,
            strata,
            reg_strengths,
            fit_intercept=self.fit_intercept,
            starts=self.starts,
            large_bags=self.large_bags,
            **observed,
            **options,
        )

    def _path(
        self, matrix: Any, strata: Strata, reg_strengths: Sequence[float], options: dict[str, Any]
    ) -> list[SolverResult]:
        middle = sorted(reg_strengths)[len(reg_strengths) // 2]
        effect = self._effect(matrix, strata, middle, options, self.count_noise)
        noise = with_bag_effect(strata, self.count_noise, effect)
        observed = None if effect else strata.observed
        solutions = self._solutions(
            matrix, strata, reg_strengths, options, count_noise=noise, observations=observed
        )
        return [solution.result for solution in solutions]
