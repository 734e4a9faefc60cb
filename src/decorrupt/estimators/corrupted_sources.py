"""The corrected-loss classifier for labelled sources with known noise rates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    COMBINATION_METHODS,
    backward_coefficients,
    combine_bags,
    row_coefficients,
    source_weights,
)
from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.corrected_loss import CorrectedRiskClassifier
from decorrupt.estimators.parameters import check_choice
from decorrupt.estimators.sources import SourceFitMixin
from decorrupt.exceptions import warn
from decorrupt.losses import get_loss
from decorrupt.observed import BALANCED, Observed, resolve_class_prior

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


@estimator
class CorruptedSourcesClassifier(SourceFitMixin, CorrectedRiskClassifier):
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
    combine : {"sources", "exact_sources", "size_sources", "uniform_sources", "superbag", \
    "pairs", "least_squares"}, default="sources"
        "sources" corrects each source separately and adds the results with the optimal weights of
        the paper. "exact_sources", "size_sources" and "uniform_sources" do so with other weights,
        see :func:`decorrupt.corruption.source_weights`; "exact_sources" needs `source_priors`.

        The other values treat each source's positively and negatively labelled rows as two bags
        with known proportions, see :func:`decorrupt.corruption.combine_bags`; without
        `source_priors` one common prior is estimated from the shares of noisy labels. For several
        classes: "least_squares", or one of those that correct each source.
    class_prior : float in (0, 1), vector, "pooled" or None, default=None
        The share of positives (of each class) in the target population of the risk. None: the share
        in P if each source is corrected separately and `source_priors` is None, else ½ (the
        balanced risk, all classes equally frequent). "pooled": the share among all training rows,
        computed from rates and priors.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the target population,
        see `class_prior`.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots, and of estimated noise rates.

    Attributes
    ----------
    source_weights_ : dict or None
        {source: w_i} if each source is corrected separately, else None.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares in the target population of the risk.

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
    >>> model = CorruptedSourcesClassifier(reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, noisy, sources=sources, noise_rates=rates)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    combine: str = "sources"
    class_prior: Any = None

    class_combinations: ClassVar[tuple[str, ...]] = (*SOURCE_WEIGHTS, "least_squares")

    @property
    def has_log_odds(self) -> bool:
        """Whether the scores are log-odds: those of the logistic loss."""
        return get_loss(self.loss).name == "logistic"

    def coefficients(self, observed: Observed) -> FloatArray:
        """Return the coefficient of every row and class."""
        if self.combine in SOURCE_WEIGHTS:
            return self._by_source(observed)
        strata = observed.strata
        coef = combine_bags(
            strata.sizes,
            strata.proportions,
            method=self.combine,
            class_prior=self.class_prior_of(observed),
        )
        return row_coefficients(coef, strata)

    def _by_source(self, observed: Observed) -> FloatArray:
        """Return (w_s/n_s)·T_s⁻¹[ỹ, y]·π(y)/π_s(y), one column per class y."""
        sources = observed.only_sources()
        row_source = sources.row_source
        coef = backward_coefficients(sources.matrices, row_source, sources.noisy_class)
        # Costs change each source's prior to the target prior; they are 1 if the two are equal.
        costs = (self.class_prior_of(observed) / observed.source_priors)[row_source]
        by_row = (self._weights_of(observed) / observed.source_sizes)[row_source]
        if observed.weights is not None:
            by_row = by_row * observed.weights
        return np.asarray(by_row[:, None] * coef * costs)

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
            warn(
                "most rows are a source of their own, and their noise_rates differ. If the rates "
                f"depend on the features, so do the weights of combine={self.combine!r}, which "
                "bias the risk: set combine='uniform_sources'",
                UserWarning,
            )

    def class_prior_of(self, observed: Observed) -> FloatArray:
        """Return the class shares in the target population of the risk."""
        class_prior = self.class_prior
        if class_prior is None:
            is_known = observed.only_sources().given_priors is not None
            is_balanced = is_known or self.combine not in SOURCE_WEIGHTS
            class_prior = BALANCED if is_balanced else "pooled"
        return resolve_class_prior(class_prior, observed.class_prior)

    def described_bags(self, observed: Observed) -> Observed:
        """Return the rows of each source and noisy label as bags."""
        return observed.strata


def _have_rates_per_row(observed: Observed) -> bool:
    """Return whether most rows are the only row of their source, with different matrices."""
    sources = observed.only_sources()
    is_single = np.bincount(sources.row_source) == 1
    if 2 * is_single.sum() <= len(sources.row_source):
        return False
    return bool(np.ptp(sources.matrices[is_single], axis=0).any())
