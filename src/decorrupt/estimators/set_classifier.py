"""Set classification (Uᵐ): learn from the classification of rows into bags."""

from __future__ import annotations

from typing import Any

from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.observed import Observed
from decorrupt.risks import set_risk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem, prior_start


class SetClassifier(BagClassifier):
    """min_f −(1/n)·Σ_j log P(bag(j) | x_j) + λ‖f‖².

    With g = σ(f(x)) = P(Y=1|x) among the training rows, whose share of positives is γ̄,

        P(bag = k | x) = (n_k/n)·[ (p_k/γ̄)·g + ((1−p_k)/(1−γ̄))·(1−g) ],

    the set classification of Lu et al. (2021), *Binary classification from multiple unlabeled
    datasets via surrogate set classification*. It works with any number and size of bags and is
    bounded below. It assumes that bags differ only in their proportions: rows of one class have
    the same distribution in all bags. It is not convex unless every bag is pure; the solver starts
    from the score of the prior.

    Parameters
    ----------
    kernel, kernel_gamma, tol, max_iter, random_state, check_assumptions
        As in :class:`CorrectedLossClassifier`.
    reg_strength : float or "auto", default="auto"
        λ, at least 0. "auto" is s/(2·C·n), a Gaussian prior on the log-odds with the variance
        C = 3: n is the number of rows, s the mean of k(x, x), 1 for the rbf kernel.
    fit_intercept : bool, default=True
        Whether f has an unpenalised intercept.
    match_prior : bool, default=True
        Whether to shift the intercept after training so that the mean probability of the training
        rows equals their known share of positives. Without it the probabilities of a penalised
        fit are often far off: the penalty moves the scores to where the sigmoid is steepest.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "newton", "lbfgs", "gradient_descent"} or GradientDescent, default="auto"
        How the objective is minimised, as in :class:`CorrectedLossClassifier`.

    Attributes
    ----------
    class_prior_ : float
        γ̄, the share of positives among the training rows.
    classes_, decision_threshold_, dual_coef_, landmarks_, feature_coef_, frequencies_, \
frequency_centre_, projection_, coef_, intercept_, kernel_gamma_, reg_strength_, kernel_rank_, \
kernel_error_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.estimators.set_classifier import SetClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = SetClassifier(reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_classes = True

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        fit_intercept: bool = True,
        match_prior: bool = True,
        decision: str = "balanced",
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
        check_assumptions: bool = True,
    ) -> None:
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.fit_intercept = fit_intercept
        self.match_prior = match_prior
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.check_assumptions = check_assumptions

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of the rows' bags."""
        return Problem(
            set_risk(observed),
            prior_start(observed.class_prior),
            match_prior=observed.class_prior if self.match_prior else None,
        )
