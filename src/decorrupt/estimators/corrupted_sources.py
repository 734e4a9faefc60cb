"""The corrected-loss classifier for labelled sources with known noise rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    COMBINATION_METHODS,
    backward_coefficients,
    combine_bags,
    row_coefficients,
    source_weights,
)
from decorrupt.estimators.corrected_risk import CorrectedRiskClassifier
from decorrupt.estimators.parameters import check_choice
from decorrupt.estimators.source_classifier import SourceClassifier
from decorrupt.losses import get_loss
from decorrupt.observed import BALANCED, Observed, resolve_class_prior
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem

# Values of `combine` that correct each source by itself, and how they weight the sources.
SOURCE_WEIGHTS = {
    "sources": "optimal",
    "exact_sources": "exact",
    "size_sources": "size",
    "uniform_sources": "uniform",
}
# Their weights do not depend on the rates.
WITHOUT_RATES = ("size_sources", "uniform_sources")
COMBINATIONS = (*SOURCE_WEIGHTS, *COMBINATION_METHODS)


class CorruptedSourcesClassifier(CorrectedRiskClassifier, SourceClassifier):
    """Kernel classifier for wrong labels of several sources, with a loss corrected for the errors.

    It minimises Σ_i (w_i/n_i)·Σ_j ℓ^ρ_i(f(x_ij), ỹ_ij) + λ‖f‖² over sources i and their rows j. ℓ^ρ
    is the loss corrected for the source's flip rates (Natarajan et al. 2018), w the weights of
    Scott & Zhang (2019). For several classes ℓ^ρ(f, ỹ) = Σ_y T⁻¹[ỹ, y]·ℓ_y(f) with softmax
    cross-entropy ℓ_y, the backward correction of Patrini et al. (2017), w_i ∝ 1/c_i² with c_i =
    max_ỹ Σ_y |T_i⁻¹[ỹ, y]|/√n_i, and the penalty 2λ‖f‖². The target risk depends on the given
    parameters:

    - without `source_priors`: all sources are corruptions of one distribution P, and the target is
      the risk under P (Sec. 2.2). One source is Natarajan's setting; without sources and rates the
      model is an ordinary classifier.
    - with `source_priors`: the sources share only their class-conditional distributions, and the
      target is the balanced risk, or the risk at `class_prior` (Sec. 2.3).
    - with a source per row, ``sources=np.arange(n_rows)``, the noise can depend on the features
      (Remark 2). Then only combine="uniform_sources" is unbiased, because other weights would
      depend on the features; `fit` warns.

    Parameters
    ----------
    noise_rates : mapping, data frame, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, a data frame with the columns source (or indexed by source),
        flip_pos and flip_neg, one pair for all rows, or None for clean labels. "estimate" calls
        :func:`decorrupt.estimate_noise_rates`; its assumptions must hold. flip_pos is the share of
        true positives labelled negative, flip_neg the share of true negatives labelled positive.
        Several classes have matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs: {source:
        T}, or one T for all rows, with rows and columns in the sorted order of the classes in y.
        Two classes can be given either way. Rates passed to `fit` take precedence.
    source_priors : mapping, float, vector or None, default=None
        P(Y=1) by source, or one value for all sources; for several classes the share of each class.
        None: all sources have the same prior, estimated from the shares of noisy labels.
    combine : {"sources", "exact_sources", "size_sources", "uniform_sources", "superbag", \
    "pairs", "least_squares"}, default="sources"
        "sources" corrects each source separately and adds the results with the optimal weights of
        the paper. "exact_sources", "size_sources" and "uniform_sources" do so with other weights,
        see :func:`decorrupt.corruption.source_weights`; "exact_sources" needs `source_priors`.

        The other values treat each source's positively and negatively labelled rows as two bags
        with known proportions, see :func:`decorrupt.corruption.combine_bags`; without
        `source_priors` one common prior is estimated from the shares of noisy labels. For several
        classes: "least_squares", or one of those that correct each source.
    loss : str, default="logistic"
        One of `decorrupt.losses.LOSSES`: logistic, squared, huber, sigmoid. Several
        classes need "logistic", which is softmax cross-entropy.
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
        λ; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian prior on f(x)
        with the variance C = 3: n is the effective sample size (see `diagnostics_`), s the mean of
        k(x, x), 1 for the rbf kernel. Twice the smallest λ with a minimum, if that is larger
        (loss="squared" only).
    class_prior : float in (0, 1), vector, "pooled" or None, default=None
        The share of positives (of each class) in the target population of the risk. None: the share
        in P if each source is corrected separately and `source_priors` is None, else ½ (the
        balanced risk, all classes equally frequent). "pooled": the share among all training rows,
        computed from rates and priors.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the target population,
        see `class_prior`.
    risk_correction : {None, "abs", "relu"}, default=None
        How the sums of the classes are kept from being negative.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score. The paper's method has no intercept,
        and `diagnostics_` has a generalisation bound only without it.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        How the objective is minimised. "auto" is Newton's method for few coefficients and rows, and
        L-BFGS otherwise. Several classes need "auto" or "lbfgs".
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots, and of estimated noise rates.

    Attributes
    ----------
    noise_rates_ : dict
        {source: (flip_pos, flip_neg)}, or {source: T} for several classes, the rates used.
    noise_rate_intervals_ : dict or None
        {source: {"flip_pos": (0, high), "flip_neg": (0, high)}}, if rates were estimated; empty
        for several classes.
    source_priors_ : dict
        {source: P(Y=1)}, or {source: share of each class}, given or estimated.
    source_weights_ : dict or None
        {source: w_i} if each source is corrected separately, else None.
    diagnostics_ : Diagnostics
        Effective sample size, training risk and convexity.
    classes_ : ndarray of shape (n_classes,)
        The labels in sorted order. Of two classes the second is the positive class.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares in the target population of the risk.
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
    ForwardSourcesClassifier : Maximum likelihood of the noisy labels; bounded below, but it assumes
        that the model can represent P(Y=1|x).
    CostWeightedSourcesClassifier : Any learner with weights for noisy labels.
    AutoSourcesClassifier : Compares the methods for sources on held-out rows and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CorruptedSourcesClassifier
    >>> from decorrupt.corruption import corrupt_labels
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = labels.copy()
    >>> for source, pair in rates.items():
    ...     rows = sources == source
    ...     noisy[rows] = corrupt_labels(labels[rows], pair, random_state=0)
    >>> model = CorruptedSourcesClassifier(noise_rates=rates, reg_strength=0.01, random_state=0)
    >>> bool(model.fit(X, noisy, sources=sources).score(X, labels) > 0.85)
    True
    """

    class_combinations = (*SOURCE_WEIGHTS, "least_squares")

    def __init__(
        self,
        *,
        noise_rates: Any = None,
        source_priors: Any = None,
        combine: str = "sources",
        loss: Any = "logistic",
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        class_prior: float | str | None = None,
        decision: str = "balanced",
        risk_correction: str | None = None,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.noise_rates = noise_rates
        self.source_priors = source_priors
        self.combine = combine
        self.loss = loss
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.class_prior = class_prior
        self.decision = decision
        self.risk_correction = risk_correction
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def has_log_odds(self) -> bool:
        """Whether the scores are log-odds: those of the logistic loss."""
        return get_loss(self.loss).name == "logistic"

    def problem(self, observed: Observed) -> Problem:
        """Return the corrected risk of the noisy labels."""
        return self.corrected_problem(self.coefficients(observed), observed.weights)

    def coefficients(self, observed: Observed) -> FloatArray:
        """Return the coefficient of every row and class."""
        if self.combine in SOURCE_WEIGHTS:
            return self._by_source(observed)
        coef = combine_bags(
            observed.strata.sizes,
            observed.strata.proportions,
            method=self.combine,
            class_prior=self._target(observed),
        )
        return row_coefficients(coef, observed.strata)

    def _by_source(self, observed: Observed) -> FloatArray:
        """Return (w_s/n_s)·T_s⁻¹[ỹ, y]·π(y)/π_s(y), one column per class y."""
        sources = observed.only_sources()
        row_source = sources.row_source
        coef = backward_coefficients(sources.matrices, row_source, sources.noisy_class)
        # Costs change each source's prior to the target prior; they are 1 if the two are equal.
        costs = (self._target(observed) / observed.source_priors)[row_source]
        return np.asarray(self._row_weights(observed)[:, None] * coef * costs)

    def _row_weights(self, observed: Observed) -> FloatArray:
        """Return w_s/n_s for each row, times how many rows it represents."""
        by_source = self._weights_of(observed) / observed.source_sizes
        by_row = by_source[observed.only_sources().row_source]
        return np.asarray(by_row if observed.weights is None else by_row * observed.weights)

    def _weights_of(self, observed: Observed) -> FloatArray:
        """Return w_s."""
        scheme, sources = SOURCE_WEIGHTS[self.combine], observed.only_sources()
        if scheme == "exact" and sources.given_priors is None:
            raise ValueError(
                "combine='exact_sources' needs source_priors: its weights depend on the class "
                "shares per source"
            )
        return source_weights(
            observed.source_sizes,
            sources.matrices,
            source_priors=sources.given_priors,
            scheme=scheme,
        )

    def keep_sources(self, observed: Observed) -> None:
        """Set what is known about the sources, and their weights."""
        check_choice("combine", self.combine, COMBINATIONS)
        super().keep_sources(observed)
        self.source_weights_: dict[Any, float] | None = None
        if self.combine in SOURCE_WEIGHTS:
            self.source_weights_ = observed.only_sources().by_source(self._weights_of(observed))
        if self.combine not in WITHOUT_RATES and _have_rates_per_row(observed):
            self._note(
                UserWarning,
                "most rows are a source of their own, and their noise_rates differ. If the rates "
                f"depend on the features, so do the weights of combine={self.combine!r}, which "
                "bias the risk: set combine='uniform_sources'",
            )

    def class_prior_of(self, observed: Observed) -> FloatArray:
        """Return the class shares in the target population of the risk."""
        return self._target(observed)

    def described_bags(self, observed: Observed) -> Observed:
        """Return the rows of each source and noisy label as bags."""
        return observed.strata

    def _target(self, observed: Observed) -> FloatArray:
        class_prior = self.class_prior
        if class_prior is None:
            is_common_source = (
                self.combine in SOURCE_WEIGHTS and observed.only_sources().given_priors is None
            )
            class_prior = "pooled" if is_common_source else BALANCED
        return resolve_class_prior(class_prior, observed.class_prior)


def _have_rates_per_row(observed: Observed) -> bool:
    """Return whether most rows are the only row of their source, with different matrices."""
    sources = observed.only_sources()
    is_single = np.bincount(sources.row_source) == 1
    if 2 * is_single.sum() <= len(sources.row_source):
        return False
    return bool(np.ptp(sources.matrices[is_single], axis=0).any())
