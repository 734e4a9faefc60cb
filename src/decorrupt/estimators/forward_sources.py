"""Forward correction: maximum likelihood of noisy labels from sources with known rates."""

from __future__ import annotations

from typing import Any

from decorrupt.estimators.source_classifier import SourceClassifier, sources_of
from decorrupt.observed import Observed
from decorrupt.risks import noisy_label_risk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem, prior_start


class ForwardSourcesClassifier(SourceClassifier):
    """min_f −(1/n)·Σ_j log P_i(ỹ_j | x_j) + λ‖f‖², over rows j of all sources i.

    σ(f) is P(Y=1|x) among the training rows of all sources together; for several classes
    softmax(f)_c is P(Y=c|x). The class prior π_i of a source gives
    P_i(y|x) ∝ P(y|x)·π_i(y)/π(y), and its flip rates T_i give
    P_i(ỹ|x) = Σ_y T_i(y, ỹ)·P_i(y|x). The objective is bounded below and weights the sources by
    their information; there are no weights to choose. It assumes that the model can represent
    P(Y=1|x); the corrected loss of :class:`CorruptedSourcesClassifier` is unbiased without this
    assumption. It is not convex; the solver starts from the score of the prior. With one source
    and without priors it is the forward correction of Patrini et al. (2017).

    Parameters
    ----------
    noise_rates : mapping, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, one pair for all rows, or None for clean labels; for
        several classes matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs. As in
        :class:`CorruptedSourcesClassifier`. Rates passed to `fit` take precedence.
    source_priors : mapping, float, vector or None, default=None
        P(Y=1) by source, or one value for all sources; for several classes the share of each
        class. None: all sources are samples of one population, and its prior is estimated from the
        shares of noisy labels; it is used for the balanced decision only.
    kernel, kernel_gamma, tol, max_iter, random_state
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
    noise_rates_, noise_rate_intervals_, source_priors_
        As in :class:`CorruptedSourcesClassifier`.
    class_prior_ : ndarray of shape (n_classes,)
        The share of positives, or of each class, among the training rows, computed from the priors.
    classes_, decision_threshold_, dual_coef_, landmarks_, feature_coef_, frequencies_, \
frequency_centre_, projection_, coef_, intercept_, kernel_gamma_, reg_strength_, kernel_rank_, \
kernel_error_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import corrupt_labels
    >>> from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    >>> model = ForwardSourcesClassifier(noise_rates=rates, reg_strength=0.01, random_state=0)
    >>> bool(model.fit(X, noisy, sources=sources).score(X, labels) > 0.85)
    True
    """

    def __init__(
        self,
        *,
        noise_rates: Any = None,
        source_priors: Any = None,
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
    ) -> None:
        self.noise_rates = noise_rates
        self.source_priors = source_priors
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

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of the noisy labels."""
        noisy = sources_of(observed)
        return Problem(
            noisy_label_risk(noisy, noisy.class_prior),
            prior_start(noisy.class_prior),
            match_prior=noisy.class_prior if self.match_prior else None,
        )
