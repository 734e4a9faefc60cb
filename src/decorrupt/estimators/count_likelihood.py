"""Maximum likelihood of the bags' counts of positives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.bags import BagFitMixin
from decorrupt.estimators.kernel_classifier import COUNT_PRIOR_VARIANCE, KernelClassifier
from decorrupt.exceptions import RoundedCountsWarning, warn
from decorrupt.losses import probabilities
from decorrupt.observed import Observed, describe_impossible
from decorrupt.risks import (
    bag_effect_of_scores,
    count_risk,
    with_bag_effect,
)
from decorrupt.solvers import Problem, Solution, count_start

# The share of positives is estimated from noisy counts or ranges; both classes exist.
SMALLEST_PRIOR = 1e-3
# The estimate of the bag effect starts here: from above, because a model that fits the counts
# exactly leaves nothing to a bag effect. It changes little after a few rounds.
FIRST_BAG_EFFECT = 0.1
BAG_EFFECT_ROUNDS = 5
BAG_EFFECT_TOL = 1e-3


@estimator
class CountLikelihoodClassifier(BagFitMixin, KernelClassifier):
    """Kernel classifier that makes the known count of every bag most likely.

    It minimises −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k) + λ‖f‖² with P(Y_j=1) = σ(f(x_j)). The number
    of positives in a bag, c_k = p_k·n_k, is a sum of independent labels. Its distribution
    (Poisson-binomial) is computed exactly; the gradient of a row is its probability without the
    bag's count minus its probability given the count. For several classes the counts of all classes
    are used, with softmax(f) and the penalty 2λ‖f‖².

    With bags of one row this is logistic regression. Otherwise the objective is not convex: the
    solver starts from the intercept alone at a large λ, and follows the solutions down to the
    requested one. The likelihood uses all information in the counts, the mean map only the means of
    the bags. With few large bags the mean map can be the safer choice.

    Parameters
    ----------
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

    Attributes
    ----------
    bag_effect_ : float
        The bag effect used; 0 in a fit without bags.
    log_likelihood_ : float
        Σ_k log P(c_k) at the solution; with ranges or noise, Σ_k log P(observation).
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows: Σn_k·p_k/Σn_k, or with `upper` or noise the mean
        of the posterior probabilities at the solution, with a bag effect that of the probabilities.

    See Also
    --------
    ProportionMatchingClassifier : Does not assume that labels are independent given the rows.
    MeanMapClassifier : Convex, and often safer with few large bags.
    EMClassifier : The same likelihood with any learner, for example a forest.
    AutoLabelProportionsClassifier : Compares configurations on held-out bags and averages them.

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

    large_bags: float | str = "auto"
    count_noise: Any = None
    bag_effect: float | str = 0.0

    needs_common_probabilities: ClassVar[bool] = True
    needs_exact_counts: ClassVar[bool] = False
    prior_variance: ClassVar[float] = COUNT_PRIOR_VARIANCE

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of the counts."""
        risk_of = partial(count_risk, large_bags=self.large_bags)
        start = partial(count_start, observed=observed, risk_of=risk_of)
        return Problem(risk_of(observed), rows_worth(observed), start)

    def completed(
        self, observed: Observed, matrix: Any, strength: Callable[[Problem], float]
    ) -> tuple[Observed, dict[str, Any]]:
        """Return the bags with the bag effect in the noise of their counts."""
        effect = self.effect_of(observed)
        if effect == "estimate":
            effect = self.estimate_effect(observed, matrix, strength(self.problem(observed)))
        attributes = {"bag_effect_": float(effect)}
        return with_bag_effect(observed, float(effect)) if effect else observed, attributes

    def effect_of(self, observed: Observed) -> float | str:
        """Return the bag effect, or "estimate"; 0 for labels.

        Raises
        ------
        ValueError
            If there is one and the counts have ranges.
        """
        # Labels are pure bags with exact counts.
        is_pure = bool((observed.proportions.max(axis=1) == 1).all())
        is_labelled = is_pure and not observed.is_inexact
        effect = 0.0 if is_labelled else self.bag_effect
        has_ranges = (
            observed.is_inexact and not (observed.counts.is_exact | observed.counts.is_noisy).all()
        )
        if effect and has_ranges:
            raise ValueError(f"bag_effect={self.bag_effect!r} cannot be combined with upper=")
        return effect

    def estimate_effect(self, observed: Observed, matrix: Any, reg_strength: float) -> float:
        """Return the bag effect estimated in turns with the model at one λ."""
        effect = FIRST_BAG_EFFECT
        for _ in range(BAG_EFFECT_ROUNDS):
            problem = self.problem(with_bag_effect(observed, effect))
            (solution,) = self.solutions(problem, matrix, observed, [reg_strength])
            before, effect = effect, bag_effect_of_scores(solution.scores, observed)
            if abs(effect - before) < BAG_EFFECT_TOL:
                break
        return effect

    def _describe(self, observed: Observed, problem: Problem, solution: Solution) -> None:  # noqa: ARG002
        shares = None
        if self.bag_effect_:  # the share that rows alone explain: that of these bags has effects
            shares = observed.mean(probabilities(solution.scores))
        elif observed.is_inexact:
            shares = observed.mean(count_risk(observed).posterior(solution.scores))
        self.describe_counts(observed, solution.risk_value, shares)

    def describe_counts(
        self, observed: Observed, risk_value: float, shares: FloatArray | None
    ) -> None:
        """Set the likelihood; warn of bags without a whole number of rows.

        Parameters
        ----------
        observed : Observed
            The bags.
        risk_value : float
            The risk at the solution, without the penalty.
        shares : ndarray of shape (n_classes,) or None
            The class prior, if it is not the class shares of the bags: their counts are inexact or
            contain effects of the bags.
        """
        self.log_likelihood_ = -risk_value * observed.n_rows
        if shares is not None:
            clipped = np.clip(shares, SMALLEST_PRIOR, 1 - SMALLEST_PRIOR)
            self.set_class_prior(np.asarray(clipped / clipped.sum()))
        rounded = describe_impossible(observed)
        if rounded:
            warn(rounded, RoundedCountsWarning)


def rows_worth(observed: Observed) -> float:
    """Return Σ_k n_k·V_k/(V_k + noise variance), V_k = n_k·p(1 − p): what noisy counts are worth.

    The noise reduces the information of a count about the log-odds by this factor; p is the pooled
    share, of several classes the mean of p_c(1 − p_c) is used. Without noise it is the number of
    rows. A bag effect is noise of variance n_k²·bag_effect².
    """
    shares, sizes = observed.inner_prior, observed.sizes
    variance = sizes * float(np.mean(shares * (1 - shares)))
    return float(np.sum(sizes * variance / (variance + observed.counts.noise_variance)))
