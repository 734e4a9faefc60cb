"""Automatic choice for bags: the average of the best methods, kernels and λ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from decorrupt.assumptions import AssumptionReport, check_observed_assumptions
from decorrupt.estimators import BagFitMixin, check_parameters, estimator, validated_rows
from decorrupt.model_selection.allowed import allowed_methods, counting_methods
from decorrupt.model_selection.averaging_search import AveragingSearch
from decorrupt.model_selection.baselines import (
    CONSTANT,
    GROUP_RATE,
    constant_result,
    group_rate_accuracy,
)
from decorrupt.model_selection.candidates import Candidate, resolve_candidates
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import folds_of_used, usable_folds
from decorrupt.model_selection.scorers import BagScorer, get_bag_scorer
from decorrupt.observed import Observed, as_observed
from decorrupt.risks import count_risk

DEFAULT_KERNELS = ("linear", "rbf", "pca_rbf", "pca8_rbf", "knn", "pca_knn")
# Seed of the tests of assumptions: the same data always get the same methods.
ASSUMPTIONS_SEED = 0


@estimator
class AutoLabelProportionsClassifier(BagFitMixin, AveragingSearch):
    """The automatic choice for bags: an average of what explains held-out bags best.

    P(Y=c|x) = Σ_k weight_k·P_k(Y=c|x), averaged over methods, kernels and λ, without labels.

    Every configuration is fitted on folds of bags. Its weight is the probability that it explains
    the counts of held-out bags best, under a Bayesian bootstrap over bags. The heaviest, at most 8,
    are refitted on all rows and averaged. Configurations share kernel features and λ paths.

    Parameters
    ----------
    candidates : list or None, default=None
        Method names, estimators, (name, estimator) pairs and (name, estimator, grid) triples; None:
        count likelihood and mean map. For several classes every candidate needs `predict_proba`.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`, fewer if there are fewer bags.
    scoring : str or BagScorer, default="count_log_likelihood"
        The criterion: "count_log_likelihood", or with ``ensemble="best"`` also
        "corrected_accuracy", "corrected_risk" or "proportion_risk". It is computed from the
        predictions for all held-out rows together.
    kernels : sequence of str, callable or Kernel, or None
        Kernels to try in every method given by name; your own estimators keep their kernel. None:
        linear, rbf, and kernels on principal components and nearest rows, which are different views
        of the same rows.
    check_assumptions : bool, default=True
        Whether to test what the bags satisfy and to compare only methods whose assumptions are not
        rejected, see :func:`decorrupt.check_assumptions`. If P(y|x) differs between bags, count
        likelihood gets a bag effect; if the rows of a class differ as well, it is the only method.
        Ranges and noisy counts are not tested.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float or None, default=None
        Noise in the counts of all bags, see :func:`label_posterior`. With it, or with ranges, only
        methods that model the counts are compared: count likelihood, and "em" if it is
        listed.

    Attributes
    ----------
    best_estimator_ : estimator
        The final model: an :class:`AveragedClassifier`, or the only configuration with weight.
        Scores that are not log-odds are calibrated on the counts of held-out bags.
    held_out_gain_ : float
        Log-likelihood of the held-out counts under the average minus that under the class shares
        alone.
    assumptions_ : AssumptionReport or None
        The tests of the assumptions; None without bags or with `check_assumptions=False`.
    class_prior_ : ndarray of shape (n_classes,)
        The share of each class among the training rows; for ranges and noisy
        counts an estimate of maximum likelihood.
    leaderboard_ : Leaderboard
        Method and kernel with its best λ, weight, score ± standard error and time. ``print`` it,
        iterate over its rows, or convert it with ``to_frame()``.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Notes
    -----
    With 2,048 rows or more, all configurations are compared on a sample of bags, those with a
    noticeable weight on a sample of 4 times the size, and so on; the last ones on all bags.

    `fit` also warns with WeakEvidenceWarning if the interval of the estimated accuracy contains
    that of guessing, and with SkippedFoldWarning as :class:`BagGridSearchCV` does.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman (2018), Using stacking to average Bayesian predictive
    distributions, Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import AutoLabelProportionsClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 320)
    >>> X = rng.normal(size=(320, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(320) // 8
    >>> y = np.bincount(bags, labels)[bags] / 8
    >>> model = AutoLabelProportionsClassifier(random_state=0).fit(X, y, bags=bags)
    >>> bool(model.score(X, labels) > 0.88)
    True
    """

    default_kernels: ClassVar[tuple[str, ...]] = DEFAULT_KERNELS
    needs_exact_counts: ClassVar[bool] = False

    scoring: Any = "count_log_likelihood"
    check_assumptions: bool = True
    count_noise: Any = None

    def _fit(self, X: Any, y: Any, *, bags: Any, upper: Any, **known: Any) -> Self:
        scorer = get_bag_scorer(self.scoring)
        self._check_parameters(scorer)
        if bags is None and not isinstance(y, Observed):
            for name, value in (("upper", upper), ("count_noise", self.count_noise)):
                if value is not None:
                    raise ValueError(f"{name} is about the counts of bags: pass bags=")
        observed = as_observed(y, bags=bags, upper=upper, **known)
        cv = folds_of_used(self.cv, observed.used_rows)
        X, observed = observed.used(X)
        data = self._read(X, observed, cv, scorer)
        self.classes_ = observed.classes
        self.class_prior_ = (
            count_risk(observed).class_prior if observed.is_inexact else observed.inner_prior
        )
        in_bags = observed.n_bags < len(observed.row_bag) or bags is not None
        self.assumptions_: AssumptionReport | None = None
        if self.check_assumptions and in_bags and not observed.is_inexact:
            names = getattr(self, "feature_names_in_", None)
            self.assumptions_ = check_observed_assumptions(
                data.X, observed, names, random_state=ASSUMPTIONS_SEED
            )
        candidates = resolve_candidates(self.candidates)
        if observed.is_inexact:
            allowed = counting_methods(candidates)
        else:
            allowed = allowed_methods(candidates, self.assumptions_, scorer)
        scorer = self._with_bag_effect(scorer)
        self._search(
            X,
            data,
            [self._prepared(candidate) for candidate in allowed.candidates],
            scorer,
            baselines=self._baselines(data, scorer),
            notes=allowed.notes,
        )
        return self

    def _read(self, X: Any, observed: Observed, cv: Any, scorer: BagScorer) -> FoldedData:
        """Validate rows and make the folds."""
        rows = validated_rows(self, X)
        if isinstance(cv, int | np.integer):
            cv = min(cv, max(observed.n_bags, 2))
        folds = usable_folds(cv, rows, observed, needs_spread=scorer.needs_spread)
        return FoldedData(rows, observed, folds)

    def _check_parameters(self, scorer: BagScorer) -> None:
        self._check_search()
        if self.ensemble == "average" and not scorer.takes_scores:
            raise ValueError(
                f"ensemble='average' weights configurations by the likelihood of held-out counts, "
                f"not by scoring={self.scoring!r}: set ensemble='best' with it"
            )
        if isinstance(self.count_noise, Mapping):
            raise ValueError(
                "count_noise of a search is the same for all bags; noise by bag is a parameter of "
                "CountLikelihoodClassifier and EMClassifier"
            )

    def _with_bag_effect(self, scorer: BagScorer) -> BagScorer:
        """Return the scorer with the estimated bag effect, if there is one and counts are used."""
        report = self.assumptions_
        if report is None or not report.common_probabilities_rejected or scorer.options:
            return scorer
        if not scorer.takes_scores:
            return scorer
        return BagScorer(scorer.name, bag_effect=report.bag_effect)

    @staticmethod
    def _baselines(data: FoldedData, scorer: BagScorer) -> list[dict[str, Any]]:
        constant = constant_result(data, scorer)
        own = group_rate_accuracy(data.observed)
        return [
            {"method": CONSTANT, "score": constant.score, "std_error": constant.std_error},
            {"method": GROUP_RATE, "balanced_accuracy": own},
        ]

    def _prepared(self, candidate: Candidate) -> Candidate:
        estimator = clone(candidate.estimator)
        params = estimator.get_params(deep=False)
        if params.get("count_noise") is not None:
            raise ValueError("count_noise of a candidate is not used: it belongs to the search")
        shared = {"random_state": self.random_state, "decision": self.decision}
        estimator.set_params(**{name: shared[name] for name in shared if name in params})
        check_parameters(estimator)  # before the search, which would fail later with other words
        return replace(candidate, estimator=estimator)
