"""The weighted mean of several classifiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from decorrupt._typing import FloatArray
from decorrupt.estimators import ScoreClassifier, validated_rows
from decorrupt.exceptions import UnscaledColumnsWarning, quiet, warn_again
from decorrupt.features import FeatureMap
from decorrupt.losses import chosen_classes, mix_scores, unclipped_scores
from decorrupt.model_selection.candidates import has_path
from decorrupt.model_selection.folded_data import train_on
from decorrupt.observed import Observed, as_observed, resolve_class_prior
from decorrupt.progress import track


class AveragedClassifier(ScoreClassifier):
    """The weighted mean of the probabilities of several classifiers.

    P(Y=c|x) = Σ_k weight_k·P_k(Y=c|x).

    :class:`AutoLabelProportionsClassifier` and :class:`AutoSourcesClassifier` make it from their
    best configurations. Members with the same kernel share its features during the fit.

    Parameters
    ----------
    estimators : list of estimators
        Classifiers for bags, or for sources, with `predict_proba(X, class_prior=…)`; `fit` fits
        clones.
    weights : sequence of float
        Positive weights; they are divided by their sum.
    class_prior : float or ndarray of shape (n_classes,)
        The share of positives, or the class shares, at which probabilities are averaged.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in that population.
    n_jobs : int or None
        Members fitted in parallel.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    weights_ : ndarray of shape (n_estimators,)
        The weights, with the sum 1.
    classes_, class_prior_, decision_threshold_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CountLikelihoodClassifier
    >>> from decorrupt.model_selection import AveragedClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 300)                  # not used in training
    >>> X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(300) // 6
    >>> y = np.bincount(bags, labels)[bags] / 6
    >>> members = [CountLikelihoodClassifier(kernel=kernel) for kernel in ("linear", "rbf")]
    >>> model = AveragedClassifier(members, [0.5, 0.5], class_prior=y.mean()).fit(X, y, bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "bags": True,
        "upper": True,
        "sources": True,
        "noise_rates": True,
        "sample_weight": True,
    }

    def __init__(
        self,
        estimators: Sequence[Any],
        weights: Sequence[float],
        *,
        class_prior: Any = 0.5,
        decision: str = "balanced",
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.class_prior = class_prior
        self.decision = decision
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit every member on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            Proportions, class shares or labels, as in the `fit` of the members.
        **fit_params
            Other arguments of their `fit`: `bags` and `upper`, or `sources` and `noise_rates`, and
            `sample_weight`.
        """
        noise = getattr(self.estimators[0], "count_noise", None)
        X, observed = as_observed(y, **fit_params, count_noise=noise).used(X)
        return self.fit_observed(X, observed)

    def fit_observed(
        self, X: Any, observed: Observed, *, maps: Mapping[Any, FeatureMap] | None = None
    ) -> Self:
        """Fit every member on rows of which it is known what is observed.

        `maps` are features of the rows that are computed already, see :class:`FoldedData`.
        Of the members' warnings, only UnscaledColumnsWarning is emitted; held-out bags set their
        weights. The average itself can predict a single class.
        """
        self.weights_ = self._resolved_weights()
        X = self._read_rows(X, reset=True)
        by_features: dict[Any, list[Any]] = {}
        members = [clone(estimator) for estimator in self.estimators]
        for place, member in enumerate(members):
            key = member.feature_key() if has_path(member) else place
            by_features.setdefault(key, []).append(member)
        fits = self._fit_members(by_features, X, observed, maps or {})
        with quiet() as recorded:
            for _ in track(fits, "fitting the average", len(members)):
                pass
        warn_again(recorded, UnscaledColumnsWarning)
        self.estimators_ = members
        self.classes_ = observed.classes
        self.set_class_prior(resolve_class_prior(self.class_prior, observed.inner_prior))
        chosen = chosen_classes(self._score(X) - self.decision_threshold_)
        self.warn_if_one_class(chosen, X.shape[0])
        return self

    def _resolved_weights(self) -> FloatArray:
        weights = np.asarray(self.weights, dtype=float)
        if len(weights) != len(self.estimators) or not (weights > 0).all():
            raise ValueError(
                f"weights={self.weights!r} must be {len(self.estimators)} positive numbers, one "
                "per estimator"
            )
        return np.asarray(weights / weights.sum())

    def _fit_members(
        self,
        by_features: Mapping[Any, list[Any]],
        X: Any,
        observed: Observed,
        maps: Mapping[Any, FeatureMap],
    ) -> Iterator[Any]:
        """Fit groups of members with equal features; yield each member."""
        for key, members in by_features.items():
            features = maps.get(key)
            if features is None and has_path(members[0]):
                features = members[0].fit_feature_map(X, observed.weights)
            # In this process: the members are fitted in place.
            yield from Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
                delayed(train_on)(member, X, observed, features=features) for member in members
            )

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        return validated_rows(self, X, reset=reset)

    def _score(self, X: Any) -> FloatArray:
        scores = [
            unclipped_scores(member.predict_proba(X, class_prior=self.class_prior_))
            for member in self.estimators_
        ]
        return mix_scores(scores, self.weights_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
