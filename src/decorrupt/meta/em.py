"""EM with any scikit-learn estimator on bags, noisy sources, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed

from decorrupt._typing import FloatArray
from decorrupt.estimators import check_value, estimator
from decorrupt.losses import chosen_classes, prior_scores, score_shape
from decorrupt.meta.observed_classifier import Fold, ObservedClassifier, bag_folds, seed
from decorrupt.meta.soft_labels import check_learner, fit_soft_labels, soft_scores
from decorrupt.meta.start import check_numbers, fit_columns, fit_start, make_columns
from decorrupt.progress import progress, track
from decorrupt.risks import CountRisk
from decorrupt.solvers import fit_slope_and_shift


@estimator
class EMClassifier(MetaEstimatorMixin, ObservedClassifier):
    """Any scikit-learn classifier or regressor, trained on bags or noisy labels.

    One round of expectation maximisation: E computes w_j = P(Y_j=1 | observation, held-out score),
    M fits the learner to the soft labels w. What is observed about labels (counts of bags, ranges,
    noisy counts, noisy labels of sources) turns probabilities into posteriors, see
    :func:`label_posterior`; so every scikit-learn classifier with `sample_weight` and
    `predict_proba`, and every regressor, can learn from bags. The posteriors are computed at the
    held-out scores of the start, with folds of whole bags: the scores of a model for its own
    training rows reproduce the posteriors it was trained on, and nothing would be learned. The
    start is a linear or an rbf model of maximum likelihood (scaled columns, missing numbers
    replaced by the median, categories as indicators); kernel and λ are chosen on the folds. The
    learner's held-out log-odds are calibrated with a slope and a shift of maximum likelihood, and
    averaged with those of the start. More rounds did not help in our experiments.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A classifier with `sample_weight` and `predict_proba` (rows are repeated once per class,
        weighted by the posterior), a regressor (fitted to the posteriors), or a pipeline that ends
        with one. None: a random forest regressor with 100 trees and at least 3 rows per leaf.
    cv : int, default=5
        Number of folds of whole bags; fewer if there are fewer bags.
    blend : float in [0, 1], default=0.5
        The share of the learner in the final log-odds; the rest is the start.
    calibrate : bool, default=True
        Whether the learner's log-odds are calibrated.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    random_state : int, RandomState or None
        Seed of folds and start, and of an estimator without its own seed.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None, default=None
        Noise in the counts of the bags, see :func:`label_posterior`.
    sample_weight_name : str or None, default=None
        The argument of the estimator's `fit` that takes the weights; None: "sample_weight", or for
        a pipeline that of its last step.
    n_jobs : int or None
        Folds fitted in parallel.

    Attributes
    ----------
    estimator_ : estimator
        The learner, fitted to the posteriors of all rows.
    start_ : LikelihoodStart or None
        The fitted start, None after training on labels; `columns_` is the transformer of its
        columns.
    slope_, shift_ : float, float or ndarray of shape (n_classes,)
        The calibration of the learner's log-odds.
    held_out_log_likelihood_, start_log_likelihood_, prior_log_likelihood_ : float
        Σ log P(observation) at the final scores and at those of the start, of held-out rows, and
        at the class shares alone. A gain of less than about 5 over the last means that the
        observations are too little evidence for a reliable classifier.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows.
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels. Of two
        classes the second is the positive class.
    decision_threshold_ : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the log-odds.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    CountLikelihoodClassifier : The same likelihood of the counts, with kernels.
    count_objective : The likelihood as an objective of LightGBM and XGBoost.
    CostWeightedSourcesClassifier : Any learner with weights for noisy labels of sources.

    Notes
    -----
    Without bags and sources y contains class labels, and the estimator is fitted to them, without
    start, calibration and blend.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from decorrupt import EMClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> model = EMClassifier(LogisticRegression(), random_state=0).fit(X, y, bags=bags)
    >>> bool(model.score(X, labels) > 0.9)
    True
    """

    estimator: Any = field(default=None, kw_only=False)
    cv: int = 5
    blend: float = 0.5
    calibrate: bool = True
    decision: str = "balanced"
    random_state: Any = None
    count_noise: Any = None
    sample_weight_name: str | None = None
    n_jobs: int | None = None

    def _check_parameters(self) -> None:
        check_learner(self._learner(), self.sample_weight_name)

    def _learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return RandomForestRegressor(100, min_samples_leaf=3, max_features=1 / 3)

    def _fit_labels(self, X: Any, likelihood: CountRisk, random: np.random.RandomState) -> None:
        self.columns_: Any = None
        self.start_: Any = None
        self.slope_, self.shift_ = 1.0, 0.0
        self.estimator_ = fit_soft_labels(
            seeded(self._learner(), random),
            X,
            likelihood.observed.row_proportions,
            row_weights=likelihood.observed.weights,
            sample_weight_name=self.sample_weight_name,
        )

    def _fit_observed(self, X: Any, likelihood: CountRisk, random: np.random.RandomState) -> None:
        check_value("cv", self.cv, "two or more")
        estimator = seeded(self._learner(), random)
        observed = likelihood.observed
        shape = (len(observed.row_bag), *score_shape(observed.n_classes))
        constant = np.zeros(shape) + prior_scores(likelihood.class_prior)
        self.prior_log_likelihood_ = likelihood.log_likelihood(constant)
        learner = SoftLearner(
            estimator,
            observed.n_classes,
            observed.weights,
            self.sample_weight_name,
            self.n_jobs,
        )
        with progress() as bar:
            with bar.expecting(self.cv + 1):
                start = self._fit_start(X, likelihood, random)
            self.start_log_likelihood_ = likelihood.log_likelihood(start)
            with bar.expecting(1):
                found = run_round(
                    learner,
                    X,
                    likelihood,
                    start,
                    folds=bag_folds(observed, self.cv, random),
                    blend=self.blend,
                    calibrate=self.calibrate,
                )
            for posterior in track([found.posterior], "fitting the learner on all rows", 1):
                self.estimator_ = learner.fit(X, posterior)
        self.slope_, self.shift_ = found.slope, found.shift
        self.held_out_log_likelihood_ = found.log_likelihood
        chosen = chosen_classes(found.scores - self.decision_threshold_)
        self.warn_if_one_class(chosen, len(found.scores))

    def _fit_start(
        self, X: Any, likelihood: CountRisk, random: np.random.RandomState
    ) -> FloatArray:
        """Fit the start; return its held-out scores."""
        self.columns_, random_state = make_columns(X), seed(random)
        fit_columns(self.columns_, X, likelihood.observed.weights)
        rows = self.columns_.transform(X)
        folds = bag_folds(likelihood.observed, self.cv, random)
        self.start_, held_out = fit_start(rows, likelihood, folds, random_state)
        return held_out

    def _score(self, X: Any) -> FloatArray:
        if self.start_ is not None:
            check_numbers(X)
        own = self.slope_ * soft_scores(self.estimator_, X, len(self.classes_)) + self.shift_
        if self.start_ is None:
            return np.asarray(own)
        start = self.start_.raw_scores(self.columns_.transform(X))
        return np.asarray(self.blend * own + (1 - self.blend) * start)

    def _takes_missing_values(self) -> bool:
        return bool(get_tags(self._learner()).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._learner())
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags


def seeded(estimator: Any, random: np.random.RandomState) -> Any:
    """Return a clone in which every `random_state` that is None is set."""
    params = estimator.get_params()
    unset = [name for name in sorted(params) if name.split("__")[-1] == "random_state"]
    seeds = {name: seed(random) for name in unset if params[name] is None}
    return clone(estimator).set_params(**seeds)


@dataclass(frozen=True)
class SoftLearner:
    """An estimator to be fitted to soft labels, on folds or on all rows.

    Attributes
    ----------
    estimator : estimator
        A classifier with weights and probabilities, or a regressor.
    n_classes : int
        The number of classes.
    row_weights : ndarray of shape (n_rows,) or None
        How many rows each row represents.
    sample_weight_name : str or None
        See :func:`fit_soft_labels`.
    n_jobs : int or None
        Folds fitted in parallel.
    """

    estimator: Any
    n_classes: int
    row_weights: Any = None
    sample_weight_name: str | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, weights: FloatArray, rows: Any = slice(None)) -> Any:
        """Return the estimator fitted to the soft labels of all rows, or of some."""
        row_weights = None if self.row_weights is None else self.row_weights[rows]
        return fit_soft_labels(
            self.estimator,
            X,
            weights,
            row_weights=row_weights,
            sample_weight_name=self.sample_weight_name,
        )

    def scores(self, X: Any, weights: FloatArray, folds: Sequence[Fold] | None) -> FloatArray:
        """Return the scores of every row when it was held out; without folds, in-sample scores."""
        if folds is None:
            return soft_scores(self.fit(X, weights), X, self.n_classes)
        found = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(self._held_out)(X, weights, fold) for fold in folds
        )
        scores = np.empty((len(weights), *score_shape(self.n_classes)))
        fits = track(found, "fitting folds to soft labels", len(folds))
        for (_, test), some in zip(folds, fits, strict=True):
            scores[test] = some
        return scores

    def _held_out(self, X: Any, weights: FloatArray, fold: Fold) -> FloatArray:
        train, test = fold
        model = self.fit(_safe_indexing(X, train), weights[train], train)
        return soft_scores(model, _safe_indexing(X, test), self.n_classes)


@dataclass(frozen=True)
class Round:
    """The outcome of one round.

    Attributes
    ----------
    posterior : ndarray of shape (n_rows, n_classes)
        The soft labels of the round.
    slope, shift : float, float or ndarray
        The calibration of the learner's scores; the slope is 0 if held-out bags contradict them.
    scores : ndarray
        Held-out scores, calibrated and blended with the start.
    log_likelihood : float
        Σ log P(observation) at these scores.
    """

    posterior: FloatArray
    slope: float
    shift: Any
    scores: FloatArray
    log_likelihood: float


def run_round(
    learner: SoftLearner,
    X: Any,
    likelihood: CountRisk,
    start: FloatArray,
    *,
    folds: Sequence[Fold] | None,
    blend: float,
    calibrate: bool,
) -> Round:
    """Run an E-step at the start's scores, an M-step, calibration, and the blend with the start.

    Without folds, blend 1 and no calibration this is the EM algorithm: with a learner that
    maximises the likelihood of the soft labels, the log-likelihood does not fall.
    """
    posterior, prior = likelihood.posterior(start), likelihood.class_prior
    own = learner.scores(X, posterior, folds)
    slope, shift = (1.0, 0.0)
    if calibrate:
        weights = likelihood.observed.weights
        slope, shift = fit_slope_and_shift(own, likelihood, prior, weights)
    blended = blend * (slope * own + shift) + (1 - blend) * start
    return Round(posterior, slope, shift, blended, likelihood.log_likelihood(blended))
