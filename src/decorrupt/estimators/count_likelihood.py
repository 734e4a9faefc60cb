"""Maximum likelihood of the bags' counts of positives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.log_odds import LogOddsClassifier
from decorrupt.estimators.shared_features import SharedFeaturesClassifier
from decorrupt.exceptions import RoundedCountsWarning
from decorrupt.features import DEFAULT_RANK_TOL, FeatureMap
from decorrupt.risks.bag_counts import describe_rounded
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, SolverResult
from decorrupt.solvers.count_path import DEFAULT_STARTS, CountSolution, fit_count_path


class CountLikelihoodClassifier(SharedFeaturesClassifier, LogOddsClassifier):
    """min_f −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k) + λ‖f‖², P(Y_j=1) = σ(f(x_j)).

    The number of positives in a bag, c_k = p_k·n_k, is a sum of independent labels. Its
    distribution (Poisson-binomial) is computed exactly; the gradient of a row is its probability
    without the bag's count minus its probability given the count. With bags of one row this is
    logistic regression. Otherwise the objective is not convex: the solver starts from the mean map
    and from the intercept alone, and the solution with the lower objective is kept. With few bags
    and many columns every start can fit the training counts; then
    :class:`CountLikelihoodClassifierCV`, which chooses the start on held-out bags, is better. The
    likelihood uses all information in the counts, the mean map only the means of the bags. With
    few large bags the mean map can be the safer choice.

    Parameters
    ----------
    kernel, kernel_gamma, degree, coef0, rank_tol, max_rank, tol, max_iter, random_state
        As in :class:`CorrectedLossClassifier`.
    reg_strength : float, default=1e-3
        λ, at least 0.
    large_bags : "auto" or float, default="auto"
        Bags with more rows than this use a normal approximation of the count's distribution. It
        costs O(n_k) instead of O(n_k²); its error is at most 0.01 in a bag's log-likelihood and
        0.001 in a row's gradient. "auto" is 256; ``numpy.inf`` always uses the exact distribution.
        The bag's scores are first shifted so that the expected count equals c_k. If the variance
        is then small, where a normal approximation is inaccurate for any bag size, an exact sum is
        used instead.
    proportion_noise : float or mapping, default=0.0
        Standard deviation of the noise in the proportions (for example from a privacy mechanism),
        for all bags or by bag id. Bags with noise use the normal approximation, with n_k²·sd²
        added to the variance. Without noise p_k·n_k is rounded to a whole number. Ignored in a fit
        without bags: labels have no such noise.
    starts : sequence of {"mean_map", "intercept"}, default=("mean_map", "intercept")
        Where the solver starts: at the mean map with the same λ, or at the intercept alone,
        followed by a path from larger λ. The solution with the lower objective is kept.
    fit_intercept : bool, default=True
        Whether f has an unpenalised intercept.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "lbfgs"}, default="auto"
        L-BFGS; in a fit without bags "auto" may use Newton's method.

    Attributes
    ----------
    start_ : str
        The start that led to the solution.
    log_likelihood_ : float
        Σ_k log P(c_k) at the solution.
    score_prior_ : float
        The share of positives among the training rows, Σn_k·p_k/Σn_k.
    classes_, decision_threshold_, dual_coef_, landmarks_, coef_, intercept_, kernel_gamma_, \
n_iter_, solver_, n_features_in_, feature_names_in_
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

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        reg_strength: float = 1e-3,
        large_bags: float | str = "auto",
        proportion_noise: Any = 0.0,
        starts: Sequence[str] = DEFAULT_STARTS,
        fit_intercept: bool = True,
        decision: str = "balanced",
        solver: str = "auto",
        rank_tol: float = DEFAULT_RANK_TOL,
        max_rank: int | None = None,
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
        self.proportion_noise = proportion_noise
        self.starts = starts
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.rank_tol = rank_tol
        self.max_rank = max_rank
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _read_bags(self, X: Any, y: ArrayLike, bags: Any) -> tuple[Any, Strata]:
        self._has_noise = bags is not None  # labels have none
        return super()._read_bags(X, y, bags)

    def _fit_features(self, X: Any, features: FeatureMap, strata: Strata) -> FloatArray:
        noise = self.proportion_noise if self.__dict__.pop("_has_noise") else 0.0
        (solution,) = self._solutions(
            features.matrix, strata, [self.reg_strength], noise, self._solver_options()
        )
        if rounded := describe_rounded(strata, noise):
            self._note(RoundedCountsWarning, rounded)
        self._keep(X, features, solution.result.coef)
        self.start_, self.solver_ = solution.start, solution.solver
        self.n_iter_, self.log_likelihood_ = solution.result.n_iter, solution.log_likelihood
        self._note_unconverged(solution.result)
        rank = features.rank
        scores = features.matrix @ solution.result.coef[:rank]
        return scores + (solution.result.coef[-1] if self.fit_intercept else 0.0)

    def _solutions(
        self,
        matrix: Any,
        strata: Strata,
        reg_strengths: Sequence[float],
        noise: Any,
        options: dict[str, Any],
    ) -> list[CountSolution]:
        return fit_count_path(
            matrix,
            strata,
            reg_strengths,
            fit_intercept=self.fit_intercept,
            starts=self.starts,
            large_bags=self.large_bags,
            proportion_noise=noise,
            **options,
        )

    def _path(
        self, matrix: Any, strata: Strata, reg_strengths: Sequence[float], options: dict[str, Any]
    ) -> list[SolverResult]:
        noise = self.proportion_noise
        solutions = self._solutions(matrix, strata, reg_strengths, noise, options)
        return [solution.result for solution in solutions]
